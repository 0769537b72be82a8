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
    "gpu": ("test_gpu",),
    "docs": ("test_docs", "test_structure", "test_dev"),
}


def group_of(name: str) -> str:
    """The group of the test file called `name`; `py` when no prefix matches."""
    return next((group for group, prefixes in GROUPS.items() if name.startswith(prefixes)), "py")


def pytest_addoption(parser):
    parser.addoption("--group", action="append", choices=[*GROUPS, "py"], help="only this group")


def pytest_collection_modifyitems(config, items):
    # The gpu tests need a driver, and the others a machine without one: a process is either.
    wanted = config.getoption("--group") or [group for group in [*GROUPS, "py"] if group != "gpu"]
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
def cuda():
    """torchc.cuda with a device: the stand-in driver's that `tools/dev/test gpu` names, or a real one."""
    module = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
    if not module.cuda.is_available():
        pytest.skip("needs a cuda device; tools/dev/test gpu has one")
    return module.cuda


@pytest.fixture(scope="session")
def torchc():
    """The built package; a test that needs it is skipped before the extension module is built."""
    module = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
    return module
