"""What must hold of the repository and the package as a whole."""

import ast
import pathlib
import subprocess
import sys

import pytest

TOP = {
    "compiler", "runtime", "frontends", "dialects", "tools", "test", "python", "CMakeLists.txt",
    "CMakePresets.json", "README.md", "LICENSE",
}  # fmt: skip


def git(root, *args):
    return subprocess.run(
        ["git", *args], cwd=root, capture_output=True, text=True, check=True
    ).stdout


def test_top_level_is_the_layout(root):
    names = {name.split("/")[0] for name in git(root, "ls-files").splitlines()}
    assert {name for name in names if not name.startswith(".")} <= TOP


def test_scripts_are_short_and_executable(root):
    for script in (root / "tools/dev").iterdir():
        if script.is_file() and not script.suffix:
            assert script.stat().st_mode & 0o111, f"{script.name} is not executable"
            assert len(script.read_text().splitlines()) <= 60, (
                f"{script.name} is longer than 60 lines"
            )


def test_readme_is_short_and_its_paths_exist(root):
    import re

    text = (root / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    for path in re.findall(
        r"`((?:tools|test|python|dialects|compiler|runtime|frontends)/[\w./-]*)", text
    ):
        assert (root / path).exists(), f"README.md names {path}, which does not exist"


def test_the_digits_are_what_their_readme_says(root):
    folder = root / "test/Examples/data/digits8x8"
    images, labels = (folder / "images.idx").read_bytes(), (folder / "labels.idx").read_bytes()
    assert (
        images[:4] == b"\0\0\x08\x03" and len(images) == 16 + 1797 * 64 and max(images[16:]) == 16
    )
    assert (
        labels[:4] == b"\0\0\x08\x01"
        and len(labels) == 8 + 1797
        and set(labels[8:]) == set(range(10))
    )
    assert "CC BY 4.0" in (folder / "README.md").read_text()


def test_lint_rules_find_what_they_are_for(root, tmp_path):
    sys.path.insert(0, str(root / "tools/dev"))
    import lint_rules

    bad = {
        "runtime/a.cpp": '#include "frontends/x.h"\n#include "mlir/IR/Value.h"\ncase OpId::Add:\ngetenv("X");\n',
        "runtime/b.inc": "",
        "python/torchc/c.py": "def public():\n    pass\n",
        "dialects/d.h": "x\n" * 1001,
        "test/e.md": "see /wor" + "k/x\n",
    }
    for name, text in bad.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tree = lint_rules.Tree(tmp_path, sorted(bad))
    found = {rule.__name__: {f for f, _, _ in rule(tree)} for rule in lint_rules.RULES}
    assert found == {
        "length": {"dialects/d.h"},
        "arrows": {"runtime/a.cpp"},
        "generated": {"runtime/b.inc"},
        "op_names": {"runtime/a.cpp"},
        "environment": {"runtime/a.cpp"},
        "docstrings": {"python/torchc/c.py"},
        "own_words": {"test/e.md"},
    }


def test_package_imports_only_what_is_needed(torchc):
    code = "import sys, torchc; print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'typing')" \
           " or m.startswith(('torchc.nn', 'torchc.optim'))])"  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["no_such_thing", "conv_tbc"])
def test_missing_names_are_named(torchc, name):
    with pytest.raises(AttributeError, match=name):
        getattr(torchc, name)


def test_every_name_of_all_exists(root, torchc):
    import importlib

    for file in sorted((root / "python/torchc").rglob("*.py")):
        parts = file.relative_to(root / "python").with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if any(
            part.startswith("_")
            for part in pathlib.PurePath(*parts[1:]).parts
            if part != "__init__"
        ):
            continue
        module = importlib.import_module(name)
        for symbol in getattr(module, "__all__", ()):
            assert hasattr(module, symbol), f"{name}.__all__ lists {symbol}"


def test_knobs_of_both_languages_are_the_same(root):
    """The two tables of environment variables must not drift apart."""
    import re

    tree = ast.parse((root / "python/torchc/knobs.py").read_text())
    python = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and re.fullmatch(r"TORCHC_[A-Z_]+", str(node.value))
    }
    cpp = set()
    for folder in ("dialects", "runtime", "frontends", "compiler", "tools"):
        for file in (root / folder).rglob("*nobs.*"):
            cpp |= set(re.findall(r'"(TORCHC_[A-Z_]+)"', file.read_text()))
    assert cpp <= python, f"missing in knobs.py: {sorted(cpp - python)}"


def test_every_op_has_a_docstring_and_a_row_of_the_support_matrix(torchc):
    """That each has a row of samples is tested beside the rows."""
    import json

    from oracle import body

    found = body.find_bodies()
    if found is None:
        pytest.skip("bodies.json is not built")
    table = json.loads(found.read_text())
    matrix = (found.parent / "support.md").read_text()
    for op in table["ops"]:
        assert op["summary"], f"{op['name']} has no summary"
        row = f"\n| {op['name']} | {op['summary'].replace('|', chr(92) + '|')} | "
        assert row in matrix, f"{op['name']} has no row in the support matrix"
    for api in [api for op in table["ops"] for api in op["api"]] + table["composites"]:
        if not {"function", "method"} & set(api["kinds"]):
            continue
        owner = torchc if "function" in api["kinds"] else torchc.Tensor
        signature, _, text = getattr(owner, api["name"]).__doc__.partition("\n\n")
        if not text:  # written by hand: a sentence, or signatures and what it does behind a colon
            listed = signature.startswith(f"{api['name']}(")
            text = signature.partition(": ")[2] if listed else signature
        assert len(text) > 3, f"{api['name']} has no docstring"
