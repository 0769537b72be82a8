"""Tensors and NumPy: who wins in mixed arithmetic, ufuncs, files, DLPack, and arrays whose layout no tensor has."""

import io
import operator

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")

A = np.arange(6, dtype="f4").reshape(2, 3)
READ_ONLY = A.copy()
READ_ONLY.flags.writeable = False


def x():
    return torch.arange(6, dtype=torch.float32).reshape(2, 3)


OPERATORS = "add sub mul truediv floordiv mod pow eq ne lt le gt ge".split()


@pytest.mark.parametrize("name", OPERATORS)
def test_tensors_win_over_arrays(name):
    function, b = getattr(operator, name), A[::-1] + 1
    expected = function(b, A + 1)
    left = function(x() + 1, np.ascontiguousarray(b))
    assert isinstance(left, torch.Tensor) and np.allclose(left.float().numpy(), function(A + 1, b))
    if name != "pow":  # PyTorch has no array ** tensor either
        right = function(np.ascontiguousarray(b), x() + 1)
        assert isinstance(right, torch.Tensor) and np.allclose(right.float().numpy(), expected)


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.int8(2)])
def test_scalars_are_numbers(number):
    for function in (operator.add, operator.mul, operator.sub):
        for got in (function(number, x()), function(x(), number)):
            assert isinstance(got, torch.Tensor) and got.dtype is torch.float32
    assert np.array_equal((number * x()).numpy(), 2 * A)


LAYOUTS = {
    "reversed": A[::-1],
    "reversed columns": A[:, ::-1],
    "other byte order": A.astype(">f4"),
    "unaligned": np.frombuffer(b"\0" + A.tobytes(), dtype="u1")[1:].view("f4").reshape(2, 3),
    "odd strides": np.zeros(6, dtype=[("a", "u1"), ("b", "f4")])["b"].reshape(2, 3),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_layouts_that_no_tensor_has(name):
    array = LAYOUTS[name]
    for convert in (torch.from_numpy, torch.as_tensor):
        with pytest.raises(ValueError):
            convert(array)
    for got in (x() + array, array + x(), x() - -array):
        assert isinstance(got, torch.Tensor) and np.array_equal(got.numpy(), A + array)
    assert np.array_equal((x() == array).numpy(), array == A)


def test_views_read_only_and_empty_arrays_share_memory():
    with pytest.warns(UserWarning, match="not writable"):
        shared = torch.from_numpy(READ_ONLY)
    assert shared.data_ptr() == READ_ONLY.ctypes.data
    strided = np.arange(24.0).reshape(4, 6)[::2, 1::3]
    assert torch.from_numpy(strided).tolist() == strided.tolist()
    assert torch.from_numpy(strided).stride() == (12, 3)
    for shape in ((0,), (0, 3), (2, 0, 3)):
        assert torch.from_numpy(np.zeros(shape)).shape == shape
        assert np.asarray(torch.zeros(shape)).shape == shape


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]),
        np.array([1, "a"], dtype=object),
        np.array(["a", "b"]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.zeros(2, dtype=np.longdouble),
    ],
)
def test_elements_that_no_tensor_has(array):
    for convert in (torch.from_numpy, torch.tensor, torch.as_tensor, torch.asarray):
        with pytest.raises(TypeError, match="can't convert numpy.ndarray"):
            convert(array)
    with pytest.raises(TypeError):
        x() + array


def test_ufuncs_give_tensors():
    for got, expected in (
        (np.exp(x()), np.exp(A)),
        (np.add(A, x()), A + A),
        (np.maximum(x(), 2), np.maximum(A, 2)),
        (np.matmul(x(), x().T), A @ A.T),
        (np.add.reduce(x()), A.sum(0)),
        (np.cumsum(x()), A.cumsum()),
        (np.clip(x(), 1, 2), A.clip(1, 2)),
    ):
        assert isinstance(got, torch.Tensor) and np.allclose(got.numpy(), expected)
    assert np.isnan(x()).dtype is torch.uint8
    assert isinstance(np.argmax(x()), torch.Tensor) and np.argmax(x()) == 5
    out = np.empty((2, 3), "f4")
    assert np.add(x(), x(), out=out) is out and np.array_equal(out, A + A)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.exp(x().requires_grad_())


