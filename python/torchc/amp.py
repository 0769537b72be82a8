"""Mixed precision: scaling of losses. autocast itself is not implemented and says so."""

from __future__ import annotations

import functools
import warnings

from torchc import _C
from torchc.autograd.grad_mode import no_grad
from torchc.errors import Unsupported

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


class autocast:
    """A scope in which operations choose their dtype. Only `enabled=False`, and devices that don't exist (off), work.

    Raises Unsupported for an enabled scope on the CPU.
    """

    def __init__(self, device_type: str, dtype=None, enabled: bool = True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = dtype
        if enabled and device_type == "cuda":
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=3,
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        if self._enabled:
            raise Unsupported(
                f"autocast({self.device!r}): choosing dtypes by operation; cast with to() instead"
            )
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapped


def is_autocast_available(device_type: str) -> bool:
    """False: no device has it."""
    return False


def custom_fwd(fwd=None, *, device_type=None, cast_inputs=None):
    """`fwd` itself: outside of autocast it is called as it is."""
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type=None):
    """`bwd` itself: outside of autocast it is called as it is."""
    return (lambda f: f) if bwd is None else bwd


class GradScaler:
    """Multiplies the loss so that float16 gradients don't vanish, and skips steps whose gradients are inf or NaN.

    Args:
        device: "cuda" is off with a warning, as there is none.
        init_scale, growth_factor, backoff_factor, growth_interval: the scale and how it changes.
    """

    def __init__(
        self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
        enabled=True,
    ):  # fmt: skip
        self._device = device
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=3,
            )
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled = enabled
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._found: dict = {}  # by optimizer: whether a gradient was inf or NaN

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The present factor; 1 when off."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs):
        """The tensors times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        return type(outputs)(self.scale(output) for output in outputs)

    @no_grad()
    def unscale_(self, optimizer):
        """Divides the optimizer's gradients by the factor. Raises RuntimeError the second time before an update."""
        if not self._enabled:
            return
        if id(optimizer) in self._found:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        found = False
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                param.grad.mul_(1.0 / self._scale)
                found = found or not bool((param.grad - param.grad == 0).all())
        self._found[id(optimizer)] = found

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), left out when a gradient is inf or NaN; returns what it returns."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """The next factor: smaller after inf or NaN, larger after `growth_interval` good steps, or a given one."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._found.clear()

    def __getstate__(self):
        if self._found:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
        return self.__dict__.copy()

    def state_dict(self) -> dict:
        """The state; empty when off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict):
        """Takes over what state_dict gave. Raises RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = (
            state_dict["growth_factor"],
            state_dict["backoff_factor"],
        )
        self._growth_interval, self._growth_tracker = (
            state_dict["growth_interval"],
            state_dict["_growth_tracker"],
        )
