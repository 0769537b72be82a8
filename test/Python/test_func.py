"""torch.func: derivatives and batches of functions."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402


def draw(*shape: int) -> Any:
    torch.manual_seed(3)
    return torch.rand(shape, dtype=torch.float64) + 0.5


def close(a: Any, b: Any) -> None:
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_grad_nests() -> None:
    x = torch.tensor(0.7, dtype=torch.float64)
    f = torch.sin
    for expected in (x.cos(), -x.sin(), -x.cos(), x.sin()):
        f = grad(f)
        close(f(x), expected)
        assert not f(x).requires_grad


def test_grad_of_trees_and_arguments() -> None:
    x, y = draw(3), draw(3)

    def f(p: dict[str, Any], b: Any, scale: float) -> tuple[Any, Any]:
        return (p["w"] * b * scale).sum(), p["w"] * 2

    (gp, gb), aux = grad(f, argnums=(0, 1), has_aux=True)({"w": x}, y, 3.0)
    close(gp["w"], 3 * y)
    close(gb, 3 * x)
    close(aux, 2 * x)
    g, v = grad_and_value(lambda a: (a * a).sum())(x)
    close(g, 2 * x)
    close(v, (x * x).sum())
    with pytest.raises(RuntimeError, match="scalar"):
        grad(lambda a: a)(x)
    with pytest.raises(RuntimeError, match="argnum"):
        grad(lambda a: a.sum(), argnums=1)(x)


def test_results_belong_to_the_graph_of_their_inputs() -> None:
    x = draw(3).requires_grad_()
    grad(lambda a: (a**3).sum())(x).sum().backward()
    close(x.grad, 6 * x.detach())
    with torch.no_grad():
        close(grad(lambda a: (a * a).sum())(x), 2 * x)


def test_products() -> None:
    x, v = draw(4), draw(4) - 1
    out, pull = vjp(lambda a: a.sin().cumsum(0), x)
    close(out, x.sin().cumsum(0))
    (J,) = (torch.diag(x.cos()),)
    triangle = torch.ones(4, 4, dtype=torch.float64).tril()
    (pulled,) = pull(v)  # a tuple for one primal, too
    close(pulled, (triangle @ J).mT @ v)
    value, pushed = jvp(lambda a: a.sin().cumsum(0), (x,), (v,))
    close(value, out)
    close(pushed, triangle @ J @ v)
    _, pull = vjp(lambda a, b: (a * b, a.sum()), x, v)
    ga, gb = pull((torch.ones_like(x), torch.tensor(2.0, dtype=torch.float64)))
    close(ga, v + 2)
    close(gb, x)
    with pytest.raises(RuntimeError, match="shapes"):
        pull(torch.ones(2))


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians(jacobian: Any) -> None:
    x, y = draw(3), draw(2)
    close(jacobian(lambda a: a**2)(x), torch.diag(2 * x))
    by_both = jacobian(lambda a, b: torch.outer(a, b), argnums=(0, 1))(x, y)
    eye = torch.eye(3, dtype=torch.float64)
    close(by_both[0], torch.einsum("ik,j->ijk", eye, y))
    close(by_both[1], torch.einsum("i,jk->ijk", x, torch.eye(2, dtype=torch.float64)))
    trees = jacobian(lambda a: {"square": a * a, "sum": a.sum()})(x)
    close(trees["sum"], torch.ones_like(x))
    close(trees["square"], torch.diag(2 * x))
    assert not jacobian(lambda a: torch.ones(2))(x).any()


def test_hessian() -> None:
    x = draw(3)
    close(hessian(lambda a: (a**3).sum())(x), torch.diag(6 * x))
    close(jacrev(jacrev(lambda a: a.prod()))(x), hessian(lambda a: a.prod())(x))


def test_vmap() -> None:
    x, y = draw(3, 4), draw(4, 3)
    close(vmap(lambda a, b: (a * b).sum(), in_dims=(0, 1))(x, y), (x * y.mT).sum(1))
    close(
        torch.vmap(lambda a, b: a * b, in_dims=(0, None), out_dims=1)(x, y[:, 0]), (x * y[:, 0]).mT
    )
    close(vmap(grad(lambda a: (a**3).sum()))(x), 3 * x**2)
    close(vmap(vmap(lambda a: a * 2))(x), 2 * x)
    mixed = vmap(lambda d, p: d["p"] * d["q"] + p[0], in_dims=({"q": None, "p": 0}, (1,)))
    close(mixed({"p": x, "q": y[:, 0]}, (y,)), x * y[:, 0] + y.mT)
    a, b = vmap(lambda d: (d["p"] + 1, d["p"].sum()))({"p": x})
    close(a, x + 1)
    close(b, x.sum(1))
    for bad, message in (
        (lambda: vmap(lambda a: a)(torch.tensor(1.0)), "dimensionality 0"),
        (lambda: vmap(lambda a, b: a)(x, y), "same size"),
        (lambda: vmap(lambda a: a, in_dims=None)(x), "at least one input"),
        (lambda: vmap(lambda a: 3)(x), "only return Tensors"),
        (lambda: vmap(lambda d: d["p"], in_dims=({"q": 0},))({"p": x}), "keys"),
        (lambda: vmap(lambda d: d[0], in_dims=((0, 0),))((x,)), "structure"),
        (lambda: vmap(lambda d: d, in_dims=({"q": 0},))(x), "structure"),
    ):
        with pytest.raises(ValueError, match=message):
            bad()


def test_ensembles() -> None:
    torch.manual_seed(0)
    models = [torch.nn.Linear(3, 2, dtype=torch.float64) for _ in range(4)]
    parameters, buffers = torch.func.stack_module_state(models)
    assert (
        parameters["weight"].shape == (4, 2, 3)
        and parameters["weight"].requires_grad
        and not buffers
    )
    x = draw(5, 3)

    def call(p: Any) -> Any:
        return torch.func.functional_call(models[0], p, (x,))

    close(vmap(call)(parameters), torch.stack([m(x) for m in models]))
    with pytest.raises(RuntimeError, match="at least one"):
        torch.func.stack_module_state([])


def test_results_belong_to_the_graph_of_what_the_function_closes_over() -> None:
    w, x = torch.tensor(3.0, requires_grad=True), torch.ones(2)
    found = {
        "grad": grad(lambda x: (w * x**2).sum())(x),
        "vjp": vjp(lambda x: w * x**2, x)[1](x)[0],
        "jvp": jvp(lambda x: w * x**2, (x,), (x,))[1],
        "jacrev": jacrev(lambda x: w * x**2)(x).sum(0),
        "jacfwd": jacfwd(lambda x: w * x**2)(x).sum(0),
        "hessian": hessian(lambda x: (w * x**2).sum())(x).sum(0),
    }
    for name, result in found.items():
        (g,) = torch.autograd.grad(result.sum(), w)
        assert g.item() == 4, name  # the sum is 2 w sum(x), x of ones
    assert vjp(lambda x: w * x, x)[0].requires_grad
    _, aux = grad(lambda x: ((x * x).sum(), w * x), has_aux=True)(x)
    assert aux.requires_grad
    assert not grad(lambda x: ((x * x).sum(), w * x), has_aux=True)(x)[0].requires_grad
    with torch.no_grad():
        y = torch.ones(2, requires_grad=True)
        assert not grad(lambda x: (w * x**2).sum())(y).requires_grad
        assert not jacrev(lambda x: w * x)(y).requires_grad


def test_complex_arguments_and_values_are_refused() -> None:
    z, x = torch.tensor([1 + 2j, 3j]), torch.ones(2)
    for jacobian in (jacrev, jacfwd, lambda f: hessian(lambda z: f(z).abs().sum())):
        with pytest.raises(RuntimeError, match="inputs to be real"):
            jacobian(lambda z: z * z)(z)
    for jacobian in (jacrev, jacfwd):
        with pytest.raises(RuntimeError, match="outputs to be real"):
            jacobian(lambda x: x * 1j)(x)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        grad(lambda z: z.sum())(z)
    assert grad(lambda z: z.abs().sum())(z)[1].item() == 1j


def test_vmap_of_no_elements() -> None:
    assert vmap(lambda x: x * 2)(torch.ones(0, 3)).shape == (0, 3)
    assert vmap(lambda x: x.sum(), in_dims=1)(torch.ones(2, 0)).shape == (0,)
    assert vmap(lambda x: x[None], out_dims=1)(torch.ones(0, 3)).shape == (1, 0, 3)
