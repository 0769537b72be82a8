"""SGD against its formula in NumPy, and what every optimizer does with groups and state."""

import copy
import math
import pickle

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
SGD = torch.optim.SGD


def parameter(values):
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def reference(
    p, grads, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False
):
    """SGD as its docstring says, in NumPy."""
    buffer = None
    for g in grads:
        g = -g if maximize else g
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


@pytest.mark.parametrize(
    "options",
    [
        dict(lr=0.1),
        dict(lr=0.1, momentum=0.9),
        dict(lr=0.1, momentum=0.9, dampening=0.5),
        dict(lr=0.1, momentum=0.9, nesterov=True),
        dict(lr=0.1, weight_decay=0.01, maximize=True),
        dict(lr=0.05, momentum=0.5, weight_decay=0.1),
    ],
)
def test_sgd_follows_its_formula(options):
    rng = np.random.default_rng(1)
    start, grads = rng.standard_normal(4), rng.standard_normal((5, 4))
    p = parameter(list(start))
    optimizer = SGD([p], **options)
    for g in grads:
        p.grad = torch.from_numpy(g)
        optimizer.step()
    np.testing.assert_allclose(p.detach().numpy(), reference(start, grads, **options), rtol=1e-12)


def test_step_changes_in_place_and_skips_parameters_without_gradient():
    p, q = parameter([1.0]), parameter([1.0])
    place = p.data_ptr()
    optimizer = SGD([p, q], lr=1.0)
    (p * 2).sum().backward()
    assert optimizer.step(lambda: 5) == 5
    assert p.data_ptr() == place and p.item() == -1.0 and q.item() == 1.0
    assert p.requires_grad and p.is_leaf
    optimizer.zero_grad()
    assert p.grad is None


def test_groups_take_defaults_and_own_options():
    p, q = parameter([1.0]), parameter([1.0])
    optimizer = SGD([{"params": p}, {"params": [q], "lr": 0.5}], lr=0.1)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    named = SGD([("p", p), ("q", q)])
    assert named.param_groups[0]["param_names"] == ["p", "q"]


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda p: SGD(p), TypeError, "iterable"),
        (lambda p: SGD([]), ValueError, "empty"),
        (lambda p: SGD([1]), TypeError, "int"),
        (lambda p: SGD([p, p]), ValueError, "twice"),
        (lambda p: SGD([{"params": p}, {"params": p}]), ValueError, "more than one"),
        (lambda p: SGD([p * 2]), ValueError, "non-leaf"),
        (lambda p: SGD([p], lr=-1), ValueError, "learning rate: -1"),
        (lambda p: SGD([p], momentum=-1), ValueError, "momentum"),
        (lambda p: SGD([p], nesterov=True), ValueError, "Nesterov"),
        (lambda p: SGD([p], differentiable=True), NotImplementedError, "differentiable"),
        (lambda p: torch.optim.Optimizer([p], {}).step(), NotImplementedError, "step"),
    ],
)
def test_misuse_is_named(make, error, text):
    with pytest.raises(error, match=text):
        make(parameter([1.0]))


def test_state_dict_round_trip_continues_the_same_way():
    rng = np.random.default_rng(2)
    grads = rng.standard_normal((6, 3))

    def run(p, optimizer, some):
        for g in some:
            p.grad = torch.from_numpy(g)
            optimizer.step()

    p = parameter([1.0, 2.0, 3.0])
    first = SGD([p], lr=0.1, momentum=0.9)
    run(p, first, grads[:3])
    state = first.state_dict()
    assert state["param_groups"][0]["params"] == [0] and list(state["state"]) == [0]
    q = parameter(p.detach().numpy().tolist())
    second = SGD([q], lr=0.7)
    second.load_state_dict(state)
    run(p, first, grads[3:])
    run(q, second, grads[3:])
    assert np.array_equal(p.detach().numpy(), q.detach().numpy())
    with pytest.raises(ValueError, match="size"):
        SGD([parameter([1.0]), parameter([1.0])]).load_state_dict(state)


class Halving:
    """A scale function with a state."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return 0.5**x


@pytest.mark.parametrize("function", [lambda x: 0.5**x, Halving(), None, math.cos])
def test_cyclic_rates_continue_from_a_pickled_state(function):
    def make():
        optimizer = SGD([parameter([1.0])], lr=0.1, momentum=0.9)
        scale = copy.copy(function)
        return optimizer, torch.optim.lr_scheduler.CyclicLR(
            optimizer, 0.1, 1.0, step_size_up=3, scale_fn=scale
        )

    def run(optimizer, scheduler, count):
        for _ in range(count):
            optimizer.step()
            scheduler.step()
        return scheduler.get_last_lr()

    first, second = make(), make()
    run(*first, 4)
    second[1].load_state_dict(pickle.loads(pickle.dumps(first[1].state_dict())))
    if isinstance(function, Halving):
        assert second[1]._scale_fn_custom.calls == first[1]._scale_fn_custom.calls > 1
    assert run(*first, 3) == run(*second, 3)
