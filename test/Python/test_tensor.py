"""Tensor objects as Python sees them: identity, attributes, subclasses, cycles, operators, errors."""

import copy
import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)


def test_identity_is_the_address_while_cpp_owns_the_tensor():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    place = id(x)
    del x  # the tape still holds it: the object lies dormant
    gc.collect()
    node = y.grad_fn
    while not hasattr(node, "variable"):  # the results of a subclass are views of what was computed
        node = node.next_functions[0][0]
    leaf = node.variable
    del node
    assert id(leaf) == place
    assert leaf is y.grad_fn.next_functions[0][0].next_functions[1][0].variable


def test_attributes_survive_while_cpp_owns_the_tensor():
    x = torch.ones(2, requires_grad=True)
    x.note = ["kept"]
    y = (x * x).sum()
    del x
    gc.collect()
    node = y.grad_fn
    while not hasattr(node, "variable"):  # the results of a subclass are views of what was computed
        node = node.next_functions[0][0]
    leaf = node.variable
    del node
    assert leaf.note == ["kept"]


def test_weak_references_die_with_the_tensor():
    x = torch.ones(2)
    ref = weakref.ref(x)
    assert ref() is x
    del x
    assert ref() is None


def test_weak_references_outlive_python_s_last_reference_while_cpp_owns():
    x = torch.ones(2, requires_grad=True)
    ref = weakref.ref(x)
    y = x * x
    del x
    assert ref() is not None
    del y
    assert ref() is None


def test_cycles_are_collected():
    x = torch.ones(2)
    x.self = x
    ref = weakref.ref(x)
    del x
    assert ref() is not None
    gc.collect()
    assert ref() is None


def test_a_million_tensors_leave_nothing():
    before = torch._C._memory_stats()["allocated"]
    for _ in range(100_000):
        torch.ones(4)
    assert torch._C._memory_stats()["allocated"] == before


class Named(torch.Tensor):
    """A subclass with attributes, a method and a finalizer."""

    died = 0

    def squared(self):
        return self * self

    def __del__(self):
        Named.died += 1


def test_subclasses_keep_class_and_attributes():
    x = torch.Tensor._make_subclass(Named, torch.ones(2), True)
    x.name_of_it = "x"
    assert isinstance(x, Named) and x.requires_grad and x.is_leaf
    y = x.squared().sum()
    del x
    gc.collect()
    node = y.grad_fn
    while not hasattr(node, "variable"):  # the results of a subclass are views of what was computed
        node = node.next_functions[0][0]
    leaf = node.variable
    del node
    assert type(leaf) is Named and leaf.name_of_it == "x"
    plain = torch.ones(3, requires_grad=True)
    other = plain.as_subclass(Named)
    assert type(other) is Named and type(plain) is torch.Tensor
    other.sum().backward()
    assert plain.grad.tolist() == [1, 1, 1]
    gone = weakref.ref(leaf)
    del leaf, y
    gc.collect()
    assert gone() is None


def test_subclass_with_slots_is_refused():
    class Slotted(torch.Tensor):
        __slots__ = ("extra",)

    with pytest.raises(NotImplementedError, match="__slots__"):
        torch.Tensor._make_subclass(Slotted, torch.ones(1))
    with pytest.raises(TypeError, match="int"):
        torch.Tensor._make_subclass(int, torch.ones(1))


def test_constructor():
    assert torch.Tensor().shape == (0,)
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([1, 2]).dtype == torch.float32
    assert torch.Tensor(torch.Size([4])).shape == (4,)


def test_operators_with_numbers_and_tensors():
    x = torch.tensor([1.0, -2.0, 4.0])
    rows = [
        (x + 1, [2, -1, 5]), (1 + x, [2, -1, 5]), (x - 1, [0, -3, 3]), (1 - x, [0, 3, -3]),
        (x * 2, [2, -4, 8]), (2 * x, [2, -4, 8]), (x / 2, [0.5, -1, 2]), (4 / x, [4, -2, 1]),
        (-x, [-1, 2, -4]), (+x, [1, -2, 4]), (abs(x), [1, 2, 4]), (x**2, [1, 4, 16]),
        (x == 1, [True, False, False]), (x != 1, [False, True, True]), (x < 0, [False, True, False]),
        (2 > x, [True, True, False]), (x >= 4, [False, False, True]), (x <= x, [True] * 3),
        (x + x, [2, -4, 8]), (x - x, [0, 0, 0]), (x * x, [1, 4, 16]), (x / x, [1, 1, 1]),
    ]  # fmt: skip
    for got, want in rows:
        assert got.tolist() == want
    t = torch.tensor([True, False])
    assert (t & ~t).tolist() == [False, False] and (t | ~t).tolist() == [True, True]
    assert (t ^ t).tolist() == [False, False]
    i = torch.tensor([1, 2])
    assert (~i).tolist() == [-2, -3] and (i / 2).dtype == torch.float32
    assert (i + True).dtype == torch.int64 and (i * 1.5).dtype == torch.float32
    assert (torch.ones(2, 3) @ torch.ones(3)).tolist() == [3, 3]


