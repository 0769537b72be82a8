"""Arguments that would reach past memory, change while they are read, or end a thread in the wrong place."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")
F = torch.nn.functional


def cyclic():
    items = []
    items.append(items)
    return items


def deep(levels=200_000):
    items = []
    for _ in range(levels):
        items = [items]
    return items


def deep_tensor():
    items = torch.ones([1] * 10)
    for _ in range(60):
        items = [items]
    return items


def unwind(items):
    """Takes a deep list apart without recursion."""
    while isinstance(items, list) and items:
        items = items.pop()


class Clears:
    """A number whose conversion empties the list it lies in."""

    def __init__(self, items):
        self.items = items

    def __float__(self):
        self.items.clear()
        return 1.0

    def __index__(self):
        self.items.clear()
        return 1


def shrinking(n=200):
    items = [1] * n
    items[n // 2] = Clears(items)
    return items


@pytest.mark.parametrize("make", [cyclic, deep, deep_tensor, lambda: [1, deep()]])
@pytest.mark.parametrize("use", [torch.tensor, torch.as_tensor, torch.asarray])
def test_nesting_without_end(make, use):
    items = make()
    with pytest.raises(ValueError, match="too many dimensions"):
        use(items)
    unwind(items)


@pytest.mark.parametrize("make", [cyclic, deep])
def test_index_nested_without_end(make):
    x, items = torch.ones(3, 3), make()
    with pytest.raises((ValueError, IndexError)):
        x[items]
    with pytest.raises((ValueError, IndexError)):
        x[items] = 1
    unwind(items)


def test_64_levels():
    items = 1.0
    for _ in range(64):
        items = [items]
    assert torch.tensor(items).shape == (1,) * 64


@pytest.mark.parametrize(
    "use",
    [
        torch.tensor,
        lambda items: torch.tensor([items, shrinking()]),
        lambda items: torch.ones(3)[items],
        lambda items: torch.ones(3, 3)[0, items],
        lambda items: torch.LongTensor(items),
    ],
)
def test_list_that_shrinks_while_it_is_read(use):
    with pytest.raises(RuntimeError, match="changed size"):
        use(shrinking())


@pytest.mark.parametrize(
    "use", [torch.zeros, torch.ones(64).view, torch.ones(2, 2).permute, torch.ones(2).tile]
)
def test_sizes_that_shrink_while_they_are_read(use):
    try:  # any answer but a crash: the sizes are those read before the list was emptied
        use(shrinking(20))
    except (RuntimeError, IndexError, TypeError):
        pass


def test_list_of_tensors_changed_by_another_argument():
    tensors = [torch.ones(1), torch.ones(1)]

    class Dim:
        def __index__(self):
            tensors[1] = "no tensor"
            return 0

    try:
        out = torch.cat(tensors, dim=Dim())
    except TypeError:
        pass
    else:
        assert out.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("exponent", [np.float32(2.5), np.float64(2.5)])
def test_power_of_numpy_numbers(exponent):
    x = torch.full((100_000,), 4.0)
    for _ in range(50):
        y = x**exponent
    assert y[0].item() == 32.0 and y[-1].item() == 32.0
    z = x.__rpow__(np.float32(2))
    assert z[0].item() == 16.0


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [
        ((3,), (2**62 + 10**9,), 0),
        ((3,), (2**62,), 2**62),
        ((2, 2), (1, 3), 0),
        ((1,), (1,), 2**63 - 1),
        ((2, 2), (2**62, 2**62), 0),
        ((2**32, 2**32), (0, 0), 0),
    ],
)
def test_as_strided_outside(sizes, strides, offset):
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError):
        x.as_strided(sizes, strides, offset)
    with pytest.raises(RuntimeError):
        x[1:].as_strided(sizes, strides, offset)


def test_as_strided_inside():
    x = torch.arange(4.0)
    assert x.as_strided((2, 2), (1, 2)).tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert x.as_strided((0,), (1,), 2).shape == (0,)
    assert x.as_strided((4,), (1,)).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_repeats_that_overflow():
    with pytest.raises(RuntimeError, match="64 bits"):
        torch.repeat_interleave(torch.arange(4), torch.tensor([2**62] * 4))
    with pytest.raises(RuntimeError):
        torch.arange(4).repeat_interleave(2**62)
    with pytest.raises(RuntimeError):
        torch.arange(4).repeat_interleave(2**62, 0)


@pytest.mark.parametrize("export", [lambda x: x.numpy(), np.from_dlpack])
def test_array_outlives_the_tensors_storage(export):
    x = torch.ones(1 << 16)
    array = export(x)
    x.data = torch.zeros(1)
    other = torch.full((1 << 16,), 7.0)
    assert array[5] == 1.0 and other[5].item() == 7.0
    assert np.all(array == 1.0)


def test_out_does_not_grow_memory_shared_with_numpy():
    x = torch.ones(3)
    array = x.numpy()
    with pytest.raises(RuntimeError, match="not resizable"):
        torch.add(torch.ones(5), 1.0, out=x)
    assert array.tolist() == [1.0, 1.0, 1.0]
    from_array = torch.from_numpy(np.ones(3, np.float32))
    with pytest.raises(RuntimeError, match="not resizable"):
        torch.add(torch.ones(5), 1.0, out=from_array)
    fits = torch.ones(6)
    shared = fits.numpy()
    torch.add(torch.ones(2), 1.0, out=fits)
    assert fits.tolist() == [2.0, 2.0]
    assert shared.tolist() == [2.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    free = torch.ones(3)
    free.data_ptr()
    torch.add(torch.ones(5), 1.0, out=free)
    assert free.tolist() == [2.0] * 5


def test_refused_out_keeps_its_shape():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.add(torch.ones(5), 1.0, out=x)
    assert x.shape == (3,) and x.tolist() == [1.0, 1.0, 1.0]


def test_product_of_more_work_than_can_be_counted():
    a, b = torch.zeros(1).expand(1 << 10, 1 << 44), torch.zeros(1).expand(1 << 44, 1 << 10)
    with pytest.raises(RuntimeError, match="multiplications"):
        a @ b


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch._C._export_record(lambda: None, [], []),
        lambda: torch._C._export_record(lambda: [], [1], []),
        lambda: torch._C._export_record(lambda: [], [], ["x"]),
    ],
)
def test_export_arguments_of_wrong_types(call):
    with pytest.raises(TypeError):
        call()


ONES = [1] * 64


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.meshgrid(*[torch.ones(1)] * 300, indexing="ij"),
        lambda: torch.zeros([0] * 60).repeat(*[2] * 60),
        lambda: torch.kron(torch.zeros([0] * 60), torch.zeros([0] * 60)),
        lambda: torch.zeros([1] * 60).unflatten(0, [1] * 30),
        lambda: torch.zeros(ONES).unflatten(0, ONES),
        lambda: F.pixel_shuffle(torch.ones([1] * 61 + [4, 1, 1]), 2),
        lambda: F.channel_shuffle(torch.ones([1, 4] + [1] * 62), 2),
        lambda: torch.Tensor(*[1] * 70),
        lambda: torch.ones([2] * 10)[torch.zeros([1] * 60, dtype=torch.int64)],
        lambda: torch.ones([2] * 10).__setitem__(torch.zeros([1] * 60, dtype=torch.int64), 1.0),
        lambda: torch.einsum("...a,...b->...ab", torch.ones(ONES), torch.ones(ONES)),
    ],
)
def test_more_than_64_dimensions(call):
    with pytest.raises(RuntimeError, match="dimensions"):
        call()


def test_kron_of_many_dimensions():
    x, y = torch.ones([1] * 62 + [2, 1]), torch.tensor([1.0, 2.0]).reshape([1] * 63 + [2])
    assert torch.kron(x, y).shape == (1,) * 62 + (2, 2)
    assert torch.kron(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]])).tolist() == [
        [3.0, 6.0],
        [4.0, 8.0],
    ]
    assert torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])).tolist() == [
        3.0,
        4.0,
        6.0,
        8.0,
    ]


DAEMON = """
import threading, time
import torchc as torch
x = torch.ones(1 << 16)
def work():
    while True:
        {}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("end")
"""


@pytest.mark.parametrize(
    "op",
    [
        "x.add(1.0)",
        "torch.ones(300, 300) @ torch.ones(300, 300)",
        "y = torch.ones(1024, requires_grad=True); (y * y).sum().backward()",
    ],
)
def test_daemon_threads_at_exit(op):
    done = subprocess.run(
        [sys.executable, "-c", DAEMON.format(op)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "end\n"
