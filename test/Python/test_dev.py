"""The development scripts' own behaviour: what counts as passed, failed, skipped."""

import subprocess
import sys

import pytest

JUNIT = "<testsuite>{}</testsuite>"


@pytest.mark.parametrize(
    "cases, rc, line, code",
    [
        ('<testcase name="a"/>', 0, "1 passed, 0 failed", 0),
        (
            '<testcase name="a"/><testcase name="b"><failure/></testcase>',
            1,
            "1 passed, 1 failed",
            1,
        ),
        (
            '<testcase name="a"/><testcase name="b"><skipped/></testcase>',
            0,
            "1 passed, 0 failed, 1 skipped",
            0,
        ),
        (
            '<testcase name="a"/><testcase name="b"><skipped message="Test not selected (--filter)"/></testcase>',
            0,
            "1 passed, 0 failed",
            0,
        ),
        ('<testcase name="a" status="fail"/>', 1, "0 passed, 1 failed", 1),
        ('<testcase name="a"><error/></testcase>', 1, "0 passed, 1 failed", 1),
        ('<testcase name="a"/>', 3, "1 passed, 1 failed", 1),
        ("", 5, "0 passed, 0 failed", 1),
    ],
)
def test_summary_counts_outcomes(root, tmp_path, cases, rc, line, code):
    (tmp_path / "unit.xml").write_text(JUNIT.format(cases))
    (tmp_path / "unit.rc").write_text(str(rc))
    result = subprocess.run(
        [sys.executable, root / "tools/dev/summary.py", tmp_path], capture_output=True, text=True
    )
    assert result.stdout.splitlines()[-1] == line
    assert result.returncode == code


@pytest.mark.parametrize("script", ["build", "bench", "test"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_scripts_answer_help(root, script, option):
    done = subprocess.run([root / "tools/dev" / script, option], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert f"tools/dev/{script} [" in done.stdout
