"""How this build was configured, as text."""

from torchc import _C, __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The version and what the build has."""
    return f"torchc {__version__}\n  - kernels for x86-64-v3 and v4, chosen when loaded\n  - no CUDA, no MKL, no oneDNN"


def parallel_info() -> str:
    """The threads that one operation uses."""
    return f"torchc own thread pool\n  get_num_threads() : {_C.get_num_threads()}"
