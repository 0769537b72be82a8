"""layer_norm, batch_norm and dropout as ops of their own: derivatives of any order, types, exports, compiled code."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F = torch.nn.functional


def _numbers(*shape, seed=0, dtype=torch.float64):
    values = np.random.default_rng(seed).uniform(-1.5, 1.5, shape)
    return torch.tensor(values.tolist(), dtype=dtype).reshape(shape)


def _bits(t):
    wide = t.detach() if t.dtype == torch.float64 else t.detach().float()
    return wide.numpy().view(np.int64 if t.dtype == torch.float64 else np.int32).tolist()


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_derivatives(training):
    leaves = [_numbers(3, 2, 4), _numbers(2, seed=1), _numbers(2, seed=2)]
    for t in leaves:
        t.requires_grad_()
    running = _numbers(2, seed=3), _numbers(2, seed=4).abs() + 0.5

    def call(x, w, b):
        return F.batch_norm(x, running[0].clone(), running[1].clone(), w, b, training)

    assert torch.autograd.gradcheck(call, leaves)
    assert torch.autograd.gradgradcheck(call, leaves)


def test_given_statistics_have_derivatives():
    """Running statistics that are leaves: y = (x - m) (v + eps)^-1/2."""
    x = _numbers(3, 2, 4)
    m, v = _numbers(2, seed=3), _numbers(2, seed=4).abs() + 0.5
    eps = 1e-3
    m2, v2 = m.clone().requires_grad_(), v.clone().requires_grad_()
    y = torch.batch_norm(x, None, None, m2, v2, False, 0.1, eps)
    y.sum().backward()
    rest = (v + eps).rsqrt()
    np.testing.assert_allclose(m2.grad.numpy(), (-12 * rest).numpy(), rtol=1e-12)
    want = (-0.5 * (x - m.reshape(2, 1)) * rest.reshape(2, 1) ** 3).sum((0, 2))
    np.testing.assert_allclose(v2.grad.numpy(), want.numpy(), rtol=1e-10)


@pytest.mark.parametrize("dims", [1, 2])
def test_layer_norm_derivatives(dims):
    shape = (3, 2, 4)[-dims:]
    leaves = [_numbers(3, 2, 4), _numbers(*shape, seed=1), _numbers(*shape, seed=2)]
    for t in leaves:
        t.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w, b: F.layer_norm(x, shape, w, b), leaves)
    assert torch.autograd.gradgradcheck(lambda x, w, b: F.layer_norm(x, shape, w, b), leaves)


@pytest.mark.parametrize("w, b", list(itertools.product([False, True], repeat=2)))
def test_absent_parameters_change_no_bit(w, b):
    """y holds a -0: neither a product with 1 nor a sum with 0 may show."""
    x = torch.tensor([[1.0, -1.0, -0.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    weight = torch.tensor([-1.0, 2.0, 3.0, -4.0]) if w else None
    bias = torch.tensor([0.5, -0.0, 0.0, -0.0]) if b else None
    distance = x - x.mean(1, True)
    y = distance * ((distance * distance).sum(1, True) / 4 + 1e-5).rsqrt()
    if w and b:
        y = torch.addcmul(
            bias.double(), y.double(), weight.double()
        ).float()  # exact, then one rounding
    elif w:
        y = y * weight
    elif b:
        y = y + bias
    assert _bits(F.layer_norm(x, (4,), weight, bias)) == _bits(y)


def test_running_statistics_may_change_before_backward():
    """A step of training between forward and backward of an evaluation."""
    x = _numbers(4, 2, 3).requires_grad_()
    mean, var = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    y = F.batch_norm(x, mean, var)
    F.batch_norm(x.detach(), mean, var, training=True)
    y.sum().backward()
    assert mean.abs().sum() > 0
    np.testing.assert_allclose(x.grad.numpy(), np.full((4, 2, 3), 1 / np.sqrt(1 + 1e-5)))


def _step(kind, dtype):
    shape = {
        "layer": (6, 130),
        "batch": (4, 3, 4, 4),
        "odd batch": (4, 3, 5, 3),
        "dropout": (4, 33),
    }[kind]
    width = 130 if kind == "layer" else 3

    def run(x, w, b, g):
        if kind == "layer":
            y = F.layer_norm(x, (130,), w, b)
        elif kind == "dropout":
            y = F.dropout(x, 0.3)
        else:
            y = F.batch_norm(x, None, None, w, b, True)
        inputs = (x,) if kind == "dropout" else (x, w, b)
        return (y, *torch.autograd.grad(y, inputs, g))

    args = [_numbers(*shape, dtype=dtype).requires_grad_()]
    args += [_numbers(width, seed=s, dtype=dtype).requires_grad_() for s in (1, 2)]
    return run, [*args, _numbers(*shape, seed=3, dtype=dtype)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["layer", "batch", "odd batch", "dropout"])
def test_compiled_code_has_the_bits(kind, dtype):
    run, args = _step(kind, dtype)
    compiled = torch.compile(run, background=False)
    for _ in range(3):
        torch.manual_seed(5)
        want = run(*args)
        torch.manual_seed(5)
        got = compiled(*args)
        for a, b in zip(want, got, strict=True):
            assert a.dtype == b.dtype and _bits(a) == _bits(b)
    assert compiled.counts()["launches"], compiled.report()


def test_wrong_parameters_are_refused():
    x = torch.ones(2, 3, 4)
    with pytest.raises(RuntimeError, match="normalized_shape"):
        torch.layer_norm(x, [4], torch.ones(3))
    with pytest.raises(RuntimeError, match="weight to contain 3"):
        torch.batch_norm(x, torch.ones(2), None, None, None, True, 0.1, 1e-5)


@pytest.mark.parametrize("opset, kind", [(17, "LayerNormalization"), (16, "ReduceSum")])
def test_layer_norm_is_an_operator_of_onnx(tmp_path, opset, kind):
    onnx = pytest.importorskip("onnx")
    torch.onnx.export(
        torch.nn.LayerNorm(4),
        (torch.ones(2, 4),),
        str(tmp_path / "m.onnx"),
        opset_version=opset,
    )
    kinds = [n.op_type for n in onnx.load(tmp_path / "m.onnx").graph.node]
    assert kind in kinds
    assert ("LayerNormalization" in kinds) == (opset >= 17)


def test_batch_norm_is_an_operator_of_onnx(tmp_path):
    onnx = pytest.importorskip("onnx")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    module = torch.nn.BatchNorm2d(3)
    module(torch.rand(4, 3, 5, 5))
    module.eval()
    x = torch.rand(2, 3, 5, 5)
    torch.onnx.export(module, (x,), str(tmp_path / "m.onnx"))
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    kinds = [
        n.op_type for n in model.graph.node if n.op_type != "Identity"
    ]  # which names the output
    assert kinds == ["BatchNormalization"]
    (y,) = evaluator(model).run(None, {model.graph.input[0].name: x.numpy()})
    np.testing.assert_allclose(y, module(x).detach().numpy(), rtol=1e-5, atol=1e-6)
