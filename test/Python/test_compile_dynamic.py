"""Sizes that change from call to call: one compiled graph serves them all, with the bits of eager."""

from __future__ import annotations

from typing import Any

import pytest

from compiled import bits, needs_compiler
from test_compile import compiled  # noqa: F401 - the fixture

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import nn  # noqa: E402

F = nn.functional


def serve(compiled: Any, fn: Any, make: Any, sizes: Any, learn: int = 3) -> Any:  # noqa: F811
    """Runs fn eagerly and compiled at each size; what the first `learn` sizes taught must serve all others."""
    other = compiled(fn)
    before: dict[str, int] = {}
    for i, n in enumerate(sizes):
        a, b = make(n), make(n)
        want, got = fn(*a), other(*b)
        assert bits(want) == bits(got), f"size {n}\n{other.report()}"
        assert bits(list(a)) == bits(list(b)), f"size {n}\n{other.report()}"
        if i + 1 == learn:
            before = other.counts()
    after = other.counts()
    assert after["dynamic"] == after["recordings"] == 1, other.report()
    assert after["recorded"] == before["recorded"] == 2, other.report()
    assert after["left"] == before["left"], other.report()
    ran = after["launches"] + after["interpreted"] + after["replayed"]
    ran -= before["launches"] + before["interpreted"] + before["replayed"]
    assert ran >= len(sizes) - learn, other.report()
    if after["ready"]:
        assert after["interpreted"] == before["interpreted"], other.report()
    return other


def numbers(*shape: int) -> Any:
    torch.manual_seed(7)
    return torch.rand(*shape) - 0.5


def classes(n: int) -> Any:
    return torch.arange(n) * 7 % 4


W = numbers(4, 6)
KERNEL = numbers(3, 2, 3, 3)
SIZES = (4, 7, 7, 1, 0, 3, 64, 129, 4, 2)

