"""Fixtures and groups of the Python tests.

A test file belongs to the group whose prefix its name starts with; `tools/dev/test GROUP` runs one group.
"""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = {
    "ops": ("test_op", "test_oracle", "test_numerics"),
    "jit": ("test_jit", "test_compile", "test_trust", "test_trace"),
    "onnx": ("test_onnx",),
    "cli": ("test_cli", "test_artefact"),
    "docs": ("test_docs", "test_structure", "test_dev"),
}


def group_of(name: str) -> str:
    """The group of the test file called `name`; `py` when no prefix matches."""
    return next((group for group, prefixes in GROUPS.items() if name.startswith(prefixes)), "py")


def pytest_addoption(parser):
    parser.addoption("--group", action="append", choices=[*GROUPS, "py"], help="only this group")


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--group")
    if not wanted:
        return
    kept = [item for item in items if group_of(item.path.name) in wanted]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The optional data folder beside the repository; a test that needs it is skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the optional data folder ../shared")
    return folder


@pytest.fixture(scope="session")
def torchc():
    """The built package; a test that needs it is skipped before the extension module is built."""
    module = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
    return module
