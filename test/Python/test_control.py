"""torch.cond and torch.while_loop in eager execution. The oracle is Python's own `if` and `while`."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits  # noqa: E402


def tensor(seed, *shape):
    return torch.from_numpy(
        np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    ).clone()


# ---- cond


@pytest.mark.parametrize("flag", [True, False])
def test_the_chosen_branch_gives_the_result(flag):
    x = tensor(0, 3, 4)
    got = torch.cond(torch.tensor(flag), lambda x: torch.exp(x) + 1, lambda x: x.t().t() * 2, (x,))
    assert bits(got) == bits(torch.exp(x) + 1 if flag else x * 2)


def test_results_are_new_row_major_tensors():
    x = tensor(0, 3, 4)
    for flag in (True, False):
        y, z = torch.cond(torch.tensor(flag), lambda x: (x, x.t()), lambda x: (x, x.t()), (x,))
        assert bits(y) == bits(x) and y.data_ptr() != x.data_ptr()
        assert bits(z) == bits(x.t()) and z.is_contiguous()


def test_operands_and_results_are_nested():
    x, y = tensor(0, 2), tensor(1, 2)
    operands = ({"a": x, "b": [y]},)
    got = torch.cond(
        torch.tensor([True]),
        lambda d: {"sum": d["a"] + d["b"][0], "rest": (d["a"],)},
        lambda d: {"sum": d["a"], "rest": (d["b"][0],)},
        operands,
    )
    assert bits(got["sum"]) == bits(x + y) and bits(got["rest"][0]) == bits(x)


def test_predicates_of_other_types_and_constants():
    x = tensor(0, 2)
    assert bits(torch.cond(torch.tensor(2.0), lambda x: x + 1, lambda x: x, (x,))) == bits(x + 1)
    with pytest.warns(UserWarning, match="Pred is a Python constant"):
        assert bits(torch.cond(False, lambda x: x + 1, lambda x: x * 3, (x,))) == bits(x * 3)


def test_branches_neither_run_on_the_other_ones_data_nor_raise_for_it():
    x, i = tensor(0, 4), torch.tensor(9)

    def pick(x, i):
        return x[i.reshape(1)].sum()

    for bound in (4, 20):
        index = i if bound == 20 else torch.tensor(2)
        inside = index < 4
        got = torch.cond(inside, pick, lambda x, i: x.sum(), (x, index))
        assert bits(got) == bits(x[2] if bound == 4 else x.sum())
    with pytest.raises(IndexError):
        torch.cond(torch.tensor(True), pick, lambda x, i: x.sum(), (x, i))


@pytest.mark.parametrize("flag", [True, False])
def test_gradients_reach_operands_and_tensors_from_outside(flag):
    x, w = tensor(0, 3).requires_grad_(), tensor(1, 3).requires_grad_()
    p = torch.tensor(flag)
    y = torch.cond(p, lambda x: (x * w).sum(), lambda x: (x * x * x).sum(), (x,))
    assert y.grad_fn.name() == "CondBackward0"
    y.backward()
    if flag:
        assert bits(x.grad) == bits(w.detach()) and bits(w.grad) == bits(x.detach())
    else:
        np.testing.assert_allclose(x.grad.numpy(), 3 * x.detach().numpy() ** 2, rtol=1e-6)
        assert w.grad.tolist() == [0, 0, 0]  # the other branch reads it


def test_higher_derivatives():
    for flag, want in ((True, lambda x: 6 * x), (False, np.exp)):
        x = torch.tensor([0.5, 1.5]).requires_grad_()
        y = torch.cond(torch.tensor(flag), lambda x: x * x * x, torch.exp, (x,)).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (gg,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        np.testing.assert_allclose(gg.detach().numpy(), want(x.detach().numpy()), rtol=1e-6)
        (ggg,) = torch.autograd.grad(gg.sum(), x)
        third = np.full(2, 6) if flag else np.exp(x.detach().numpy())
        np.testing.assert_allclose(ggg.numpy(), third, rtol=1e-6)


def test_a_written_operand_is_noticed():
    x = tensor(0, 3).requires_grad_()
    a = x * 1
    y = torch.cond(torch.tensor(True), lambda a: a * a, lambda a: a, (a,))
    with torch.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_backward_twice_needs_retain_graph():
    x = tensor(0, 3).requires_grad_()
    y = torch.cond(torch.tensor(True), lambda x: x * x, lambda x: x, (x,)).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize("flag", [True, False])
def test_random_numbers_take_the_ordinals_of_the_chosen_branch(flag):
    def one(x):
        return torch.nn.functional.dropout(x, 0.5)

    def two(x):
        return torch.nn.functional.dropout(x, 0.5) + torch.randn(64) + torch.rand(64)

    x = tensor(0, 64)
    torch.manual_seed(3)
    got = torch.cond(torch.tensor(flag), one, two, (x,)), torch.rand(4)
    torch.manual_seed(3)
    want = (one if flag else two)(x), torch.rand(4)
    assert bits(got) == bits(want)


def test_gradients_use_the_random_numbers_of_the_forward_pass():
    x = torch.ones(64).requires_grad_()
    torch.manual_seed(5)
    torch.rand(3)
    y = torch.cond(torch.tensor(True), lambda x: torch.dropout(x, 0.5, True) * 3, lambda x: x, (x,))
    later = torch.rand(2)
    y.sum().backward()
    assert bits(x.grad) == bits(y.detach()) and set(x.grad.tolist()) == {0, 6}
    again = torch.rand(2)  # the backward pass took no ordinal
    torch.manual_seed(5)
    torch.rand(3)
    torch.dropout(torch.ones(64), 0.5, True)
    assert bits([later, again]) == bits([torch.rand(2), torch.rand(2)])


def test_nesting():
    def inner(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    for shift in (-5.0, 0.5, 5.0):
        x = (tensor(0, 3) + shift).requires_grad_()
        y = torch.cond(x.sum() < 10, inner, torch.exp, (x,))
        s = float(x.sum())
        want = torch.exp(x) if s >= 10 else x * 2 if s > 0 else x - 1
        assert bits(y.detach()) == bits(want.detach())
        got_grad = torch.autograd.grad(y.sum(), x)
        assert bits(got_grad) == bits(torch.autograd.grad(want.sum(), x))


@pytest.mark.parametrize(
    "args, text",
    [
        (("yes", abs, abs, ()), "Expected pred to be bool or tensor, but got yes"),
        ((torch.ones(2), abs, abs, ()), "Expected pred to be bool or single-element tensor"),
        ((torch.tensor(True), 1, abs, ()), "Expect both branches to be callable"),
        ((torch.tensor(True), abs, abs, (1,)), "Expect operands to be a tuple of possibly nested"),
        (
            (torch.tensor(True), lambda: 1, lambda: 2),
            "Expect outputs of true_fn of torch.cond",
        ),
    ],
)
def test_wrong_arguments(args, text):
    with pytest.raises(RuntimeError, match=text):
        torch.cond(*args)


def test_branches_that_differ_are_refused_naming_both():
    x = tensor(0, 3)
    p = torch.tensor(True)
    with pytest.raises(
        RuntimeError, match=r"result 0 of true_fn is float32\[3\] and of false_fn float32\[2\]"
    ):
        torch.cond(p, lambda x: x, lambda x: x[:2], (x,))
    with pytest.raises(RuntimeError, match=r"true_fn is float32\[3\] and of false_fn int64\[3\]"):
        torch.cond(p, lambda x: x, lambda x: x.long(), (x,))
    with pytest.raises(RuntimeError, match="Unmatched output spec"):
        torch.cond(p, lambda x: x, lambda x: (x, x), (x,))


def test_what_branches_must_not_do():
    x, outside = tensor(0, 3), tensor(1, 3)
    before = bits([x, outside])
    p = torch.tensor(True)
    with pytest.raises(RuntimeError, match="true_fn of torch.cond might be modifying the input"):
        torch.cond(p, lambda x: x.add_(1), lambda x: x, (x,))
    with pytest.raises(RuntimeError, match="false_fn of torch.cond might be modifying the input"):
        torch.cond(p, lambda x: x, lambda x: outside.mul_(x), (x,))
    with pytest.raises(NotImplementedError, match="looks at the numbers of a tensor"):
        torch.cond(p, lambda x: x if x.sum() > 0 else x + 1, lambda x: x, (x,))
    assert bits([x, outside]) == before
    own = torch.cond(
        p, lambda x: (x + 1).mul_(2), lambda x: x, (x,)
    )  # what it made itself it may write
    assert bits(own) == bits((x + 1) * 2)


@pytest.mark.parametrize("taken", [True, False])
def test_branches_change_nothing_outside(taken):
    """Both are recorded, whichever is taken."""
    x, leaf = tensor(0, 3), torch.ones(3)
    grown = torch.ones(3, requires_grad=True) * 2

    def gives_grad(t):
        leaf.grad = t
        return t * 2

    changes = {
        "detach_": lambda t: (grown.detach_(), t * 2)[1],
        "grad": gives_grad,
        "requires_grad_": lambda t: (leaf.requires_grad_(), t * 2)[1],
    }
    for change in changes.values():
        with pytest.raises(RuntimeError, match="might be modifying the input"):
            torch.cond(torch.tensor(taken), change, lambda t: t, (x,))
    assert leaf.grad is None and not leaf.requires_grad and grown.grad_fn is not None

    torch.manual_seed(7)
    before = torch.get_rng_state().tolist()
    with pytest.raises(NotImplementedError, match="seeds the generator"):
        torch.cond(torch.tensor(taken), lambda t: (torch.manual_seed(3), t)[1], lambda t: t, (x,))
    assert torch.initial_seed() == 7 and torch.get_rng_state().tolist() == before
    with_grad = torch.cond(
        torch.tensor(taken), lambda t: (t + 1).detach_().requires_grad_(), lambda t: t * 1, (x,)
    )
    assert with_grad.shape == (3,)


def test_a_compiled_function_keeps_no_activation_of_a_branch():
    alive = []

    class Mark:
        pass

    def program(x, p):
        h = x * 2
        h.mark = Mark()
        alive.append(weakref.ref(h.mark))
        return torch.cond(p, lambda a: a + h, lambda a: a - h, (x,))

    compiled = torch.compile(program, background=False)
    x = tensor(0, 3)
    for flag in (True, False, True, True):
        assert bits(compiled(x, torch.tensor(flag))) == bits(x + x * 2 if flag else x - x * 2)
    gc.collect()
    assert [mark() for mark in alive] == [None] * 4


def test_a_failed_recording_leaves_no_trace():
    x = tensor(0, 3).requires_grad_()
    with pytest.raises(ZeroDivisionError):
        torch.cond(torch.tensor(True), lambda x: x / (1 // 0), lambda x: x, (x,))
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and torch.is_grad_enabled()


def test_modules_in_branches():
    torch.manual_seed(0)
    a, b = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    x = tensor(0, 4, 3)
    for flag in (True, False):
        y = torch.cond(torch.tensor(flag), a, b, (x,))
        assert bits(y) == bits((a if flag else b)(x))
        y.sum().backward()
    want = torch.nn.Linear(3, 2)
    want.load_state_dict(a.state_dict())
    want(x).sum().backward()
    assert bits(a.weight.grad) == bits(want.weight.grad)


def test_inference_mode_and_no_grad():
    x = tensor(0, 3).requires_grad_()
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            y = torch.cond(torch.tensor(True), lambda x: x * 2, lambda x: x, (x,))
        assert not y.requires_grad and bits(y) == bits((x * 2).detach())


# ---- while_loop


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def test_a_loop_with_a_branch():
    def body(n, steps):
        return torch.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    for n in (1, 2, 7, 27):
        got = torch.while_loop(lambda n, s: n != 1, body, (torch.tensor(n), torch.tensor(0)))
        assert [int(t) for t in got] == [1, collatz(n)]


def test_loops_read_tensors_from_outside_and_swap():
    a, b, limit = tensor(0, 3), tensor(1, 3), torch.tensor(5)
    i, x, y = torch.while_loop(
        lambda i, x, y: i < limit, lambda i, x, y: (i + 1, y, x * 0.5 + a), (torch.tensor(0), a, b)
    )
    p, q = a, b
    for _ in range(5):
        p, q = q, p * 0.5 + a
    assert int(i) == 5 and bits([x, y]) == bits([p, q])


def test_a_loop_of_no_rounds_gives_copies():
    x = tensor(0, 3)
    (y,) = torch.while_loop(lambda x: x.sum() > 1e9, lambda x: (x + 1,), (x,))
    assert bits(y) == bits(x) and y.data_ptr() != x.data_ptr()


def test_random_numbers_in_loops_take_one_ordinal_each():
    def body(i, x):
        return i + 1, x + torch.rand(4) * torch.randn(4)

    for rounds in (0, 1, 5):
        torch.manual_seed(1)
        _, x = torch.while_loop(
            lambda i, x: i < rounds,  # noqa: B023
            body,
            (torch.tensor(0), torch.zeros(4)),
        )
        got = x, torch.rand(2)
        torch.manual_seed(1)
        i, x = torch.tensor(0), torch.zeros(4)
        for _ in range(rounds):
            i, x = body(i, x)
        assert bits(got) == bits((x, torch.rand(2)))


def test_gradients_of_loops_by_the_tape():
    x = torch.tensor([0.5, 2.0]).requires_grad_()
    i, y = torch.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (torch.tensor(0), torch.ones(2))
    )
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * x.detach().numpy() ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    "args, text",
    [
        ((1, abs, (torch.ones(1),)), "Expect cond_fn and body_fn to be callable"),
        ((abs, abs, (1,)), "Expect carried_inputs to be a tuple of possibly nested"),
        ((lambda x: x, lambda x: (x,), (torch.ones(1),)), r"cond_fn must return a boolean scalar tensor.*float32\[1\]"),
        ((lambda x: x > 0, lambda x: (x.double(),), (torch.ones(1),)),
         r"carried_inputs\[0\] is float32\[1\] and body_fn returns float64\[1\]"),
        ((lambda x: x.sum() > 0, lambda x: (x[:1],), (torch.ones(2),)),
         r"carried_inputs\[0\] is float32\[2\] and body_fn returns float32\[1\]"),
        ((lambda x: x > 0, lambda x: (x, x), (torch.ones(1),)), "same structure"),
    ],
)  # fmt: skip
def test_wrong_loops(args, text):
    with pytest.raises(RuntimeError, match=text):
        torch.while_loop(*args)


def test_the_names_of_pytorch():
    from torchc._higher_order_ops import cond, while_loop
    from torchc._higher_order_ops.while_loop import while_loop as inner

    assert torch.cond is cond and torch.while_loop is while_loop is inner
