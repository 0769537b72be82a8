"""Checkpoints: `save` and `load` in PyTorch's formats, which PyTorch reads and writes too.

By default `load` makes tensors, containers and what `add_safe_globals` allows, and runs no code of the file. Plain
`.safetensors` files have functions of their own.
"""

from __future__ import annotations

import io
import os
from contextlib import contextmanager

from torchc.errors import Unsupported
from torchc.serialization._read import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    read,
)
from torchc.serialization._safetensors import load_safetensors, save_safetensors
from torchc.serialization._write import write_archive, write_file

__all__ = [
    "SourceChangeWarning",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "load_safetensors",
    "safe_globals",
    "save",
    "save_safetensors",
]

DEFAULT_PROTOCOL = 2


class SourceChangeWarning(Warning):
    """PyTorch's warning about changed source of a pickled module; never raised."""


@contextmanager
def safe_globals(safe_globals: list):
    """Inside, `load(weights_only=True)` allows these, too."""
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        clear_safe_globals()
        add_safe_globals(before)


def save(
    obj,
    f,
    pickle_module=None,
    pickle_protocol=DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization=True,
) -> None:
    """Writes an object to `f`, a path or a binary file, as a zip that PyTorch loads.

    Tensors keep strides, and those that share memory share it after loading; a file at a path is replaced by the
    complete new one or stays as it was. Modules are pickled under PyTorch's names.

    Raises RuntimeError for a folder that doesn't exist, and for one memory that has tensors of two dtypes.
    """
    if pickle_module is not None and pickle_module.__name__ != "pickle":
        raise Unsupported(f"save(pickle_module={pickle_module.__name__}): only Python's own pickle")
    if not _use_new_zipfile_serialization:
        raise Unsupported(
            "save(_use_new_zipfile_serialization=False): writing the format before PyTorch 1.6"
        )
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        root = os.path.splitext(os.path.basename(path))[0] or "archive"
        write_file(path, lambda file: write_archive(obj, file, pickle_protocol, root))
        return
    if not hasattr(f, "write"):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, got {type(f).__name__}"
        )
    buffer = io.BytesIO()  # all of it or nothing
    write_archive(obj, buffer, pickle_protocol, "archive")
    f.write(buffer.getvalue())


def load(
    f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args
):
    """What a checkpoint holds; `f` is a path or a binary file that can seek.

    Args:
        map_location: a device for all tensors, a dict of devices, or a function (storage, location) -> storage or None.
        weights_only: True (default) makes only tensors, containers and what add_safe_globals allows. False unpickles
            anything: a file can run any code then.
        mmap: map the file's tensors instead of reading them: their memory is read when it is used, checksums are not
            verified.

    Raises pickle.UnpicklingError for a name that isn't allowed, RuntimeError for a damaged file, or one of another
    kind.
    """
    if pickle_module is not None:
        if weights_only:
            raise RuntimeError(
                "Can not safely load weights when explicit pickle_module is specified"
            )
        weights_only = False
    if not isinstance(f, (str, os.PathLike)):
        for name in ("read", "seek", "tell"):
            if not hasattr(f, name):
                raise AttributeError(
                    f"expected 'f' to be string, path, or a file-like object: {type(f).__name__} has no '{name}'"
                )
    options = {"encoding": pickle_load_args.pop("encoding", "utf-8"), **pickle_load_args}
    return read(
        f, map_location, True if weights_only is None else bool(weights_only), bool(mmap), options
    )
