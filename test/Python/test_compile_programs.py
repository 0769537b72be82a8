"""Programs that are awkward to capture: each keeps state over ten calls, and a compiled one must have eager's bits."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import bits, needs_compiler  # noqa: E402
from torchc import nn  # noqa: E402
from torchc.jit import _compiled  # noqa: E402

F = nn.functional
PROGRAMS = {}


def program(make):
    """Registers a function that makes the program: called with the number of the call, it returns its results."""
    PROGRAMS[make.__name__] = make
    return make


@program
def accumulate():
    m = nn.Linear(4, 3)

    def fn(i):
        x = torch.arange(8).reshape(2, 4) * (0.1 * (i + 1))
        loss = (m(x) ** 2).sum()
        loss.backward()
        return [p.grad.clone() for p in m.parameters()] + [loss.detach()]

    return fn


@program
def zero_grad_false():
    m = nn.Linear(4, 3)
    o = torch.optim.SGD(m.parameters(), lr=0.1)

    def fn(i):
        o.zero_grad(set_to_none=False)
        x = torch.arange(8).reshape(2, 4) * (0.1 * (i + 1))
        loss = (m(x) ** 2).sum()
        loss.backward()
        o.step()
        return [p.grad for p in m.parameters()] + list(m.parameters()) + [loss.detach()]

    return fn


@program
def hooks():
    m = nn.Linear(4, 3)
    seen = []
    m.weight.register_hook(lambda g: g * 2)

    def fn(i):
        m.weight.grad = None
        m.bias.grad = None
        x = torch.arange(8).reshape(2, 4) * (0.1 * (i + 1))
        y = m(x)
        y.register_hook(lambda g: seen.append(g.sum().item()))
        (y**2).sum().backward()
        return [p.grad for p in m.parameters()] + [list(seen)]

    return fn


@program
def inner_loop():
    def fn(i):
        w = torch.ones(3, requires_grad=True)
        for k in range(3 + i % 2):
            loss = ((w - k) ** 2).sum()
            (g,) = torch.autograd.grad(loss, [w])
            w = (w - 0.1 * g).detach().requires_grad_()
        return w

    return fn


@program
def ema():
    p = torch.ones(4)
    e = torch.zeros(4)

    def fn(i):
        with torch.no_grad():
            p.mul_(1.01).add_(0.5)
            e.mul_(0.9).add_(p, alpha=0.1)
            e[1:3] = p[:2]
            e[0] = 3.0
        return e, p.sum()

    return fn


@program
def clip():
    m = nn.Linear(4, 3)

    def fn(i):
        m.weight.grad = None
        ((m(torch.ones(2, 4) * (i % 3 + 0.1))) ** 2).sum().backward()
        n = (m.weight.grad**2).sum().sqrt()
        if n.item() > 3:
            m.weight.grad.mul_(3 / n)
        with torch.no_grad():
            m.weight -= 0.01 * m.weight.grad
        return m.weight, n

    return fn


@program
def retain():
    def fn(i):
        x = torch.arange(3).float().requires_grad_()
        y = (x**3).sum() * (i + 1)
        y.backward(retain_graph=True)
        g = x.grad.clone()
        y.backward()
        return g, x.grad

    return fn


@program
def kept_graph():
    keep = []
    w = torch.ones(3, requires_grad=True)

    def fn(i):
        y = (w * torch.arange(3)).exp().sum()
        keep.append(y)
        if len(keep) > 2:
            z = keep.pop(0)
            w.grad = None
            z.backward()
            return z.detach(), w.grad
        return y.detach(), None

    return fn


@program
def inplace_grad():
    def fn(i):
        x = torch.arange(4).float().requires_grad_()
        y = x * 2
        y.mul_(y + i)
        y[1:] *= 3
        y.relu_()
        y.sum().backward()
        return x.grad, y

    return fn


@program
def data_swap():
    p = torch.ones(3, requires_grad=True)

    def fn(i):
        q = (p * 2).sum()
        p.data = p.data * 1.5
        return q, p, (p + 1)

    return fn


@program
def numpy_in():
    np = pytest.importorskip("numpy")

    def fn(i):
        a = torch.from_numpy(np.arange(3, dtype=np.float32) + i)
        b = a * 2
        n = b.numpy()
        n[0] = 100
        return b + 1, a

    return fn


@program
def exposed_state():
    w = torch.ones(3)
    n = w.numpy()

    def fn(i):
        n[1] = i
        y = w * 2
        n[1] = i + 50
        return y, w + 1

    return fn


@program
def exc():
    w = torch.ones(3)

    def fn(i):
        w.add_(1)
        try:
            if i % 3 == 2:
                torch.ones(2) + torch.ones(3)
            if i % 3 == 1:
                w.view(7)
        except RuntimeError as e:
            return str(e), w * 1
        return w * 2

    return fn


@program
def grow():
    st = {}

    def fn(i):
        b = st.get("b")
        if b is None:
            st["b"] = torch.zeros(2)
        st["b"] = torch.cat([st["b"], torch.ones(1) * i])
        return st["b"].sum(), st["b"]

    return fn


@program
def bools():
    def fn(i):
        x = torch.arange(6) - i
        m = x > 2
        if m.any():
            return x[m].sum()
        return x

    return fn


@program
def out_arg():
    o = torch.zeros(3)

    def fn(i):
        torch.add(torch.ones(3), i, out=o)
        return o, o * 2

    return fn


@program
def masked():
    def fn(i):
        x = torch.arange(6).float().reshape(2, 3)
        x[x > i] = 0
        x[:, 1] = torch.ones(2) * 7
        return x

    return fn


@program
def masked_by_random_numbers():
    def fn(i):
        x = torch.rand(4, 3)
        return x * (torch.rand(4, 3) < 0.5)

    return fn


@program
def loss_variants():
    def fn(i):
        x = (torch.arange(12).reshape(3, 4) * 0.3).requires_grad_()
        y = torch.tensor([i % 4, 1, 2])
        l = F.cross_entropy(x, y) + F.mse_loss(x, torch.zeros(3, 4))
        l.backward()
        return l.detach(), x.grad

    return fn


@program
def bad_target():
    def fn(i):
        x = torch.arange(12).reshape(3, 4) * 0.3
        y = torch.tensor([i % 6, 1, 2])
        try:
            return F.cross_entropy(x, y)
        except Exception as e:
            return type(e).__name__, str(e)

    return fn


@program
def f16():
    def fn(i):
        x = (torch.rand(5, 4)).to(torch.float16)
        w = torch.rand(4, 3).to(torch.bfloat16)
        return (
            x.sum(0),
            (x * 1.1).mean(),
            w @ w.t(),
            x.to(torch.float64) * w.sum().to(torch.float64),
        )

    return fn


@program
def deep_alias():
    base = torch.arange(12).float().reshape(3, 4)

    def fn(i):
        a = base[0]
        b = base.t()[0]
        c = base.reshape(-1)[i % 3]
        a.mul_(1.5)
        b.add_(1)
        return a + b.sum() + c, base

    return fn


WAYS = ["interpret", pytest.param("compiled", marks=needs_compiler)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, way):
    torch.manual_seed(1)
    eager = PROGRAMS[name]()
    want = [bits(eager(i)) for i in range(10)] + [bits(torch.rand(2))]
    torch.manual_seed(1)
    fn = _compiled(PROGRAMS[name](), False, measure=False, interpret=way == "interpret")
    for i in range(10):
        assert bits(fn(i)) == want[i], f"call {i}\n{fn.report()}"
    assert bits(torch.rand(2)) == want[10], "the generator is elsewhere"