def test_in_place_operators_keep_the_object():
    x = y = torch.ones(2)
    version = x._version
    x += 1
    x *= torch.tensor([2.0, 3.0])
    x -= 1
    x /= 2
    assert x is y and y.tolist() == [1.5, 2.5] and y._version == version + 4


def test_numbers_out_of_tensors():
    assert float(torch.tensor(2.5)) == 2.5 and int(torch.tensor([3.7])) == 3
    assert bool(torch.tensor(0.0)) is False and [10, 20][torch.tensor(1)] == 20
    assert torch.tensor(7).item() == 7 and isinstance(torch.tensor(True).item(), bool)
    assert 2 in torch.tensor([1, 2]) and 3 not in torch.tensor([1, 2])
    assert len(torch.ones(3, 2)) == 3 and [r.tolist() for r in torch.eye(2)] == [[1, 0], [0, 1]]
    assert len({torch.ones(1), torch.ones(1)}) == 2
    assert (torch.tensor(1) == None) is False  # noqa: E711
    assert f"{torch.tensor(1.5):.2f}" == "1.50"


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: x + "a", TypeError, "unsupported operand"),
        (lambda x: bool(x), RuntimeError, "more than one value"),
        (lambda x: bool(x[:0]), RuntimeError, "no values"),
        (lambda x: x.item(), RuntimeError, "2 elements"),
        (lambda x: len(x[0]), TypeError, "0-d"),
        (lambda x: iter(x[0]), TypeError, "0-d"),
        (lambda x: [0][x], TypeError, "index"),
        (lambda x: x[2], IndexError, "out of range|out of bounds"),
        (lambda x: x[0, 0], IndexError, "too many indices"),
        (lambda x: x["a"], TypeError, "str"),
        (lambda x: x[::-1], ValueError, "greater than zero"),
        (lambda x: x.__setitem__(0, "a"), TypeError, "str"),
        (lambda x: x.add(), TypeError, r'add\(\) missing 1 required positional argument: "other"'),
        (lambda x: x.add("a"), TypeError, r"argument 'other' \(position 1\) must be Tensor or number, not str"),
        (lambda x: x.add(1, 2), TypeError, r"add\(\) takes 1 positional argument but 2 were given"),
        (lambda x: x.add(1, bogus=2), TypeError, r"add\(\) got an unexpected keyword argument 'bogus'"),
        (lambda x: torch.add(x, x, input=x), TypeError, "multiple values for argument 'input'"),
        (lambda x: torch.add([1], x), TypeError, r"argument 'input' \(position 1\) must be Tensor, not list"),
        (lambda x: x.view("a"), TypeError, "str"),
        (lambda x: x.view(1, 1.5), TypeError, "int, float"),
        (lambda x: x.view(3), RuntimeError, "shape '\\[3\\]' is invalid"),
        (lambda x: x.max("a"), TypeError, "invalid combination of arguments"),
        (lambda x: torch.zeros(2, dtype="float"), TypeError, "dtype"),
        (lambda x: torch.zeros(-1), RuntimeError, "negative dimension"),
        (lambda x: x + torch.ones(3), RuntimeError, "must match the size"),
        (lambda x: torch.tensor("a"), TypeError, "str"),
        (lambda x: torch.tensor([[1], [1, 2]]), ValueError, "length 1 at dim 1"),
        (lambda x: torch.tensor([None]), RuntimeError, "NoneType"),
        (lambda x: torch.tensor(300, dtype=torch.uint8), RuntimeError, "overflow"),
        (lambda x: torch.tensor(2**70), RuntimeError, "overflow"),
        (lambda x: torch.from_numpy([1]), TypeError, "list"),
        (lambda x: torch.from_numpy(np.array(["a"])), TypeError, "numpy.ndarray"),
        (lambda x: torch.from_numpy(np.arange(3)[::-1]), ValueError, "negative"),
        (lambda x: x.requires_grad_().numpy(), RuntimeError, "requires grad"),
        (lambda x: torch.ones(1, dtype=torch.bfloat16).numpy(), TypeError, "BFloat16"),
        (lambda x: setattr(x, "grad", torch.ones(3)), RuntimeError, "size"),
        (lambda x: setattr(x, "grad", 3), TypeError, "Tensor or None"),
        (lambda x: setattr(x, "shape", 3), AttributeError, "shape"),
        (lambda x: x.no_such_thing, AttributeError, "no_such_thing"),
        (lambda x: torch.no_such_thing, AttributeError, "no_such_thing"),
        (lambda x: torch.tensor([1]).requires_grad_(), RuntimeError, "floating point"),
        (lambda x: x.backward(), RuntimeError, "does not require grad"),
        (lambda x: x.register_hook(print), RuntimeError, "require"),
        (lambda x: x.to("moon"), RuntimeError, "moon"),
        (lambda x: torch.device("cpu:x"), RuntimeError, "cpu:x"),
        (lambda x: torch.set_default_dtype(torch.int64), TypeError, "floating"),
        (lambda x: torch.set_num_threads(0), RuntimeError, "within 1"),
        (lambda x: torch.Size([1.5]), TypeError, "float"),
        (lambda x: x << 1, NotImplementedError, "shift"),
    ],
)  # fmt: skip
def test_misuse_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call(torch.tensor([1.0, 2.0]))


