"""Matrices with orthonormal columns or rows, as functions of matrices without constraints.

Source of the maps: M. Lezcano Casado, "Trivializations for gradient-based optimization on manifolds" (2019).
"""

from __future__ import annotations

import torchc as torch
from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.nn.modules.module import Module

__all__ = ["MAPS", "Orthogonal", "orthogonal_map_of"]

MAPS = ("matrix_exp", "cayley", "householder")


def _nearby(matrix):
    """An orthonormal basis of the columns, each on its column's side."""
    q, r = torch.linalg.qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(matrix) -> bool:
    gram = matrix.mH @ matrix
    eye = torch.eye(gram.size(-1), dtype=gram.dtype, device=gram.device)
    return torch.allclose(
        gram, eye.expand_as(gram), atol=10 * torch.finfo(gram.dtype).eps * gram.size(-1)
    )


class Orthogonal(Module):
    """X to Q with orthonormal columns (rows, where X has fewer rows than columns).

    Of the strictly lower triangle A of X: exp(A - A^H), its Cayley transform, or the product of the Householder
    reflections in A's columns. With `use_trivialization`, Q is `base` times that.
    """

    def __init__(self, weight, orthogonal_map: str, use_trivialization: bool = True):
        super().__init__()
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        """Q of X: (..., n, k) each."""
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        q = (
            self._reflections(tall)
            if self.orthogonal_map == "householder"
            else self._rotation(tall)
        )
        if getattr(self, "base", None) is not None:
            q = self.base @ q
        return q.mT if wide else q

    def _rotation(self, X):
        n, k = X.size(-2), X.size(-1)
        A = X.tril()
        if n != k:
            A = torch.cat([A, A.new_zeros(n, n - k).expand(*A.shape[:-2], -1, -1)], dim=-1)
        A = A - A.mH
        if self.orthogonal_map == "matrix_exp":
            q = torch.matrix_exp(A)
        else:
            eye = torch.eye(n, dtype=A.dtype, device=A.device)
            q = torch.linalg.solve(torch.add(eye, A, alpha=-0.5), torch.add(eye, A, alpha=0.5))
        return q[..., :k]

    @staticmethod
    def _reflections(X):
        A = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        # X's diagonal holds the signs of the columns: 1 and -1.
        return torch.linalg.householder_product(A, tau) * X.diagonal(
            dim1=-2, dim2=-1
        ).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q):
        """X that forward maps to Q, which becomes the new base with `use_trivialization`.

        Raises NotImplementedError for matrix_exp and cayley without it.
        """
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                    "when use_trivialization=False."
                )
            A, tau = torch.geqrf(tall)
            signs = A.diagonal(dim1=-2, dim2=-1)
            signs.sign_()
            signs[tau == 0] *= -1
            return A.mT if wide else A
        n, k = tall.size(-2), tall.size(-1)
        if n == k:
            base = tall.clone() if _is_orthogonal(tall) else _nearby(tall)
        else:  # filled up to a square matrix
            rest = torch.randn((*tall.shape[:-2], n, n - k), dtype=tall.dtype, device=tall.device)
            base = _nearby(torch.cat([tall, rest], dim=-1))
        self.base = base
        # Of minus the identity, every map makes the identity.
        X = torch.zeros_like(Q)
        X.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return X


def orthogonal_map_of(weight: _C.Tensor, name: str | None) -> str:
    """The map to use for a weight: the named one, else the cheapest.

    Raises ValueError for fewer than 2 dimensions, another name, and Householder reflections of complex weights.
    """
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    square = weight.shape[-2] == weight.shape[-1]
    name = name or ("matrix_exp" if square or weight.is_complex() else "householder")
    if name not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {name}'
        )
    if name == "householder" and weight.is_complex():
        raise ValueError("The householder parametrization does not support complex tensors.")
    return name
