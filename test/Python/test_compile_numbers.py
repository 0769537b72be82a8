"""Python numbers that change from call to call become inputs of the compiled code (rule J5)."""

import math

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from test_compile import agree, bits, compiled, needs_compiler  # noqa: E402, F401 - a fixture
from torchc import nn  # noqa: E402


def recordings(fn):
    """How many recordings the report counts, and calls that were recorded or left."""
    counts = fn.counts()
    return counts["recordings"], counts["recorded"], counts["left"]


def x(i=0):
    return torch.tensor([0.5, -1.25, 3.0, float(i)])


def test_a_changing_number_is_recorded_twice(compiled):  # noqa: F811
    fn = agree(compiled, lambda a, k: (a * k).exp() + a, lambda i: (x(i), 0.1 * i), calls=8)
    assert recordings(fn) == (1, 2, 1), fn.report()
    assert "a number changes from call to call" in fn.report()


def test_integers_among_floats(compiled):  # noqa: F811
    fn = agree(compiled, lambda a, k: a / k - k, lambda i: (x(i), i + 1), calls=8)
    assert recordings(fn) == (1, 2, 1), fn.report()


def test_large_integers_round_as_in_eager_code(compiled):  # noqa: F811
    values = [1, 16777217, 9007199254740993, -(2**62) - 12345, 2**24 + 3]
    agree(compiled, lambda a, k: a + k, lambda i: (x(), values[i]), calls=5)
    agree(compiled, lambda a, k: a + k, lambda i: (x().double(), values[i]), calls=5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rounding_of_the_number(compiled, dtype):  # noqa: F811
    t = getattr(torch, dtype)
    values = [0.1, 1 / 3, 1e-8, 65519.99, 3.0000001, -0.0, math.inf, 5e-324, 1e30]

    def fn(a, k):
        return a * k, k - a, a > k, torch.where(a > 0, a, k), a / k

    other = agree(compiled, fn, lambda i: (x(i).to(t), values[i]), calls=len(values))
    assert recordings(other)[1] == 2, other.report()


def test_special_values(compiled):  # noqa: F811
    values = [1.0, 2.0, -0.0, 0.0, math.nan, math.inf, -math.inf, 1.0]
    fn = lambda a, k: (a * k + k, a / k, torch.maximum(a, a * k))  # noqa: E731
    other = agree(compiled, fn, lambda i: (x(i), values[i]), calls=8)
    assert recordings(other) == (1, 2, 1), other.report()


def test_equal_numbers_that_part_later(compiled):  # noqa: F811
    pairs = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 5.0), (6.0, 7.0), (8.0, 8.0), (9.0, 1.0)]
    fn = agree(compiled, lambda a, k, m: a * k + m, lambda i: (x(i), *pairs[i]), calls=7)
    assert recordings(fn) == (1, 3, 2), fn.report()


def test_type_of_the_number_changes(compiled):  # noqa: F811
    values = [1.0, 2, 3.0, 4, True, 5.0, 6, False]
    agree(compiled, lambda a, k: a * k, lambda i: (x(i), values[i]), calls=8)
    agree(compiled, lambda a, k: a.long() * k, lambda i: (x(i), values[i]), calls=8)


def test_integer_tensors(compiled):  # noqa: F811
    fn = lambda a, k: (a + k, a * 1.5, a / (k + 1))  # noqa: E731
    agree(compiled, fn, lambda i: (torch.tensor([1, 2, 3 + i]), i), calls=6)


def test_errors_that_depend_on_the_number(compiled):  # noqa: F811
    def fn(a, k):
        try:
            return a.to(torch.uint8) + k, a.to(torch.int8) * k
        except RuntimeError as e:
            return str(e)
        except ZeroDivisionError as e:
            return str(e)

    values = [1, 2, 0, 3, 300, 0, 4]
    agree(compiled, fn, lambda i: (x().abs(), values[i]), calls=7)


