"""Models from the network: not downloaded. Local folders with a hubconf.py load."""

from __future__ import annotations

import importlib.util
import os
import sys

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

_dir: str | None = None


def get_dir() -> str:
    """The folder of downloaded models, if there were any."""
    return _dir or os.path.join(os.path.expanduser("~"), ".cache", "torch", "hub")


def _get_torch_home() -> str:
    return os.path.dirname(get_dir())


def set_dir(d) -> None:
    """Sets the folder."""
    global _dir
    _dir = os.path.expanduser(d)


def _offline(what: str):
    raise NotImplementedError(
        f"torch.hub: {what} is not downloaded; put the files into a folder (source='local')"
    )


def _hubconf(folder: str, source: str):
    if source != "local":
        _offline(folder)
    spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{folder} has no hubconf.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def load(repo_or_dir, model, *args, source="github", **kwargs):
    """hubconf.`model`(*args, **kwargs) of a local folder. Raises NotImplementedError for anything on the network."""
    for name in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(name, None)
    return getattr(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def list(github, **kwargs):  # noqa: A001 - the name is PyTorch's
    """The models of a local folder."""
    module = _hubconf(github, kwargs.get("source", "github"))
    return [
        name for name, value in vars(module).items() if callable(value) and not name.startswith("_")
    ]


def help(github, model, **kwargs):  # noqa: A001 - the name is PyTorch's
    """The docstring of a model of a local folder."""
    return getattr(_hubconf(github, kwargs.get("source", "github")), model).__doc__


def load_state_dict_from_url(url, model_dir=None, map_location=None, file_name=None, **kwargs):
    """The checkpoint if it lies in the folder of downloaded models. Raises NotImplementedError otherwise."""
    name = file_name or os.path.basename(url.split("?")[0])
    path = os.path.join(model_dir or os.path.join(get_dir(), "checkpoints"), name)
    if not os.path.exists(path):
        _offline(url)
    from torchc import serialization

    return serialization.load(path, map_location=map_location)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Raises NotImplementedError: nothing is downloaded."""
    _offline(url)
