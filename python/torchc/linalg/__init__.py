"""Linear algebra on batches of matrices, under the names of torch.linalg.

What factors matrices needs LAPACK, which is opened when it is first used (RuntimeError where none is found); float32,
float64, complex64 and complex128 on the CPU.
"""

from torchc._utils import overridable
from torchc.linalg._checks import LinAlgError
from torchc.linalg._factor import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from torchc.linalg._matrix import (
    cross,
    diagonal,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    matmul,
    matrix_exp,
    matrix_power,
    matrix_sqrth,
    multi_dot,
    polar,
    vander,
    vecdot,
)
from torchc.linalg._norms import matrix_norm, norm, vector_norm
from torchc.linalg._pseudo import cond, lstsq, matrix_rank, pinv
from torchc.linalg._solve import (
    det,
    inv,
    inv_ex,
    lu_solve,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_sqrth",
    "multi_dot",
    "norm",
    "pinv",
    "polar",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

overridable(__all__, globals(), "torchc.linalg")
