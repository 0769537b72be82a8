"""Switches of other backends, which programs set and ask: none of these exist here, and they say so.

Assignments are kept, so that a program reads what it wrote; they change nothing.
"""

from __future__ import annotations

import sys
import types
from contextlib import contextmanager

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]


def _none(*args, **kwargs):
    return None


def _no(*args, **kwargs) -> bool:
    return False


def _module(name: str, **members) -> types.ModuleType:
    module = types.ModuleType(f"{__name__}.{name}", f"{name}: not available.")
    module.__dict__.update(is_available=_no, is_built=_no, **members)
    sys.modules[module.__name__] = module
    return module


@contextmanager
def _flags(*args, **kwargs):
    """A scope of settings, without effect."""
    yield


def _matmul() -> types.SimpleNamespace:
    return types.SimpleNamespace(
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        fp32_precision="none",
    )


fp32_precision = "none"
cudnn = _module(
    "cudnn", enabled=True, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10, version=_none,
    flags=_flags, fp32_precision="none",
)  # fmt: skip
cuda = _module(
    "cuda", matmul=_matmul(), flash_sdp_enabled=_no, mem_efficient_sdp_enabled=_no, math_sdp_enabled=lambda: True,
    cudnn_sdp_enabled=_no, enable_flash_sdp=_none, enable_mem_efficient_sdp=_none, enable_math_sdp=_none,
    enable_cudnn_sdp=_none, sdp_kernel=_flags, preferred_linalg_library=_none,
)  # fmt: skip
mps = _module("mps", is_macos_or_newer=_no)
mkl = _module("mkl")
mkldnn = _module("mkldnn", enabled=False, flags=_flags, matmul=_matmul())
openmp = _module("openmp")
opt_einsum = _module("opt_einsum", enabled=False, strategy=None)
xeon = _module("xeon")


def _capability() -> str:
    """The widest vectors of the kernels that were loaded."""
    with open("/proc/cpuinfo", encoding="ascii", errors="ignore") as file:
        flags = next((line for line in file if line.startswith("flags")), "")
    return "AVX512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "DEFAULT"


cpu = _module("cpu", get_cpu_capability=_capability)
quantized = types.SimpleNamespace(engine="none", supported_engines=["none"])
