"""A convolutional network on the handwritten digits: the compiled training step has the eager one's bits."""

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import nn  # noqa: E402

TRAIN, BATCH = 1500, 50


class Network(nn.Module):
    """conv-relu-pool-conv-relu-pool-flatten-linear on (N, 1, 8, 8)."""

    def __init__(self):
        super().__init__()

        def parameter(*shape, fan_in):
            return nn.Parameter((torch.rand(*shape) * 2 - 1) * (3 / fan_in) ** 0.5)

        self.w1, self.b1 = parameter(16, 1, 3, 3, fan_in=9), parameter(16, fan_in=900)
        self.w2, self.b2 = parameter(32, 16, 3, 3, fan_in=144), parameter(32, fan_in=14400)
        self.w3, self.b3 = parameter(10, 128, fan_in=128), parameter(10, fan_in=12800)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(torch.conv2d(x, self.w1, self.b1, padding=1)), 2)
        x = torch.max_pool2d(torch.relu(torch.conv2d(x, self.w2, self.b2, padding=1)), 2)
        return nn.functional.linear(x.flatten(1), self.w3, self.b3)


@pytest.fixture(scope="module")
def digits(root):
    folder = root / "test/Examples/data/digits8x8"
    pixels = np.frombuffer((folder / "images.idx").read_bytes()[16:], np.uint8)
    labels = np.frombuffer((folder / "labels.idx").read_bytes()[8:], np.uint8)
    images = torch.from_numpy(pixels.astype(np.float32).reshape(-1, 1, 8, 8) / 8)
    return images, torch.from_numpy(labels.astype(np.int64))


def _trained(digits, compiled, epochs=8):
    images, labels = digits
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)

    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = torch.compile(step, background=False) if compiled else step
    losses = [
        run(images[at : at + BATCH], labels[at : at + BATCH]).item()
        for _ in range(epochs)
        for at in range(0, TRAIN, BATCH)
    ]
    with torch.no_grad():
        guesses = network(images[TRAIN:]).argmax(1)
    return losses, (guesses == labels[TRAIN:]).sum().item() / (len(labels) - TRAIN), run


def test_compiled_training_has_the_losses_of_eager_training(digits):
    losses, accuracy, _ = _trained(digits, compiled=False)
    again, same_accuracy, step = _trained(digits, compiled=True)
    assert losses == again
    assert accuracy == same_accuracy and accuracy > 0.85
    assert losses[-1] < 0.3 * losses[0]
    assert step.counts()["launches"] > 200, step.report()


def _bits(t):
    wide = np.int32 if t.dtype == torch.float32 else np.int64
    return t.detach().numpy().view(wide).tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(8, 8), (4, 4), (6, 2), (16, 16), (6, 6), (5, 7), (2, 32)])
def test_relu_before_a_pool_has_eager_bits(size, dtype):
    """Planes narrower than a vector, as wide, and with a rest; ties, zeros of both signs, NaN and infinities."""
    rng = np.random.default_rng(3)
    x = rng.integers(-3, 4, (5, 3, *size)) / 2
    flat = x.reshape(-1)
    flat[rng.permutation(flat.size)[:12]] = [np.nan, -0.0, 0.0, np.inf, -np.inf, -0.0] * 2
    x = torch.tensor(x.tolist(), dtype=dtype).requires_grad_()
    w = torch.tensor(rng.uniform(-1, 1, (4, 3, 1, 1)).tolist(), dtype=dtype).requires_grad_()
    b = torch.tensor([0.5, -0.5, 0.0, 1.0], dtype=dtype).requires_grad_()
    g = torch.tensor(rng.uniform(-1, 1, (5, 4, size[0] // 2, size[1] // 2)).tolist(), dtype=dtype)
    h = torch.tensor(rng.uniform(-1, 1, (5, 3, size[0] // 2, size[1] // 2)).tolist(), dtype=dtype)

    def step(x, w, b, g, h):
        y = torch.max_pool2d(torch.relu(torch.conv2d(x, w, b)), 2)
        z = torch.max_pool2d(torch.relu(x), 2)
        more = torch.autograd.grad(z, x, h)
        return (y, z, *more, *torch.autograd.grad(y, (x, w, b), g))

    want = step(x, w, b, g, h)
    compiled = torch.compile(step, background=False)
    for _ in range(3):
        for mine, other in zip(compiled(x, w, b, g, h), want, strict=True):
            same = np.isnan(mine.detach().numpy()) & np.isnan(other.detach().numpy())
            assert (same | (np.array(_bits(mine)) == np.array(_bits(other)))).all()
    assert compiled.counts()["launches"], compiled.report()


@pytest.mark.parametrize(
    "shape",
    [(3, 5, 8), (130, 2, 4, 4), (2, 3, 28, 28), (4, 3, 5, 7), (1, 6, 64), (7, 1, 33)],
)
def test_sums_beside_the_channels_have_eager_bits(shape):
    """Sums over samples and positions read runs where these hold whole vectors, else a copy."""
    x = torch.tensor(np.random.default_rng(1).uniform(-1, 1, shape).tolist())
    axes = [d for d in range(len(shape)) if d != 1]

    def sums(x):
        moved = x.transpose(0, 1)
        return (
            x.sum(axes),
            (x * 2).amax(axes),
            x.double().sum(axes),
            moved.sum([0, *range(2, len(shape))]),
        )

    compiled = torch.compile(sums, background=False)
    for _ in range(3):
        for mine, other in zip(compiled(x), sums(x), strict=True):
            assert _bits(mine) == _bits(other)
    assert compiled.counts()["launches"], compiled.report()


def test_relus_derivative_may_be_broader_than_the_pools():
    """where(x <= 0, 0, g) with more dimensions than g is no part of the kernel that computes g."""

    def gradient(x):
        (g,) = torch.autograd.grad(torch.max_pool2d(x, 2).sum(), x)
        return g

    def broad_zero(x):
        return torch.where(x <= 0.0, torch.full((2, 3, 2, 8, 8), 0.0), gradient(x))

    def broad_bound(x):
        return torch.where(x <= torch.full((2, 3, 2, 8, 8), 0.0), 0.0, gradient(x))

    for fn in (broad_zero, broad_bound):
        compiled = torch.compile(fn, background=False)
        for i in range(4):
            torch.manual_seed(i)
            x = (torch.rand(3, 2, 8, 8) - 0.5).requires_grad_()
            assert _bits(compiled(x)) == _bits(fn(x)), compiled.report()
        assert compiled.counts()["launches"], compiled.report()
