"""utils.checkpoint: the same values and gradients, with the function run again in backward."""

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
pytest.importorskip("torchc.autograd.graph", reason="there are no saved-tensor hooks yet")
from torchc.utils.checkpoint import checkpoint, checkpoint_sequential  # noqa: E402


def test_values_and_gradients_are_the_functions():
    calls = []

    def f(x, scale):
        calls.append(1)
        return ((x * scale).tanh() * x).exp()

    x = torch.tensor([0.5, -1.0], requires_grad=True)
    want = torch.autograd.grad(f(x, 2.0).sum(), x)[0]
    result = checkpoint(f, x, 2.0, use_reentrant=False)
    assert len(calls) == 2
    got = torch.autograd.grad(result.sum(), x)[0]
    assert len(calls) == 3 and np.array_equal(got.numpy(), want.numpy())
    with torch.no_grad():
        assert not checkpoint(f, x, 2.0, use_reentrant=False).requires_grad


def test_parameters_get_their_gradients_and_random_numbers_repeat():
    layer = torch.nn.Linear(3, 3)
    drawn = []

    def f(x):
        noise = torch.rand(2, 3)
        drawn.append(noise)
        return (layer(x) * noise).tanh()

    checkpoint(f, torch.ones(2, 3), use_reentrant=False).sum().backward()
    assert layer.weight.grad is not None
    assert len(drawn) == 2 and torch.equal(drawn[0], drawn[1])
    after = torch.rand(1)
    assert not torch.equal(after, drawn[0].reshape(-1)[:1])


def test_sequential_parts():
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    x = torch.ones(3, 2)
    want = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    result = checkpoint_sequential(model, 2, x, use_reentrant=False)
    got = torch.autograd.grad(result.sum(), list(model.parameters()))
    for a, b in zip(want, got):
        assert np.array_equal(a.numpy(), b.numpy())


def test_a_second_run_that_differs_is_an_error():
    runs = []

    def f(x):
        runs.append(1)
        return x.tanh().exp() if len(runs) == 1 else x * 1.0

    x = torch.ones(2, requires_grad=True)
    result = checkpoint(f, x, use_reentrant=False)
    with pytest.raises(RuntimeError, match="different number of tensors"):
        result.sum().backward()
