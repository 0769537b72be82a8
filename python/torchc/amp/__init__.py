"""Mixed precision: `autocast`, under which operations choose their dtype, and `GradScaler` for losses."""

from torchc.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from torchc.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
