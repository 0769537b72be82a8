"""Factorisations of batches of matrices by LAPACK, without gradients.

Matrices are given to LAPACK in memory of their own, column by column: `columns(A)`, (*, n, m), holds A (*, m, n).
Results are transposed views of that memory, as PyTorch's are.
"""

import math

from torchc import _C
from torchc.linalg._checks import check_finite
from torchc.linalg._lapack import Each, call, library


def columns(A):
    """A copy of the matrices whose rows are A's columns."""
    turned = A.detach().mT
    return _C.empty(turned.shape, dtype=turned.dtype, device=turned.device).copy_(turned)


def batch_of(A) -> int:
    """How many matrices."""
    return math.prod(A.shape[:-2])


def _empty(A, *shape, dtype=None):
    return _C.empty((*A.shape[:-2], *shape), dtype=dtype or A.dtype, device="cpu")


def _infos(info, A):
    return info.reshape(A.shape[:-2])


def _none(A):
    return _C.zeros(A.shape[:-2], dtype=_C.int32, device="cpu")


def getrf(A):
    """(LU, pivots, info) of P L U = A with row exchanges; pivots count from 1."""
    m, n = A.shape[-2:]
    a, batch = columns(A), batch_of(A)
    pivots = _empty(A, min(m, n), dtype=library().index_dtype)
    if not a.numel():
        return a.mT, pivots.to(_C.int32), _none(A)
    info = call("getrf", A.dtype, batch, m, n, Each(a, batch), m, Each(pivots, batch))
    return a.mT, pivots.to(_C.int32), _infos(info, A)


def getrs(LU, pivots, B):
    """X of A X = B from A's getrf; one batch shape."""
    n, k = B.shape[-2:]
    b, batch = columns(B), batch_of(B)
    if b.numel():
        lu = columns(LU)
        p = pivots.to(library().index_dtype).contiguous()
        call(
            "getrs", B.dtype, batch, b"N", n, k, Each(lu, batch), n, Each(p, batch), Each(b, batch), n
        )  # fmt: skip
    return b.mT


def potrf(A, upper=False):
    """(L, info) of L L^H = A, or (U, info) of U^H U = A; one triangle of A is read, the other is 0 in the result."""
    n = A.shape[-1]
    a, batch = columns(A), batch_of(A)
    if not a.numel():
        return a.mT, _none(A)
    info = _infos(call("potrf", A.dtype, batch, b"U" if upper else b"L", n, Each(a, batch), n), A)
    pivots = a.diagonal(0, -2, -1).real
    bad = pivots != pivots  # OpenBLAS goes on after one; LAPACK says where it is
    info = _C.where(bad.any(-1) & (info == 0), bad.int().argmax(-1).to(info.dtype) + 1, info)
    return (a.mT.triu() if upper else a.mT.tril()), info


def trsm(A, B, upper, unitriangular):
    """X of A X = B for a triangular A; one batch shape. A zero on the diagonal gives infinities as a division does."""
    n, k = B.shape[-2:]
    b, batch = columns(B), batch_of(B)
    if b.numel():
        a = columns(A)
        # trsm, not trtrs: that one refuses a singular matrix.
        form = (b"L", b"U" if upper else b"L", b"N", b"U" if unitriangular else b"N")
        call(
            "trsm",
            B.dtype,
            batch,
            *form,
            n,
            k,
            1.0 + 0j,
            Each(a, batch),
            n,
            Each(b, batch),
            n,
            info=False,
        )
    return b.mT


def geqrf(A):
    """(the factors in one matrix, tau): R in and above the diagonal, Householder vectors below."""
    m, n = A.shape[-2:]
    a, batch = columns(A), batch_of(A)
    tau = _empty(A, min(m, n))
    if a.numel():
        call("geqrf", A.dtype, batch, m, n, Each(a, batch), m, Each(tau, batch), workspaces=1)
    return a.mT, tau


def orgqr(A, tau):
    """The first columns, as many as A has, of the product of Householder reflections that geqrf gives."""
    m, n = A.shape[-2:]
    a, batch, k = columns(A), batch_of(A), tau.shape[-1]
    if a.numel():
        t = tau.detach().contiguous()
        name = "ungqr" if A.is_complex() else "orgqr"
        call(name, A.dtype, batch, m, n, k, Each(a, batch), m, Each(t, batch), workspaces=1)
    return a.mT


def syevd(A, upper=False, vectors=True):
    """(eigenvalues ascending, eigenvectors, info) of a Hermitian matrix, of which one triangle is read."""
    n = A.shape[-1]
    a, batch = columns(A), batch_of(A)
    values = _empty(A, n, dtype=A.dtype.to_real())
    if not a.numel():
        return values, a.mT, _none(A)
    form = (b"V" if vectors else b"N", b"U" if upper else b"L")
    info = call(
        "heevd" if A.is_complex() else "syevd",
        A.dtype,
        batch,
        *form,
        n,
        Each(a, batch),
        n,
        Each(values, batch),
        workspaces=1,
        reals=-1,
        integers=1,
    )
    return values, a.mT, _infos(info, A)


