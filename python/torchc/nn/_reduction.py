"""The `reduction` argument of losses, and the two older booleans that said the same."""

import warnings

REDUCTIONS = ("none", "mean", "sum")


def resolve(reduction: str, size_average=None, reduce=None) -> str:
    """The reduction that the three arguments mean together. Raises ValueError for an unknown name."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            reduction = "none"
        else:
            reduction = "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=4,
        )
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction
