"""GradScaler: scaling of losses, so that gradients of half precision don't vanish."""

from __future__ import annotations

import math
import struct
import warnings

from torchc import _C
from torchc.autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]


def _float32(x: float) -> float:
    """The scale's type; inf where it is too large."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.inf


class OptState:
    """What an optimizer's gradients have gone through since the last update."""

    READY, UNSCALED, STEPPED = range(3)


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
        self._scale, self._growth_tracker = _float32(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._stages: dict = {}  # by optimizer: its OptState
        self._found: dict = {}  # by optimizer: whether a gradient was inf or NaN; only if it has gradients

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The present factor; 1 when off."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs):
        """The tensors times the factor. Raises ValueError for what is no tensor or iterable of tensors."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(output) for output in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError(
            f"GradScaler.scale(): outputs must be a Tensor or an iterable of Tensors, not {type(outputs).__name__}"
        )

    def _stage(self, optimizer) -> int:
        return self._stages.get(id(optimizer), OptState.READY)

    @no_grad()
    def unscale_(self, optimizer):
        """Divides the optimizer's gradients by the factor.

        Raises RuntimeError the second time before an update and after step, ValueError for gradients of float16.
        """
        if not self._enabled:
            return
        if self._stage(optimizer) == OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if self._stage(optimizer) == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found = [
            self._unscale(param.grad)
            for group in optimizer.param_groups
            for param in group["params"]
            if param.grad is not None
        ]
        if found:
            self._found[id(optimizer)] = any(found)
        self._stages[id(optimizer)] = OptState.UNSCALED

    def _unscale(self, grad) -> bool:
        """Divides a gradient; whether it isn't finite."""
        if grad.dtype is _C.float16:
            raise ValueError("Attempting to unscale FP16 gradients.")
        grad.mul_(1.0 / self._scale)
        return not bool(_C.isfinite(grad).all())

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), left out when a gradient is inf or NaN; returns what it returns.

        Raises RuntimeError for a closure and the second time before an update, AssertionError without a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._stage(optimizer) == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._stage(optimizer) == OptState.READY:
            self.unscale_(optimizer)
        if id(optimizer) not in self._found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """The next factor: smaller after inf or NaN, larger after `growth_interval` good steps, or a given one.

        Raises AssertionError when no gradients were looked at, or for a new factor that isn't one number.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = self._given(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale = _float32(self._scale * self._backoff_factor)
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._grow()
                self._growth_tracker = 0
        self._found.clear()
        self._stages.clear()

    def _grow(self) -> None:
        """Not to inf."""
        grown = _float32(self._scale * self._growth_factor)
        if grown < math.inf:
            self._scale = grown

    def _given(self, scale) -> float:
        if isinstance(scale, _C.Tensor) and (scale.numel() != 1 or scale.requires_grad):
            raise AssertionError(
                "new_scale should be a float or a tensor of one element without requires_grad"
            )
        return _float32(float(scale))

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after enough good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets it."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after inf or NaN."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets it."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Good steps in a row until the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets it."""
        self._growth_interval = new_interval

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
