"""Parts of numbers, common divisors, sums of exponentials, norms of slices."""

import math

from torchc import _C
from torchc._results import given, given_all, named, wrapped
from torchc.autograd.function import Function

# ---- integers


def _integers(op, a, b):
    for name, x in (("input", a), ("other", b)):
        if not isinstance(x, _C.Tensor):
            raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(x).__name__}")
    dtype = _C.result_type(a, b)
    if dtype.is_floating_point or dtype.is_complex or dtype is _C.bool:
        name = "bool" if dtype is _C.bool else str(dtype).rpartition(".")[2]
        raise NotImplementedError(f"\"{op}_cpu\" not implemented for '{name}'")
    a, b = _C.broadcast_tensors([a.to(dtype), b.to(dtype)])
    return a, b


def _gcd(a, b):
    a, b = a.abs(), b.abs()
    while bool((b != 0).any()):
        going = b != 0
        rest = _C.where(going, a % _C.where(going, b, 1), 0)
        a, b = _C.where(going, b, a), rest
    return a


def gcd(input, other, *, out=None):
    """The greatest common divisor of integers (Euclid); gcd(0, 0) is 0. NotImplementedError for other types."""
    return given(_gcd(*_integers("gcd", input, other)), out)


def lcm(input, other, *, out=None):
    """The least common multiple of integers; 0 where one of them is 0. NotImplementedError for other types."""
    a, b = _integers("lcm", input, other)
    divisor = _gcd(a, b)
    zero = divisor == 0
    return given(_C.where(zero, 0, (a // _C.where(zero, 1, divisor)) * b).abs(), out)


# ---- floating numbers

Frexp = named("frexp", "mantissa exponent")


def frexp(input, *, out=None):
    """(mantissa, exponent int32) with input = mantissa * 2^exponent, 0.5 <= |mantissa| < 1; 0, inf and NaN stay.

    Floating types only: NotImplementedError.
    """
    if not input.is_floating_point():
        name = str(input.dtype).rpartition(".")[2]
        raise NotImplementedError(f"torch.frexp() only supports floating-point dtypes, got {name}")
    # In float64 all other types' numbers are normal; its own denormal ones are scaled first.
    x = input.detach().double()
    tiny = x.abs() < 2.0**-1000
    x = _C.where(tiny, x * 2.0**200, x)
    fixed = (x == 0) | ~x.isfinite()
    field = (x.contiguous().view(_C.int64) >> 52) & 0x7FF
    exponent = _C.where(fixed, 0, field - 1022 - _C.where(tiny, 200, 0))
    half = exponent // 2  # the power itself may overflow
    scale = lambda e: _C.exp2(-e.double())  # noqa: E731
    wide = input.double() * scale(half) * scale(exponent - half)
    mantissa = wide.to(input.dtype)
    return given_all(Frexp, (mantissa, exponent.to(_C.int32)), out)


class _Neighbour(Function):
    """The next float16 or bfloat16 number: the next in the order of bit patterns."""

    @staticmethod
    def forward(ctx, x, y):
        x, y = (v.contiguous() for v in _C.broadcast_tensors([x, y]))
        bits = x.view(_C.int16)
        away = (x < y) == (x > 0)
        smallest = _C.where(y > 0, 1, -32767).to(_C.int16)
        moved = _C.where(x == 0, smallest, bits + _C.where(away, 1, -1).to(_C.int16))
        step = moved.view(x.dtype)
        return _C.where(x == y, y, _C.where((x != x) | (y != y), x + y, step))

    @staticmethod
    def backward(ctx, g):
        return g, _C.zeros_like(g)


def nextafter(input, other, *, out=None):
    """The number next to `input` towards `other`, of their common floating type; `other` where they are equal."""
    dtype = _C.result_type(input, other)
    if dtype not in (_C.float16, _C.bfloat16):
        return _C.nextafter(input, other, out=out)
    x, y = (v.to(dtype) for v in _C.broadcast_tensors([input, other]))
    return given(_Neighbour.apply(x, y), out)


# ---- along a dimension


def _log_of_sum(a, b):
    """log(exp(a) + exp(b)); of complex numbers from the one of the larger real part."""
    if not a.is_complex():
        return _C.logaddexp(a, b)
    first = a.real >= b.real
    high, low = _C.where(first, a, b), _C.where(first, b, a)
    return _C.where(high.real == -math.inf, high, high + _C.log1p(_C.exp(low - high)))


def logcumsumexp(input, dim, *, out=None):
    """log(cumsum(exp(input))) along `dim` without overflow, by the largest element so far. Not of integers.

    Raises NotImplementedError for integers.
    """
    if not (input.is_floating_point() or input.is_complex()):
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{str(input.dtype).rpartition('.')[2]}'"
        )
    dim = wrapped("logcumsumexp", dim, input.dim())
    if input.dim() == 0 or input.shape[dim] == 0:
        return given(input * 1.0, out)
    x = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
    result = x
    shift = 1  # pairs, fours, ...: log2(n) steps, each element the sum of up to `shift` before it and itself
    n = x.shape[dim]
    while shift < n:
        head = result.narrow(dim, 0, shift)
        tail = _log_of_sum(result.narrow(dim, shift, n - shift), result.narrow(dim, 0, n - shift))
        result = _C.cat([head, tail], dim)
        shift *= 2
    result = result * 1.0 if result is input else result
    return given(result.to(input.dtype), out)


def renorm(input, p, dim, maxnorm, *, out=None):
    """Each slice along `dim` scaled down to the p-norm `maxnorm` where its norm is larger."""
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"renorm: expected a floating point or complex tensor, got {input.dtype}"
        )
    if input.dim() < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions"
        )
    if not p > 0:
        raise RuntimeError(f"renorm: non-positive norm not supported, got p = {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = wrapped("renorm", dim, input.dim())
    others = [i for i in range(input.dim()) if i != dim]
    wide = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
    norms = _C.linalg_vector_norm(wide, p, others, True)
    # The small number keeps the norm of the result from exceeding the limit by a rounding, as PyTorch does.
    factor = _C.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return given((wide * factor).to(input.dtype), out)


def vander(x, N=None, increasing=False):
    """Powers of the elements of a vector as rows, N of them (default: its length), descending unless `increasing`."""
    if x.dim() != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got {x.dim()} dimensions")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative, got {N}")
    if not (x.is_floating_point() or x.is_complex()):
        x = x.long()
    powers = x.unsqueeze(-1).expand(x.shape[0], max(count - 1, 0)).cumprod(-1)
    rows = _C.cat(
        [_C.ones((x.shape[0], min(count, 1)), dtype=x.dtype, device=x.device), powers], -1
    )
    return rows if increasing else rows.flip(-1)


def rdiv(self, other):
    """other / self, as `other / tensor`."""
    return other / self


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """(group_norm(input), means, 1 / standard deviations), the last two (N, group), for (N, C, *) of HxW elements."""
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm(): expected input of {N} x {C} x {HxW} elements, got {list(input.shape)}"
        )
    x = input.reshape(N, group, C // group * HxW)
    wide = x.float() if x.dtype in (_C.float16, _C.bfloat16) else x
    var, mean = _C.var_mean(wide, -1, correction=0)
    out = _C.group_norm(input, group, weight, bias, eps)
    return out, mean.to(input.dtype), (var + eps).rsqrt().to(input.dtype)
