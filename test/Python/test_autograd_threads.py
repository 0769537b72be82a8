"""The tape under several threads, with many inputs and outputs, and hooks that come, go and replace."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


class Many(torch.autograd.Function):
    """COUNT outputs: output i is i times the input."""

    COUNT = 300

    @staticmethod
    def forward(ctx, x):
        return tuple(x * i for i in range(Many.COUNT))

    @staticmethod
    def backward(ctx, *grads):
        return sum(g * i for i, g in enumerate(grads) if g is not None)


def in_thread(function, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def test_a_consumer_made_in_another_thread_runs_before_its_producer():
    x = torch.tensor(2.0, requires_grad=True)
    for _ in range(20):
        y = x * 1.0  # this thread counts ahead of a fresh one
    y = x * x
    calls = []
    y.register_hook(lambda g: calls.append(g.item()))
    z = in_thread(lambda: y * 3.0)
    (z + y).backward()
    assert x.grad.item() == 16.0 and calls == [4.0]


def test_branches_in_threads_share_a_graph():
    x = torch.full((5,), 2.0, requires_grad=True)
    y = (x * x).exp().log()
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: (y * i).sum(), range(8)))
    sum(parts).backward()
    assert torch.allclose(x.grad, torch.full((5,), 4.0 * sum(range(8))))


def test_backward_passes_of_threads_lose_nothing_of_a_leaf():
    leaf = torch.zeros(4096, requires_grad=True)

    def passes(_):
        for _ in range(50):
            (leaf * 1.0).sum().backward()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(passes, range(4)))
    assert torch.equal(leaf.grad, torch.full((4096,), 200.0))


def test_hooks_come_and_go_while_other_threads_run_backward():
    leaf = torch.zeros(8, requires_grad=True)
    stop = threading.Event()

    def passes():
        while not stop.is_set():
            (leaf * 2.0).sum().backward()

    threads = [threading.Thread(target=passes) for _ in range(2)]
    for thread in threads:
        thread.start()
    seen = []
    for _ in range(300):
        hooks = [leaf.register_hook(lambda g: seen.append(1)) for _ in range(3)]
        for hook in hooks:
            hook.remove()
    stop.set()
    for thread in threads:
        thread.join()
    leaf.grad = None
    (leaf * 2.0).sum().backward()
    assert torch.equal(leaf.grad, torch.full((8,), 2.0))


@pytest.mark.parametrize("output", [0, 1, 255, 256, 280, 299])
def test_functions_with_more_than_255_outputs(output):
    x = torch.tensor(1.0, requires_grad=True)
    outs = Many.apply(x)
    outs[output].backward()
    assert x.grad.item() == output


def test_a_node_with_more_than_65535_inputs():
    leaves = [torch.zeros(1, requires_grad=True) for _ in range(66_000)]
    torch.cat(leaves).sum().backward()
    assert all(leaf.grad is not None and leaf.grad.item() == 1 for leaf in leaves)


class Two(torch.autograd.Function):
    """Twice and three times the input."""

    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        return a * 2 + b * 3


def test_retain_grad_and_inputs_name_an_output():
    x = torch.tensor(1.0, requires_grad=True)
    a, b = Two.apply(x)
    b.retain_grad()
    (a * 5 + b * 7).backward()
    assert a.retains_grad is False and b.retains_grad and b.grad.item() == 7
    a, b = Two.apply(x)
    (a * 5 + b * 7).backward(inputs=[a, b])
    assert (a.grad.item(), b.grad.item()) == (5, 7)
    a, b = Two.apply(x)
    a.retain_grad()
    b.retain_grad()
    b.mul_(2)  # what retain_grad asked for stays with the tensor
    (a * 5 + b * 7).backward()
    assert (a.grad.item(), b.grad.item()) == (5, 7)


@pytest.mark.parametrize("replace", [lambda g: torch.ones(2), lambda g: g.double()])
def test_hooks_may_not_change_size_or_type(replace):
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (replace(grads[0]),))
    with pytest.raises(RuntimeError, match="hook has changed the (size|type)"):
        y.sum().backward()
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (replace(inputs[0]), None))
    with pytest.raises(RuntimeError, match="hook has changed the (size|type)"):
        y.sum().backward()
    assert x.grad is None


def test_a_hook_removed_during_a_pass_still_runs_in_it():
    x = torch.ones(2, requires_grad=True)
    log = []
    x.register_hook(lambda g: (log.append(1), second.remove())[0])
    second = x.register_hook(lambda g: log.append(2))
    (x * 2).sum().backward()
    assert log == [1, 2]
    (x * 2).sum().backward()
    assert log == [1, 2, 1]


def test_a_cotangent_comes_from_the_device_of_the_output():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="expected device cpu but got meta"):
        (x * 2).backward(torch.ones(3, device="meta"))


def test_views_made_without_gradients_are_not_written_with_them():
    for base in (torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True) * 2):
        with torch.no_grad():
            view = base.view(3)
            inner = view[:2]
            view.mul_(2)  # inside it is what no_grad is for
        for t in (view, inner):
            with pytest.raises(RuntimeError, match="view was created in no_grad mode"):
                t.mul_(2)
    with torch.no_grad():
        view = torch.ones(3).view(3)
    assert torch.equal(view.mul_(2), torch.full((3,), 2.0))
    with torch.no_grad():
        view = torch.ones(3, requires_grad=True).detach().view(3)
    assert torch.equal(view.mul_(2), torch.full((3,), 2.0))


def test_a_gradient_is_read_while_others_add_to_it():
    """Each read holds a whole sum, or none while one is being made; nothing is lost or freed under the reader."""
    x = torch.zeros(4, requires_grad=True)
    rounds, done = 300, threading.Event()

    def work():
        for _ in range(rounds):
            (x * 2).sum().backward(create_graph=True)

    def read():
        while not done.is_set():
            seen = x.grad
            if seen is not None:
                values = seen.tolist()
                assert len(set(values)) == 1 and values[0] % 2 == 0
        return True

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for worker in [pool.submit(work) for _ in range(3)]:
            worker.result()
        done.set()
        assert all(r.result() for r in readers)
    assert x.grad.tolist() == [2.0 * 3 * rounds] * 4
    x.grad = None
