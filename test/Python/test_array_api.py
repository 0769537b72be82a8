"""The array API standard's namespace: what its text says and torch doesn't.

The standard's own suite is run by hand: test/README.md says how.
"""

import inspect

import numpy as np
import pytest

import torchc as torch

xp = torch.zeros(()).__array_namespace__()


def test_namespace_and_versions():
    assert xp.__array_api_version__ == "2024.12"
    assert torch.zeros(2).__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="1999.12"):
        torch.zeros(2).__array_namespace__(api_version="1999.12")
    assert all(hasattr(xp, name) for name in xp.__all__)
    assert not {name for name in vars(xp) if name[0] != "_"} - {
        *xp.__all__,
        "sys",
        "namespace",
        "to_device",
    }
    x = torch.ones(2)
    assert x.to_device("cpu").device == torch.device("cpu") and x.to_device("meta").is_meta


def test_every_function_has_a_docstring_and_takes_arrays_by_position():
    for name in xp.__all__:
        f = getattr(xp, name)
        if not inspect.isfunction(f) or name == "__array_namespace_info__":
            continue
        assert f.__doc__, name
        first = next(iter(inspect.signature(f).parameters.values()))
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
        assert first.kind in by_position or first.name in ("shape", "dtype"), name


def test_an_array_of_no_dimensions_counts_in_promotion():
    small, wide = torch.zeros(2, dtype=torch.int8), torch.tensor(1, dtype=torch.int64)
    assert (small + wide).dtype == torch.int8  # PyTorch's rule
    assert xp.add(small, wide).dtype == xp.result_type(small, wide) == torch.int64
    assert xp.where(small == 0, small, wide).dtype == torch.int64
    assert xp.concat([small, wide[None]]).dtype == torch.int64
    assert xp.multiply(small, 3).dtype == torch.int8  # numbers take the array's type
    assert xp.result_type(torch.float32, 1.5) == torch.float32
    with pytest.raises(ValueError, match="got none"):
        xp.result_type(1, 2.0)


def test_kinds_of_types():
    assert xp.isdtype(torch.int8, ("bool", "signed integer")) and not xp.isdtype(
        torch.uint8, "signed integer"
    )
    assert xp.isdtype(torch.float16, "real floating") and xp.isdtype(torch.int32, torch.int32)
    for kind, error in (("float", ValueError), (3, TypeError)):
        with pytest.raises(error):
            xp.isdtype(torch.int8, kind)
    assert xp.finfo(torch.zeros(1, dtype=torch.complex128)).dtype == torch.float64
    assert xp.iinfo(torch.int16).max == 32767 and xp.iinfo(torch.int16).dtype == torch.int16
    assert xp.can_cast(torch.int8, torch.int16) and not xp.can_cast(torch.float32, torch.int64)
    with pytest.raises(TypeError, match="complex64"):
        xp.astype(torch.zeros(1, dtype=torch.complex64), torch.float32)
    info = xp.__array_namespace_info__()
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.dtypes(kind=("bool", "integral")).keys() >= {"bool", "uint8", "int64"}
    assert (
        info.default_dtypes()["integral"] == torch.int64 and info.default_device() in info.devices()
    )


def test_quotients_at_infinities_and_zeros():
    inf = np.inf
    x1 = torch.tensor([inf, -inf, inf, 2.0, -2.0, 7.0, -0.0])
    x2 = torch.tensor([2.0, 2.0, -2.0, -inf, inf, -2.0, 3.0])
    want = np.array([inf, -inf, -inf, -0.0, -0.0, -4.0, -0.0])
    got = xp.floor_divide(x1, x2).numpy()
    # A quotient between -1 and 0 rounds to -1 in torch, and to the standard's -0 where the divisor is infinite.
    np.testing.assert_array_equal(got[:3], want[:3])
    np.testing.assert_array_equal(got[5:], want[5:])
    assert xp.remainder(
        torch.tensor([-0.0, 0.0]), torch.tensor([2.0, -2.0])
    ).signbit().tolist() == [False, True]
    assert xp.remainder(torch.tensor([-7]), torch.tensor([4])).tolist() == [1]


