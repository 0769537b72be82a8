"""torchc.compile: the same bits as eager whatever a program does, and never stale."""

import copy
import gc
import threading
import weakref

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits, needs_compiler  # noqa: E402
from torchc import nn  # noqa: E402
from torchc.jit import _compiled  # noqa: E402


@pytest.fixture(params=["interpret", pytest.param("compiled", marks=needs_compiler)])
def compiled(request, tmp_path_factory):
    """Compiles a function in one of the two ways that run recorded segments."""
    if request.param == "interpret":
        return lambda fn: _compiled(fn, True, interpret=True, measure=False)
    return lambda fn: _compiled(fn, False, measure=False)


def agree(compiled, fn, make, calls=5):
    """Runs fn eagerly and compiled on equal fresh arguments; results and changed arguments must have equal bits."""
    other = compiled(fn)
    for i in range(calls):
        a, b = make(i), make(i)
        want, got = fn(*a), other(*b)
        assert bits(want) == bits(got), other.report()
        assert bits(a) == bits(b), other.report()
    return other


def t(*values, **options):
    return torch.tensor(list(values), **options)


PROGRAMS = {
    "arithmetic": lambda x, y: (x + y) * 2 - x / y,
    "one op": lambda x, y: x + y,
    "functions": lambda x, y: torch.exp(x).log() + torch.tanh(y) * x.abs().sqrt(),
    "reduction": lambda x, y: (x * y).sum() + x.mean() - y.max(),
    "broadcast": lambda x, y: x.unsqueeze(0) + y.unsqueeze(1),
    "views": lambda x, y: x.reshape(2, 2).t().reshape(4) + y[1:].sum(),
    "matmul": lambda x, y: x.reshape(2, 2) @ y.reshape(2, 2),
    "tuple": lambda x, y: (x + 1, [y * 2, x - y]),
    "same result twice": lambda x, y: (lambda z: (z, z))(x + y),
    "views returned": lambda x, y: (lambda z: (z, z[1:], z.reshape(2, 2)))(x + y),
    "constant": lambda x, y: x + torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "zeros": lambda x, y: torch.zeros(4) + x,
    "integers": lambda x, y: x.to(torch.int64) * 3 + 1,
    "compare": lambda x, y: (x > y, torch.where(x > y, x, y)),
    "argument returned": lambda x, y: (x, x + y),
    "nothing": lambda x, y: None,
    "detach": lambda x, y: (x * y).detach() + 1,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(compiled, name):
    fn = agree(
        compiled, PROGRAMS[name], lambda i: (t(1.0, 2.0, -3.0, 0.5 + i), t(4.0, 0.25, 6.0, 7.0))
    )
    assert fn.counts()["left"] == 0, fn.report()


def test_runs_compiled_code(compiled):
    fn = agree(compiled, lambda x: (x * 2 + 1).exp(), lambda i: (t(1.0, 2.0, float(i)),))
    counts = fn.counts()
    assert counts["launches"] + counts["interpreted"] == 4, fn.report()
    assert counts["recorded"] == 1
    if counts["ready"]:
        assert counts["launches"] == 4, fn.report()


def test_backward(compiled):
    def step(x, w):
        loss = ((x @ w).relu() ** 2).mean()
        loss.backward()
        return loss.detach(), x.grad, w.grad

    def make(i):
        x = (torch.arange(6).reshape(2, 3) * 0.5 - i).requires_grad_()
        return x, (torch.arange(12).reshape(3, 4) * 0.1 - 0.3).requires_grad_()

    fn = agree(compiled, step, make)
    assert fn.counts()["left"] == 0, fn.report()


def test_backward_outside(compiled):
    def make(i):
        return (t(1.0, 2.0, 3.0 + i, requires_grad=True),)

    def forward(x):
        return (x.exp() * x).sum()

    fn = compiled(forward)
    for i in range(4):
        (a,), (b,) = make(i), make(i)
        forward(a).backward()
        fn(b).backward()
        assert bits(a.grad) == bits(b.grad)


def test_double_backward(compiled):
    def second(x):
        (g,) = torch.autograd.grad((x**3).sum(), [x], create_graph=True)
        (h,) = torch.autograd.grad((g * g).sum(), [x])
        return g, h

    agree(compiled, second, lambda i: (t(1.0, -2.0, 3.0 + i, requires_grad=True),))


def train(compile_step, steps=50, momentum=0.9):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum, weight_decay=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = compile_step(step)
    losses = []
    for _ in range(steps):
        x = torch.rand(10, 8)
        y = (torch.rand(10) * 4).to(torch.int64)
        losses.append(run(x, y))
    return bits(losses), bits(list(model.parameters())), run


def test_training(compiled):
    eager = train(lambda fn: fn)
    other = train(compiled)
    assert eager[0] == other[0], other[2].report()
    assert eager[1] == other[1], other[2].report()
    counts = other[2].counts()
    assert counts["left"] <= 1, other[2].report()
    assert counts["launches"] + counts["interpreted"] >= 45, other[2].report()


def test_loss_read_in_the_step(compiled):
    def step(x, w):
        loss = (x * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        value = loss.item()
        if value > 50:
            with torch.no_grad():
                w.zero_()
        return value

    def make(i):
        return t(1.0, 2.0, 30.0 * (i % 3)), t(1.0, 1.0, 3.0).requires_grad_()

    fn = compiled(step)
    for i in range(9):
        (x, a), (y, b) = make(i), make(i)
        assert step(x, a) == fn(y, b)
        assert bits(a) == bits(b)


def test_inplace_and_versions(compiled):
    def change(x):
        x.add_(1)
        x[0].mul_(3)
        x.copy_(x * 2)
        return x.sum()

    other = compiled(change)
    a, b = t(1.0, 2.0), t(1.0, 2.0)
    for _ in range(4):
        versions = a._version, b._version
        assert bits(change(a)) == bits(other(b))
        assert bits(a) == bits(b)
        assert a._version - versions[0] == b._version - versions[1]


def test_view_argument(compiled):
    base_a, base_b = torch.arange(12).float().reshape(3, 4), torch.arange(12).float().reshape(3, 4)

    def change(row):
        row.mul_(2)
        return row + 1

    other = compiled(change)
    for i in (0, 1, 2, 1):
        assert bits(change(base_a[i])) == bits(other(base_b[i]))
        assert bits(base_a) == bits(base_b)
    assert other.counts()["left"] == 0, other.report()


def test_aliasing_arguments(compiled):
    def change(x, y):
        x.add_(1)
        return x * y

    other = compiled(change)
    for i in range(6):
        a, b, c, d = (t(1.0, 2.0 + i) for _ in range(4))
        if i % 2:
            assert bits(change(a, a)) == bits(other(b, b))
        else:
            assert bits(change(a, c)) == bits(other(b, d))
        assert bits(a) == bits(b)


def test_shapes_types_and_grad(compiled):
    def fn(x):
        return (x * 2 + 1).sum()

    cases = [
        lambda: t(1.0, 2.0),
        lambda: t(1.0, 2.0, 3.0),
        lambda: t(1, 2),
        lambda: t(1.0, 2.0, dtype=torch.float64),
        lambda: t(1.0, 2.0, requires_grad=True),
        lambda: torch.arange(6).float().reshape(2, 3).t(),
    ]
    other = compiled(fn)
    for _ in range(3):
        for case in cases:
            assert bits(fn(case())) == bits(other(case()))
    with torch.no_grad():
        assert bits(fn(cases[4]())) == bits(other(cases[4]()))


SCALE = 2.0


def test_changed_global(compiled):
    global SCALE

    def fn(x):
        return x * SCALE

    other = compiled(fn)
    for scale in (2.0, 2.0, 3.0, 3.0, 2.0):
        SCALE = scale
        assert bits(fn(t(1.0, 2.0))) == bits(other(t(1.0, 2.0)))
    SCALE = 2.0


def test_aliasing_arguments_after_a_common_beginning(compiled):
    """A call with aliasing arguments begins as a recording made with such, and goes on as one made with others."""

    def fn(x, y, write):
        z = x * 2 + y * 3
        if write:
            x.add_(1)
            return z + y * 5
        return z

    def make(i):
        x = torch.arange(9.0).reshape(3, 3)
        alias, write = (
            [(False, True)] * 3 + [(True, False)] * 3 + [(True, True), (False, True)] * 4
        )[i]
        return x, (x if alias else torch.arange(9.0).reshape(3, 3)).t(), write

    agree(compiled, fn, make, calls=14)


def test_replaced_parameter(compiled):
    model = nn.Linear(3, 2)
    other = compiled(lambda x: model(x))
    x = t(1.0, 2.0, 3.0)
    for i in range(6):
        if i % 2:
            model.weight = nn.Parameter(torch.rand(2, 3))
        assert bits(model(x)) == bits(other(x))


def test_module():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    fast = torch.compile(model, background=False)
    x = t(1.0, -2.0, 3.0)
    for _ in range(4):
        assert bits(model(x)) == bits(fast(x))
    assert fast[0] is model[0] and len(fast) == 2 and list(fast) == list(model)
    assert list(fast.state_dict()) == list(model.state_dict())
    fast.eval()
    assert model.training is False
    assert "tier" in fast.report()


def test_decorator_and_method():
    class Thing:
        scale = 3.0

        @torch.compile
        def times(self, x):
            """Documented."""
            return x * self.scale

    thing = Thing()
    for scale in (3.0, 3.0, 4.0):
        thing.scale = scale
        assert bits(thing.times(t(1.0, 2.0))) == bits(t(1.0, 2.0) * scale)
    assert Thing.times.__name__ == "times" and Thing.times.__doc__ == "Documented."


@needs_compiler
def test_fullgraph_wants_one_graph():
    from torchc.errors import CompileError

    def whole(x):
        return (x * 2).exp()

    def looks(x):
        return x * 2 if (x * 3).sum() > 0 else x + 1

    def foreign(x):
        return torch.fft.fft(x).real

    def compiled(fn):
        return torch.compile(fn, fullgraph=True, background=False)

    x = t(0.5, -1.5)
    good = compiled(whole)
    for _ in range(4):
        assert bits(good(x)) == bits(whole(x))
    assert good.counts()["launches"] and copy.deepcopy(good)(x).numel()
    line = looks.__code__.co_firstlineno + 1
    with pytest.raises(
        CompileError, match=rf"looks: fullgraph=True: .*numbers of a tensor.*:{line}"
    ):
        compiled(looks)(x)
    with pytest.raises(CompileError, match="foreign: fullgraph=True: .*complex64"):
        compiled(foreign)(x)
    with pytest.raises(ZeroDivisionError):
        compiled(lambda x: x * (1 // 0))(x)
    module = torch.compile(torch.nn.Linear(2, 3), fullgraph=True, background=False)
    assert module(x).shape == (3,)


def test_bad_arguments():
    with pytest.raises(TypeError, match="function or a module"):
        torch.compile(3)
    for options in (
        {"mode": "fast"}, {"backend": print}, {"options": {"triton.cudagraphs": True}},
    ):  # fmt: skip
        with pytest.raises(NotImplementedError):
            torch.compile(lambda x: x, **options)


@pytest.mark.parametrize(
    "options", [{"mode": "reduce-overhead"}, {"mode": "max-autotune"}, {"backend": "inductor"}, {}]
)
def test_what_pytorch_programs_ask_for_changes_no_value(options):
    @torch.compile(background=False, **options)
    def program(x):
        return x.exp() * 2 + 1

    x = t(0.5, -1.5)
    for _ in range(3):
        assert bits(program(x)) == bits(x.exp() * 2 + 1)
    assert (
        torch.compile(print, disable=True) is print and torch.compile(disable=True)(print) is print
    )


def test_exception_inside(compiled):
    state = []

    def fn(x, fail):
        x.add_(1)
        y = x * 2
        state.append(y)
        if fail:
            raise ValueError("mine")
        return y + 1

    other = compiled(fn)
    x = t(1.0, 2.0)
    for i in range(6):
        state.clear()
        before = x.tolist()
        if i % 3 == 2:
            with pytest.raises(ValueError, match="mine"):
                other(x, True)
        else:
            other(x, False)
        assert x.tolist() == [v + 1 for v in before]
        assert state[0].tolist() == [2 * v for v in x.tolist()]


def test_index_error_at_its_line(compiled):
    x = torch.arange(6).float().reshape(3, 2)
    seen = []

    def fn(index):
        y = x * 2
        try:
            y = y.index_select(0, index + 1)
        except IndexError as error:
            seen.append(str(error))
            return y.sum()
        return y + 1

    other = compiled(fn)
    for i in (0, 1, 0, 5, 1, -3, 0):
        index = torch.tensor([i])
        want, count = fn(index), len(seen)
        got = other(index)
        assert bits(want) == bits(got)
        if count != len(seen):
            assert seen[-1] == seen[-2]


def test_print_and_numpy(compiled, capsys):
    def fn(x):
        y = x * 2
        print(y)
        z = y + 1
        return z.tolist()

    other = compiled(fn)
    for i in range(4):
        x = t(1.0, float(i))
        assert fn(x) == other(x)
        out = capsys.readouterr().out.splitlines()
        assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_random_order(compiled):
    def fn():
        a = torch.rand(3)
        torch.rand(2)  # dead, but it takes its place
        return a + torch.rand(3)

    torch.manual_seed(5)
    want = [bits(fn()) for _ in range(5)] + [bits(torch.rand(2))]
    other = compiled(fn)
    torch.manual_seed(5)
    got = [bits(other()) for _ in range(5)] + [bits(torch.rand(2))]
    assert want == got
    assert other.counts()["left"] == 0, other.report()


def test_values_kept_outside(compiled):
    kept = []

    def fn(x, keep):
        y = x * 3
        if keep:
            kept.append(y)
        return y + 1

    other = compiled(fn)
    for i in range(6):
        x = t(1.0, 2.0 + i)
        kept.clear()
        assert bits(x * 3 + 1) == bits(other(x, i > 2))
        if kept:
            assert bits(kept[0]) == bits(x * 3)


def test_nested_and_recursive(compiled):
    inner = compiled(lambda x: x * 2)

    def outer(x, depth=2):
        return inner(x) + (outer(x, depth - 1) if depth else 0)

    agree(compiled, outer, lambda i: (t(1.0, float(i)),))


def test_collected():
    fn = torch.compile(lambda x: x + 1)
    fn.me = fn
    fn(t(1.0))
    gone = weakref.ref(fn)
    del fn
    gc.collect()
    assert gone() is None


@needs_compiler
def test_report():
    @torch.compile(background=False)
    def fn(x):
        return x.exp() + 1

    for _ in range(3):
        fn(t(1.0, 2.0))
    text = fn.report()
    assert "re-trace" in text and "launched 2 times" in text and "test_compile.py:" in text, text


@pytest.mark.parametrize("size", [8, 40000])
def test_threads(compiled, size):
    def step(x, w):
        loss = ((x * w).tanh() + w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        return loss.detach()

    def make(i):
        return torch.arange(size) * (0.001 + i), torch.ones(size).requires_grad_()

    other = compiled(step)
    wrong = []

    def work(i):
        (x, a), (y, b) = make(i), make(i)
        for _ in range(20):
            if bits(step(x, a)) != bits(other(y, b)) or bits(a) != bits(b):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, other.report()


def test_inference_mode_stays_eager(compiled):
    other = compiled(lambda x: x + 1)
    with torch.inference_mode():
        for _ in range(3):
            assert other(t(1.0)).tolist() == [2.0]
    assert "inference mode" in other.report()


def test_default_dtype(compiled):
    other = compiled(lambda x: x / 2)
    for dtype in (torch.float32, torch.float32, torch.float64, torch.float64, torch.float32):
        torch.set_default_dtype(dtype)
        try:
            assert other(torch.arange(3)).dtype == dtype
        finally:
            torch.set_default_dtype(torch.float32)


def test_records_name_old_and_new(compiled):
    other = compiled(lambda x, k: x.exp() * k)
    for k in (2.0, 2.0, 3.5):
        other(t(1.0, 2.0), k)
    text = other.report()
    assert "mul float32[2] 2 -> mul float32[2] 3.5" in text and "test_compile.py:" in text, text