def test_attributes():
    x = torch.ones(2, 3)
    assert x.shape == torch.Size([2, 3]) == (2, 3) and x.size() == x.shape and x.size(-1) == 3
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.dim() == x.ndim == 2
    assert x.numel() == 6 and x.nbytes == 24 and x.itemsize == x.element_size() == 4
    assert x.device == torch.device("cpu") and not x.is_cuda and x.layout is torch.strided
    assert x.T.shape == (3, 2) and x.mT.stride() == (1, 3) and not x.T.is_contiguous()
    assert x.is_leaf and x.grad is None and x.grad_fn is None and x.data is not x
    assert x[1].storage_offset() == 3 and x[1].data_ptr() == x.data_ptr() + 12
    assert x[0]._base is x and x._base is None
    assert x.is_floating_point() and torch.is_tensor(x) and not torch.is_tensor(1)
    y = torch.ones(2)
    y.data = torch.zeros(3)
    assert y.tolist() == [0, 0, 0]


def test_size_is_a_tuple():
    s = torch.Size([2, 3])
    assert repr(s) == "torchc.Size([2, 3])" and s.numel() == 6 and isinstance(s, tuple)
    assert type(s[:1]) is torch.Size and type(s + (4,)) is torch.Size and s[0] == 2
    assert pickle.loads(pickle.dumps(s)) == s and type(copy.copy(s)) is torch.Size
    assert torch.Size([np.int64(3)]) == (3,)


def test_dtypes_and_devices_are_values():
    assert repr(torch.float32) == "torchc.float32" and torch.float is torch.float32
    assert pickle.loads(pickle.dumps(torch.int8)) is torch.int8
    assert torch.float64.is_floating_point and torch.int8.is_signed and not torch.uint8.is_signed
    assert torch.promote_types(torch.int8, torch.uint8) is torch.int16
    assert torch.result_type(torch.ones(1, dtype=torch.int8), 1.5) is torch.float32
    assert torch.finfo(torch.float32).eps == np.finfo(np.float32).eps
    assert torch.iinfo(torch.int16).min == -(2**15)
    d = torch.device("cuda", 1)
    assert d == torch.device("cuda:1") and hash(d) == hash(torch.device("cuda:1"))
    assert repr(d) == "device(type='cuda', index=1)" and str(d) == "cuda:1"


@pytest.mark.parametrize(
    "name", "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()
)
def test_numpy_shares_memory_both_ways(name):
    a = np.arange(6).reshape(2, 3).astype(name)
    t = torch.from_numpy(a)
    assert t.dtype is getattr(torch, name) and t.tolist() == a.tolist()
    back = t.numpy()
    assert back.dtype == a.dtype and back.ctypes.data == a.ctypes.data
    a[0, 0] = 1
    assert t[0, 0].item() == 1
    column = torch.from_numpy(a[:, 1])
    assert column.stride() == (3,) and column.numpy().strides == a[:, 1].strides
    del a
    assert back[1, 2] == (5 if name != "bool" else True)