def test_what_shapes_and_axes_do():
    x = torch.arange(6).reshape(2, 3)
    assert xp.concat([x, x], axis=None).shape == (12,)
    assert xp.expand_dims(x, (0, -1)).shape == (1, 2, 3, 1)
    assert xp.flip(x).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert xp.roll(x, 1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert xp.take(x, torch.tensor([-1, 0]), axis=1).tolist() == [[2, 0], [5, 3]]
    assert xp.repeat(x, torch.tensor([1, 2], dtype=torch.int8), axis=0).shape == (3, 3)
    assert [a.tolist() for a in xp.nonzero(x)] == [[0, 0, 1, 1, 1], [1, 2, 0, 1, 2]]
    assert xp.sum(x, axis=()).tolist() == x.tolist() and xp.max(x, axis=(0, 1)).item() == 5
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [
        [0, 0, 1, 3],
        [0, 3, 7, 12],
    ]
    assert xp.sum(torch.ones(300, dtype=torch.uint8)).item() == 300
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]
    assert xp.arange(5, 1).shape == (0,) and xp.arange(5, 1, 2.0).dtype == torch.float32
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]] and xp.eye(2, k=5).sum() == 0
    errors = [
        (lambda: xp.squeeze(x, 0), ValueError),
        (lambda: xp.nonzero(torch.tensor(1)), ValueError),
        (lambda: xp.take(x, torch.tensor([0])), ValueError),
        (lambda: xp.cumulative_sum(x), ValueError),
        (lambda: xp.reshape(x.T, (6,), copy=False), ValueError),
        (lambda: xp.asarray(3, copy=False), ValueError),
        (lambda: xp.sum(x, axis=2), IndexError),
        (lambda: xp.sum(x, axis=(0, -2)), ValueError),
        (lambda: xp.vecdot(x, x[:, :2]), ValueError),
        (lambda: xp.matrix_transpose(x[0]), ValueError),
    ]
    for f, error in errors:
        with pytest.raises(error):
            f()


def test_distinct_values():
    x = torch.tensor([3.0, np.nan, 1.0, 3.0, np.nan, -0.0, 0.0])
    found = xp.unique_all(x)
    assert (
        found.values[:3].tolist() == [0, 1, 3] and len(found.values) == 5
    )  # every NaN is one of its own
    assert found.counts.tolist() == [2, 1, 2, 1, 1] and found.indices.tolist()[:3] == [5, 2, 0]
    assert torch.equal(found.values[found.inverse_indices].nan_to_num(-1), x.nan_to_num(-1))
    z = torch.tensor([1 + 1j, 1 - 1j, 1 + 1j])
    assert xp.unique_counts(z).counts.tolist() == [1, 2] and xp.unique_values(z).tolist() == [
        1 - 1j,
        1 + 1j,
    ]


def test_rounding_clipping_and_signs():
    z = torch.tensor([1.5 + 2.5j, -0.5 - 1.5j])
    assert xp.round(z).tolist() == [2 + 2j, -0 - 2j] and xp.sign(torch.tensor(np.nan)).isnan()
    assert xp.sign(torch.tensor([3 + 4j]))[0].item() == pytest.approx(0.6 + 0.8j)
    x = torch.tensor([1, 5, 9], dtype=torch.int8)
    assert xp.clip(x, 2, 8).tolist() == [2, 5, 8] and xp.clip(x, 2, 8).dtype == torch.int8
    assert xp.clip(x, torch.tensor([[0], [6]])).tolist() == [[1, 5, 9], [6, 6, 9]]
    assert xp.clip(torch.ones(2, dtype=torch.float64), max=1e-200).tolist() == [1e-200] * 2


def test_expm1_at_special_values():
    zero = xp.expm1(torch.tensor(complex(-0.0, 0.0)))
    assert not zero.real.signbit() and not zero.imag.signbit()
    inf, nan = np.inf, np.nan
    pairs = {
        (inf, 0.0): (inf, 0.0),
        (-inf, inf): (-1.0, 0.0),
        (inf, inf): (inf, nan),
        (-inf, nan): (-1.0, 0.0),
        (nan, 0.0): (nan, 0.0),
        (3.0, nan): (nan, nan),
    }
    for (x, y), want in pairs.items():
        got = xp.expm1(torch.tensor(complex(x, y)))
        np.testing.assert_array_equal([got.real.item(), got.imag.item()], want)
    assert xp.expm1(torch.tensor([1e-3 + 2j]))[0] == torch.expm1(torch.tensor(1e-3 + 2j))


def test_linear_algebra_and_transforms_by_the_standards_names():
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    assert torch.allclose(xp.linalg.solve(a, xp.matmul(a, torch.ones(2))), torch.ones(2))
    assert xp.linalg.solve(a, torch.ones(3, 2, 1)).shape == (3, 2, 1)
    assert xp.linalg.trace(torch.full((2, 2), 100, dtype=torch.uint8)).item() == 200
    assert xp.linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.vector_norm(a, axis=()).tolist() == a.tolist()
    assert xp.vecdot(torch.tensor([1j]), torch.tensor([1j])).item() == 1
    assert torch.equal(xp.fft.fft(a, axis=0), torch.fft.fft(a, dim=0))
    assert xp.fft.fftshift(xp.fft.fftfreq(4)).tolist() == [-0.5, -0.25, 0, 0.25]


def test_dlpack_module():
    source = np.arange(3.0)
    shared = torch.utils.dlpack.from_dlpack(source)
    source[0] = 7
    assert shared[0] == 7 and torch.utils.dlpack.from_dlpack(source, copy=True)[0] == 7
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(shared)).tolist() == [
        7,
        1,
        2,
    ]
    with pytest.raises(ValueError, match="copy=False"):
        torch.utils.dlpack.from_dlpack(source, device="meta", copy=False)
