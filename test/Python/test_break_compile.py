"""Compiled calls where the default dtype, which a trace doesn't carry, decides what is computed."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import _C  # noqa: E402
from torchc.jit import _compiled, _helper  # noqa: E402

PROGRAMS = [
    lambda x: x / 3,
    lambda x: x.exp() + 1,
    lambda x: x * 0.1,
    lambda x: x / x.sum(),
    lambda x: (x > 0.1, x * 2),  # 0.1 rounds differently in the two types
]


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.skipif(not _helper()[0], reason="build the target torchc first")
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_integers_in_another_default_dtype(double, fn, dtype):
    def bits(value):
        return [
            (t.dtype, _C._to_bytes(t)) for t in (value if isinstance(value, tuple) else (value,))
        ]

    x = torch.tensor([0, 1, 2, 5]).to(dtype)
    compiled = _compiled(fn, False, measure=False)
    for _ in range(3):
        assert bits(compiled(x)) == bits(fn(x)), compiled.report()
