"""How special functions of real numbers are computed: in float64, rounded once, with derivatives given by formulas."""

from torchc import _C
from torchc._results import given, real_type
from torchc.autograd.function import Function


def series(coefficients, t):
    """The Chebyshev series at t in [-1, 1], by Clenshaw's recurrence."""
    before = last = 0.0
    twice = 2.0 * t
    for c in reversed(coefficients[1:]):
        before, last = last, twice * last - before + c
    return t * last - before + coefficients[0]


def on(coefficients, x, low, high):
    """The series of a function on [low, high] at x."""
    return series(coefficients, (2.0 * x - (low + high)) * (1.0 / (high - low)))


class _Unary(Function):
    """f(x) without a record of its steps; the gradient is g * derivative(x), itself differentiable."""

    @staticmethod
    def forward(ctx, x, value, derivative):
        ctx.derivative = derivative
        ctx.save_for_backward(x)
        return value(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.derivative(x), None, None


def unary(op, input, value, derivative, halves=False, out=None):
    """value(x) of a float64 x, in input's type (integers: the default one).

    derivative(x) works on float64 tensors that may require gradients. Raises TypeError for what is no tensor, and
    NotImplementedError for float16 and bfloat16 unless `halves`.
    """
    if not isinstance(input, _C.Tensor):
        raise TypeError(f"{op}(): argument 'input' must be Tensor, not {type(input).__name__}")
    dtype = checked(op, real_type(input), halves)
    return given(_Unary.apply(input.double(), value, derivative).to(dtype), out)


def checked(op, dtype, halves=False):
    """dtype; NotImplementedError where the function isn't computed in it."""
    if dtype.is_complex or (dtype.itemsize == 2 and not halves):
        raise NotImplementedError(f"\"{op}\" not implemented for '{str(dtype).rpartition('.')[2]}'")
    return dtype


def pair(op, a, b, halves=False):
    """Two operands in float64, broadcast, and the result's type. One may be a number; TypeError for two numbers."""
    if not (isinstance(a, _C.Tensor) or isinstance(b, _C.Tensor)):
        raise TypeError(f"{op}(): expected at least one argument to be a tensor, got two numbers")
    dtype = checked(op, real_type(a, b), halves)
    a, b = (
        x.double()
        if isinstance(x, _C.Tensor)
        else _C.tensor(float(x), dtype=_C.float64, device="cpu")
        for x in (a, b)
    )
    a, b = _C.broadcast_tensors([a, b])
    return a, b, dtype
