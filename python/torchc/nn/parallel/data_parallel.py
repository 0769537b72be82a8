"""DataParallel without devices: PyTorch's own behaviour on a machine without any."""

from __future__ import annotations

from torchc.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls `module`; names in the state_dict begin with "module.". Raises AssertionError for device ids."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids:
            raise AssertionError("torchc is not compiled with CUDA enabled")
        self.module = module
        self.device_ids: list = []

    def forward(self, *inputs, **kwargs):
        """The module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """module(*inputs, **module_kwargs)."""
    if device_ids:
        raise AssertionError("torchc is not compiled with CUDA enabled")
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