def test_numpy_array_outlives_its_tensor():
    array = torch.ones(1000).numpy()
    for _ in range(10):
        torch.zeros(1000)
    assert array.sum() == 1000
    assert np.asarray(torch.tensor([1, 2])).tolist() == [1, 2]
    assert np.array(torch.ones(2), dtype=np.int8).dtype == np.int8
    assert torch.zeros(0, 3).numpy().shape == (0, 3) and torch.tensor(1.5).numpy() == 1.5


def test_dlpack():
    a = np.arange(4.0)
    t = torch.from_dlpack(a)
    a[0] = 7
    assert t.tolist() == [7, 1, 2, 3]
    back = np.from_dlpack(t)
    assert back.ctypes.data == a.ctypes.data
    assert torch.from_dlpack(torch.eye(2).T).tolist() == [[1, 0], [0, 1]]
    capsule = t.__dlpack__()
    torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="once"):
        torch.from_dlpack(capsule)


def test_tensor_from_data():
    rows = [
        (1, torch.int64, ()), (1.5, torch.float32, ()), (True, torch.bool, ()), ([], torch.float32, (0,)),
        ([1, 2.5], torch.float32, (2,)), ([[1], [2]], torch.int64, (2, 1)), ([True, 2], torch.int64, (2,)),
        (range(3), torch.int64, (3,)), (np.float64(1), torch.float64, ()), (np.ones(2, np.int8), torch.int8, (2,)),
        ([torch.tensor(1.0), 2], torch.float32, (2,)), ([[]], torch.float32, (1, 0)),
    ]  # fmt: skip
    for data, dtype, shape in rows:
        t = torch.tensor(data)
        assert t.shape == shape, data
        if not isinstance(data, np.float64):
            assert t.dtype is dtype, data
    assert torch.tensor([1.7, -1.7], dtype=torch.int32).tolist() == [1, -1]
    assert torch.tensor([0.1], dtype=torch.float16).item() == float(np.float16(0.1))
    assert torch.tensor(2, dtype=torch.bool).item() is True
    assert torch.tensor([1.0], requires_grad=True).requires_grad
    source = torch.ones(2)
    assert (
        torch.tensor(source).data_ptr() != source.data_ptr() and torch.as_tensor(source) is source
    )
    array = np.ones(2)
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.tensor(data=[1]).tolist() == [1]
    assert torch.tensor(np.arange(3)[::-1]).tolist() == [2, 1, 0]


def test_conversions():
    x = torch.tensor([1.5, 2.5])
    assert x.to(torch.int64).tolist() == [1, 2] and x.to(torch.float32) is x
    assert (
        x.to("cpu") is x
        and x.to(x) is x
        and x.to(device="cpu", dtype=torch.float64).dtype is torch.float64
    )
    assert x.to(torch.float32, copy=True) is not x and x.double().dtype is torch.float64
    assert x.type() == "torch.FloatTensor" and x.type(torch.int8).dtype is torch.int8
    assert x.view(torch.int32).tolist() == [0x3FC00000, 0x40200000]
    assert x.new_zeros(2, 3).shape == (2, 3) and x.new_tensor([1]).dtype is torch.float32


def test_pickle_and_deepcopy():
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    x.note = [1]
    (x * x).sum().backward()
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.tolist() == x.tolist() and y.requires_grad and y.note == [1] and y is not x
    assert copy.deepcopy(x).grad.tolist() == x.grad.tolist()
    shallow = copy.copy(x)
    assert shallow.data_ptr() == x.data_ptr() and shallow is not x and shallow.note is x.note
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1] and pair[0].data_ptr() != x.data_ptr()
    for name in ("bfloat16", "float16", "bool", "int64"):
        t = torch.ones(3, dtype=getattr(torch, name))
        assert pickle.loads(pickle.dumps(t)).dtype is t.dtype
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)


def test_indexing_against_numpy():
    a = np.arange(24).reshape(2, 3, 4)
    t = torch.from_numpy(a)
    keys = [
        0, -1, (1, 2), (0, 1, -1), slice(None), slice(1, None), (slice(None), 1), (Ellipsis, 0), (0, Ellipsis),
        None, (None, 0), (slice(None), None, 1), (slice(None), slice(0, 3, 2)), (Ellipsis, slice(1, 4, 2)),
        (slice(5, 9),), [1, 0], (slice(None), [0, 2]), a > 5, (a[:, 0, 0] > 3), np.array([1, 0, 1]), (), Ellipsis,
        np.int64(1),
    ]  # fmt: skip
    for key in keys:
        want = a[key]
        masks = torch.from_numpy(key) if isinstance(key, np.ndarray) else key
        got = t[masks]
        assert tuple(got.shape) == want.shape, key
        assert got.numpy().tolist() == want.tolist(), key


