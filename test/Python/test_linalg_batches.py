"""Batches of matrices in torch.linalg: each as it is alone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
L = torch.linalg


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_each_matrix_of_a_batch_is_as_alone(dtype: Any) -> None:
    torch.manual_seed(4)
    a = torch.randn(7, 2, 5, 5, dtype=dtype)
    b = torch.randn(7, 2, 5, 3, dtype=dtype)
    for f in (L.inv, L.det, lambda x: L.qr(x)[0], L.svdvals, L.eigvals, lambda x: L.lu(x)[1]):
        each = torch.stack([torch.stack([f(m) for m in row]) for row in a])
        assert torch.equal(f(a), each)
    LU, pivots = L.lu_factor(a)
    torch.testing.assert_close(a @ L.lu_solve(LU, pivots, b), b, rtol=1e-3, atol=1e-3)
    assert L.inv_ex(torch.stack([torch.eye(2), torch.zeros(2, 2)])).info.tolist() == [0, 1]


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_lu_solve_moves_rows_as_the_permutation_does(left: bool, adjoint: bool) -> None:
    torch.manual_seed(2)
    a = torch.randn(3, 4, 4, dtype=torch.complex128)
    b = (
        torch.randn(4, 2, dtype=torch.complex128)
        if left
        else torch.randn(2, 4, dtype=torch.complex128)
    )
    x = L.lu_solve(*L.lu_factor(a), b, left=left, adjoint=adjoint)
    whole = a.mH if adjoint else a
    close = (whole @ x if left else x @ whole) - b
    assert close.abs().max().item() < 1e-12


def test_householder_product_is_the_same_with_gradients() -> None:
    torch.manual_seed(1)
    h, tau = torch.geqrf(torch.randn(2, 5, 3, dtype=torch.float64))
    plain = L.householder_product(h, tau)
    torch.testing.assert_close(plain.mT @ plain, torch.eye(3, dtype=h.dtype).expand(2, 3, 3))
    recorded = L.householder_product(h.clone().requires_grad_(), tau)
    torch.testing.assert_close(plain, recorded.detach())
