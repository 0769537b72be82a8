"""digits.py FOLDER: the digits model and a step of its training as saved programs, model.tcz and step.tcz."""

import pathlib
import sys

import torchc as torch
from torchc import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(128, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


class Step(nn.Module):
    """One step on a batch: writes parameters and momenta, gives the loss."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()


images, labels = torch.rand(50, 1, 8, 8), torch.rand(50, 10).argmax(1)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
Step()(images, labels)  # the momenta exist from the second step on
torch.export.save(torch.export.export(model, (images,)), folder / "model.tcz")
torch.export.save(torch.export.export(Step(), (images, labels)), folder / "step.tcz")
