"""Strides of results: PyTorch's rule, eager and compiled."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


def names():
    x = torch.arange(24.0).reshape(2, 3, 4)
    return {
        "torch": torch,
        "x": x,
        "t": x.permute(2, 0, 1),
        "s": x[:, ::2],
        "v": torch.arange(4.0),
        "im": torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
    }


# (expression, shape and strides as PyTorch gives them)
CASES = [
    ("t + 1", (4, 2, 3), (1, 12, 4)),
    ("t * 2.0", (4, 2, 3), (1, 12, 4)),
    ("-t", (4, 2, 3), (1, 12, 4)),
    ("t.exp()", (4, 2, 3), (1, 12, 4)),
    ("t + t", (4, 2, 3), (1, 12, 4)),
    ("t + x.permute(2, 0, 1)", (4, 2, 3), (1, 12, 4)),
    ("t + torch.ones(4, 2, 3)", (4, 2, 3), (1, 12, 4)),
    ("torch.ones(4, 2, 3) + t", (4, 2, 3), (6, 3, 1)),
    ("s.exp()", (2, 2, 4), (8, 4, 1)),
    ("s + 1", (2, 2, 4), (8, 4, 1)),
    ("s.transpose(0, 1) * 2", (2, 2, 4), (4, 8, 1)),
    ("t[:, :, :1] + 1", (4, 2, 1), (1, 4, 4)),
    ("t[::2] * t[1::2]", (2, 2, 3), (1, 6, 2)),
    ("x.transpose(1, 2) + v.reshape(4, 1)", (2, 4, 3), (12, 1, 4)),
    ("v + t.permute(1, 2, 0)", (2, 3, 4), (12, 4, 1)),
    ("t == 1", (4, 2, 3), (1, 12, 4)),
    ("torch.where(t > 0, t, 0.0)", (4, 2, 3), (1, 12, 4)),
    ("torch.maximum(t, x.permute(2, 0, 1))", (4, 2, 3), (1, 12, 4)),
    ("t.clone()", (4, 2, 3), (1, 12, 4)),
    ("s.clone()", (2, 2, 4), (8, 4, 1)),
    ("s.transpose(0, 2).clone()", (4, 2, 2), (1, 4, 8)),
    ("t.double()", (4, 2, 3), (1, 12, 4)),
    ("t.to(torch.int64)", (4, 2, 3), (1, 12, 4)),
    ("t.contiguous()", (4, 2, 3), (6, 3, 1)),
    ("t.expand(4, 2, 3).clone()", (4, 2, 3), (1, 12, 4)),
    ("v.expand(3, 4).clone()", (3, 4), (4, 1)),
    ("v.expand(3, 4) + 1", (3, 4), (4, 1)),
    ("v.reshape(4, 1).expand(4, 3) + 1", (4, 3), (3, 1)),
    ("v.reshape(4, 1).expand(4, 3).clone()", (4, 3), (3, 1)),
    ("im + 1", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("im * torch.ones(3, 1, 1)", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("im.relu()", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("im[:, :1] + im", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("im.contiguous()", (2, 3, 4, 5), (60, 20, 5, 1)),
    ("im.clone()", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("im.double()", (2, 3, 4, 5), (60, 1, 15, 3)),
    ("t.add(1)", (4, 2, 3), (1, 12, 4)),
    ("t.sum(0)", (2, 3), (3, 1)),
    ("torch.relu(t).mul(2)", (4, 2, 3), (1, 12, 4)),
    ("t.transpose(0, 2) + t.transpose(0, 2)", (3, 2, 4), (4, 12, 1)),
    ("x[None] + t.permute(1, 2, 0)", (1, 2, 3, 4), (24, 12, 4, 1)),
    ("x.reshape(6, 4).t() * x.reshape(6, 4).t()", (4, 6), (1, 4)),
    ("x.reshape(6, 4).t() + torch.ones(4, 6)", (4, 6), (1, 4)),
    ("torch.ones(1, 3).t() + 1", (3, 1), (1, 3)),
    ("torch.ones(2, 1, 3).transpose(0, 2) * 2", (3, 1, 2), (1, 3, 3)),
    ("torch.ones(0, 3).t() + 1", (3, 0), (1, 3)),
    ("x.as_strided((2, 3, 4), (1, 8, 2)) + 1", (2, 3, 4), (1, 8, 2)),
]


@pytest.mark.parametrize(("text", "shape", "strides"), CASES)
def test_strides(text, shape, strides):
    found = eval(text, names())
    assert tuple(found.shape) == shape
    assert found.stride() == strides
    # The values are those of the same computation on row-major memory.
    dense = {k: v.contiguous() if isinstance(v, torch.Tensor) else v for k, v in names().items()}
    torch.manual_seed(0)
    if "im" not in text and "as_strided" not in text:
        assert torch.equal(found, eval(text, dense))


def _told(x):
    """The strides that mean something: not those of size-1 dimensions, nor of a tensor without elements."""
    return [s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1 and x.numel()]


@pytest.mark.parametrize("text", [c[0] for c in CASES if c[0][0] in "txs(-" and "im" not in c[0]])
def test_compiled_strides(text):
    code = compile(text, "case", "eval")

    def f(x, t, s, v):
        return eval(code, {"torch": torch, "x": x, "t": t, "s": s, "v": v})

    compiled = torch.compile(f, background=False)
    n = names()
    args = n["x"], n["t"], n["s"], n["v"]
    want = eval(text, n)
    for _ in range(3):
        got = compiled(*args)
        assert _told(got) == _told(want)
        assert torch.equal(got, want)


def test_a_graph_of_permuted_values():
    def f(x):
        y = x.t() * 2
        y.add_(1)
        z = y.t() + 1
        return y, z, y.reshape(-1), z.view(-1)

    compiled = torch.compile(f, background=False)
    x = torch.rand(3, 4)
    want = f(x)
    for _ in range(4):
        for a, b in zip(compiled(x), want, strict=True):
            assert a.stride() == b.stride() and torch.equal(a, b)


def test_gradients_are_laid_out_as_their_leaf():
    x = torch.rand(3, 4, requires_grad=True)
    w = torch.rand(4, 3)
    (x.t() * w).sum().backward()
    assert x.grad.is_contiguous() and torch.equal(x.grad, w.t())

    def step(x, w):
        return (x.t() * w).exp().sum()

    compiled = torch.compile(step, background=False)
    for _ in range(3):
        y = x.detach().clone().requires_grad_()
        compiled(y, w).backward()
        z = x.detach().clone().requires_grad_()
        step(z, w).backward()
        assert torch.equal(y.grad, z.grad) and y.grad.stride() == z.grad.stride()


def test_channels_last():
    x = torch.rand(2, 3, 4, 5)
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3) and torch.equal(x, y)
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert x.to(memory_format=torch.channels_last).stride() == y.stride()
    assert x.to(torch.float64, memory_format=torch.channels_last).dtype == torch.float64
    assert x.clone(memory_format=torch.channels_last).stride() == y.stride()
    assert y.clone(memory_format=torch.contiguous_format).is_contiguous()
    z = torch.rand(1, 2, 3, 4, 5).contiguous(memory_format=torch.channels_last_3d)
    assert z.stride() == (120, 1, 40, 10, 2)
    with pytest.raises(RuntimeError, match="rank 4"):
        torch.rand(2, 3).contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="preserve"):
        x.contiguous(memory_format=torch.preserve_format)


def test_a_gradient_is_laid_out_like_its_variable():
    rows = torch.rand(4, 3)
    for variable, strides in (
        (torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last), (48, 1, 12, 3)),
        (rows.t(), (1, 3)),
        (torch.rand(2, 3, 4).permute(1, 2, 0), (4, 1, 12)),
        (torch.rand(4, 6)[:, ::2], (3, 1)),  # not dense: row-major
        (torch.rand(4, 1).expand(4, 3), (3, 1)),
        (torch.rand(0, 3).t(), (1, 1)),
    ):
        leaf = variable.detach().requires_grad_()
        weights = torch.rand(leaf.shape)
        (leaf * weights).sum().backward()
        assert torch.equal(leaf.grad, weights)
        assert leaf.grad.stride() == strides or not leaf.numel()
        (leaf * weights).sum().backward()  # added in place
        assert torch.equal(leaf.grad, weights + weights)
        leaf.grad = None
        (leaf * weights * leaf).sum().backward(create_graph=True)
        assert leaf.grad.requires_grad and leaf.grad.stride() == strides or not leaf.numel()


def test_casts_take_a_memory_format():
    x = torch.arange(24).reshape(1, 2, 3, 4)
    for name in (
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "char",
        "byte",
        "bool",
    ):
        y = getattr(x, name)(memory_format=torch.channels_last)
        assert y.is_contiguous(memory_format=torch.channels_last), name
        assert torch.equal(y, getattr(x, name)())
    assert x.long() is x
    with pytest.raises(TypeError, match="memory_format"):
        x.float(torch.float32)
