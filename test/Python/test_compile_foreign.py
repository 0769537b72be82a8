"""Memory shared with other libraries under compile: deferred ops see what eager ones would have seen (rule J3)."""

import ctypes
import threading

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")
from test_compile import agree, bits, compiled, needs_compiler  # noqa: E402, F401 - a fixture
from torchc import nn  # noqa: E402


def array(*values):
    return np.array(values, dtype=np.float32)


def check(compiled, fn, make, left=0):  # noqa: F811
    other = agree(compiled, fn, make, calls=6)
    counts = other.counts()
    assert counts["left"] == left and counts["launches"] + counts["interpreted"] >= 5, (
        other.report()
    )
    return other


def test_new_arrays(compiled):  # noqa: F811
    check(compiled, lambda x: (x * 2).exp() + x, lambda i: (torch.from_numpy(array(1, 2, i)),))


def test_array_changes_between_calls(compiled):  # noqa: F811
    n = array(1, 2, 3)
    x = torch.from_numpy(n)
    other = compiled(lambda: (x * 2 + 1).sum())
    for i in range(6):
        n[1] = i
        assert other().item() == (n * 2 + 1).sum(), other.report()
    assert other.counts()["left"] == 0, other.report()


def test_array_changes_before_the_launch(compiled):  # noqa: F811
    n = array(1, 2, 3)
    x = torch.from_numpy(n)

    def fn(i):
        n[0] = i
        y = x * 2
        n[0] = 50
        return y + 1

    other = compiled(fn)
    for i in range(6):
        assert other(i).tolist() == [2.0 * i + 1, 5, 7], other.report()
    assert other.counts()["left"] == 0, other.report()


def test_array_changes_between_two_reads(compiled):  # noqa: F811
    n = array(1, 2, 3)
    x = torch.from_numpy(n)

    def fn(i):
        n[0] = i
        y = x * 2
        n[0] = i * i
        z = x * 3
        return y, z

    other = compiled(fn)
    for i in range(6):
        y, z = other(i)
        assert (y[0].item(), z[0].item()) == (2 * i, 3 * i * i), (i, other.report())


def test_different_parts_are_read(compiled):  # noqa: F811
    n = np.arange(1000, dtype=np.float32)
    x = torch.from_numpy(n)

    def fn(i):
        n[:] = np.arange(1000) + i
        a = x[10:20]
        b = a * 2
        n[500] = -1  # nothing has read that
        c = x[490:510].sum() + x[15:30].sum()
        n[:] = 0
        return b, c, a + 0

    other = compiled(fn)
    for i in range(6):
        b, c, a = other(i)
        assert b.tolist() == [2.0 * (j + i) for j in range(10, 20)], other.report()
        part = [j + i if j != 500 else -1 for j in range(490, 510)]
        assert c.item() == sum(part) + sum(j + i for j in range(15, 30)), other.report()
        assert a.tolist() == [0.0] * 10


def test_memory_is_shared_in_the_middle(compiled):  # noqa: F811
    def fn(x):
        y = x * 2
        x.numpy()[0] = 100
        return y, x + 1

    check(compiled, fn, lambda i: (torch.tensor([1.0, 2.0, float(i)]),))


def test_memory_handed_out_by_dlpack_in_the_middle(compiled):  # noqa: F811
    def fn(x):
        y = x * 2
        torch.from_dlpack(x)[0] = 100  # another storage over the same memory
        return y, x + 1

    agree(compiled, fn, lambda i: (torch.tensor([1.0, 2.0, float(i)]),))


def test_written_through_a_pointer(compiled):  # noqa: F811
    def fn(x):
        y = x * 2
        ctypes.cast(x.data_ptr(), ctypes.POINTER(ctypes.c_float))[0] = 100
        return y, x + 1

    check(compiled, fn, lambda i: (torch.tensor([1.0, 2.0, float(i)]),))


def test_result_is_shared(compiled):  # noqa: F811
    def fn(x):
        y = x * 2
        n = y.numpy()
        n[0] = 7
        return y + n.tolist()[1]

    agree(compiled, fn, lambda i: (torch.tensor([1.0, 2.0, float(i)]),))


def test_writes_to_shared_memory_are_seen(compiled):  # noqa: F811
    n = array(1, 2, 3)
    x = torch.from_numpy(n)

    def fn():
        x.add_(1)
        seen = n.tolist()
        x.mul_(2)
        return seen

    other = compiled(fn)
    want = [1.0, 2.0, 3.0]
    for _ in range(6):
        want = [v + 1 for v in want]
        assert other() == want, other.report()
        want = [v * 2 for v in want]
        assert n.tolist() == want, other.report()


