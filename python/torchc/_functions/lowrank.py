"""Factorisations of low rank by random projections.

N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness: Probabilistic algorithms for constructing
approximate matrix decompositions" (2011), algorithms 4.4 and 5.1.
"""

from torchc import _C, linalg


def _range_of(A, q, niter):
    """q orthonormal columns that nearly span A's."""
    Q = linalg.qr(A @ _C.randn((A.shape[-1], q), dtype=A.dtype, device=A.device))[0]
    for _ in range(niter):
        Q = linalg.qr(A.mH @ Q)[0]
        Q = linalg.qr(A @ Q)[0]
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) of rank q with U diag(S) V^H near A (*, m, n), or A - M; `niter` steps make it nearer.

    Raises RuntimeError for q outside of 0 to min(m, n) or matrices of other types than float32, float64,
    complex64 and complex128.
    """
    A = A if M is None else A - M
    m, n = A.shape[-2:]
    q = 6 if q is None else q
    if not 0 <= q <= min(m, n):
        raise RuntimeError(f"svd_lowrank(): q must be from 0 to min(m, n) = {min(m, n)}, got {q}")
    if m < n:
        V, S, U = svd_lowrank(A.mH, q, niter)
        return U, S, V
    Q = _range_of(A, q, niter)
    U, S, Vh = linalg.svd(Q.mH @ A, False)
    return Q @ U, S, Vh.mH


def pca_lowrank(A, q=None, center=True, niter=2):
    """`svd_lowrank` of A (*, m, n) less the means of its columns (with `center`); q is min(6, m, n) by default.

    Raises ValueError for q outside of 0 to min(m, n) and niter < 0.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
