"""Checkpoints read: pickles with an allow-list, storages, PyTorch's zip format and the one before it."""

from __future__ import annotations

import collections
import io
import mmap as _mmap
import os
import pickle
import struct
import sys
import zipfile
import zlib
from collections import OrderedDict
from typing import Any

from torchc import _C
from torchc.serialization._names import DTYPE_OF_STORAGE, ours

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "read", "safe_names"]

_MAGIC = 0x1950A86A20F9469CFC6C
_user_globals: list = []


class Storage:
    """A storage of a checkpoint as `map_location` functions see it; tensors are views of `tensor`."""

    def __init__(self, tensor, dtype, location: str):
        self.tensor, self.dtype, self.location = tensor, dtype, location

    @property
    def device(self):
        """Where it is."""
        return self.tensor.device

    def nbytes(self) -> int:
        """Its size in bytes."""
        return self.tensor.numel() * self.tensor.dtype.itemsize

    def cpu(self):
        """Itself."""
        return self


# What a pickle may call: functions and classes, wrapped so that a pickle can't change them.


class _Callable:
    __slots__ = ("_target",)
    _target: Any

    def __init__(self, target):
        object.__setattr__(self, "_target", target)

    def __call__(self, *args):
        return self._target(*args)

    def __setattr__(self, name, value):
        raise pickle.UnpicklingError("a checkpoint can't change what it calls")


def _finish(tensor, requires_grad):
    return tensor.requires_grad_(True) if requires_grad else tensor


def _rebuild_tensor_v2(
    storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None
):
    if not isinstance(storage, Storage):
        raise pickle.UnpicklingError("a tensor without a storage")
    if storage.tensor.device.type == "meta":
        return _rebuild_meta(storage.dtype, size, stride, requires_grad)
    # A part of a storage (the old format has them) begins within it.
    begin = storage.tensor.storage_offset() // storage.dtype.itemsize
    view = _C._storage_view(
        storage.tensor, storage.dtype, begin + offset, tuple(size), tuple(stride)
    )
    # The bytes are here; each tensor moves when it is made.
    return _finish(
        view.to(storage.location) if storage.location.startswith("cuda") else view, requires_grad
    )


def _rebuild_tensor(storage, offset, size, stride):
    return _rebuild_tensor_v2(storage, offset, size, stride)


def _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    return _rebuild_tensor_v2(
        Storage(storage.tensor, dtype, storage.location), offset, size, stride, requires_grad
    )


def _rebuild_meta(dtype, size, stride, requires_grad):
    return _finish(_C.empty(tuple(size), dtype=dtype, device="meta"), requires_grad)


def _rebuild_parameter(data, requires_grad, hooks):
    from torchc.nn import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    parameter = _rebuild_parameter(data, requires_grad, hooks)
    parameter.__dict__.update(state)
    return parameter


def _rebuild_from_type_v2(function, kind, args, state):
    tensor = function(*args)
    target = kind._target if isinstance(kind, _Callable) else kind
    if not (isinstance(target, type) and issubclass(target, _C.Tensor)):
        raise pickle.UnpicklingError(f"{target} is no tensor class")
    if type(tensor) is not target:
        tensor = tensor.as_subclass(target)
    if isinstance(state, dict) and state:
        tensor.__dict__.update(state)
    return tensor


def _device(*args):
    return _C.device(*args)


_FUNCTIONS = {
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch.Size": _C.Size,
    "torch.device": _device,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": collections.Counter,
    "builtins.set": set,
    "builtins.bytearray": bytearray,
    "builtins.complex": complex,
    "__builtin__.set": set,
    "__builtin__.complex": complex,
    "_codecs.encode": lambda text, encoding: text.encode(encoding),
}
_DTYPES = {name for name in dir(_C) if isinstance(getattr(_C, name), _C.dtype)}


