"""torch.set_default_device and `with torch.device(...)`: where functions that make tensors make them."""

import threading

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import nn  # noqa: E402

META = torch.device("meta")


@pytest.fixture(autouse=True)
def outside():
    yield
    assert torch.get_default_device() == torch.device("cpu") and torch.ones(1).device.type == "cpu"


MAKERS = {
    "empty": lambda **d: torch.empty(2, 3, **d),
    "empty_strided": lambda **d: torch.empty_strided((2, 3), (3, 1), **d),
    "empty_permuted": lambda **d: torch.empty_permuted((2, 3), (1, 0), **d),
    "zeros": lambda **d: torch.zeros(2, **d),
    "ones": lambda **d: torch.ones((2, 3), **d),
    "full": lambda **d: torch.full((2,), 3.0, **d),
    "arange": lambda **d: torch.arange(5, **d),
    "range": lambda **d: torch.range(0, 5, **d),
    "linspace": lambda **d: torch.linspace(0, 1, 5, **d),
    "logspace": lambda **d: torch.logspace(0, 1, 5, **d),
    "eye": lambda **d: torch.eye(3, **d),
    "tril_indices": lambda **d: torch.tril_indices(3, 3, **d),
    "triu_indices": lambda **d: torch.triu_indices(3, 3, **d),
    "scalar_tensor": lambda **d: torch.scalar_tensor(3.0, **d),
    "tensor": lambda **d: torch.tensor([1.0, 2.0], **d),
    "as_tensor": lambda **d: torch.as_tensor([1.0, 2.0], **d),
    "asarray": lambda **d: torch.asarray([1.0, 2.0], **d),
    "rand": lambda **d: torch.rand(2, **d),
    "randn": lambda **d: torch.randn(2, **d),
    "randint": lambda **d: torch.randint(3, (2,), **d),
    "randperm": lambda **d: torch.randperm(3, **d),
    "hann_window": lambda **d: torch.hann_window(5, **d),
    "hamming_window": lambda **d: torch.hamming_window(5, **d),
    "blackman_window": lambda **d: torch.blackman_window(5, **d),
    "bartlett_window": lambda **d: torch.bartlett_window(5, **d),
    "kaiser_window": lambda **d: torch.kaiser_window(5, **d),
    "fftfreq": lambda **d: torch.fft.fftfreq(5, **d),
    "rfftfreq": lambda **d: torch.fft.rfftfreq(5, **d),
}


@pytest.mark.parametrize("name", MAKERS)
def test_makers_take_the_default(name):
    expected = MAKERS[name]()
    with META:
        made, here = MAKERS[name](), MAKERS[name](device="cpu")
        with torch.device("cpu"):
            assert MAKERS[name]().device.type == "cpu"
    assert made.device == META and made.shape == expected.shape and made.dtype is expected.dtype
    assert made.stride() == expected.stride() and here.device.type == "cpu"


def test_what_follows_a_tensor_stays_where_it_is():
    x = torch.ones(2)
    with META:
        for made in (
            torch.zeros_like(x),
            torch.rand_like(x),
            x.new_zeros(2),
            x.new_tensor([1.0]),
            x + 1,
            x.clone(),
        ):
            assert made.device.type == "cpu"
        assert torch.tensor(x).device == META and torch.as_tensor(x).device == META


def test_contexts_nest_and_restore():
    with pytest.raises(ZeroDivisionError):
        with META:
            with torch.device("cpu"):
                assert torch.get_default_device().type == "cpu"
                with META, META:
                    assert torch.ones(1).is_meta
                assert not torch.ones(1).is_meta
            assert torch.get_default_device() == META
            raise ZeroDivisionError
    with META as entered:
        assert entered is META


def test_the_own_default_lies_below_contexts():
    try:
        torch.set_default_device("meta")
        assert torch.get_default_device() == META and torch.ones(1).is_meta
        with torch.device("cpu"):
            assert not torch.ones(1).is_meta
            torch.set_default_device(META)
            assert not torch.ones(1).is_meta
            torch.set_default_device(None)
        assert not torch.ones(1).is_meta
        with META:
            torch.set_default_device("cpu")
            assert torch.ones(1).is_meta
    finally:
        torch.set_default_device(None)
    with pytest.raises(RuntimeError):
        torch.set_default_device("nothing")
    with pytest.raises(TypeError):
        torch.set_default_device(1.5)


def test_each_thread_has_its_own():
    seen = []
    with META:
        thread = threading.Thread(target=lambda: seen.append(torch.ones(1).device.type))
        thread.start()
        thread.join()
    assert seen == ["cpu"]


def test_as_decorator():
    @META
    def make(n, *, value=1.0):
        """Documented."""
        return torch.full((n,), value)

    assert make(3).is_meta and make(2, value=2.0).shape == (2,) and make.__doc__ == "Documented."


MODULES = {
    "linear": (lambda: nn.Linear(3, 4), (2, 3), (2, 4)),
    "conv": (lambda: nn.Conv2d(3, 4, 3), (1, 3, 8, 8), (1, 4, 6, 6)),
    "norms": (lambda: nn.Sequential(nn.BatchNorm1d(3), nn.LayerNorm(3)), (2, 3), (2, 3)),
    "embedding": (lambda: nn.Embedding(5, 4), None, (2, 4)),
    "lstm": (lambda: nn.LSTM(3, 4), (5, 2, 3), (5, 2, 4)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (5, 2, 4), (5, 2, 4)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_made_there_and_given_memory_later(name):
    make, given, expected = MODULES[name]
    with META:
        module = make()
        x = torch.ones(given) if given else torch.zeros(2, dtype=torch.int64)
        y = module(x)
        y = y[0] if isinstance(y, tuple) else y
    assert all(t.is_meta for t in (*module.parameters(), *module.buffers()))
    assert y.is_meta and y.shape == expected
    real = make()
    module = module.to_empty(device="cpu")
    module.load_state_dict(real.state_dict())
    x = torch.rand(given) if given else torch.tensor([0, 3])
    got, want = module.eval()(x), real.eval()(x)
    got, want = (v[0] if isinstance(v, tuple) else v for v in (got, want))
    assert torch.equal(got, want)


def test_compiled_functions_notice_it():
    def make(x):
        return torch.zeros(3) + 1, x * 2

    compiled = torch.compile(make, background=False)
    x = torch.ones(2)
    for _ in range(4):
        assert not compiled(x)[0].is_meta
        with META:
            assert compiled(x)[0].is_meta and compiled(x)[1].tolist() == [2.0, 2.0]
