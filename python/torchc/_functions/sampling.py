"""Numbers of the gamma family, Poisson and binomial numbers: by rejection and by inversion, computed in float64.

A rejection sampler draws once for all elements and again for those that were refused. A call takes one of the
generator's ordinals; what it draws are sub-draws of that. Nothing depends on the number of threads.
"""

from __future__ import annotations

from torchc import _C
from torchc._functions.pathwise import _dirichlet_grad, _standard_gamma_grad
from torchc.autograd.function import Function
from torchc.autograd.grad_mode import no_grad

__all__ = [
    "_dirichlet_grad",
    "_sample_dirichlet",
    "_standard_gamma",
    "_standard_gamma_grad",
    "binomial",
    "poisson",
]

_ROOT_3 = 3.0**0.5
_INF, _NAN = float("inf"), float("nan")


def _float64(op, name, x, types):
    """`x` flat in float64. TypeError for what is no tensor, NotImplementedError for another type than `types`."""
    if not isinstance(x, _C.Tensor):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(x).__name__}")
    if x.dtype not in types:
        kind = str(x.dtype).rpartition(".")[2]
        raise NotImplementedError(f"{op}(): not implemented for '{name}' of type {kind}")
    return x.detach().reshape(-1).double()


_WIDE = (_C.float32, _C.float64)
_FLOATS = (*_WIDE, _C.float16, _C.bfloat16)


class Draws:
    """What one call draws: sub-draws of one ordinal, so that the next call's numbers don't depend on its course."""

    def __init__(self, generator=None):
        self._parent = generator
        self._begin()

    def _begin(self):
        state = _C.get_rng_state() if self._parent is None else self._parent.get_state()
        self._state, self._used = bytearray(state.tolist()), 0
        _C.rand(0, generator=self._parent)  # takes the ordinal

    def _next(self):
        if self._used == 256:
            self._begin()
        # The sub-draw is the top byte of the ordinal; normal numbers take the one after theirs, too.
        state = bytearray(self._state)
        state[15] ^= self._used
        self._used += 2
        generator = _C.Generator()
        generator.set_state(_C.tensor(list(state), dtype=_C.uint8))
        return generator

    def uniform(self, like):
        """Uniform numbers of [0, 1) in float64."""
        options = {"dtype": _C.float64, "device": like.device}
        return _C.rand(like.shape, generator=self._next(), **options)

    def normal(self, like):
        """Standard normal numbers in float64."""
        options = {"dtype": _C.float64, "device": like.device}
        return _C.randn(like.shape, generator=self._next(), **options)


def rejected(propose, parameters):
    """`propose(*parameters)` gives values and which of them count; the others are proposed again.

    The parameters are flat tensors of one length.
    """
    values, good = propose(*parameters)
    if values.device.type == "meta":
        return values
    places = None
    while True:
        rest = good.logical_not().nonzero().squeeze(-1)
        if rest.numel() == 0:
            return values
        places = rest if places is None else places[rest]
        parameters = [p[rest] for p in parameters]
        again, good = propose(*parameters)
        values = values.index_copy(0, places, again)


# ---- gamma


def _log_gamma_numbers(a, draws):
    """Logarithms of standard gamma numbers of shapes a > 0 (Marsaglia and Tsang 2000, "A simple method ...").

    Below shape 1 a number of shape a + 1 times u^(1 / a) has shape a; in logarithms nothing of it vanishes.
    """
    small = a < 1.0
    d = _C.where(small, a + 1.0, a) - 1.0 / 3.0

    def propose(d):
        x = draws.normal(d)
        root = 1.0 + x / (3.0 * d.sqrt())
        v = root * root * root
        log_v = _C.where(root > 0, v, 1.0).log()
        u = 1.0 - draws.uniform(d)
        good = (root > 0).logical_and(u.log() < 0.5 * x * x + d * (1.0 - v + log_v))
        return log_v, good

    value = rejected(propose, [d]) + d.log()
    boost = (1.0 - draws.uniform(a)).log() / _C.where(small, a, 1.0)
    return _C.where(small, value + boost, value)


def _shapes(a):
    """The shapes with 1 for those that have no numbers, and what these give: NaN below 0, 0 at 0, inf at inf."""
    ordinary = (a > 0).logical_and(a < _INF)
    return _C.where(ordinary, a, 1.0), ordinary, _C.where(a < 0, _NAN, a)