class _StorageClass(_Callable):
    """`torch.FloatStorage` in a persistent id: the dtype of a storage."""

    __slots__ = ()

    def __call__(self, *args):
        raise pickle.UnpicklingError("a storage is only made by a persistent id")


_DTYPE_OF_CLASS = {("torch", name): dtype for name, dtype in DTYPE_OF_STORAGE.items()}
for _name in ("torch", "torch.storage"):
    _DTYPE_OF_CLASS[_name, "UntypedStorage"] = _C.uint8
_DTYPE_OF_CLASS["torch.storage", "TypedStorage"] = _C.uint8


def add_safe_globals(safe_globals: list) -> None:
    """Lets `load(weights_only=True)` make these classes and call these functions; also (object, "module.name")."""
    _user_globals.extend(entry for entry in safe_globals if entry not in _user_globals)


def clear_safe_globals() -> None:
    """Forgets what add_safe_globals added."""
    _user_globals.clear()


def get_safe_globals() -> list:
    """What add_safe_globals added."""
    return list(_user_globals)


def safe_names() -> dict[str, object]:
    """The added objects by the names that a pickle has for them."""
    names = {}
    for entry in _user_globals:
        target, name = entry if isinstance(entry, tuple) else (entry, None)
        names[name or f"{target.__module__}.{target.__qualname__}"] = target
    return names


def _known(module: str, name: str):
    """What both ways of loading resolve to something of their own; None for other names."""
    if (module, name) in _DTYPE_OF_CLASS:
        return _StorageClass(_DTYPE_OF_CLASS[module, name])
    if module == "torch" and name in _DTYPES:
        return getattr(_C, name)
    function = _FUNCTIONS.get(f"{module}.{name}")
    return None if function is None else _Callable(function)


class _Persistent:
    """Persistent ids of both modes; `read_storage(dtype, key, location, count)` gives a Storage."""

    _read_storage: Any

    def persistent_load(self, saved):
        if not (
            isinstance(saved, tuple) and len(saved) >= 5 and saved[0] in ("storage", b"storage")
        ):
            raise pickle.UnpicklingError(f"unknown persistent id {str(saved)[:80]}")
        kind = saved[1]
        if not isinstance(kind, _StorageClass):
            raise pickle.UnpicklingError(
                f"persistent id: expected a storage class, got {str(kind)[:80]}"
            )
        return self._read_storage(kind._target, *saved[2:])


class _Unpickler(_Persistent, pickle.Unpickler):
    def __init__(self, file, read_storage, **options):
        super().__init__(file, **options)
        self._read_storage = read_storage


_PythonUnpickler: Any = pickle._Unpickler


def _allowed(module: str, name: str):
    """What the allow-list has for a name, None for others. Nothing in it can be changed through what this gives."""
    known = _known(module, name)
    if known is not None:
        return known
    full = f"{module}.{name}"
    if full in ("torch._tensor.Tensor", "torch.Tensor"):
        return _Callable(_C.Tensor)
    if full == "torch.nn.parameter.Parameter":
        from torchc.nn import Parameter

        return _Callable(Parameter)
    return None


def _refused(full: str):
    return pickle.UnpicklingError(
        f"Weights only load failed. Unsupported global: GLOBAL {full} was not an allowed global by default. If "
        f"you trust the file, load it with weights_only=False, or allow the name with "
        f"torch.serialization.add_safe_globals([{full.rsplit('.', 1)[1]}])."
    )


class _SafeUnpickler(_Unpickler):
    """Names of the allow-list only."""

    def find_class(self, module, name):
        allowed = _allowed(module, name)
        if allowed is None:
            raise _refused(f"{module}.{name}")
        return allowed


