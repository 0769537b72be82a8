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
    "linalg._matrix": ("geqrf matrix_power ormqr", "", ""),
    "fft._short_time": ("istft stft", "", ""),
    "special._bessel": ("", "", "i0"),
    "special._gamma": ("", "polygamma", "igamma igammac"),
    "_functions.differences": ("diff", "cumulative_trapezoid gradient trapezoid trapz", ""),
    "_functions.statistics": (
        "corrcoef cov histogram nanquantile quantile",
        "histogramdd",
        "",
    ),
    "_functions.numbers": (
        "frexp logcumsumexp",
        "native_group_norm vander",
        "gcd lcm nextafter renorm",
    ),
    "_functions.strided": (
        "as_strided_scatter",
        "as_strided_copy nonzero split_with_sizes_copy unbind_copy unfold_copy",
        "",
    ),
    "_functions.asking": (
        "",
        "get_device is_inference is_same_size is_signed range slice_copy split_copy",
        "",
    ),
    "_functions.losses": (
        "",
        "alpha_dropout binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss embedding "
        "feature_alpha_dropout frobenius_norm hinge_embedding_loss instance_norm kl_div "
        "margin_ranking_loss native_dropout native_layer_norm norm_except_dim nuclear_norm "
        "poisson_nll_loss triplet_margin_loss",
        "",
    ),
    "_functions.lowrank": ("", "pca_lowrank svd_lowrank", ""),
    "_functions.windows": (
        "",
        "bartlett_window blackman_window hamming_window hann_window kaiser_window",
        "",
    ),
    "_functions.sampling": (
        "",
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial poisson",
        "",
    ),
    "nn._functions.activation": ("", "rrelu", ""),
    "nn._functions.distance": ("", "cosine_similarity pairwise_distance pdist", ""),
    "_functions.writing": (
        "",
        "abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ "
        "atan_ atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ detach_ "
        "dropout_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ "
        "ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ "
        "relu_ resize_as_ round_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ "
        "threshold_ trunc_ xlogy_ zero_",
        "",
    ),
}
# Methods of other arguments, or of names that aren't functions.
_METHODS = {
    "__array_wrap__": ("_creation", "array_wrap"),
    "__array_namespace__": ("_array_api", "namespace"),
    "_make_wrapper_subclass": ("_tensor", "make_wrapper_subclass"),
    "to_device": ("_array_api", "to_device"),
    "polygamma": ("special._gamma", "polygamma_method"),
    "polygamma_": ("special._gamma", "polygamma_"),
    "lu": ("linalg._names", "lu"),
    "__reversed__": ("_functions.asking", "reversed_"),
    "dim_order": ("_functions.asking", "dim_order"),
    "is_set_to": ("_functions.asking", "is_set_to"),
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
        function = _C._overridable(function, "torchc.Tensor")
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