PROGRAMS = {
    "pointwise": (lambda x: (x * 2 + 1).exp() - x, lambda n: (numbers(n, 4),)),
    "one dimension": (lambda x: (x + 1).sqrt() * x, lambda n: (numbers(n),)),
    "inner dimension": (lambda x: (x * 2 + 1).tanh(), lambda n: (numbers(3, n),)),
    "rows added": (lambda x: x * W[0, :4] + W[1, :4], lambda n: (numbers(n, 4),)),
    "columns added": (lambda x, y: x * y + 1, lambda n: (numbers(n, 4), numbers(n, 1))),
    "matmul": (lambda x: (x @ W).relu(), lambda n: (numbers(n, 4),)),
    "contraction": (lambda x, y: x.t() @ y, lambda n: (numbers(n, 4), numbers(n, 3))),
    "batched": (lambda x, y: x @ y, lambda n: (numbers(n, 3, 4), numbers(n, 4, 2))),
    "square": (lambda x: x @ x.t() + 1, lambda n: (numbers(n, 4),)),
    "transposed": (lambda x: x.t() * 2 + 1, lambda n: (numbers(n, 4),)),
    "turned": (lambda x: x.permute(2, 0, 1) * 2 + 1, lambda n: (numbers(n, 3, 4),)),
    "sums": (lambda x: (x.sum(0), (x * 2).sum(1), x.sum()), lambda n: (numbers(n, 4),)),
    "middle": (lambda x: x.sum(1) * 2, lambda n: (numbers(3, n, 4),)),
    "mean": (lambda x: x.mean() + x.mean(0) * 2, lambda n: (numbers(n, 4),)),
    "softmax": (
        lambda x: torch.softmax(x, 1) * torch.log_softmax(x * 2, 1),
        lambda n: (numbers(n, 4),),
    ),
    "softmax over": (lambda x: torch.softmax(x, 1) * 2, lambda n: (numbers(3, n),)),
    "running": (lambda x: x.cumsum(0) + x.cumsum(1), lambda n: (numbers(n, 4),)),
    "layer norm": (lambda x: F.layer_norm(x * 2, (4,)) + 1, lambda n: (numbers(n, 4),)),
    "flattened": (lambda x: x.reshape(-1, 4) * 2 + 1, lambda n: (numbers(n, 3, 4),)),
    "flat": (lambda x: (x * 2).reshape(-1) + 1, lambda n: (numbers(n, 3, 4),)),
    "one row": (lambda x: x.flatten(1) * 2, lambda n: (numbers(n, 3, 4),)),
    "joined": (lambda x: torch.cat([x, x * 2, W[:, :4]]) + 1, lambda n: (numbers(n, 4),)),
    "joined columns": (lambda x: torch.cat([x, x * 2], 1) + 1, lambda n: (numbers(n, 4),)),
    "stacked": (lambda x: torch.stack([x, x + 1], 1) * 2, lambda n: (numbers(n, 4),)),
    "columns cut": (lambda x: x[:, 1:3] * 2 + x[:, :2], lambda n: (numbers(n, 4),)),
    "columns written": (
        lambda x: (lambda y: (y[:, 1:3].add_(5), y * 1)[1])(x * 2),
        lambda n: (numbers(n, 4),),
    ),
    "in place": (lambda x: x.add_(1).mul_(2) + 1, lambda n: (numbers(n, 4),)),
    "made": (lambda x: torch.zeros(x.shape[0], 2) + x[:, :2], lambda n: (numbers(n, 4),)),
    "counted": (lambda x: torch.arange(x.shape[0]) * 2 + x, lambda n: (numbers(n),)),
    "size as number": (lambda x: x * x.shape[0] + 1, lambda n: (numbers(n, 4),)),
    "expanded": (lambda x: W[0].expand(x.shape[0], 6) * x[:, :1], lambda n: (numbers(n, 4),)),
    "rows looked up": (lambda x: W[x] * 2, lambda n: (classes(n),)),
    "picked": (lambda x, y: x.gather(1, y.unsqueeze(1)) * 2, lambda n: (numbers(n, 4), classes(n))),
    "added at": (
        lambda x, y: torch.zeros(4, 3).index_add(0, y, x * 1.5) + 1,
        lambda n: (numbers(n, 3), classes(n)),
    ),
    "loss": (lambda x, y: F.cross_entropy(x * 2, y) * 3, lambda n: (numbers(n, 4), classes(n))),
    "convolution": (lambda x: F.conv2d(x, KERNEL).relu() * 2, lambda n: (numbers(n, 2, 6, 5),)),
    "pool": (lambda x: F.max_pool2d(x * 2, 2) + 1, lambda n: (numbers(n, 2, 6, 4),)),
    "half": (lambda x: (x.half() * 2 + 1).float().sum(1), lambda n: (numbers(n, 4),)),
    "integers": (lambda x: x * 3 + (x > 1).to(torch.int64), lambda n: (classes(n),)),
    "largest": (lambda x: x.argmax(1) + (x * 2).argmin(1), lambda n: (numbers(n, 4),)),
}


