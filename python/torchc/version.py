"""What this is and what it was built for; no CUDA, HIP or XPU."""

__all__ = ["cuda", "debug", "git_version", "hip", "xpu"]

cuda = None
debug = False
git_version = "unknown"
hip = None
xpu = None
