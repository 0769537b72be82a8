"""x[...], x[...] = v and index_put_ against NumPy, and PyTorch's errors."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)

SHAPE = (3, 4, 5)
I64 = np.int64
PARTS = {
    "all": slice(None),
    "step": slice(1, None, 2),
    "none": None,
    "vector": np.array([0, -1, 2]),
    "matrix": np.array([[1, 0, -2]]),
    "column": np.array([[2], [-1]]),
    "mask": np.array([True, False, True]),
    "empty": np.array([], dtype=I64),
}


def values():
    return np.arange(np.prod(SHAPE), dtype=np.float64).reshape(SHAPE)


def key_for(array_key):
    return tuple(torch.tensor(k.tolist(), dtype=torch.bool if k.dtype == bool else torch.int64).reshape(k.shape)
                 if isinstance(k, np.ndarray) else k for k in array_key)  # fmt: skip


def keys():
    """Pairs and triples of parts that NumPy accepts for the shape, with an ellipsis here and there."""
    x = values()
    for names in itertools.chain(
        itertools.product(PARTS, repeat=2), itertools.product(PARTS, repeat=3)
    ):
        parts = tuple(PARTS[n] for n in names)
        for key in (parts, (Ellipsis, *parts), (parts[0], Ellipsis, *parts[1:])):
            try:
                x[key]
            except IndexError:
                continue
            yield key


@pytest.mark.parametrize("contiguous", [True, False])
def test_get_matches_numpy(contiguous):
    x = values()
    t = torch.tensor(x.tolist(), dtype=torch.float64)
    if not contiguous:
        t = torch.tensor(x.transpose(2, 0, 1).tolist(), dtype=torch.float64).permute(1, 2, 0)
    count = 0
    for key in keys():
        want, got = x[key], t[key_for(key)]
        assert tuple(got.shape) == want.shape, key
        assert got.tolist() == want.tolist(), key
        count += 1
    assert count > 100


@pytest.mark.parametrize("contiguous", [True, False])
def test_set_matches_numpy(contiguous):
    rng = np.random.default_rng(0)
    for n, key in enumerate(keys()):
        if n % 7:
            continue
        want = values()
        t = torch.tensor(want.tolist(), dtype=torch.float64)
        if not contiguous:
            t = torch.tensor(want.transpose(2, 0, 1).tolist(), dtype=torch.float64).permute(1, 2, 0)
        new = rng.integers(100, 200, want[key].shape).astype(np.float64)
        index = [k for k in key if isinstance(k, np.ndarray)]
        if index and not all(len(set(np.ravel(k % 3).tolist())) == k.size for k in index):
            new = np.full(new.shape, 7.0)  # several values for one place: make them equal
        before = t._version
        want[key] = new
        t[key_for(key)] = torch.tensor(new.tolist(), dtype=torch.float64).reshape(new.shape)
        assert t.tolist() == want.tolist(), key
        assert t._version == before + 1


def test_gradients_of_get_and_set():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    i, j = torch.tensor([0, 1, 0]), torch.tensor([1, 1, 1])
    (x[i, j] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[0, 101], [0, 10]]
    y, v = x.detach().clone().requires_grad_(), torch.tensor([5.0, 6.0], requires_grad=True)
    z = y * 2
    z[torch.tensor([0, 1]), torch.tensor([1, 0])] = v
    (z * z).sum().backward()
    assert y.grad.tolist() == [[8, 0], [0, 32]]
    assert v.grad.tolist() == [10, 12]


def test_accumulate_adds_in_order():
    x = torch.zeros(2, 3)
    i = torch.tensor([0, 0, 1]), torch.tensor([1, 1, -1])
    x.index_put_(i, torch.tensor([1.0, 2.0, 4.0]), accumulate=True)
    assert x.tolist() == [[0, 3, 0], [0, 0, 4]]
    x.index_put_((torch.tensor([True, False]),), torch.tensor(9.0))
    assert x.tolist() == [[9, 9, 9], [0, 0, 4]]
    y = torch.index_put(x, (torch.tensor([1]),), torch.tensor([1.0, 2.0, 3.0]))
    assert y.tolist() == [[9, 9, 9], [1, 2, 3]] and x[1].tolist() == [0, 0, 4]


def test_zero_dim_and_bool():
    x = torch.arange(6).reshape(2, 3)
    assert x[True].shape == (1, 2, 3) and x[False].shape == (0, 2, 3)
    assert x[torch.tensor(1)].tolist() == [3, 4, 5]
    assert torch.tensor(5)[None].shape == (1,) and torch.tensor(5)[...].item() == 5
    x[True] = 7
    x[False] = 1
    assert x.tolist() == [[7, 7, 7], [7, 7, 7]]
    x[...] = 2
    x[torch.tensor([[True, False, True], [False, True, False]])] = 0
    assert x.tolist() == [[0, 2, 0], [2, 0, 2]]


X = torch.zeros(2, 3, 4)
PAIR = torch.tensor([0, 1])


def assign(key, value):
    X.clone()[key] = value


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: X[torch.tensor([3])], IndexError, "index 3 is out of bounds for dimension 0 with size 2"),
        (lambda: X[PAIR, torch.tensor([0, 5])], IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
        (lambda: X[PAIR, torch.tensor([0, -4])], IndexError, "index -4 is out of bounds for dimension 1"),
        (lambda: X[PAIR, torch.tensor([0, 1, 2])], IndexError, "could not be broadcast together"),
        (lambda: X[0, 0, 0, 0], IndexError, "too many indices"),
        (lambda: X[torch.zeros(2, 4) > 0], IndexError, "shape of the mask"),
        (lambda: X[torch.tensor([0.0])], IndexError, "long, int, byte or bool"),
        (lambda: torch.empty(0, 3)[torch.tensor([0])], IndexError, "out of bounds"),
        (lambda: assign((PAIR, PAIR), torch.ones(5)), RuntimeError, "shape mismatch"),
        (lambda: assign(PAIR, torch.ones(3, 4, dtype=torch.float64)), RuntimeError, "dtypes match"),
        (lambda: assign(0, torch.ones(5)), RuntimeError, "must match"),
        (lambda: assign(torch.tensor([3]), 0.0), IndexError, "out of bounds"),
        (lambda: X.clone().index_put_(PAIR, torch.ones(())), TypeError, "indices"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text.replace("(", "\\(")):
        call()


def test_compiled_indexing_is_eager():
    i, j = torch.tensor([0, 1, 1]), torch.tensor([2, -1, 0])

    def f(x, i, j):
        y = x * 2
        y[i, j] = y[i, j] + 1
        return y[i].sum(0), y[:, j]

    x = torch.rand(2, 3)
    compiled = torch.compile(f, background=False)
    want = f(x, i, j)
    for _ in range(4):
        got = compiled(x, i, j)
        assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))
    with pytest.raises(IndexError):
        compiled(x, i, torch.tensor([2, -1, 9]))
