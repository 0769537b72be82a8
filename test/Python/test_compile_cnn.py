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
