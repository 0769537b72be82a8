"""Adds up the JUnit files of a test run: what failed, the time of each group, then `N passed, N failed`.

Exit code 1 when something failed or when no test ran at all.
"""

import pathlib
import sys
import xml.etree.ElementTree as ET


def outcome(case: ET.Element) -> str | None:
    """The outcome of one testcase element, in the dialects of ctest, lit and pytest; None: left to another group."""
    if (
        case.find("failure") is not None
        or case.find("error") is not None
        or case.get("status") == "fail"
    ):
        return "failed"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("Test not selected"):
        return None  # by lit's filter
    if skipped is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def main(folder: str) -> int:
    """Prints the summary of the result files in `folder`; NAME.rc holds the exit code of the runner NAME."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    failures = []
    for code in sorted(pathlib.Path(folder).glob("*.rc")):
        counts = dict.fromkeys(total, 0)
        seconds = 0.0
        file = code.with_suffix(".xml")
        for case in ET.parse(file).iter("testcase") if file.exists() else ():
            result = outcome(case)
            if result is None:
                continue
            counts[result] += 1
            seconds += float(case.get("time") or 0)
            if result == "failed":
                failures.append(f"{code.stem}: {case.get('classname') or ''} {case.get('name')}")
        status = int(code.read_text())
        # Pytest's 5 says that no test was selected: not a failure of the runner.
        if status not in (0, 5) and not counts["failed"]:
            counts["failed"] = 1
            failures.append(f"{code.stem}: the runner itself ended with exit code {status}")
        print(
            f"{code.stem:8} "
            + ", ".join(f"{n} {what}" for what, n in counts.items())
            + f" ({seconds:.1f} s)"
        )
        for what in total:
            total[what] += counts[what]
    for line in failures:
        print("FAILED", line)
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")
    return int(total["failed"] > 0 or total["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