def test_array_changes_between_forward_and_backward(compiled):  # noqa: F811
    n = array(1, 2, 3)
    x = torch.from_numpy(n)

    def fn(w, i):
        n[:] = i
        loss = (x * w).sum()
        n[:] = i + 10
        loss.backward()
        return loss.detach(), w.grad

    def make(i):
        return torch.ones(3).requires_grad_(), i

    agree(compiled, fn, make, calls=6)


def test_two_tensors_over_one_array(compiled):  # noqa: F811
    n = array(1, 2, 3, 4)
    x, y = torch.from_numpy(n), torch.from_numpy(n)

    def fn(i):
        n[1] = i
        a = x * 2
        y.add_(1)
        return a, x + y

    other = compiled(fn)
    for i in range(6):
        n[:] = 1
        a, b = other(i)
        assert (a[1].item(), b[1].item(), b[0].item()) == (2 * i, 2 * (i + 1), 4), other.report()


def test_large_table_stays_eager(compiled):  # noqa: F811
    n = np.arange(1 << 18, dtype=np.float32).reshape(1 << 16, 4)
    x = torch.from_numpy(n)
    other = compiled(lambda k: x[k] * 2)
    for i in range(5):
        n[i] = i
        assert other(torch.tensor([i, 5])).tolist()[0] == [2.0 * i] * 4
    assert "memory shared with another library" in other.report(), other.report()


def test_training_on_arrays(compiled):  # noqa: F811
    rng = np.random.default_rng(0)
    images = rng.random((96, 12), dtype=np.float32)
    labels = rng.integers(0, 4, 96)

    def run(wrap):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        loss_of = nn.CrossEntropyLoss()

        def step(x, y):
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = wrap(step)
        out = []
        for _ in range(2):
            for at in range(0, 96, 16):
                x, y = images[at : at + 16], labels[at : at + 16]
                out.append(step(torch.from_numpy(x), torch.from_numpy(y)))
        return step, bits([*out, *model.parameters()])

    _, want = run(lambda f: f)
    step, got = run(compiled)
    assert got == want, step.report()
    counts = step.counts()
    assert counts["left"] == 1, step.report()  # the second step has momentum
    assert counts["launches"] + counts["interpreted"] >= 8, step.report()


def test_a_thread_reads_what_is_deferred(compiled):  # noqa: F811
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)
    shared = {}

    def read():
        while asked.acquire() and "y" in shared:
            shared["seen"] = (shared["y"] + 1).tolist()
            answered.release()

    def fn(x):
        y = x * 2
        shared["y"] = y
        asked.release()
        assert answered.acquire(timeout=60)
        return y * 3, y.sum()

    reader = threading.Thread(target=read)
    reader.start()
    other = compiled(fn)
    for i in range(8):
        a, b = other(torch.tensor([1.0, float(i)]))
        assert shared["seen"] == [3.0, 2.0 * i + 1], other.report()
        assert (a.tolist(), b.item()) == ([6.0, 6.0 * i], 2.0 + 2 * i), other.report()
    shared.clear()
    asked.release()
    reader.join()
    assert "another thread looked" in other.report(), other.report()


@pytest.mark.parametrize("size", [5, 50000])
def test_threads_read_and_drop_what_others_defer(compiled, size):  # noqa: F811
    boxes = [[] for _ in range(4)]
    wrong = []

    def fn(x, box):
        for k in range(6):
            x = x * 1.5 - k
            box[:] = [x]
        return x.sum()

    def plain(x):
        return fn(x, [])

    other = compiled(fn)

    def work(i):
        try:
            for j in range(60):
                x = torch.arange(size) * (0.01 * (i + 1)) + j
                if bits(other(x, boxes[i])) != bits(plain(x)):
                    wrong.append((i, j))
                for value in [v for box in boxes for v in box]:
                    value.sum().item()
                    del value
        except Exception as e:  # noqa: BLE001 - shown by the assertion below
            wrong.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def test_written_where_another_recording_only_reads(compiled):  # noqa: F811
    """A call begins as a recording that reads its argument and goes on as one that writes it."""

    def fn(x, write):
        y = x * 2
        return (x.add_(1) if write else y + 1), y - 1

    other = compiled(fn)
    for i, (write, shared) in enumerate(
        [(False, False)] * 3 + [(True, False)] * 4 + [(False, True), (True, True)] * 3
    ):
        n = array(1, 2, i)
        x = torch.from_numpy(n.copy()) if shared else torch.tensor(n)
        z, y = other(x, write)
        assert x.tolist() == (n + 1 if write else n).tolist(), (i, other.report())
        assert z.tolist() == (n + 1 if write else n * 2 + 1).tolist(), (i, other.report())
        assert y.tolist() == (n * 2 - 1).tolist(), (i, other.report())
    counts = other.counts()
    assert counts["launches"] + counts["interpreted"] >= 8, other.report()