class _AddedUnpickler(_Persistent, _PythonUnpickler):
    """Also what add_safe_globals added, as it is: so each step that changes or calls something looks at it first.

    Python's own unpickler, since the one in C lets no step be replaced; it is slower.
    """

    dispatch: dict = _PythonUnpickler.dispatch.copy()

    def __init__(self, file, read_storage, **options):
        super().__init__(file, **options)
        self._read_storage = read_storage
        self._added: list = []  # the objects that names gave: a file may make instances of them, no more

    def find_class(self, module, name):
        allowed = _allowed(module, name)
        if allowed is not None:
            return allowed
        added = safe_names()
        for candidate in (f"{module}.{name}", f"{ours(module)}.{name}"):
            if candidate in added:
                self._added.append(added[candidate])
                return added[candidate]
        raise _refused(f"{module}.{name}")

    def _changed(self, target):
        if isinstance(target, type) or any(target is one for one in self._added):
            raise pickle.UnpicklingError(f"a checkpoint can't change {str(target)[:80]}")

    def _called(self, target):
        if not (isinstance(target, _Callable) or any(target is one for one in self._added)):
            raise pickle.UnpicklingError(f"a checkpoint can't call {str(target)[:80]}")


def _looking(opcode: bytes, look, where):
    step = _PythonUnpickler.dispatch[opcode[0]]

    def load(self):
        look(self, where(self))
        step(self)

    _AddedUnpickler.dispatch[opcode[0]] = load


# Opcodes that change something, and where it lies: below one value, below two, below a mark.
for _opcode, _where in (
    (pickle.BUILD, lambda self: self.stack[-2]),
    (pickle.APPEND, lambda self: self.stack[-2]),
    (pickle.SETITEM, lambda self: self.stack[-3]),
    (pickle.APPENDS, lambda self: self.metastack[-1][-1]),
    (pickle.SETITEMS, lambda self: self.metastack[-1][-1]),
    (pickle.ADDITEMS, lambda self: self.metastack[-1][-1]),
):
    _looking(_opcode, _AddedUnpickler._changed, _where)
for _opcode, _where in (
    (pickle.REDUCE, lambda self: self.stack[-2]),
    (pickle.NEWOBJ, lambda self: self.stack[-2]),
    (pickle.NEWOBJ_EX, lambda self: self.stack[-3]),
):
    _looking(_opcode, _AddedUnpickler._called, _where)


class _FullUnpickler(_Unpickler):
    """Every name: torch's are taken from torchc. A file can run any code this way."""

    def find_class(self, module, name):
        known = _known(module, name)
        if isinstance(known, _StorageClass) or isinstance(known, _C.dtype):
            return known
        if isinstance(known, _Callable):
            return known._target
        if module in ("torch._tensor", "torch") and name == "Tensor":
            return _C.Tensor
        return super().find_class(ours(module), name)


class _Places:
    """Where storages go: what `map_location` says."""

    def __init__(self, map_location):
        self.map = map_location

    def put(self, storage: Storage) -> Storage:
        """The storage in its place. Raises RuntimeError for a device that doesn't exist here."""
        wanted = storage.location
        if isinstance(self.map, dict):
            wanted = self.map.get(wanted, wanted)
        elif isinstance(self.map, (str, _C.device)):
            wanted = str(self.map)
        elif self.map is not None:
            result = self.map(storage, wanted)
            if result is not None:
                return result
        kind = str(wanted).split(":")[0]
        if kind == "cpu":
            # In place where nothing changes: a caller may hold it.
            storage.location = "cpu"
            return storage
        if kind == "meta":
            return Storage(storage.tensor.to("meta"), storage.dtype, "meta")
        if kind == "cuda" and _C._cuda_device_count():
            return Storage(storage.tensor, storage.dtype, str(_C.device(str(wanted))))
        if kind == "cuda":
            raise RuntimeError(
                "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
                "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
                "your storages to the CPU."
            )
        raise RuntimeError(
            f"don't know how to restore data location of a storage (tagged with {wanted})"
        )