def test_assignment_against_numpy():
    for key, value in [
        (0, 7), ((1, 2), 8), ((slice(None), 1), 9), ((Ellipsis, slice(0, 4, 2)), 1), (slice(None), np.arange(4)),
        ((0, slice(1, 3)), np.ones((2, 4), np.int64)),
    ]:  # fmt: skip
        a = np.arange(24).reshape(2, 3, 4)
        t = torch.tensor(a)
        a[key] = value
        t[key] = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        assert t.tolist() == a.tolist(), key
    t = torch.zeros(3)
    t[torch.tensor([True, False, True])] = 5
    assert t.tolist() == [5, 0, 5]


def test_assignment_is_recorded():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[1] = 5
    (y * y).sum().backward()
    assert x.grad.tolist() == [2, 0, 2]


def test_hooks():
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    handle = y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))
    y.retain_grad()
    y.sum().backward()
    assert seen == [[1, 1], [30, 30]] and y.grad.tolist() == [10, 10]
    handle.remove()
    handle.remove()
    with pytest.raises(ZeroDivisionError):
        y2 = x * 2
        y2.register_hook(lambda g: 1 / 0)
        y2.sum().backward()


def test_backward_arguments():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = x * w
    y.backward(torch.tensor([1.0, 2.0]), inputs=x, retain_graph=True)
    assert x.grad.tolist() == [1, 2] and w.grad is None
    y.backward(gradient=torch.ones(2))
    assert x.grad.tolist() == [2, 3] and w.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward(torch.ones(2))
    with pytest.raises(RuntimeError, match="scalar|gradient"):
        (x * 2).backward()
    (g,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [6, 6]


def test_grad_fn():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "MulBackward0"
    assert y.grad_fn == y.grad_fn and hash(y.grad_fn) == hash(y.grad_fn)
    leaf, number = y.grad_fn.next_functions[0]
    assert leaf.variable is x and number == 0 and leaf.name() == "torch::autograd::AccumulateGrad"


def test_modes_and_seeds():
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    torch.manual_seed(3)
    state = torch.get_rng_state()
    a = torch.rand(4).tolist()
    torch.set_rng_state(state)
    assert torch.rand(4).tolist() == a and torch.initial_seed() == 3
    g = torch.Generator().manual_seed(3)
    assert torch.rand(4, generator=g).tolist() == a and g.get_state().shape == (16,)
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.5).dtype is torch.float64 and torch.ones(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_zero_dim_tensor_is_a_number():
    assert torch.pow(torch.full((2,), 3.0), torch.tensor(2.0)).tolist() == [9, 9]
    assert torch.ones(3).sum(dtype=torch.int16).dtype is torch.int16


def test_results_keep_pytorch_s_types():
    flags = torch.tensor([True, False])
    assert flags.square().dtype is torch.int64
    assert flags.masked_fill(flags, 0).tolist() == [False, False]
    numbers = torch.tensor([1, 2])
    assert numbers.masked_fill(flags, 5.0).tolist() == [5, 2]
    assert numbers.masked_fill(flags, 1.5).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="without overflow"):
        numbers.to(torch.int8).masked_fill(flags, 300)


def test_a_list_of_lists_is_a_tuple():
    x = torch.arange(9).reshape(3, 3)
    assert x[[[0, 1], [1, 2]]].tolist() == [1, 5]
    with pytest.raises(IndexError, match="too many"):
        x[0][[[0, 1], [1, 2]]]


def test_named_results_and_out():
    x = torch.tensor([[1.0, 3.0], [2.0, 0.0]])
    values, indices = r = x.max(dim=1)
    assert r.values is values and r[1] is indices and indices.tolist() == [1, 0]
    assert x.max(1, keepdim=True).values.shape == x.max(axis=1, keepdims=True)[0].shape == (2, 1)
    out = torch.empty(2, 2)
    assert torch.mul(x, 2, out=out) is out and out.tolist() == [[2, 6], [4, 0]]
    assert [t.tolist() for t in x.split(1)] == [[[1, 3]], [[2, 0]]]


def test_signatures_and_docs():
    import inspect

    assert str(inspect.signature(torch.mul)) == "(input, other, *, out=None)"
    assert torch.Tensor.mul.__doc__.startswith("mul(Operand other)")


def test_import_loads_little():
    code = (
        "import sys, torchc; torchc.ones(2); repr(torchc.ones(2));"
        "print([m for m in sys.modules if m == 'numpy' or m.startswith(('torchc.nn', 'torchc.optim'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