BLOCKS = {
    "sums": (lambda x: (x.sum(0), (x * 2).sum(), x.mean(1)), lambda n: (numbers(n, 4),)),
    "rows": (lambda x: (x.sum(1), (x * 2).amax(1), x.var(1)), lambda n: (numbers(3, n),)),
    "softmax": (lambda x: torch.softmax(x * 2, 1) + 1, lambda n: (numbers(2, n),)),
    "norm": (lambda x: (x * 2).norm(dim=0) + x.std(0), lambda n: (numbers(n, 3),)),
    "contraction": (lambda x, y: x.t() @ y, lambda n: (numbers(n, 4), numbers(n, 3))),
    "columns": (lambda x, y: x @ y + 1, lambda n: (numbers(3, 1030), numbers(1030, n))),
    "running": (lambda x: x.cumsum(0) * 2, lambda n: (numbers(n, 3),)),
    "batch norm": (
        lambda x: F.batch_norm(x * 2, None, None, training=True) + 1,
        lambda n: (numbers(n, 3, 2),),
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_sizes_of_several_blocks(compiled: Any, name: str) -> None:  # noqa: F811
    """Sums and products are made of blocks of 1024 elements (N3, N4)."""
    fn, make = BLOCKS[name]
    serve(compiled, fn, make, (5, 7, 1023, 1024, 1025, 2048, 3001, 9000, 70001, 2))


# What is true of the primes that the program is compiled at needn't be true of other sizes.
BY_CHANCE = {
    **{
        f"runs of n + {k}": (
            lambda x, k=k: torch.cat([x, x[:, :, :k] * 2], 2).sum((0, 2)),
            lambda n: (numbers(3, 4, n),),
        )
        for k in (1, 3, 5, 7, 13, 15)
    },
    "even runs": (lambda x: torch.cat([x] * 16, 2).sum((0, 2)), lambda n: (numbers(3, 4, n),)),
    "rows of one vector": (
        lambda x: F.max_pool2d(torch.cat([x, x], 2) * 2, 2) + 1,
        lambda n: (numbers(3, 2, n, 8),),
    ),
    "rows of half a vector": (
        lambda x: F.max_pool2d(torch.cat([x, x], 2) * 2, 2) + 1,
        lambda n: (numbers(3, 2, n, 4),),
    ),
}


@pytest.mark.parametrize("name", BY_CHANCE)
def test_sizes_that_divide_by_chance(compiled: Any, name: str) -> None:  # noqa: F811
    fn, make = BY_CHANCE[name]
    serve(compiled, fn, make, (40, 50, 50, 60, 33, 32, 64, 20, 18, 17, 16))


@pytest.mark.parametrize("k", [1, 2, 3, 6, 12])
def test_a_square_of_one_of_two_sizes(compiled: Any, k: int) -> None:  # noqa: F811
    other = compiled(lambda z, y: ((z * 2).sum(), (z + 1).sum(0), y * 2))
    for n, m in ((4, 3), (5, 7), (5, 7), (6, 9), (9, 2), (8, 8), (13, 3), (2, 40)):
        z, y = numbers(n, n, k), numbers(m)
        want = (z * 2).sum(), (z + 1).sum(0), y * 2
        assert bits(want) == bits(other(z, y)), f"{n} {m} {other.report()}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size(compiled: Any, name: str) -> None:  # noqa: F811
    fn, make = PROGRAMS[name]
    serve(compiled, fn, make, SIZES)


def trained(compile_step: Any, model: Any, shape: tuple[int, ...], momentum: float = 0.9) -> Any:
    """Two epochs of data whose last batch is short."""
    torch.manual_seed(0)
    network = model()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=momentum)
    data = torch.utils.data.TensorDataset(numbers(29, *shape), classes(29))
    loader = torch.utils.data.DataLoader(data, batch_size=8)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    fn = compile_step(step) if compile_step else step
    losses = [fn(x, y) for _ in range(4) for x, y in loader]
    return fn, bits([losses, list(network.parameters())])


def mlp() -> Any:
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))


def cnn() -> Any:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 4)
    )


def normed() -> Any:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(4, 6, 3, stride=2),
        nn.GELU(),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(6, 4),
    )


