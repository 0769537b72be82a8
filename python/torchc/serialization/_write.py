"""Objects as PyTorch's zip checkpoints: a pickle whose names are PyTorch's, and one entry per storage."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import pickle
import secrets
import struct
import sys
import zipfile
from collections import OrderedDict
from typing import Any

from torchc import _C
from torchc.serialization._names import STORAGE_OF_DTYPE, UNTYPED, Global, theirs

__all__ = ["write_archive", "write_file"]

_ALIGNMENT = 64
_REBUILD = Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_UNTYPED = Global("torch._utils", "_rebuild_tensor_v3")
_REBUILD_META = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
_PARAMETER = Global("torch._utils", "_rebuild_parameter")
_PARAMETER_STATE = Global("torch._utils", "_rebuild_parameter_with_state")
_WITH_TYPE = Global("torch._tensor", "_rebuild_from_type_v2")
_STORAGES = {dtype: Global("torch", name) for dtype, name in STORAGE_OF_DTYPE.items()}
_BYTES = Global("torch.storage", "UntypedStorage")


class _Storage:
    """Stands for a tensor's storage in the pickle."""

    def __init__(self, pid: tuple):
        self.pid = pid


_Base: Any = pickle._Pickler


class _Pickler(_Base):
    """Python's own pickler: the one in C can't write a name that doesn't exist here."""

    dispatch: dict = _Base.dispatch.copy()

    def __init__(self, file, protocol: int):
        super().__init__(file, protocol)
        self.tensors: dict[str, _C.Tensor] = {}  # by storage key: a tensor whose storage is written
        self._keys: dict[int, tuple[str, Any]] = {}  # by identity: key and dtype

    def persistent_id(self, obj):
        return obj.pid if isinstance(obj, _Storage) else None

    def _save_name(self, obj):
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    dispatch[Global] = _save_name

    def save_global(self, obj, name=None):
        module = getattr(obj, "__module__", None) or ""
        if theirs(module) == module:
            return super().save_global(obj, name)
        name = name or obj.__qualname__
        owner, _, last = name.rpartition(".")
        if owner:  # the format has no dots in names
            parent = sys.modules[module]
            for part in owner.split("."):
                parent = getattr(parent, part)
            return self.save_reduce(getattr, (parent, last), obj=obj)
        self.write(pickle.GLOBAL + f"{theirs(module)}\n{name}\n".encode())
        self.memoize(obj)

    # The parent's table refers to the parent's methods.
    dispatch[type] = save_global
    dispatch[type(lambda: None)] = save_global

    def reducer_override(self, obj):
        if isinstance(obj, _C.Tensor):
            return self._reduce_tensor(obj)
        return NotImplemented

    def _storage_of(self, tensor, location: str) -> _Storage:
        identity, nbytes = _C._storage_info(tensor)
        dtype = _C.uint8 if tensor.dtype in UNTYPED else tensor.dtype  # of the storage
        key, written = self._keys.setdefault(identity, (str(len(self._keys)), dtype))
        if written is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        self.tensors[key] = tensor
        kind = _BYTES if tensor.dtype in UNTYPED else _STORAGES[dtype]
        count = nbytes // dtype.itemsize
        return _Storage(("storage", kind, key, location, count))

    def _plain(self, tensor, requires_grad: bool):
        if tensor.device.type == "meta":
            return _REBUILD_META, (
                tensor.dtype,
                tuple(tensor.shape),
                tensor.stride(),
                requires_grad,
            )
        location = str(tensor.device)
        if location != "cpu":
            tensor = tensor.cpu()
        untyped = tensor.dtype in UNTYPED
        if not untyped and tensor.dtype not in STORAGE_OF_DTYPE:
            raise NotImplementedError(f"save(): tensors of {tensor.dtype}")
        parts: tuple[Any, ...] = (
            self._storage_of(tensor, location),
            tensor.storage_offset(),
            tuple(tensor.shape),
            tensor.stride(),
            requires_grad,
            OrderedDict(),
        )
        return (_REBUILD_UNTYPED, (*parts, tensor.dtype)) if untyped else (_REBUILD, parts)

    def _reduce_tensor(self, tensor):
        nn = sys.modules.get("torchc.nn.parameter")
        if nn is not None and nn.is_lazy(tensor):
            return tensor.__reduce_ex__(self.proto)
        state = getattr(tensor, "__dict__", None)
        if nn is not None and type(tensor) is nn.Parameter:
            args: tuple = (tensor.detach(), tensor.requires_grad, OrderedDict())
            return (_PARAMETER_STATE, (*args, dict(state))) if state else (_PARAMETER, args)
        rebuild, args = self._plain(tensor, tensor.requires_grad)
        if type(tensor) is _C.Tensor and not state:
            return rebuild, args
        return _WITH_TYPE, (rebuild, type(tensor), args, dict(state or {}))


