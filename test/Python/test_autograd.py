"""Hooks of tensors and nodes, create_graph, grad() and custom functions."""

import gc

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

from torchc.autograd import Function, gradcheck, gradgradcheck  # noqa: E402
from torchc.autograd.function import once_differentiable  # noqa: E402


def leaf(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


# ---- hooks


def test_order_of_hooks():
    log = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].tolist(), go[0].tolist())))
    y.grad_fn.register_prehook(lambda go: log.append("pre") or (go[0] * 2,))
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda go: log.append("leaf pre"))
    accumulate.register_hook(lambda gi, go: log.append(("leaf post", gi, go[0].tolist())))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", p.grad.tolist())))
    x.register_hook(lambda g: log.append("leaf"))
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert log == [
        "pre",
        ("post", [40, 40], [20, 20]),
        "leaf",
        "leaf pre",
        ("accumulated", [40, 40]),
        ("leaf post", (), [40, 40]),
    ]
    assert y.grad.tolist() == [10, 10]


def test_hook_removal():
    x = leaf(1.0)
    log = []
    handle = x.register_hook(lambda g: log.append(1))
    with x.register_hook(lambda g: log.append(2)):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()
    assert log == [1, 2, 1]

    def once(g):
        log.append(3)
        own.remove()

    own = x.register_hook(once)
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert log == [1, 2, 1, 3]


def test_hooks_stay_with_the_value_and_retain_grad_with_the_tensor():
    x = leaf(1.0, 1.0)
    y = x * 2
    log = []
    y.retain_grad()
    y.register_hook(lambda g: log.append(("old", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("new", g.tolist())))
    y.sum().backward()
    assert log == [("new", [1, 1]), ("old", [3, 3])]
    assert y.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (lambda g: g[:1], RuntimeError, "changed the size"),
        (lambda g: g.float(), RuntimeError, "changed the type"),
        (lambda g: 3, TypeError, "hook returned"),
    ],
)
def test_hook_results_are_checked(result, error, text):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(result)
    with pytest.raises(error, match=text):
        y.sum().backward()


def test_metadata_lives_with_the_node():
    y = leaf(1.0) * 2
    y.grad_fn.metadata["key"] = 5
    gc.collect()
    assert y.grad_fn.metadata == {"key": 5}


def test_a_leaf_lives_as_long_as_a_graph_leads_to_it():
    log = []

    def loss():
        p = leaf(1.0, 2.0)
        p.name_of_mine = "p"
        p.register_post_accumulate_grad_hook(
            lambda q: log.append((q.name_of_mine, q.grad.tolist()))
        )
        return (p * 2).sum()

    y = loss()
    gc.collect()
    node = y.grad_fn.next_functions[0][0].next_functions[0][0]
    assert node.variable.tolist() == [1, 2]
    y.backward()
    assert log == [("p", [2, 2])]
    p = node.variable
    del y, node
    gc.collect()
    (p * 3).sum().backward()
    assert p.grad.tolist() == [5, 5] and p.name_of_mine == "p"


# ---- create_graph, grad()


def test_derivatives_that_are_constant_have_a_history_under_create_graph():
    x = leaf(-1.0, 2.0)
    for f in (torch.relu, torch.abs, lambda x: x.amax(0), lambda x: torch.maximum(x, x * 0)):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        assert g.requires_grad
        (h,) = torch.autograd.grad(g.sum(), x)
        assert h.tolist() == [0, 0]


def test_overwritten_values_have_zero_gradients():
    writes = [
        lambda y: y.fill_(3.0),
        lambda y: y.zero_(),
        lambda y: y.copy_(torch.zeros(2, dtype=torch.float64)),
        lambda y: y.uniform_(),
        lambda y: y[:].fill_(1.0),
        lambda y: y.view(-1).copy_(torch.ones(2, dtype=torch.float64)),
    ]
    for write in writes:
        x = leaf(1.0, 2.0)
        y = x * 2
        write(y)
        assert y.requires_grad
        y.sum().backward()
        assert x.grad.tolist() == [0, 0]