class Transformer(nn.Module):
    """Words of 5 numbers, two layers, the mean over words."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(5, 8)
        self.place = nn.Parameter(numbers(6, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.head(self.layers(self.embed(x) + self.place).mean(1))


NETWORKS = {
    "mlp": (mlp, (6,), torch.optim.Adam),
    "cnn": (normed, (2, 6, 6), torch.optim.SGD),
    "transformer": (Transformer, (6, 5), torch.optim.AdamW),
}


class Training:
    """A training step, eager or compiled."""

    def __init__(self, name: str, compile_step: Any) -> None:
        make, self.shape, optimizer = NETWORKS[name]
        torch.manual_seed(3)
        self.network = make()
        self.optimizer = optimizer(self.network.parameters(), lr=0.05)
        self.step = compile_step(self.eager) if compile_step else self.eager

    def eager(self, x: Any, y: Any) -> Any:
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.network(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run(self, n: int) -> Any:
        x = numbers(n, *self.shape)
        return bits([self.step(x, classes(n)), *self.network.state_dict().values()])


def in_foreground(fn: Any) -> Any:
    from torchc.jit import _compiled

    return _compiled(fn, False, measure=False)


@needs_compiler
@pytest.mark.parametrize("name", NETWORKS)
def test_a_training_step_is_one_graph_for_all_sizes(name: str) -> None:
    """Once two sizes were seen behind the optimizer's first step, no other one is recorded or compiled."""
    want, got = Training(name, None), Training(name, in_foreground)
    warm = (8, 8, 5, 5, 8, 8, 8, 5)
    sizes = (*warm, 7, 3, 16, 2, 33, 9, 8, 64)
    for i, n in enumerate(sizes):
        torch.manual_seed(i)
        w = want.run(n)
        torch.manual_seed(i)
        assert w == got.run(n), f"{n}\n{got.step.report()}"
        if i + 1 == len(warm):
            before = got.step.counts()
    counts, report = got.step.counts(), got.step.report()
    assert counts["dynamic"] == 1 and counts["failed"] == 0, report
    assert counts["recorded"] == before["recorded"], report
    assert counts["launches"] - before["launches"] == len(sizes) - len(warm), report
    assert counts["interpreted"] == before["interpreted"], report
    assert "dynamic (s0 = dimension 0 of input" in report


@needs_compiler
def test_parameters_that_are_replaced_or_reloaded() -> None:
    trainings = [Training("mlp", None), Training("mlp", in_foreground)]

    def both(change: Any, sizes: Any) -> None:
        for t in trainings:
            change(t)
        for n in sizes:
            results = [t.run(n) for t in trainings]
            assert results[0] == results[1], f"{n}\n{trainings[1].step.report()}"

    def reload(t: Any) -> None:
        state = {k: v * 2 for k, v in t.network.state_dict().items()}
        t.network.load_state_dict(state)

    def replace(t: Any) -> None:
        t.network[0].weight = nn.Parameter(numbers(16, 6) * 3)

    def swap(t: Any) -> None:
        t.network[2].weight.data = numbers(4, 16) * 5

    def add(t: Any) -> None:
        with torch.no_grad():
            t.network[2].bias.add_(1)

    both(lambda t: None, (8, 5, 8, 5, 3))
    for change in (reload, add, swap, replace, reload):
        both(change, (4, 8, 5, 11, 1, 8))


@pytest.mark.parametrize("model, shape", [(mlp, (6,)), (cnn, (2, 6, 6))])
def test_training_with_a_short_last_batch(compiled: Any, model: Any, shape: Any) -> None:  # noqa: F811
    _, want = trained(None, model, shape)
    fn, got = trained(compiled, model, shape)
    assert want == got, fn.report()
    counts = fn.counts()
    assert "dynamic (s0 = dimension 0 of input" in fn.report()
    assert counts["dynamic"] == 1, fn.report()
    assert counts["launches"] + counts["interpreted"] >= 8, fn.report()


def test_two_sizes(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any, y: Any) -> Any:
        return x @ y + x.sum(1, keepdim=True)

    other = compiled(fn)
    for n, m in ((4, 3), (5, 7), (5, 7), (1, 1), (0, 2), (2, 0), (9, 9), (64, 33)):
        a = numbers(n, 4), numbers(4, m)
        assert bits(fn(*a)) == bits(other(*a)), other.report()
    counts = other.counts()
    assert counts["dynamic"] == counts["recordings"] == 1, other.report()
    assert counts["recorded"] == 2, other.report()


