"""Parameters: tensors that a module registers when they are assigned to it; and buffers that say they are."""

from __future__ import annotations

from torchc import _C

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(_C.Tensor)):  # type: ignore[misc]
    """isinstance(x, Parameter) also holds for a tensor of another class that was made one."""

    def __instancecheck__(cls, instance):
        if super().__instancecheck__(instance):
            return True
        marked = cls is Parameter and isinstance(instance, _C.Tensor)
        return marked and getattr(instance, "_is_param", False)


class Parameter(_C.Tensor, metaclass=_ParameterMeta):
    """A tensor that is trained: assigned to a module it appears in `parameters()` and `state_dict()`.

    Args:
        data: the values, shared, not copied; default: an empty tensor. A subclass of Tensor stays one.
        requires_grad: whether gradients are recorded.
    """

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        """See the class."""
        if data is None:
            data = _C.empty(0)
        if not isinstance(data, _C.Tensor):
            raise TypeError(f"Parameter expects a tensor as data, got {type(data).__name__}")
        if type(data) is _C.Tensor or issubclass(type(data), Parameter) or cls is not Parameter:
            return _C.Tensor._make_subclass(cls, data, requires_grad)
        own = data.detach().requires_grad_(requires_grad)  # of a class of its own, which it keeps
        if type(own) is not type(data):
            raise RuntimeError(
                f"Parameter(): detach() of {type(data).__name__} gave {type(own).__name__}; a parameter keeps its class"
            )
        own._is_param = True
        return own

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            copied = type(self)(self.detach().clone(), self.requires_grad)
            memo[id(self)] = copied
        return memo[id(self)]


class _BufferMeta(type(_C.Tensor)):  # type: ignore[misc]
    """isinstance(x, Buffer) holds for every tensor that is marked as one, whatever its class."""

    def __instancecheck__(cls, instance):
        if super().__instancecheck__(instance):
            return True
        return isinstance(instance, _C.Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(_C.Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned; only a `persistent` one is saved."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        """See the class."""
        data = _C.empty(0) if data is None else data
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor


class UninitializedTensorMixin:
    """A parameter or buffer without a size; it has none of a tensor's functions until `materialize`."""

    _allowed = frozenset(
        "size copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device "
        "requires_grad_ detach clone".split()
    )

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Raises ValueError for what needs a size."""
        name = getattr(func, "__name__", "")
        if name not in cls._allowed and name not in ("__get__", "__set__"):
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
                f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
                "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch "
                "functions"
            )
        return _C._disabled_torch_function_impl(func, types, args, kwargs)

    def materialize(self, shape, device=None, dtype=None):
        """Gives it memory of this shape; the class becomes the ordinary one."""
        data = _C.empty(
            tuple(shape),
            dtype=dtype or self.__dict__["_dtype"],
            device=device or self.__dict__["_device"],
        )
        self.data = data
        self.__class__ = self.cls_to_become  # type: ignore[attr-defined]

    @property
    def shape(self):
        """Raises RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def _made_of(self) -> tuple:
        own = self.__dict__
        return (self.requires_grad, own["_device"], own["_dtype"])  # type: ignore[attr-defined]

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(*self._made_of())
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), self._made_of()


def is_lazy(param) -> bool:
    """Whether `param` has no size yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose size the first input gives (see `LazyModuleMixin`)."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        """See the class."""
        self = _C.Tensor._make_subclass(cls, _C.empty(0), requires_grad)
        self.__dict__["_dtype"] = dtype or _C.get_default_dtype()
        self.__dict__["_device"] = device or "cpu"
        return self


class UninitializedBuffer(UninitializedTensorMixin, _C.Tensor):
    """A buffer whose size the first input gives."""

    cls_to_become = _C.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        """See the class."""
        self = _C.Tensor._make_subclass(cls, _C.empty(0), requires_grad)
        self.__dict__["_dtype"] = dtype or _C.get_default_dtype()
        self.__dict__["_device"] = device or "cpu"
        return self
