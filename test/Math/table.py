#!/usr/bin/env python3
"""Prints bounds.txt as a table of the support matrix: table.py bounds.txt > accuracy.md"""

import re
import sys

HEAD = """
## Accuracy

Largest error in units in the last place of the exact result. Three decimals of float32: found over all 2^32 inputs
(`math-check --all`); others over 2^26 samples, with a little room. float16 and bfloat16 are computed in float32 and
rounded once: `test_half_accuracy.py` tries all their inputs.

| function | float32 | float64 | note |
|---|---|---|---|"""


def rows(lines):
    """function: ({width: bound}, note) in the order of the file; a note stands above the lines of one function."""
    found, note = {}, []
    for line in lines:
        if line.startswith("#"):
            note.append(line.lstrip("# "))
            continue
        name, width, bound = re.fullmatch(r"(\w+?)F(32|64)\s+(\S+)", line).groups()
        if name not in found:
            found[name] = ({}, " ".join(note))
            note = []
        found[name][0][width] = bound
    return found


def main():
    """The page."""
    lines = [line.strip() for line in open(sys.argv[1])]
    # The first lines are about the file.
    body = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    print(HEAD)
    for name, (bounds, note) in rows(line for line in lines[body:] if line).items():
        print(f"| {name} | {bounds.get('32', '')} | {bounds.get('64', '')} | {note} |")
    print()


if __name__ == "__main__":
    main()
