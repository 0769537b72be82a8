"""torch.library: operators of one's own.

    @torchc.library.custom_op("mylib::scale", mutates_args=())
    def scale(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return x * by

    @scale.register_fake
    def _(x, by=2.0):
        return torch.empty_like(x)

The function's body is opaque: gradients come from `register_autograd`, compiled functions call it between two compiled
graphs (their `report()` says so), and `torchc.export` refuses it by name, as an artefact has no Python.
"""

from torchc.library._custom import (
    CustomOpDef,
    custom_op,
    register_autograd,
    register_fake,
    register_kernel,
)
from torchc.library._infer import infer_schema
from torchc.library._library import (
    Library,
    define,
    fallthrough_kernel,
    get_ctx,
    impl,
    impl_abstract,
    register_autocast,
    register_torch_dispatch,
    register_vmap,
)
from torchc.library._opcheck import OpCheckError, opcheck

__all__ = [
    "CustomOpDef", "Library", "OpCheckError", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autocast", "register_autograd", "register_fake",
    "register_kernel", "register_torch_dispatch", "register_vmap",
]  # fmt: skip