def test_functions_that_collect_give_arrays():
    for got, expected in (
        (np.concatenate([x(), x()]), np.concatenate([A, A])),
        (np.stack([x(), x()]), np.stack([A, A])),
        (np.where(x() > 2, x(), -x()), np.where(A > 2, A, -A)),
        (np.sort(x()), A),
        (np.unique(x()), np.unique(A)),
        (np.dot(x(), x().T), A @ A.T),
    ):
        assert isinstance(got, np.ndarray) and np.array_equal(got, expected)
    assert np.allclose(x(), A) and np.array_equal(x(), A)
    assert np.linalg.norm(x()) == np.linalg.norm(A) and np.median(x()) == 2.5
    total = np.zeros(3)
    np.add.at(total, torch.tensor([0, 0, 1]), torch.ones(3))
    assert total.tolist() == [2.0, 1.0, 0.0]
    assert A[torch.tensor([1, 0, 1])].tolist() == A[[1, 0, 1]].tolist()
    assert A[x() > 2].tolist() == [3.0, 4.0, 5.0]


def test_as_arrays():
    t = x()
    shared = np.asarray(t)
    shared[0, 0] = 7
    assert t[0, 0] == 7 and np.asarray(t, copy=False).ctypes.data == t.data_ptr()
    assert np.array(t).ctypes.data != t.data_ptr()
    assert np.asarray(t, dtype="f8").dtype == np.float64
    assert np.asarray(t, dtype="f4", copy=False).ctypes.data == t.data_ptr()
    with pytest.raises(ValueError):
        np.asarray(t, dtype="f8", copy=False)
    assert np.asarray(t.T).strides == (4, 12)
    with pytest.raises(RuntimeError):
        np.asarray(torch.ones(2, requires_grad=True))
    with pytest.raises(TypeError):
        np.asarray(torch.ones(2, device="meta"))


def test_files():
    file = io.BytesIO()
    np.savez(file, x=x(), flags=torch.tensor([True, False]), empty=torch.zeros(0, 2))
    file.seek(0)
    got = np.load(file)
    assert (
        np.array_equal(got["x"], A)
        and got["flags"].tolist() == [True, False]
        and got["empty"].shape == (0, 2)
    )
    text = io.StringIO()
    np.savetxt(text, x())
    text.seek(0)
    assert np.array_equal(np.loadtxt(text), A)


@pytest.mark.parametrize(
    "dtype",
    "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split(),
)
def test_dlpack_both_ways(dtype):
    t = torch.ones(2, 3).to(getattr(torch, dtype)).T
    array = np.from_dlpack(t)
    assert array.dtype == dtype and array.shape == (3, 2) and array.ctypes.data == t.data_ptr()
    back = torch.from_dlpack(array)
    assert back.data_ptr() == t.data_ptr() and back.stride() == t.stride() and back.dtype is t.dtype
    assert np.from_dlpack(t, copy=True).ctypes.data != t.data_ptr()
    assert np.from_dlpack(torch.zeros(0, 3)).shape == (0, 3)


def test_dlpack_of_what_is_read_only_or_not_native():
    got = torch.from_dlpack(READ_ONLY)
    assert got.data_ptr() == READ_ONLY.ctypes.data and np.array_equal(got.numpy(), A)
    assert torch.from_dlpack(np.broadcast_to(A[0], (4, 3))).stride() == (0, 1)
    with pytest.raises(BufferError):
        torch.from_dlpack(A.astype(">f4"))
    with pytest.raises(BufferError):
        np.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(ValueError):
        torch.from_dlpack(A[::-1])
    capsule = x().__dlpack__()
    assert torch.from_dlpack(capsule).shape == (2, 3)
    with pytest.raises(RuntimeError, match="consumed"):
        torch.from_dlpack(capsule)


def test_the_memory_outlives_its_first_owner():
    t = torch.from_dlpack(np.arange(1000.0) * 2)
    u = torch.from_numpy(np.arange(1000.0) * 2)
    array = np.asarray(torch.arange(1000.0) * 2)
    junk = [np.ones(1000) for _ in range(10)]
    assert t[999] == u[999] == array[999] == 1998 and len(junk) == 10