def _save_dtype(self, obj):
    self._save_name(Global("torch", str(obj).rsplit(".", 1)[1]))


_Pickler.dispatch[_C.dtype] = _save_dtype


def _save_device(self, obj):
    parts = (obj.type,) if obj.index is None else (obj.type, obj.index)
    self.save_reduce(Global("torch", "device"), parts, obj=obj)


_Pickler.dispatch[_C.device] = _save_device


def _save_size(self, obj):
    self.save_reduce(Global("torch", "Size"), (tuple(obj),), obj=obj)


_Pickler.dispatch[_C.Size] = _save_size


def _entry(archive: zipfile.ZipFile, name: str, data: bytes):
    """Adds an uncompressed entry whose data begins at a multiple of 64 bytes, so that it can be mapped."""
    info = zipfile.ZipInfo(name)
    start = archive.fp.tell() + 30 + len(name.encode()) + 4  # type: ignore[union-attr]
    gap = -start % _ALIGNMENT
    info.extra = struct.pack("<HH", 0x4246, gap) + b"Z" * gap
    archive.writestr(info, data)


def write_archive(obj, file, protocol: int, root: str):
    """Writes `obj` to a seekable binary file."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, protocol)
    pickler.dump(obj)
    digest = hashlib.sha1(buffer.getvalue())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _entry(archive, f"{root}/data.pkl", buffer.getvalue())
        _entry(archive, f"{root}/.format_version", b"1")
        _entry(archive, f"{root}/.storage_alignment", str(_ALIGNMENT).encode())
        _entry(archive, f"{root}/byteorder", sys.byteorder.encode())
        for key, tensor in pickler.tensors.items():
            data = _C._storage_bytes(tensor)
            digest.update(len(data).to_bytes(8, "little"))
            _entry(archive, f"{root}/data/{key}", data)
        _entry(archive, f"{root}/version", b"3\n")
        number = f"{int.from_bytes(digest.digest()[:16], 'big'):040d}"
        _entry(archive, f"{root}/.data/serialization_id", number.encode())


def write_file(path: str, write):
    """Calls write(file) on a new file beside `path` and renames it: the path holds all of it or what it held before.

    A link stays one, what it leads to is replaced. What is no regular file (a pipe, a device) is written directly.
    Raises RuntimeError for a folder that doesn't exist.
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        buffer = io.BytesIO()  # the archive's writer must be able to seek
        write(buffer)
        try:
            with open(path, "wb") as file:
                file.write(buffer.getvalue())
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None
        return
    temporary = None
    try:
        descriptor, temporary = _new_file(path)
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.errno:  # of the file that was asked for
            raise type(error)(error.errno, error.strerror, path) from None
        raise


def _new_file(path: str) -> tuple[int, str]:
    """A file of a new name beside `path` with the permissions that open() gives (mkstemp's are narrower)."""
    folder, name = os.path.split(path)
    while True:
        temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.tmp")
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            return os.open(temporary, flags, 0o666), temporary