def test_sizes_that_were_equal_may_part(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any, y: Any) -> Any:
        return (x * 2).sum(0) + (y * 3).sum(0)

    other = compiled(fn)
    for n, m in ((4, 4), (5, 5), (6, 6), (3, 8), (3, 8), (8, 3), (2, 2), (1, 9)):
        a = numbers(n, 4), numbers(m, 4)
        assert bits(fn(*a)) == bits(other(*a)), other.report()
    assert other.counts()["recordings"] == 1, other.report()
    assert "s1 = dimension 0 of input 1" in other.report()


def test_broadcasting_is_another_recording(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any, y: Any) -> Any:
        return x * y + 1

    other = compiled(fn)
    for n, m in (
        (4, 4),
        (6, 6),
        (6, 6),
        (1, 6),
        (1, 9),
        (1, 9),
        (7, 1),
        (8, 1),
        (8, 1),
        (5, 5),
        (1, 1),
    ):
        a = numbers(n, 3), numbers(m, 3)
        assert bits(fn(*a)) == bits(other(*a)), other.report()
    with pytest.raises(RuntimeError, match="must match"):
        other(numbers(3, 3), numbers(2, 3))


def test_python_that_looks_at_the_size(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any) -> Any:
        y = x * 2 + 1
        return y if x.shape[0] > 5 else y.sum(0)

    other = compiled(fn)
    for n in (6, 7, 8, 8, 3, 3, 4, 4, 9, 2, 12, 5):
        x = numbers(n, 3)
        assert bits(fn(x)) == bits(other(x)), f"{n} {other.report()}"


@needs_compiler
def test_replay_waits_until_the_program_was_seen_with_the_sizes() -> None:
    from torchc.jit import _compiled

    def fn(x: Any, y: Any) -> Any:
        z = x * y + 2
        return z, z - x

    other = _compiled(fn, False, measure=False)
    for n in (4, 7, 7, 7, 9, 9, 9, 4, 4, 4, 1, 1, 0, 0):
        a = numbers(n, 3), numbers(n, 3)
        assert bits(fn(*a)) == bits(other(*a)), other.report()
    counts = other.counts()
    assert counts["dynamic"] == counts["recordings"] == 1, other.report()
    assert counts["replayed"] == 7, other.report()
    with pytest.raises(RuntimeError, match="must match"):
        other(numbers(4, 3), numbers(7, 3))


def test_errors_of_a_size(compiled: Any) -> None:  # noqa: F811
    other = compiled(lambda x: x.reshape(-1, 6).amax(0) * 2)
    for n in (4, 6, 6, 8):
        x = numbers(n, 3)
        assert bits(x.reshape(-1, 6).amax(0) * 2) == bits(other(x)), other.report()
    with pytest.raises(RuntimeError, match="invalid for input of size 15"):
        other(numbers(5, 3))
    with pytest.raises(Exception, match="amax"):
        other(numbers(0, 6))


def test_what_stays_constant_says_why(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any) -> Any:
        return F.max_pool2d(x * 2, 2) + 1  # floor of half the height

    other = compiled(fn)
    for n in (6, 9, 9, 12, 12, 6):
        x = numbers(1, 2, n, 4)
        assert bits(fn(x)) == bits(other(x)), other.report()
    assert "stay constants" in other.report()
    assert other.counts()["dynamic"] == 0


def test_dynamic_false(compiled: Any) -> None:  # noqa: F811
    from torchc.jit import _compiled

    other = _compiled(lambda x: x * 2 + 1, True, interpret=True, measure=False, dynamic=False)
    for n in (3, 4, 5, 3, 4, 5):
        other(numbers(n))
    assert other.counts()["dynamic"] == 0
    assert other.counts()["recordings"] == 3


