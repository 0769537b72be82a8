"""Saved-tensor hooks, anomaly and inference mode, functional derivatives, gradcheck, checkpoints."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

from torchc.autograd import Function, functional, gradcheck, gradgradcheck  # noqa: E402
from torchc.autograd.graph import (  # noqa: E402
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


# ---- saved tensors, anomalies


def test_saved_tensors_hooks():
    log = []
    x = leaf(0.5, 1.0)
    with saved_tensors_hooks(
        lambda t: (log.append("pack"), t.clone())[1], lambda t: (log.append("unpack"), t)[1]
    ):
        y = (x * x).exp()
    y.sum().backward()
    assert log == ["pack"] * 3 + ["unpack"] * 3
    expected = 2 * x * (x * x).exp()
    assert torch.allclose(x.grad, expected)
    with save_on_cpu():
        y = (x * x).exp().tanh().sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    (g2,) = torch.autograd.grad((x * x).exp().tanh().sum(), x, create_graph=True)
    assert torch.equal(h, torch.autograd.grad(g2.sum(), x)[0])
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack_hook"):
        y.sum().backward()
    with (
        disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        save_on_cpu(),
    ):
        pass


def test_anomaly_mode_names_function_and_place():
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
        x = leaf(-1.0)
        y = torch.sqrt(x) * 0
        with (
            pytest.warns(UserWarning, match="test_autograd_tools"),
            pytest.raises(RuntimeError, match="SqrtBackward0.*nan"),
        ):
            y.backward()
    torch.sqrt(leaf(-1.0)).backward()


# ---- functional, gradcheck


def test_functional_matches_formulas():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    cube = lambda x: (x * x * x).sum()  # noqa: E731
    assert functional.jacobian(lambda x: x * x, x).tolist() == [[2, 0], [0, 4]]
    assert functional.hessian(cube, x).tolist() == [[6, 0], [0, 12]]
    v = torch.tensor([1.0, 10.0], dtype=torch.float64)
    assert functional.vjp(lambda x: x * x, x, v)[1].tolist() == [2, 40]
    assert functional.jvp(lambda x: x * x, x, v)[1].tolist() == [2, 40]
    assert functional.vhp(cube, x, v)[1].tolist() == [6, 120]
    assert functional.hvp(cube, x, v)[1].tolist() == [6, 120]
    table = functional.jacobian(lambda a, b: (a * b, a.sum()), (x, v))
    assert table[0][1].tolist() == [[1, 0], [0, 2]] and table[1][1].tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(lambda x: torch.ones(2), x, strict=True)
    y = leaf(2.0)
    assert functional.jacobian(lambda x: x * x * x, y, create_graph=True).requires_grad


def test_gradcheck_of_complex_functions():
    class Scaled(Function):
        """z times c; its gradient is g times `factor`: conj(c) is right."""

        @staticmethod
        def forward(ctx, z, c, factor):
            ctx.factor = factor
            return z * c

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

    z = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)
    x = torch.tensor([0.3, -2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda z: Scaled.apply(z, 2 + 1j, 2 - 1j), (z,))
    assert not gradcheck(lambda z: Scaled.apply(z, 2 + 1j, 2 + 1j), (z,), raise_exception=False)
    for f in (lambda z, x: z * z * x, lambda z, x: (z.abs() * x, z.conj() * z * z)):
        assert gradcheck(f, (z, x))
        assert gradgradcheck(f, (z, x))


def test_gradcheck_finds_a_wrong_derivative():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(1.0, 2.0)
    assert not gradcheck(Wrong.apply, (x,), raise_exception=False)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(Wrong.apply, (x,))


def test_variable_is_a_tensor():
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    assert x.requires_grad and isinstance(x, torch.autograd.Variable)


# ---- numbers given as tensors, sizes, memory


def test_zero_dim_tensors_as_numbers():
    x = torch.ones(2)
    assert x.add(x, alpha=torch.tensor(0.5)).tolist() == [1.5, 1.5]
    assert torch.full((2,), torch.tensor(3.0)).tolist() == [3, 3]
    assert torch.zeros(torch.tensor(2), 3).shape == (2, 3)
    assert torch.arange(torch.tensor(3)).tolist() == [0, 1, 2]
    for bad in (torch.tensor([0.5]), torch.tensor(0.5, requires_grad=True)):
        with pytest.raises(TypeError, match="alpha"):
            x.add(x, alpha=bad)


def test_bytes_beyond_64_bits():
    assert torch.zeros(1).expand(2**62).nbytes == 2**64
    with pytest.raises(RuntimeError, match="overflow"):
        torch.empty(2**62, device="meta")
    with pytest.raises(MemoryError) as error:
        torch.empty(2**50)
    assert isinstance(error.value, RuntimeError)


# ---- checkpoint


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    from torchc.utils.checkpoint import checkpoint, checkpoint_sequential

    runs = []

    def part(x, w):
        runs.append(1)
        return (x * w).exp() * torch.rand(2, dtype=torch.float64)

    def gradients(call):
        x, w = leaf(0.5, 1.0), leaf(2.0, 3.0)
        torch.manual_seed(3)
        call(x, w).tanh().sum().backward()
        return x.grad.tolist(), w.grad.tolist(), torch.rand(1).item()

    want = gradients(part)
    assert gradients(lambda x, w: checkpoint(part, x, w, use_reentrant=reentrant)) == want
    assert len(runs) == 3
    steps = [torch.exp, torch.tanh, lambda x: x * 2]
    x = leaf(0.1, 0.2)
    checkpoint_sequential(steps, 3, x, use_reentrant=reentrant).sum().backward()
    (g,) = torch.autograd.grad((x.exp().tanh() * 2).sum(), x)
    assert torch.equal(x.grad, g)


def test_checkpoint_notices_another_second_run():
    from torchc.utils.checkpoint import checkpoint

    count = []

    def part(x):
        count.append(1)
        return x.exp().tanh() if len(count) == 1 else x.exp()

    y = checkpoint(part, leaf(1.0), use_reentrant=False)
    with pytest.raises(RuntimeError, match="different number of tensors"):
        y.sum().backward()


def test_compiled_functions_see_saved_tensors_hooks():
    compiled = torch.compile(lambda x: (x * x).exp(), background=False)
    for _ in range(3):
        compiled(leaf(0.5))
    log = []
    with saved_tensors_hooks(lambda t: log.append(1) or t, lambda t: t):
        y = compiled(leaf(0.5))
    assert len(log) == 3
    y.sum().backward()


def test_inference_tensors():
    x = leaf(1.0, 2.0)
    with torch.inference_mode():
        y = x * 2
        z = torch.ones(2, dtype=torch.float64)
        assert (
            y.is_inference()
            and z.is_inference()
            and not x.is_inference()
            and not x[0].is_inference()
        )
        y.add_(1)
        assert y[0].is_inference()
    assert not y.clone().is_inference()
    with pytest.raises(RuntimeError, match="saved for backward"):
        x * y
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        y.add_(1)
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        y.requires_grad_()
    with pytest.raises(RuntimeError, match="version"):
        assert y._version
    (x + y).sum().backward()
    assert x.grad.tolist() == [1, 1]