class _Gamma(Function):
    """The derivative is the pathwise one."""

    @staticmethod
    def forward(ctx, input, generator):
        from torchc._type_info import finfo

        a, ordinary, otherwise = _shapes(input.double().reshape(-1))
        value = _C.where(ordinary, _log_gamma_numbers(a, Draws(generator)).exp(), otherwise)
        value = value.to(input.dtype).clamp(min=finfo(input.dtype).tiny).reshape(input.shape)
        ctx.save_for_backward(input, value)
        return value

    @staticmethod
    def backward(ctx, g):
        input, value = ctx.saved_tensors
        return g * _standard_gamma_grad(input, value), None


def _standard_gamma(self, generator=None):
    """Gamma numbers of shape `self` and rate 1, at least the type's smallest normal number; float32 or float64.

    Differentiable: d value / d shape holds the value's quantile fixed (Figurnov, Mohamed and Mnih 2018, "Implicit
    reparameterization gradients"). NaN for negative shapes. NotImplementedError for other types.
    """
    _float64("_standard_gamma", "self", self, _WIDE)
    return _Gamma.apply(self, generator)


class _Dirichlet(Function):
    """The derivative is that of each component's beta distribution; the others keep their proportions."""

    @staticmethod
    def forward(ctx, input, generator):
        from torchc._type_info import finfo

        a, ordinary, otherwise = _shapes(input.double().reshape(-1))
        logarithms = _C.where(ordinary, _log_gamma_numbers(a, Draws(generator)), otherwise.log())
        value = logarithms.reshape(input.shape).softmax(-1).to(input.dtype)
        info = finfo(input.dtype)
        value = value.clamp(min=info.tiny, max=1.0 - info.eps / 2)
        ctx.save_for_backward(input, value)
        return value

    @staticmethod
    def backward(ctx, g):
        input, value = ctx.saved_tensors
        total = input.sum(-1, True).expand(input.shape)
        common = (value * g).sum(-1, True)
        return _dirichlet_grad(value, input, total) * (g - common), None


def _sample_dirichlet(self, generator=None):
    """Points of the simplex, Dirichlet-distributed with concentrations `self` (..., k), float32 or float64.

    They are normalised in logarithms, so that tiny concentrations give corners and not NaN. Differentiable (Jankowiak
    and Obermeyer 2018, "Pathwise derivatives beyond the reparameterization trick"). NotImplementedError for other
    types.
    """
    _float64("_sample_dirichlet", "self", self, _WIDE)
    return _Dirichlet.apply(self, generator)


# ---- counts


def _inverted(u, first, ratio, last):
    """The smallest k with u < F(k), at most `last`: F(0) = first, ratio(k) is the probability of k by that of k - 1."""
    term, total, count = first, first, _C.zeros_like(u)
    for k in range(1, last + 1):
        beyond = u >= total
        if not bool(beyond.any()):
            break
        count = _C.where(beyond, float(k), count)
        term = term * ratio(k)
        total = total + term
    return count


def _chosen(by_inversion, invert, propose, parameters):
    """Each element by the sampler that suits it; neither is run where it has no element."""
    parts = []
    for mask, sample in ((by_inversion, invert), (by_inversion.logical_not(), propose)):
        places = mask.nonzero().squeeze(-1)
        if places.numel():
            parts.append((places, sample([p[places] for p in parameters])))
    values = _C.zeros_like(parameters[0])
    for places, part in parts:
        values = values.index_copy(0, places, part)
    return values


def _hat(u, center, a, b):
    """Hörmann's transformed uniform number: (us, k), for u of [-1/2, 1/2)."""
    us = 0.5 - u.abs()
    return us, ((2.0 * a / us + b) * u + center).floor()


def _poisson_hat(draws):
    """PTRS for rates of 10 on: W. Hörmann 1993, "The transformed rejection method for generating Poisson variables"."""

    def propose(rate):
        b = 0.931 + 2.53 * rate.sqrt()
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        us, k = _hat(draws.uniform(rate) - 0.5, rate + 0.43, a, b)
        v = 1.0 - draws.uniform(rate)
        quick = (us >= 0.07).logical_and(v <= 0.9277 - 3.6224 / (b - 2.0))
        possible = (k >= 0).logical_and((us >= 0.013).logical_or(v <= us)).logical_and(us > 0)
        left = (v * inverse_alpha / (a / (us * us) + b)).log()
        right = k * rate.log() - rate - (k.clamp(min=0.0) + 1.0).lgamma()
        return k, quick.logical_or(possible.logical_and(left <= right))

    return propose


class _Count(Function):
    """Counts have the derivative 0."""

    @staticmethod
    def forward(ctx, count, *inputs):
        ctx.save_for_backward(*inputs)
        return count.clone()

    @staticmethod
    def backward(ctx, g):
        return None, *(_C.zeros_like(x) for x in ctx.saved_tensors)


