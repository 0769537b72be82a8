"""Functions and methods of tensors that are written in Python: where they live, so that they load when first used."""

from importlib import import_module

from torchc import _C

# module: functions that are also methods; functions alone; functions that also have an in-place method.
_TABLE = {
    "linalg._names": (
        "cholesky cholesky_inverse cholesky_solve det inverse logdet lu_solve matrix_exp norm orgqr pinverse "
        "qr slogdet svd triangular_solve",
        "lu",
        "",
    ),
    "linalg._factor": ("", "lu_unpack", ""),
    "linalg._matrix": ("geqrf ormqr", "", ""),
    "special._bessel": ("", "", "i0"),
    "special._gamma": ("", "polygamma", "igamma igammac"),
    "_functions.differences": ("diff", "cumulative_trapezoid gradient trapezoid trapz", ""),
    "_functions.statistics": (
        "corrcoef cov histogram nanquantile quantile",
        "histogramdd",
        "",
    ),
    "_functions.numbers": ("frexp logcumsumexp", "native_group_norm vander", "gcd lcm renorm"),
    "_functions.strided": (
        "as_strided_scatter",
        "as_strided_copy nonzero split_with_sizes_copy unbind_copy unfold_copy",
        "",
    ),
}
# Methods of other arguments, or of names that aren't functions.
_METHODS = {
    "polygamma": ("special._gamma", "polygamma_method"),
    "polygamma_": ("special._gamma", "polygamma_"),
    "lu": ("linalg._names", "lu"),
    "__rdiv__": ("_functions.numbers", "rdiv"),
    "resize_": ("_functions.strided", "resize_"),
    "resize_as_": ("_functions.strided", "resize_as_"),
}

FUNCTIONS: dict[str, str] = {
    name: home for home, names in _TABLE.items() for name in " ".join(names).split()
}


class _Method:
    """Stands for a method until it is first read."""

    def __init__(self, name: str, home: str, function: str, inplace: bool = False):
        self.name, self.home, self.function, self.inplace = name, home, function, inplace

    def __get__(self, tensor, owner=None):
        function = getattr(import_module(f"torchc.{self.home}"), self.function)
        if self.inplace:
            from torchc._results import in_place

            function = in_place(function)
        setattr(_C.Tensor, self.name, function)
        return function if tensor is None else function.__get__(tensor)


def install() -> None:
    """Gives Tensor the methods of the table."""
    for home, (both, _, writing) in _TABLE.items():
        for name in f"{both} {writing}".split():
            setattr(_C.Tensor, name, _Method(name, home, name))
        for name in writing.split():
            setattr(_C.Tensor, f"{name}_", _Method(f"{name}_", home, name, True))
    for name, (home, function) in _METHODS.items():
        setattr(_C.Tensor, name, _Method(name, home, function))
