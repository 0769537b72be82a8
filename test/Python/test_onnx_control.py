"""cond and while_loop as ONNX's If and Loop, and back."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits  # noqa: E402


def tensor(seed, *shape):
    return torch.from_numpy(
        np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    ).clone()


def round_trip(fn, args, path):
    torch.onnx.export(fn, args, str(path))
    return torch.onnx.load(str(path))


def operators(path):
    onnx = pytest.importorskip("onnx", reason="the check needs the onnx package")
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    return [node.op_type for node in model.graph.node]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = x * 2

        def yes(x):
            return torch.relu(self.linear(x)) + y, x.sum(0)

        a, b = torch.cond(x.sum() > 0, yes, lambda x: (x - y, x[0] * 3), (x,))
        return a @ y.t(), b


def test_conds_become_ifs(tmp_path):
    torch.manual_seed(0)
    model = Model().eval()
    loaded = round_trip(model, (tensor(0, 3, 4),), tmp_path / "m.onnx")
    for seed in range(6):
        want = model(tensor(seed, 3, 4))
        assert bits([t.detach() for t in loaded(tensor(seed, 3, 4))]) == bits(
            [t.detach() for t in want]
        )
    assert "If" in operators(tmp_path / "m.onnx")


def power(n, x):
    """Twice the values, n times, with a branch in the loop."""

    def body(i, x):
        return i - 1, torch.cond(x.sum() > 0, lambda x: x * -2, lambda x: x + y, (x,))

    y = torch.tanh(x)
    return torch.while_loop(lambda i, x: i > 0, body, (n, x))


def test_loops_become_loops(tmp_path):
    loaded = round_trip(power, (torch.tensor(3), tensor(0, 4)), tmp_path / "m.onnx")
    for seed in range(6):
        args = torch.tensor(seed), tensor(seed, 4)
        assert bits(loaded(*args)) == bits(power(*args))
    assert "Loop" in operators(tmp_path / "m.onnx")


def test_other_runtimes_agree(tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    torch.onnx.export(power, (torch.tensor(3), tensor(0, 4)), str(tmp_path / "m.onnx"))
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    for seed in range(4):
        args = torch.tensor(seed), tensor(seed, 4)
        got = session.run(None, dict(zip(names, [a.numpy() for a in args], strict=True)))
        for g, w in zip(got, power(*args), strict=True):
            np.testing.assert_allclose(g, w.numpy(), rtol=1e-6)


def test_random_branches_are_refused(tmp_path):
    def fn(x):
        return torch.cond(
            x.sum() > 0, lambda x: x + torch.rand(4), lambda x: x + torch.rand(4), (x,)
        )

    with pytest.raises(NotImplementedError, match="random numbers"):
        torch.onnx.export(fn, (tensor(0, 4),), str(tmp_path / "m.onnx"))
    assert not (tmp_path / "m.onnx").exists()
