"""Views by strides, shapes changed in place, and what writes through them do to gradients."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


def test_as_strided_and_unfold():
    x = torch.arange(10.0)
    y = x.as_strided((3, 2), (3, 1), 1)
    assert y.tolist() == [[1, 2], [4, 5], [7, 8]] and y.storage_offset() == 1
    assert x.unfold(0, 4, 3).tolist() == [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]
    m = torch.arange(12.0).reshape(3, 4).t()
    assert m.unfold(0, 2, 2).tolist() == [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]
    assert m.unfold(1, 2, 1).stride() == (1, 4, 4)
    assert torch.tensor(3.0).unfold(0, 1, 1).tolist() == [3.0]
    y.fill_(0)
    assert x.tolist() == [0, 0, 0, 3, 0, 0, 6, 0, 0, 9]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.unfold(0, 9, 1), "maximum size"),
        (lambda x: x.unfold(0, 1, 0), "step is 0"),
        (lambda x: x.unfold(0, -1, 1), "size is -1"),
        (lambda x: x.as_strided((3, 3), (3, 1)), "out of bounds for storage"),
        (lambda x: x.as_strided((3,), (1, 1)), "length of strides"),
        (lambda x: x.as_strided((3,), (-1,)), "Negative strides"),
        (lambda x: x.as_strided((3,), (1,), -1), "storage offset"),
    ],
)
def test_strided_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.zeros(8))


def test_gradient_of_overlapping_windows():
    x = torch.arange(5.0, requires_grad=True)
    w = torch.tensor([[1.0, 10.0, 100.0]])
    (g,) = torch.autograd.grad((x.unfold(0, 3, 1) * w).sum(), x, create_graph=True)
    assert g.tolist() == [1, 11, 111, 110, 100]
    y = torch.rand(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: y.t().unfold(1, 2, 2).exp(), (y,))
    assert torch.autograd.gradgradcheck(lambda y: (y * y).t().unfold(0, 2, 1).exp(), (y,))


def test_writes_through_strides_reach_the_gradient():
    x = torch.ones(6, requires_grad=True)
    y = x * 2
    v = y.as_strided((2, 2), (3, 1), 1)
    v.mul_(torch.tensor([[3.0, 4.0], [5.0, 6.0]]))
    y.sum().backward()
    assert x.grad.tolist() == [2, 6, 8, 2, 10, 12]
    x.grad = None
    y = x * 2
    y.unfold(0, 2, 2)[1] = 0.0
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 0, 0, 2, 2]


def test_shape_in_place():
    x = torch.arange(6.0).reshape(2, 3).clone()
    assert x.t_() is x and x.shape == (3, 2) and x.stride() == (1, 3) and x._version == 1
    x.unsqueeze_(0).transpose_(0, 2)
    assert x.shape == (2, 3, 1) and x.squeeze_().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x._base is None and x._version == 4


def test_shape_in_place_keeps_history():
    w = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        w.t_()
    y = w * 2
    old = y[0]
    y.t_()
    y[1].mul_(5)  # a column of w
    old.mul_(3)  # a row of w, a view from before
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    assert w.grad.tolist() == [[0, 60, 24], [2, 30, 10]]
    a = torch.ones(2, 3, requires_grad=True)
    b = (a * 1).reshape(-1)
    b.unsqueeze_(1)
    b.mul_(torch.arange(6.0).reshape(6, 1))
    b.sum().backward()
    assert a.grad.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_overlaps_are_refused():
    x = torch.zeros(3).expand(2, 3)
    with pytest.raises(RuntimeError, match="more than one element"):
        x.add_(1)
    y = torch.arange(5.0)
    with pytest.raises(RuntimeError, match="some elements"):
        y[1:].add_(y[:-1])
    assert y.tolist() == [0, 1, 2, 3, 4]


def test_compiled_strided_views_are_eager():
    def f(x):
        y = x * 2
        y.as_strided((2, 2), (3, 1), 1).add_(1)
        return y, y.unfold(0, 2, 2).sum(1)

    compiled = torch.compile(f, background=False)
    x = torch.rand(6)
    want = f(x)
    for _ in range(4):
        assert all(torch.equal(a, b) for a, b in zip(compiled(x), want, strict=True))


_SEVERAL = {
    "unbind": lambda x: x.unbind(0),
    "split": lambda x: x.split(2),
    "split_with_sizes": lambda x: x.split([1, 3]),
    "chunk": lambda x: x.chunk(2),
    "iter": list,
    "a view of one": lambda x: [x.unbind(0)[0][1:]],
}
_ONE_BY_ONE = {
    "tensor_split": lambda x: x.tensor_split(2),
    "hsplit": lambda x: x.hsplit(2),
    "unsafe_split": lambda x: x.unsafe_split(2),
    "unsafe_chunk": lambda x: x.unsafe_chunk(2),
}


@pytest.mark.parametrize("views", _SEVERAL.values(), ids=_SEVERAL)
def test_views_that_come_together_keep_their_history(views):
    base = torch.rand(4, 4, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        views(base)[0].add_(1)
    plain = torch.zeros(4, 4)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        views(plain)[0].mul_(torch.ones((), requires_grad=True))
    views(plain)[0].add_(1)  # without gradients they are views like others
    assert plain.sum() > 0
    with torch.no_grad():
        views(base)[0].zero_()


@pytest.mark.parametrize("views", _ONE_BY_ONE.values(), ids=_ONE_BY_ONE)
def test_views_that_may_be_written(views):
    leaf = torch.rand(4, 4, requires_grad=True)
    views(leaf * 1)[0].mul_(2).sum().backward()
    assert leaf.grad.sum() > 0


def test_a_view_from_a_custom_function_is_not_written():
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.ones(2, requires_grad=True)
    y = Same.apply(x * 1)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_diagonals_of_one_element_or_none_step_over_both_dimensions():
    x = torch.arange(12.0).reshape(3, 4)
    assert x[:1].diagonal().stride() == (5,)
    assert x[:, :1].diagonal(-1).stride() == (5,) and x[:, :1].diagonal(-1).tolist() == [4.0]
    assert x[:0].diagonal().stride() == (5,)
    assert torch.arange(3.0).reshape(1, 3).mT[:2].diagonal(-1).stride() == (4,)


def test_permutations_that_change_nothing_keep_strides():
    x = torch.arange(6.0).reshape(2, 3)[1::2]
    assert x.stride() == (6, 1)
    for view in (x.permute(0, 1), x.movedim(0, -2)):
        assert view.stride() == (6, 1) and view.data_ptr() == x.data_ptr()


def test_windows_of_a_leaf_that_is_a_view_have_gradients():
    x = torch.arange(8.0)[::2].requires_grad_()
    x.unfold(0, 2, 1).sum().backward()
    assert x.grad.tolist() == [1, 2, 2, 1]
    with pytest.raises(NotImplementedError, match="as_strided"):
        torch.as_strided(x, (2,), (1,), 0)


def test_copies_from_a_part_of_what_is_written():
    """Refused also where the part is broadcast, but not for fill_ and assignments of one number."""
    for write in (
        lambda x: x.copy_(x[3]),
        lambda x: x.copy_(x[3:4]),
        lambda x: x.view(2, 3).copy_(x[:3]),
        lambda x: x[1:].copy_(x[:-1]),
    ):
        x = torch.arange(6.0)
        with pytest.raises(RuntimeError, match="some elements of the input tensor"):
            write(x)
        assert x.tolist() == [0, 1, 2, 3, 4, 5]
    x = torch.arange(6.0)
    x[:5].copy_(x[5])
    assert x.tolist() == [5] * 6
    y = torch.arange(3.0)
    y[:] = y[1]
    assert (
        y.tolist() == [1, 1, 1]
        and y.fill_(y[2]).tolist() == [1, 1, 1]
        and torch.equal(y.copy_(y), y)
    )
