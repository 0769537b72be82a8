"""Products of vectors and matrices against NumPy in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

RNG = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    """Small integers: sums are exact in any order."""
    return RNG.integers(-4, 5, shape).astype("float64")


def tensors(*arrays: np.ndarray) -> list[Any]:
    return [torch.from_numpy(a.copy()) for a in arrays]


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("b...i,i...->...b", (2, 1, 3), (3, 4)),
    ("i,i->", (7,), (7,)),
    ("i,j->ij", (3,), (4,)),
    ("ii->i", (4, 4)),
    ("ii", (4, 4)),
    ("iij->j", (3, 3, 2)),
    ("ij->ji", (2, 3)),
    ("ijk->ik", (2, 3, 4)),
    ("bi,oij,bj->bo", (3, 4), (2, 4, 5), (3, 5)),
    ("ab,cd->abcd", (2, 3), (4, 5)),
    ("Ab,bA->A", (2, 3), (3, 2)),
    ("ij,j->ij", (2, 3), (3,)),
    ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
    ("ijj,jk->ik", (2, 3, 3), (3, 2)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda c: c[0])
def test_einsum(case: Any) -> None:
    equation, shapes = case[0], case[1:]
    arrays = [draw(*s) for s in shapes]
    found = torch.einsum(equation, *tensors(*arrays))
    if case[0].startswith("b...i"):  # NumPy refuses an output without all of `...`: written out
        expected = np.einsum("bxi,iy->xyb", *arrays)[0]
    else:
        expected = np.einsum(equation, *arrays)
    np.testing.assert_array_equal(found.numpy(), expected)
    operands = [t.requires_grad_() for t in tensors(*arrays)]
    y = torch.einsum(equation, operands)
    w = draw(*y.shape)
    grads = torch.autograd.grad((y * torch.from_numpy(w)).sum(), operands)
    for k, (g, a) in enumerate(zip(grads, arrays, strict=True)):
        v = draw(*a.shape)
        moved = [*arrays]
        moved[k] = v  # linear in each operand
        along = torch.einsum(equation, *tensors(*moved)).numpy()
        assert (g.numpy() * v).sum() == (along * w).sum()


def test_einsum_forms() -> None:
    a, b = tensors(draw(2, 3), draw(3, 4))
    expected = a @ b
    assert torch.equal(torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), expected)
    assert torch.equal(torch.einsum(a, [0, 1], b, [1, 2]), expected)
    assert torch.equal(torch.einsum(" i j , j k -> i k ", [a, b]), expected)
    assert torch.equal(
        torch.einsum("ij,jk->ik", a[:, :1], b),
        torch.einsum("ij,jk->ik", a[:, :1].expand(2, 3), b),
    )
    assert torch.einsum("ij->ij", a)._base is a


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3)]),
        ("ij->i", [(2, 3), (3,)]),
        ("ij->ik", [(2, 3)]),
        ("ij->ii", [(2, 3)]),
        ("ijk", [(2, 3)]),
        ("i", [(2, 3)]),
        ("i1", [(2, 3)]),
        ("i..j", [(2, 3)]),
        ("ii", [(2, 3)]),
        ("ij,jk", [(2, 3), (4, 5)]),
        ("...ij", [(2,)]),
    ],
    ids=str,
)
def test_einsum_errors(equation: str, shapes: Any) -> None:
    with pytest.raises(RuntimeError):
        torch.einsum(equation, *[torch.ones(s) for s in shapes])


def test_tensordot() -> None:
    a, b = draw(2, 3, 4), draw(3, 4, 5)
    x, y = tensors(a, b)
    np.testing.assert_array_equal(torch.tensordot(x, y).numpy(), np.tensordot(a, b))
    np.testing.assert_array_equal(torch.tensordot(x, y, dims=0).numpy(), np.tensordot(a, b, 0))
    np.testing.assert_array_equal(
        torch.tensordot(x, y, ([1, 2], [0, 1])).numpy(),
        np.tensordot(a, b, ([1, 2], [0, 1])),
    )
    np.testing.assert_array_equal(
        torch.tensordot(x, y, ([2], [1])).numpy(), np.tensordot(a, b, ([2], [1]))
    )
    for bad in ([0], [0, 1]), ([0], [1]), -1, 4:
        with pytest.raises(RuntimeError):
            torch.tensordot(x, y, bad)


PAIRS = [
    ("inner", lambda x, y: torch.inner(x, y), np.inner, (2, 3), (4, 3)),
    ("inner of vectors", torch.inner, np.inner, (5,), (5,)),
    ("outer", torch.outer, np.outer, (3,), (4,)),
    ("ger", lambda x, y: x.ger(y), np.outer, (3,), (4,)),
    ("vdot", torch.vdot, np.vdot, (5,), (5,)),
    ("kron", torch.kron, np.kron, (2, 3), (3, 1, 2)),
    (
        "cross",
        lambda x, y: torch.cross(x, y, dim=1),
        lambda a, b: np.cross(a, b, axis=1),
        (2, 3, 4),
        (2, 3, 4),
    ),
    (
        "cross by default",
        torch.cross,
        lambda a, b: np.cross(a, b, axis=1),
        (2, 3),
        (2, 3),
    ),
]


@pytest.mark.parametrize(
    ("ours", "numpy", "s", "t"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS]
)
def test_products_of_two(ours: Any, numpy: Any, s: Any, t: Any) -> None:
    a, b = draw(*s), draw(*t)
    np.testing.assert_array_equal(ours(*tensors(a, b)).numpy(), numpy(a, b))


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 3), (2, 0)])
def test_scaled_sums(alpha: int, beta: int) -> None:
    m, v, w = draw(3, 4), draw(4), draw(3)
    p, q = draw(5, 3, 2), draw(5, 2, 4)
    options = {"alpha": alpha, "beta": beta}
    start = {
        "addmv": draw(3),
        "addr": draw(3, 4),
        "addbmm": draw(3, 4),
        "baddbmm": draw(5, 3, 4),
    }
    expected = {
        "addmv": m @ v,
        "addr": np.outer(w, v),
        "addbmm": (p @ q).sum(0),
        "baddbmm": p @ q,
    }
    operands = {"addmv": (m, v), "addr": (w, v), "addbmm": (p, q), "baddbmm": (p, q)}
    for name, product in expected.items():
        base = start[name] if beta else np.full_like(start[name], np.nan)
        want = product * alpha + (base * beta if beta else 0)
        x, *args = tensors(base, *operands[name])
        np.testing.assert_array_equal(getattr(torch, name)(x, *args, **options).numpy(), want)
        assert getattr(x, name + "_")(*args, **options) is x
        np.testing.assert_array_equal(x.numpy(), want)


def test_powers_and_chains() -> None:
    a = draw(3, 3)
    for n in (0, 1, 2, 5):
        np.testing.assert_array_equal(
            torch.matrix_power(torch.from_numpy(a), n).numpy(),
            np.linalg.matrix_power(a, n),
        )
    chain = [draw(2, 7), draw(7, 3), draw(3, 5), draw(5, 1)]
    expected = chain[0] @ chain[1] @ chain[2] @ chain[3]
    np.testing.assert_array_equal(torch.chain_matmul(*tensors(*chain)).numpy(), expected)
    with pytest.raises(RuntimeError):
        torch.matrix_power(torch.ones(2, 3), 2)


def test_bilinear() -> None:
    x, y, w, b = draw(4, 2, 3), draw(4, 2, 5), draw(6, 3, 5), draw(6)
    found = torch.nn.functional.bilinear(*tensors(x, y, w, b))
    np.testing.assert_array_equal(found.numpy(), np.einsum("abi,kij,abj->abk", x, w, y) + b)


@pytest.mark.parametrize("p", [0, 1, 2, 0.5, float("inf")])
def test_distances(p: float) -> None:
    a, b = draw(2, 4, 3), draw(2, 5, 3)
    b[:, 0] = a[:, 0]
    x, y = (t.requires_grad_() for t in tensors(a, b))
    difference = np.abs(a[:, :, None] - b[:, None])
    expected = {
        0: lambda d: (d != 0).sum(-1),
        float("inf"): lambda d: d.max(-1),
    }.get(p, lambda d: (d**p).sum(-1) ** (1 / p) if p else d)(difference)
    found = torch.cdist(x, y, p)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)
    if p:
        gradient = torch.autograd.grad(found.sum(), x)[0]
        assert gradient.isnan().sum() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.outer(torch.ones(2, 2), torch.ones(2)),
        lambda: torch.inner(torch.ones(2), torch.ones(3)),
        lambda: torch.addmv(torch.ones(4), torch.ones(2, 3), torch.ones(3)),
        lambda: torch.addbmm(torch.ones(2, 2), torch.ones(3, 2, 2), torch.ones(2, 2, 2)),
        lambda: torch.cross(torch.ones(2, 4), torch.ones(2, 4)),
        lambda: torch.cdist(torch.ones(2, 3), torch.ones(2, 4)),
        lambda: torch.cdist(torch.ones(2, 3), torch.ones(2, 3), -1),
        lambda: torch.chain_matmul(torch.ones(2, 3), torch.ones(2, 3)),
    ],
)
def test_bad_arguments(call: Any) -> None:
    with pytest.raises(RuntimeError):
        call()


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.int32, torch.int64]
)
def test_matrix_times_vector_is_a_column_of_a_product(dtype: Any) -> None:
    """Chains don't depend on how many columns there are, nor on how the operands lie."""
    torch.manual_seed(3)
    for m, k in (
        (1, 1),
        (2, 3),
        (1, 70),
        (7, 1030),
        (16, 64),
        (33, 5),
        (130, 2100),
        (64, 0),
        (0, 4),
    ):
        a, b = (torch.randn(*s, dtype=torch.float64).mul(9).to(dtype) for s in ((m, k), (k, 24)))
        whole = a @ b
        for x in (b[:, 3], b[:, 3].contiguous(), b.t().contiguous()[3]):
            for left in (
                a,
                a.t().contiguous().t(),
                torch.cat([a, a], 1)[:, :k],
                a.repeat(2, 1)[:m],
            ):
                assert torch.equal(left @ x, whole[:, 3])
                assert torch.equal(left @ x[:, None], whole[:, 3:4])
        if m and k:
            assert torch.equal(a[:1].expand(5, k) @ b[:, 3], whole[:1, 3].expand(5))
            assert torch.equal(
                torch.addmv(whole[:, 5], a, b[:, 3]), torch.addmm(whole[:, 5:6], a, b[:, 3:4])[:, 0]
            )
        batches = torch.stack([a, a + a])
        assert torch.equal(batches @ b[:, 3], torch.stack([whole[:, 3], ((a + a) @ b)[:, 3]]))