def geev(A, vectors=True):
    """(eigenvalues, right eigenvectors, info) of square matrices, complex; each vector of norm 1."""
    n, batch = A.shape[-1], batch_of(A)
    a, v = columns(A), _empty(A, *((A.shape[-1],) * 2 if vectors else (1, 1)))
    parts = [_empty(A, n) for _ in range(1 if A.is_complex() else 2)]
    kind = A.dtype.to_complex()
    if not a.numel():
        return parts[0].to(kind), v.mT.to(kind), _none(A)
    unused = Each(v, 0)
    info = call(
        "geev", A.dtype, batch, b"N", b"V" if vectors else b"N", n, Each(a, batch), n,
        *(Each(p, batch) for p in parts), unused, n, Each(v, batch), n, workspaces=1, reals=2 * n,
    )  # fmt: skip
    if A.is_complex():
        return parts[0], v.mT, _infos(info, A)
    values = _C.complex(*parts)
    if vectors:
        # A real matrix's pairs of conjugates: the first column is the real part, the next one the imaginary part.
        first, second = parts[1].unsqueeze(-1) > 0, parts[1].unsqueeze(-1) < 0
        real = _C.where(second, v.roll(1, -2), v)
        v = _C.complex(real, _C.where(first, v.roll(-1, -2), _C.where(second, -v, 0.0)))
    return values, v.mT, _infos(info, A)


def gesdd(A, full=False, vectors=True):
    """(U, S, V^H, info) of U S V^H = A, S descending. Raises LinAlgError for NaN, with vectors also for infinities."""
    check_finite(
        "linalg.svd", A, vectors
    )  # OpenBLAS searches for vectors of infinities without end
    m, n = A.shape[-2:]
    k = min(m, n)
    a, batch = columns(A), batch_of(A)
    s = _empty(A, k, dtype=A.dtype.to_real())
    if not vectors:
        u = vt = _C.empty(0, dtype=A.dtype, device=A.device)  # not written
        form, rows, places = b"N", n, (Each(u, batch), Each(vt, batch))
    else:
        u = _empty(A, m if full else k, m)
        vt = _empty(A, n, n if full else k)
        form, rows, places = (
            b"A" if full else b"S",
            n if full else k,
            (Each(u, batch), Each(vt, batch)),
        )
    if not a.numel():
        for x in (u, vt) if vectors else ():
            x.copy_(_C.eye(*x.shape[-2:], dtype=A.dtype, device=A.device).expand(x.shape))
        return (u.mT, s, vt.mT, _none(A)) if vectors else (u, s, vt, _none(A))
    reals = k * max(5 * k + 7, 2 * max(m, n) + 2 * k + 1)
    info = call(
        "gesdd", A.dtype, batch, form, m, n, Each(a, batch), m, Each(s, batch), places[0], m, places[1],
        max(rows, 1), workspaces=1, reals=reals, integers=-1,
    )  # fmt: skip
    return (u.mT, s, vt.mT, _infos(info, A)) if vectors else (u, s, vt, _infos(info, A))


def sytrf(A, hermitian=False):
    """(LD, pivots, info) of a symmetric or Hermitian matrix's lower triangle, with Bunch and Kaufman's pivots."""
    n = A.shape[-1]
    a, batch = columns(A), batch_of(A)
    pivots = _empty(A, n, dtype=library().index_dtype)
    if not a.numel():
        return a.mT, pivots.to(_C.int32), _none(A)
    name = "hetrf" if hermitian and A.is_complex() else "sytrf"
    info = call(name, A.dtype, batch, b"L", n, Each(a, batch), n, Each(pivots, batch), workspaces=1)
    return a.mT, pivots.to(_C.int32), _infos(info, A)


def sytrs(LD, pivots, B, hermitian=False):
    """X of A X = B from A's sytrf; one batch shape."""
    n, k = B.shape[-2:]
    b, batch = columns(B), batch_of(B)
    if b.numel():
        ld = columns(LD)
        p = pivots.to(library().index_dtype).contiguous()
        call(
            "hetrs" if hermitian and B.is_complex() else "sytrs",
            B.dtype,
            batch,
            b"L",
            n,
            k,
            Each(ld, batch),
            n,
            Each(p, batch),
            Each(b, batch),
            n,
        )
    return b.mT


def least_squares(A, B, rcond, driver):
    """(solutions, rank, singular values, info) of min |A X - B| by gels, gelsy, gelsd or gelss; one batch shape.

    The solutions have max(m, n) rows; what gels leaves below row n are the residuals in another basis.
    """
    m, n = A.shape[-2:]
    k, batch, rows = B.shape[-1], batch_of(A), max(A.shape[-2:])
    a = columns(A)
    b = _C.zeros((*A.shape[:-2], k, rows), dtype=A.dtype, device=A.device)
    b[..., :m].copy_(B.detach().mT)
    if driver in ("gelsd", "gelss"):
        check_finite("linalg.lstsq", A)
    ranks = _C.zeros(A.shape[:-2], dtype=library().index_dtype, device="cpu")
    values = _empty(A, min(m, n), dtype=A.dtype.to_real())
    if not a.numel() or not b.numel():
        return b.mT, ranks.long(), values, _none(A)
    common = (m, n, k, Each(a, batch), m, Each(b, batch), rows)
    if driver == "gels":
        info = call("gels", A.dtype, batch, b"N", *common, workspaces=1)
    elif driver == "gelsy":
        free = _C.zeros((*A.shape[:-2], n), dtype=library().index_dtype, device="cpu")
        info = call(
            "gelsy",
            A.dtype,
            batch,
            *common,
            Each(free, batch),
            rcond,
            Each(ranks, batch),
            workspaces=1,
            reals=2 * n,
        )
    else:
        info = call(
            driver, A.dtype, batch, *common, Each(values, batch), rcond, Each(ranks, batch), workspaces=1,
            reals=-2 if driver == "gelsd" else 5 * min(m, n), integers=-2 if driver == "gelsd" else 0,
        )  # fmt: skip
    return b.mT, ranks.long(), values, _infos(info, A)
