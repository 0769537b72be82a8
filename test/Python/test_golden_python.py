"""Recorded behaviour of PyTorch (optional data): what fails is what dialects/Differences.md says, and says why."""

import json
import re
import subprocess
import sys

import pytest


def patterns(page: str) -> list[str]:
    """The names of checks in the first column of the page's table."""
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in page.splitlines() if line.startswith("| `")]
    return [name.replace("\\|", "|") for row in rows for name in re.findall("`([^`]+)`", row)]


def test_the_list_of_differences_is_read():
    page = "| checks | why |\n|---|---|\n| `a/(x\\|y):z`, `b` | because |\ntext `c`\n"
    assert patterns(page) == ["a/(x|y):z", "b"]


def test_recorded_behaviour(shared, torchc, tmp_path, root):
    runner = shared / "golden/run_golden.py"
    if not runner.is_file():
        pytest.skip("needs the optional data folder ../shared/golden")
    summary = tmp_path / "summary.json"
    subprocess.run(
        [sys.executable, runner, "--module", "torchc", "--summary", summary], capture_output=True
    )
    result = json.loads(summary.read_text())
    assert result["total"]["pass"] > 40_000 and not result["total"]["missing"], result["total"]
    failures = {f"{case}:{check}": why for case, check, _, why in result["failures"]}
    known = patterns((root / "dialects/Differences.md").read_text())
    unknown = {
        name: why for name, why in failures.items() if not any(re.fullmatch(p, name) for p in known)
    }
    assert not unknown, list(unknown.items())[:5]
    stale = [p for p in known if not any(re.fullmatch(p, name) for name in failures)]
    assert not stale, stale