def poisson(input, generator=None):
    """Poisson numbers of the rates `input`, in its floating type; their derivative is 0.

    RuntimeError for a rate that is negative or NaN, NotImplementedError for integer types.
    """
    rate = _float64("poisson", "input", input, _FLOATS)
    with no_grad():
        draws = Draws(generator)
        if rate.device.type == "meta":
            return _C.empty_like(input)
        if not bool((rate >= 0).all()):
            raise RuntimeError("poisson: invalid Poisson rate, expected rates to be non-negative")
        known = _C.where(rate < _INF, rate, 1.0)

        def invert(parameters):
            (low,) = parameters
            return _inverted(draws.uniform(low), (-low).exp(), lambda k: low / k, 100)

        count = _chosen(known < 10.0, invert, lambda p: rejected(_poisson_hat(draws), p), [known])
        count = _C.where(rate < _INF, count, _INF).to(input.dtype).reshape(input.shape)
    return _Count.apply(count, input)


def _binomial_hat(draws):
    """BTRS for n p of 10 on, p up to 1/2: W. Hörmann 1993, "The generation of binomial random variates"."""

    def propose(n, p):
        spread = (n * p * (1.0 - p)).sqrt()
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        alpha = (2.83 + 5.1 / b) * spread
        middle = ((n + 1.0) * p).floor()
        us, k = _hat(draws.uniform(n) - 0.5, n * p + 0.5, a, b)
        v = 1.0 - draws.uniform(n)
        possible = (k >= 0).logical_and(k <= n).logical_and(us > 0)
        quick = (us >= 0.07).logical_and(v <= 0.92 - 4.2 / b).logical_and(possible)
        whole = k.clamp(min=0.0).minimum(n)
        left = (v * alpha / (a / (us * us) + b)).log()
        right = (
            (middle + 1.0).lgamma()
            + (n - middle + 1.0).lgamma()
            - (whole + 1.0).lgamma()
            - (n - whole + 1.0).lgamma()
            + (whole - middle) * (p.log() - (-p).log1p())
        )
        return k, quick.logical_or(possible.logical_and(left <= right))

    return propose


def _binomial_sums(draws):
    def invert(parameters):
        n, p = parameters
        odds = p / (1.0 - p)
        first = (n * (-p).log1p()).exp()
        return _inverted(draws.uniform(n), first, lambda k: (n - (k - 1)) / k * odds, 150)

    return invert


def binomial(count, prob, generator=None):
    """The successes among `count` trials of probability `prob`, broadcast; both of one type, float32 or float64.

    0 for counts or probabilities below 0, all for probabilities above 1, NaN where one is NaN. The derivative is 0.
    ValueError for an integer `count`, RuntimeError for two types, NotImplementedError for half precision.
    """
    for name, x in (("count", count), ("prob", prob)):
        if not isinstance(x, _C.Tensor):
            raise TypeError(f"binomial(): argument '{name}' must be Tensor, not {type(x).__name__}")
        if not x.is_floating_point():
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {x.dtype}"
            )
    if count.dtype is not prob.dtype:
        raise RuntimeError(
            f"binomial: expected count and prob of one dtype, got {count.dtype} and {prob.dtype}"
        )
    shape, dtype = _C.broadcast_tensors(count, prob)[0].shape, count.dtype
    n = _float64("binomial", "count", count.expand(shape), _WIDE)
    p = _float64("binomial", "prob", prob.expand(shape), _WIDE)
    with no_grad():
        draws = Draws(generator)
        if n.device.type == "meta":
            return _C.empty(shape, dtype=dtype, device="meta")
        unknown = n.isnan().logical_or(p.isnan())
        none = (n <= 0).logical_or(p <= 0)
        certain = (p >= 1).logical_or(n == _INF)
        plain = unknown.logical_or(none).logical_or(certain)
        trials, flipped = _C.where(plain, 1.0, n.floor()), p > 0.5
        rarer = _C.where(plain, 0.25, _C.where(flipped, 1.0 - p, p))
        value = _chosen(
            trials * rarer < 10.0,
            _binomial_sums(draws),
            lambda q: rejected(_binomial_hat(draws), q),
            [trials, rarer],
        )
        value = _C.where(flipped, trials - value, value)
        value = _C.where(certain, n, value)
        value = _C.where(none, 0.0, value)
        value = _C.where(unknown, _NAN, value).to(dtype).reshape(shape)
    return _Count.apply(value, count, prob)
