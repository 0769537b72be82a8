"""Modules against what PyTorch 2.15 prints and saves: text, names and shapes of every class."""

import json
import pathlib

import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
nn = torch.nn

# expression: its text, and the shapes by name in its state_dict
MODULES = json.loads((pathlib.Path(__file__).parent / "reference/modules.json").read_text())


def make(expression):
    return eval(expression, {**vars(nn), "torch": torch})


@pytest.mark.parametrize("expression", MODULES)
def test_text_and_state_are_pytorchs(expression):
    text, shapes = MODULES[expression]
    module = make(expression)
    assert repr(module).replace("torchc.", "torch.") == text
    assert {name: list(value.shape) for name, value in module.state_dict().items()} == shapes
    assert list(module.state_dict()) == list(shapes)