def _swapped(data: bytes, item: int) -> bytes:
    """The bytes of each element in the other order."""
    out = bytearray(len(data))
    for i in range(item):
        out[i::item] = data[item - 1 - i :: item]
    return bytes(out)


class _Archive:
    """A zip checkpoint."""

    def __init__(self, file, path: str | None, mmap: bool):
        self.file = zipfile.ZipFile(file)
        names = self.file.namelist()
        pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if not pickles:
            raise RuntimeError("no data.pkl in the archive: it is no checkpoint")
        if any(name.startswith(pickles[0][:-8] + "constants.pkl") for name in names):
            raise NotImplementedError(
                "load(): a TorchScript archive; only checkpoints of torch.save can be read"
            )
        self.root = pickles[0][: -len("data.pkl")]
        self.names = set(names)
        order = (
            self.read("byteorder").decode() if self.root + "byteorder" in self.names else "little"
        )
        if order not in ("little", "big"):
            raise RuntimeError(f"unknown byte order {order!r}")
        self.swap = order != sys.byteorder
        self.mapped = None
        if mmap:
            with open(path, "rb") as source:  # type: ignore[arg-type]
                self.mapped = _mmap.mmap(source.fileno(), 0, access=_mmap.ACCESS_COPY)

    def read(self, name: str) -> bytes:
        """An entry, its checksum verified."""
        return self.file.read(self.root + name)

    def storage(self, dtype, key: str, location: str, count: int) -> Storage:
        """Storage `key` of `count` elements. Raises RuntimeError when the entry has another size."""
        name, nbytes = f"data/{key}", count * dtype.itemsize
        info = self.file.getinfo(self.root + name)
        if info.file_size != nbytes:
            raise RuntimeError(
                f"storage {key}: expected {nbytes} bytes, the archive has {info.file_size}"
            )
        if self.mapped is not None and info.compress_type == zipfile.ZIP_STORED and not self.swap:
            begin = self._data_offset(info)
            tensor = _C._from_buffer(self.mapped, _C.uint8, begin, nbytes)
            return Storage(tensor, dtype, location)
        data = self.read(name)
        return Storage(
            _C._from_bytes(_swapped(data, dtype.itemsize) if self.swap else data, _C.uint8),
            dtype,
            location,
        )

    def _data_offset(self, info) -> int:
        """Where an entry's data begins: its local header has lengths of its own."""
        header = self.mapped[info.header_offset : info.header_offset + 30]  # type: ignore[index]
        if header[:4] != b"PK\x03\x04":
            raise RuntimeError(f"{info.filename}: no local header where the archive says")
        name, extra = struct.unpack("<HH", header[26:30])
        return info.header_offset + 30 + name + extra


def _unpickler(weights_only: bool):
    if not weights_only:
        return _FullUnpickler
    return _AddedUnpickler if _user_globals else _SafeUnpickler


def _read_zip(file, path, places: _Places, weights_only: bool, mmap: bool, options: dict):
    archive = _Archive(file, path, mmap)
    done: dict[str, Storage] = {}

    def read_storage(dtype, key, location, count, *view):
        if key not in done:
            if isinstance(places.map, (str, _C.device)) and str(places.map) == "meta":
                done[key] = Storage(
                    _C.empty(count * dtype.itemsize, dtype=_C.uint8, device="meta"), dtype, "meta"
                )
            else:
                done[key] = places.put(archive.storage(dtype, str(key), str(location), int(count)))
        entry = done[key]
        return entry if entry.dtype is dtype else Storage(entry.tensor, dtype, entry.location)

    return _unpickler(weights_only)(
        io.BytesIO(archive.read("data.pkl")), read_storage, **options
    ).load()


