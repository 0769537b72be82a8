"""Chebyshev polynomials of degrees whose recurrence would take for ever, against mpmath."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
mp = pytest.importorskip("mpmath")
S = torch.special
XS = [0.3, -0.7, 0.99, 0.0, 1.0, -1.0, 1.0 + 2**-40, -1.0 - 2**-40]
DEGREES = (1001, 1002, 10**6 + 1)


def exact(kind: str, n: int, x: float) -> Any:
    with mp.workdps(60):
        z = mp.mpf(x) * (1 + mp.mpf(10) ** -40)  # beside the ends, where the quotients are 0 / 0
        t, half = mp.acos(z), mp.mpf(n) + mp.mpf(1) / 2
        value = {
            "t": lambda: mp.cos(n * t),
            "u": lambda: mp.sin((n + 1) * t) / mp.sin(t),
            "v": lambda: mp.cos(half * t) / mp.cos(t / 2),
            "w": lambda: mp.sin(half * t) / mp.sin(t / 2),
        }[kind]()
        return float(mp.re(value))


@pytest.mark.parametrize("kind", "tuvw")
def test_values(kind: str) -> None:
    f, shifted = (getattr(S, f"{p}chebyshev_polynomial_{kind}") for p in ("", "shifted_"))
    x = torch.tensor(XS, dtype=torch.float64)
    for n in DEGREES:
        want = torch.tensor([exact(kind, n, v) for v in XS], dtype=torch.float64)
        bound = 4e-16 * n * (1 + want.abs() + 4)  # of the angle's rounding, n times as large
        assert bool(((f(x, n) - want).abs() <= 8 * bound).all()), (n, f(x, n) - want)
        assert torch.equal(shifted(0.5 * x[:6] + 0.5, n), f(2.0 * (0.5 * x[:6] + 0.5) - 1.0, n))
    assert f(torch.tensor([2.0, float("nan")]), 10**9).isinf().tolist() == [True, False]


@pytest.mark.parametrize("kind", "tuvw")
def test_slopes_meet_those_of_the_recurrence(kind: str) -> None:
    from torchc.special import _chebyshev

    f = getattr(S, f"chebyshev_polynomial_{kind}")
    grads = []
    for g in (lambda x: f(x, 999), lambda x: _chebyshev.by_angle(kind, x, torch.full_like(x, 999))):
        x = torch.tensor(XS[:6], dtype=torch.float64, requires_grad=True)
        grads.append(torch.autograd.grad(g(x).sum(), x)[0])
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-8, atol=1e-5)
