"""nn.utils.parametrizations.orthogonal: weights that stay orthonormal."""

import pytest

import torchc as torch
from torchc import nn
from torchc.nn.utils import parametrizations, parametrize

SHAPES = [(3, 3), (5, 3), (3, 5), (2, 4, 4), (2, 5, 2)]


class Holder(nn.Module):
    def __init__(self, *shape, dtype=torch.float64):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape, dtype=dtype))

    def forward(self):
        return self.weight


def is_orthonormal(w, tolerance=1e-9):
    w = w if w.size(-2) >= w.size(-1) else w.mT
    gram = w.mH @ w
    return torch.allclose(
        gram, torch.eye(gram.size(-1), dtype=w.dtype).expand_as(gram), atol=tolerance
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivialized", [True, False])
def test_weights_are_orthonormal_and_learn(shape, name, trivialized):
    torch.manual_seed(0)
    m = Holder(*shape)
    start = m.weight.detach().clone()
    if not trivialized and name != "householder":
        # Where there is no inverse, the first X is the weight as it was.
        parametrizations.orthogonal(m, orthogonal_map=name, use_trivialization=False)
        with pytest.raises(NotImplementedError, match="use_trivialization"):
            m.weight = start
    else:
        parametrizations.orthogonal(m, orthogonal_map=name, use_trivialization=trivialized)
        target = torch.linalg.qr(start if shape[-2] >= shape[-1] else start.mT)[0]
        target = target if shape[-2] >= shape[-1] else target.mT
        m.weight = target
        torch.testing.assert_close(m.weight, target, atol=1e-9, rtol=0)
    before = m.weight.detach().clone()
    assert is_orthonormal(before) and before.shape == shape
    optimizer = torch.optim.SGD(m.parameters(), lr=0.05)
    goal = (
        torch.linalg.qr(torch.randn(*shape, dtype=torch.float64))[0]
        if shape[-2] >= shape[-1]
        else None
    )
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((m() - goal) ** 2).sum() if goal is not None else -m()[..., 0].sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert is_orthonormal(m.weight) and losses[-1] < losses[0]


def test_defaults_states_and_removal():
    layer = parametrizations.orthogonal(nn.Linear(3, 6))
    assert layer.parametrizations.weight[0].orthogonal_map == "householder"
    assert is_orthonormal(layer.weight, 1e-5)
    assert sorted(layer.state_dict()) == [
        "bias",
        "parametrizations.weight.0.base",
        "parametrizations.weight.original",
    ]
    square = parametrizations.orthogonal(nn.Linear(4, 4))
    assert square.parametrizations.weight[0].orthogonal_map == "matrix_exp"
    weight = square.weight.detach().clone()
    parametrize.remove_parametrizations(square, "weight")
    assert torch.equal(square.weight, weight) and type(square) is nn.Linear
    # A rotation comes back as it was, a reflection, too.
    flip = parametrizations.orthogonal(Holder(2, 2))
    mirror = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    flip.weight = mirror
    torch.testing.assert_close(flip.weight, mirror)


def test_complex_weights():
    torch.manual_seed(0)
    m = parametrizations.orthogonal(Holder(4, 2, dtype=torch.complex128))
    assert m.parametrizations.weight[0].orthogonal_map == "matrix_exp" and is_orthonormal(m.weight)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), "wieght"), "wieght"),
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), "bias"), "matrix or batch"),
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="givens"), "givens"),
        (
            lambda: parametrizations.orthogonal(
                Holder(2, 2, dtype=torch.complex64), orthogonal_map="householder"
            ),
            "complex",
        ),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
