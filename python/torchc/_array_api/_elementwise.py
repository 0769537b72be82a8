"""Elementwise functions: torch's, with promotion that doesn't look at dimensions and integers that stay integers."""

from __future__ import annotations

import torchc as torch
from torchc._array_api._types import promoted, result_type

# What stands here by its torch name alone differs in nothing but its signature.
_UNARY = """abs acos acosh asin asinh atan atanh ceil conj cos cosh exp floor isfinite isinf isnan log log1p
log2 log10 logical_not negative positive real imag reciprocal signbit sin sinh square sqrt tan tanh trunc"""
_BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
hypot logaddexp maximum minimum multiply nextafter pow subtract logical_and logical_or logical_xor"""
_COMPARISONS = {
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
}

_OWN = ["bitwise_invert", "clip", "expm1", "floor_divide", "remainder", "round", "sign"]
__all__ = [*_OWN, *_UNARY.split(), *_BINARY.split(), *_COMPARISONS]


def _unary(name: str):
    f = getattr(torch, name)

    def function(x, /):
        return f(x)

    return function


def _binary(name: str, torch_name: str):
    f = getattr(torch, torch_name)

    def function(x1, x2, /):
        return f(*promoted(x1, x2))

    return function


for _name in _UNARY.split():
    globals()[_name] = _unary(_name)
for _name, _torch_name in [*_COMPARISONS.items(), *((n, n) for n in _BINARY.split())]:
    globals()[_name] = _binary(_name, _torch_name)
for _name in __all__[len(_OWN) :]:
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name
    globals()[
        _name
    ].__doc__ = (
        f"torch.{_COMPARISONS.get(_name, _name)}, elementwise, in the operands' common dtype."
    )


def bitwise_invert(x, /):
    """torch.bitwise_not."""
    return torch.bitwise_not(x)


def expm1(x, /):
    """torch.expm1; of complex zeros the real part is +0, of infinities and NaN the value is exp(x) - 1."""
    out = torch.expm1(x)
    if not x.dtype.is_complex:
        return out
    out = torch.where(torch.isfinite(x), out, torch.exp(x) - 1)
    return torch.complex(torch.where(out.real == 0, 0.0, out.real), out.imag)


def floor_divide(x1, x2, /):
    """The quotient rounded down: infinite for infinite x1, and of the quotient's sign where it is between -1 and 1."""
    x1, x2 = promoted(x1, x2)
    out = torch.floor_divide(x1, x2)
    if not out.dtype.is_floating_point:
        return out
    # torch's goes by fmod, which has no value for an infinite x1, and rounds -tiny / inf to -1.
    return torch.where(torch.isinf(x1) | torch.isinf(x2), torch.floor(x1 / x2), out)


def remainder(x1, x2, /):
    """What floor_divide leaves of x1, with the sign of x2 also where it is 0."""
    x1, x2 = promoted(x1, x2)
    out = torch.remainder(x1, x2)
    return (
        torch.where(out == 0, torch.copysign(out, x2), out) if out.dtype.is_floating_point else out
    )


def sign(x, /):
    """-1, 0 or 1; x / abs(x) or 0 of complex x; NaN of NaN."""
    if x.dtype.is_complex:
        return torch.sgn(x)
    out = torch.sign(x)
    return torch.where(torch.isnan(x), x, out) if x.dtype.is_floating_point else out


def round(x, /):
    """To the nearest integer, halves to even; real and imaginary parts one by one."""
    if x.dtype.is_complex:
        return torch.complex(torch.round(x.real), torch.round(x.imag))
    return torch.round(x)


def clip(x, /, min=None, max=None):
    """x within [min, max], which are numbers or arrays that broadcast with x, in x's dtype; NaN where one is NaN."""
    shapes = [b.shape for b in (min, max) if isinstance(b, torch.Tensor)]
    out = x.expand(torch.broadcast_shapes(x.shape, *shapes)).clone()
    for bound, pick in ((min, torch.maximum), (max, torch.minimum)):
        if bound is not None:
            common = result_type(x, bound)
            if not isinstance(bound, torch.Tensor):
                wide = torch.float64 if isinstance(bound, float) else torch.int64
                bound = torch.tensor(bound, dtype=wide, device=x.device)
            out = pick(out.to(common), bound.to(common))
    return out.to(x.dtype)
