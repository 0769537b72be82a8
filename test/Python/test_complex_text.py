"""Complex tensors as text, in files and in the hands of other libraries."""

import io
import pickle

import numpy as np
import pytest

import torchc as torch

TYPES = (torch.complex64, torch.complex128)


def random(*shape, dtype):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return np.asarray(z, np.complex64 if dtype is torch.complex64 else np.complex128)


def test_text():
    assert repr(torch.tensor([1 + 2j, -0.5j])) == "tensor([1.+2.0000j, -0.-0.5000j])"
    assert repr(torch.tensor([1 + 2j])) == "tensor([1.+2.j])"
    assert repr(torch.zeros(2, dtype=torch.complex64)) == "tensor([0.+0.j, 0.+0.j])"
    assert (
        repr(torch.tensor([complex(np.nan, 1), 1000.25 - 3j]))
        == "tensor([      nan+1.j, 1000.2500-3.j])"
    )
    assert "dtype=torch.complex128" in repr(torch.tensor([1j], dtype=torch.complex128)).replace(
        "torchc", "torch"
    )


@pytest.mark.parametrize("dtype", TYPES)
def test_files_and_other_libraries(dtype):
    x = random(3, 2, dtype=dtype)
    t = torch.from_numpy(x)
    assert t.dtype is dtype and t.numpy().dtype == x.dtype
    assert np.shares_memory(t.numpy(), x) and np.array_equal(np.from_dlpack(t), x)
    assert torch.equal(torch.from_dlpack(x.copy()), t)
    file = io.BytesIO()
    torch.save({"z": t.T}, file)
    file.seek(0)
    assert torch.equal(torch.load(file)["z"], t.T) and torch.equal(pickle.loads(pickle.dumps(t)), t)
    assert torch.tensor(x).tolist() == x.tolist() and torch.as_tensor(x[0, 0]).item() == x[0, 0]