def test_branches_after_a_changing_number(compiled):  # noqa: F811
    def fn(a, k, i):
        b = a * k
        return (b + 1).sum() if i % 2 else (b - 1).exp() * k

    other = agree(compiled, fn, lambda i: (x(i), 0.25 * i, i), calls=24)
    assert recordings(other)[0] == 2, other.report()
    assert other.counts()["left"] <= 6, other.report()


@pytest.mark.parametrize("period", [2, 3, 4])
def test_what_comes_at_every_nth_call_is_recorded(compiled, period):  # noqa: F811
    def fn(a, i):
        return a * 2 + 1 if i % period == period - 1 else a.exp()

    other = agree(compiled, fn, lambda i: (x(i), i), calls=60)
    assert recordings(other)[0] == 2 and recordings(other)[2] <= 5, other.report()


def test_segments_after_an_observation(compiled):  # noqa: F811
    def fn(a, k):
        b = a * k
        s = b.sum().item()
        return b * s + k, a - 2 * k

    other = agree(compiled, fn, lambda i: (x(i), 1.0 + i), calls=10)
    assert other.counts()["left"] <= 3, other.report()


def train(wrap, make, schedule, steps=14):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = make(model.parameters())

    def step(a, b):
        optimizer.zero_grad()
        loss = ((model(a) - b) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = wrap(step)
    out = []
    for i in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = schedule(i)
        a = torch.arange(12).reshape(3, 4) * (0.1 + 0.01 * i)
        out.append(step(a, a[:, :2] * 0.5))
    return step, bits([*out, *model.parameters()])


class ByHand:
    """Adam with its counter and its bias corrections as Python numbers."""

    def __init__(self, params):
        self.params = list(params)
        self.param_groups = [{"lr": 0.1}]
        self.state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.params]
        self.count = 0

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        self.count += 1
        lr, t = self.param_groups[0]["lr"], self.count
        with torch.no_grad():
            for p, (m, v) in zip(self.params, self.state, strict=True):
                m.mul_(0.9).add_(p.grad * 0.1)
                v.mul_(0.999).add_(p.grad * p.grad * 0.001)
                root = (v.sqrt() / math.sqrt(1 - 0.999**t)) + 1e-8
                p.sub_(m / root * (lr / (1 - 0.9**t)))


OPTIMIZERS = {
    "ByHand": ByHand,
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1),
}


@pytest.mark.parametrize(
    "name", [n for n in OPTIMIZERS if n[:4] != "Adam" or hasattr(torch.optim, n)]
)
def test_learning_rate_schedules(compiled, name):  # noqa: F811
    schedule = lambda i: 0.1 / (1 + i)  # noqa: E731
    _, want = train(lambda f: f, OPTIMIZERS[name], schedule)
    step, got = train(compiled, OPTIMIZERS[name], schedule)
    assert got == want, step.report()
    counts = step.counts()
    assert counts["recorded"] <= 4 and counts["left"] <= 4, step.report()
    assert counts["launches"] + counts["interpreted"] >= 7, step.report()


@pytest.mark.parametrize(
    "name", [n for n in OPTIMIZERS if n[:4] != "Adam" or hasattr(torch.optim, n)]
)
def test_constant_learning_rate(compiled, name):  # noqa: F811
    """The optimizer's own counters must not keep a step from being compiled."""
    _, want = train(lambda f: f, OPTIMIZERS[name], lambda i: 0.1)
    step, got = train(compiled, OPTIMIZERS[name], lambda i: 0.1)
    assert got == want, step.report()
    assert step.counts()["launches"] + step.counts()["interpreted"] >= 7, step.report()


def test_complex_functions_stay_eager_and_say_why():
    @torch.compile(background=False)
    def f(x, y):
        z = torch.complex(x, y)
        return (z * z.conj()).real + x

    x, y = torch.rand(8), torch.rand(8)
    for _ in range(4):
        assert torch.allclose(f(x, y), x * x + y * y + x)
    assert "tier eager" in f.report() and "complex" in f.report()

    @torch.compile(background=False)
    def g(z):
        return z.abs() * 2

    z = torch.complex(x, y)
    for _ in range(4):
        assert torch.allclose(g(z), z.abs() * 2)
    assert "tier eager" in g.report() and "complex64" in g.report()
