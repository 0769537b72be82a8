"""Parameters broadcast, computed once, and changed between probabilities and logits."""

from __future__ import annotations

from torchc import _C

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


def broadcast_all(*values) -> list:
    """The values as tensors of one shape. Raises ValueError for what is no number or tensor."""
    if not all(isinstance(value, (_C.Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    like = next((value for value in values if isinstance(value, _C.Tensor)), None)
    options = {} if like is None or not like.is_floating_point() else {"dtype": like.dtype}
    tensors = [v if isinstance(v, _C.Tensor) else _C.tensor(float(v), **options) for v in values]
    return list(_C.broadcast_tensors(*tensors))


class lazy_property:
    """A property that is computed at the first look and kept."""

    def __init__(self, function):
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


def clamp_probs(probs):
    """Probabilities kept eps away from 0 and 1, so that their logarithms are finite."""
    from torchc._type_info import finfo

    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary: bool = False):
    """Sigmoid of binary logits, softmax of others."""
    return _C.sigmoid(logits) if is_binary else _C.softmax(logits, -1)


def probs_to_logits(probs, is_binary: bool = False):
    """The logits of probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (1 - clamped).log() if is_binary else clamped.log()


def _sum_rightmost(value, dim: int):
    """The sum over the last dimensions."""
    return value.sum(list(range(-dim, 0))) if dim else value


def _standard_normal(shape, dtype, device):
    """Standard normal numbers."""
    return _C.randn(shape, dtype=dtype, device=device)


def one_of(probs, logits) -> None:
    """ValueError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _places(n: int, diag: int, device):
    rows, columns = _C.arange(n, device=device).unsqueeze(-1), _C.arange(n, device=device)
    return (columns <= rows + diag).reshape(-1).nonzero().squeeze(-1)


def vec_to_tril_matrix(vec, diag: int = 0):
    """Lower triangles (..., n, n) filled row by row with the numbers of `vec` (..., m), up to the diagonal `diag`.

    ValueError for a length that fills no triangle.
    """
    m = vec.shape[-1]
    n = round(
        (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * m + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    )
    places = _places(n, diag, vec.device)
    if places.numel() != m:
        raise ValueError(
            f"The size of last dimension is {m} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    flat = vec.new_zeros((*vec.shape[:-1], n * n)).index_copy(-1, places, vec)
    return flat.reshape(*vec.shape[:-1], n, n)


def tril_matrix_to_vec(mat, diag: int = 0):
    """The numbers of lower triangles (..., n, n) up to the diagonal `diag`, row by row. ValueError for a bad `diag`."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat.flatten(-2).index_select(-1, _places(n, diag, mat.device))