def _exactly(file, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise RuntimeError(
            f"unexpected EOF, expected {count - len(data)} more bytes. The file might be corrupted."
        )
    return data


def _read_legacy(file, places: _Places, weights_only: bool, options: dict):
    """The format before PyTorch 1.6: pickles one after the other, then the storages."""
    kind = _unpickler(weights_only)

    def none(*args):
        raise pickle.UnpicklingError("a storage where none may be")

    if kind(file, none, **options).load() != _MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if kind(file, none, **options).load() != 1001:
        raise RuntimeError("Invalid protocol version")
    system = kind(file, none, **options).load()
    swap = isinstance(system, dict) and not system.get("little_endian", True)
    done: dict[str, Storage] = {}

    def read_storage(dtype, key, location, count, view=None):
        if key not in done:
            raw = Storage(_C.zeros(count * dtype.itemsize, dtype=_C.uint8), dtype, str(location))
            done[key] = places.put(raw)
        entry = done[key]
        if view is None:
            return entry if entry.dtype is dtype else Storage(entry.tensor, dtype, entry.location)
        _, offset, size = view
        part = _C._storage_view(
            entry.tensor, _C.uint8, offset * dtype.itemsize, (size * dtype.itemsize,), (1,)
        )
        return Storage(part, dtype, entry.location)

    result = kind(file, read_storage, **options).load()
    for key in kind(file, none, **options).load():
        if key not in done:
            raise RuntimeError(f"storage {str(key)[:40]} belongs to no tensor; the file is corrupt")
        storage = done[key]
        count = struct.unpack("<q", _exactly(file, 8))[0]
        if count * storage.dtype.itemsize != storage.nbytes():
            raise RuntimeError(
                f"storage {key}: expected {storage.nbytes()} bytes, the file has {count} elements"
            )
        data = _exactly(file, storage.nbytes())
        if storage.tensor.device.type != "meta":
            item = storage.dtype.itemsize
            storage.tensor.copy_(_C._from_bytes(_swapped(data, item) if swap else data, _C.uint8))
    return result


def read(source, map_location, weights_only: bool, mmap: bool, options: dict):
    """What the file holds; see `torchc.load`. Every error of a damaged file is a RuntimeError or UnpicklingError."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    file = open(path, "rb") if path is not None else source  # noqa: SIM115 - closed below
    try:
        begin = file.tell()
        head = file.read(4)
        file.seek(begin)
        places = _Places(map_location)
        if head == b"PK\x03\x04":
            if path is None and mmap:
                raise ValueError("f must be a file name in order to use the mmap argument")
            return _guarded(path, _read_zip, file, path, places, weights_only, mmap, options)
        if mmap:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`"
            )
        if not head:
            raise EOFError("Ran out of input")
        return _guarded(path, _read_legacy, file, places, weights_only, options)
    finally:
        if path is not None:
            file.close()


# What only zipfile, its decompressors and struct raise, and what a damaged or foreign file makes pickle and the
# functions that rebuild tensors raise, too.
_OF_THE_FORMAT = (zipfile.BadZipFile, zlib.error, KeyError, struct.error, EOFError) + (
    (zipfile.lzma.LZMAError,) if zipfile.lzma else ()  # type: ignore[attr-defined]
)
_DAMAGE = (
    *_OF_THE_FORMAT, LookupError, ArithmeticError, ValueError, TypeError, AttributeError, NotImplementedError,
    RecursionError, MemoryError, BufferError, AssertionError, ImportError, OSError,
)  # fmt: skip


def _guarded(path: str | None, function, *args):
    weights_only = next(arg for arg in args if isinstance(arg, bool))
    where = f"{path}: " if path else ""
    try:
        return function(*args)
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(f"{where}{error}") from error
    except zipfile.BadZipFile as error:
        raise RuntimeError(
            f"PytorchStreamReader failed reading zip archive: {where}{error}"
        ) from error
    except _DAMAGE as error:
        if not weights_only and not isinstance(error, _OF_THE_FORMAT):
            raise  # it may come from the classes that the file names
        raise RuntimeError(
            f"the checkpoint can't be read: {where}{type(error).__name__}: {error}"
        ) from error