def test_maximum_over_nan():
    nan = float("nan")
    x = torch.tensor([[1.0, nan], [2.0, 2.0]], requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [[0, 1], [0, 0]]
    (g,) = torch.autograd.grad(x.amax(1).sum(), x)
    assert torch.isnan(g[0]).all() and g[1].tolist() == [0.5, 0.5]


def test_meta_backward():
    x = torch.ones(2, 3, device="meta", requires_grad=True)
    ((x * 2).relu().sum(0).exp()[1:] / 3).sum().backward()
    assert x.grad.shape == (2, 3) and x.grad.device.type == "meta"


def test_grad_options():
    x, unused = leaf(1.0, 2.0), leaf(3.0)
    y = (x * x).sum()
    assert torch.autograd.grad(y, [x, unused], allow_unused=True, retain_graph=True)[1] is None
    found = torch.autograd.grad(y, [x, unused], materialize_grads=True, retain_graph=True)
    assert found[1].tolist() == [0]
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(y, x, materialize_grads=True, allow_unused=False)
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad(y, unused)
    z = x * 3
    seeds = torch.eye(2, dtype=torch.float64)
    (rows,) = torch.autograd.grad(z, x, seeds, is_grads_batched=True)
    assert rows.tolist() == [[3, 0], [0, 3]]


def test_changed_saved_values():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_exit_without_enter():
    with torch.enable_grad():
        torch.no_grad().__exit__(None, None, None)
        assert not torch.is_grad_enabled()
        torch.autograd.set_grad_enabled(True)
    assert torch.is_grad_enabled()


# ---- Function


class Cube(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x * ctx.scale, None


class Split(Function):
    @staticmethod
    def forward(x, k=2.0):
        return x * k, torch.arange(3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, unused):
        assert unused.tolist() == [0, 0, 0]
        return g * ctx.k, None


def test_custom_function():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x, 2.0)
    assert y.grad_fn.name() == "CubeBackward" and y.grad_fn.scale == 2.0
    assert y.grad_fn.saved_tensors[0] is x
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [6, 24] and h.tolist() == [12, 24]
    assert gradcheck(lambda x: Cube.apply(x, 1.5), (x,))
    assert gradgradcheck(lambda x: Cube.apply(x, 1.5), (x,))


def test_setup_context():
    x = leaf(1.0, 2.0)
    y, i = Split.apply(x, k=5.0)
    assert not i.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_function_needs_no_gradient():
    x = torch.ones(2)
    assert Cube.apply(x, 1.0).grad_fn is None
    with torch.no_grad():
        assert not Cube.apply(leaf(1.0), 1.0).requires_grad


class Identity(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 5


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_inputs_as_outputs():
    x = leaf(1.0)
    y = Identity.apply(x)
    assert y is not x
    y.sum().backward()
    assert x.grad.tolist() == [5]
    z = x * 1
    assert Doubled.apply(z) is z
    (g,) = torch.autograd.grad(z.sum(), x)
    assert z.tolist() == [2] and g.tolist() == [2]
    with pytest.raises(RuntimeError, match="leaf"):
        Doubled.apply(x)


class Saves(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y, None)
        return y

    @staticmethod
    def backward(ctx, g):
        y, nothing = ctx.saved_tensors
        assert nothing is None
        return g * y


def test_saved_outputs():
    x = leaf(0.5)
    assert gradgradcheck(Saves.apply, (x,))
    y = Saves.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = Saves.apply(x)
    y.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_function_frees_its_context():
    import weakref

    class Context:
        pass

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = Context()
            alive.append(weakref.ref(ctx.kept))
            y = x * 2
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    alive = []
    Keeps.apply(leaf(0.5)).sum().backward()
    gc.collect()
    assert alive[0]() is None


def returns(value):
    class Returns(Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return value(g)

    return Returns


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (lambda g: (g, g, g), RuntimeError, "incorrect number of gradients"),
        (lambda g: (g, g), RuntimeError, "different than None at position 2"),
        (lambda g: (g[:1].expand(3), None), RuntimeError, "invalid gradient"),
        (lambda g: (3, None), RuntimeError, "expected Variable"),
    ],
)
def test_bad_backwards(value, error, text):
    with pytest.raises(error, match=text):
        returns(value).apply(leaf(1.0, 2.0), 1).sum().backward()


def test_missing_methods():
    class OnlyForward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="forward"):
        Function.apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="backward"):
        OnlyForward.apply(leaf(1.0)).sum().backward()


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    x = leaf(3.0)
    seed = leaf(1.0)
    (g,) = torch.autograd.grad(Once.apply(x), x, seed, create_graph=True)
    assert g.tolist() == [6]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_a_derivative_that_is_not_known_is_refused():
    x = leaf(1.5, 2.5)
    (g,) = torch.autograd.grad(torch.digamma(x).sum(), x, create_graph=True)
    assert g.requires_grad
    with pytest.raises(NotImplementedError, match="trigamma"):
        torch.autograd.grad(g.sum(), x)


def test_slices_add_where_they_are():
    """The gradient of a slice leaves the rest of what its tensor has gathered as it is, bit for bit."""
    x = torch.ones(4, 3).requires_grad_()
    weights = torch.tensor([[-0.0, 1.0, 2.0], [3.0, -0.0, 4.0], [5.0, 6.0, -0.0], [0.0, 7.0, 8.0]])

    def loss(rows):
        return sum((row * w).sum() for row, w in zip(rows, weights, strict=True))

    for rows in (
        lambda: x.unbind(),
        lambda: [x[i] for i in range(4)],
        lambda: [p[0] for p in x.split(1)],
        lambda: list(x),
        lambda: [x.narrow(0, i, 1)[0] for i in range(4)],
    ):
        (g,) = torch.autograd.grad(loss(rows()), x)
        assert g.tolist() == weights.tolist()
        (h,) = torch.autograd.grad(loss(rows()), x, create_graph=True)
        assert torch.signbit(g).tolist() == torch.signbit(h).tolist()
    # The last slice is the first to come; where a later one doesn't reach, -0 stays.
    (g,) = torch.autograd.grad((x[:2] * -0.0).sum() + (x * -0.0).sum(), x)
    assert torch.signbit(g).all()


def test_gradients_of_slices_are_not_shared():
    x = torch.ones(3).requires_grad_()
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(g))
    (y[0] + y[1] * 2 + y[2] * 3).backward()
    assert seen[0].tolist() == [1, 2, 3] and x.grad.tolist() == [2, 4, 6]
    kept = torch.ones(3)
    z = torch.ones(3).requires_grad_()
    w = z * 1
    torch.autograd.backward([w, w[1]], [kept, torch.tensor(5.0)])
    assert z.grad.tolist() == [1, 6, 1] and kept.tolist() == [1, 1, 1]


def test_nodes_have_the_names_of_pytorch():
    x = torch.ones(2, 2).requires_grad_()
    names = [y.grad_fn.name() for y in (x @ x, x.view(-1), x * 2, x.exp())]
    assert names == ["MmBackward0", "ViewBackward0", "MulBackward0", "ExpBackward0"]
    assert repr(x.view(-1)).endswith("grad_fn=<ViewBackward0>)")