@needs_compiler
def test_the_argument_of_compile() -> None:
    for dynamic, want in ((None, 1), (True, 1), (False, 0)):
        for fn in (
            torch.compile(lambda x: x * 3 + 2, dynamic=dynamic, background=False),
            torch.compile(dynamic=dynamic, background=False)(lambda x: x * 3 + 2),
        ):
            for n in (3, 4, 5, 5):
                fn(numbers(n))
            assert fn.counts()["dynamic"] == want, fn.report()


def test_random_numbers(compiled: Any) -> None:  # noqa: F811
    def fn(x: Any) -> Any:
        torch.manual_seed(x.shape[1])
        return torch.rand(x.shape[0], 3) + F.dropout(x, 0.5)

    other = compiled(fn)
    for n in (4, 5, 5, 1, 0, 40):
        x = numbers(n, 3)
        assert bits(fn(x)) == bits(other(x)), other.report()


def test_gradients_outside(compiled: Any) -> None:  # noqa: F811
    other = compiled(lambda x, w: ((x @ w).relu() ** 2).mean())
    for n in (4, 5, 5, 1, 7, 32):
        got = []
        for f in (lambda x, w: ((x @ w).relu() ** 2).mean(), other):
            x, w = numbers(n, 4).requires_grad_(), numbers(4, 3).requires_grad_()
            f(x, w).backward()
            got.append(bits([x.grad, w.grad]))
        assert got[0] == got[1], other.report()
    assert other.counts()["dynamic"] == 1, other.report()


def test_graphs_of_cond_and_while_loop_stay_of_one_size(compiled: Any) -> None:  # noqa: F811
    def branch(x: Any) -> Any:
        y = x * 2
        return torch.cond(y.sum() > 0, lambda y: y * 3, lambda y: y - 1, (y,)) + 1

    def loop(x: Any) -> Any:
        y = x * 2 + 1
        return torch.while_loop(lambda y: y.sum() < 40, lambda y: (y * 2 + 1,), (y,))[0] - 1

    for fn, name in ((branch, "cond"), (loop, "while_loop")):
        other = compiled(fn)
        for n in (4, 7, 7, 4, 9, 9, 7):
            x = numbers(n, 3).abs()
            assert bits(fn(x)) == bits(other(x)), other.report()
        assert other.counts()["dynamic"] == 0, other.report()
        assert f"the graphs of {name}() are recorded for one size" in other.report()


def test_arrays_of_other_libraries(compiled: Any) -> None:  # noqa: F811
    np = pytest.importorskip("numpy")

    def fn(x: Any, array: Any) -> Any:
        y = x * 2
        array[0] = 50  # between two reads
        return y + x

    other = compiled(fn)
    for n in (4, 7, 7, 9, 9, 2, 4, 7):
        got = []
        for f in (fn, other):
            array = np.arange(n * 3, dtype=np.float32).reshape(n, 3)
            got.append(bits(f(torch.from_numpy(array), array)))
        assert got[0] == got[1], f"{n} {other.report()}"


def test_sizes_are_written_where_memory_is_shared(compiled: Any) -> None:  # noqa: F811
    """A dynamic recording that writes its input isn't for memory of other libraries, nor for aliasing arguments."""
    np = pytest.importorskip("numpy")

    def fn(x: Any, y: Any) -> Any:
        z = x + y
        x.mul_(2)
        return z + y

    other = compiled(fn)
    for n, how in [(4, 0), (7, 0), (7, 0), (9, 0)] + [
        (n, h) for n in (9, 5) for h in (1, 2, 3, 0)
    ] * 2:
        got = []
        for f in (fn, other):
            array = np.arange(n * n, dtype=np.float32).reshape(n, n)
            x = torch.from_numpy(array) if how == 1 else torch.from_numpy(array).clone()
            y = x if how == 2 else x.t() if how == 3 else torch.ones(n, n)
            result = f(x, y)
            got.append(bits([result, x, y, torch.from_numpy(array.copy())]))
        assert got[0] == got[1], f"{n} {how} {other.report()}"
    assert other.counts()["dynamic"] >= 1, other.report()
