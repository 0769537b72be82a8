"""`python -m differential --count 500 --seed 0` from test/Python: run random programs, print
differences."""

from __future__ import annotations

import argparse
import sys
import time

from oracle.dtypes import Arr

from .generate import generate, programs
from .program import run
from .runner import ORACLE, Report, check


def main() -> int:
    """Exit status 0 when nothing differs."""
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="number of programs")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument(
        "--oracle", action="store_true", help="only run the oracle (needs no torchc)"
    )
    parser.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    parser.add_argument("--failures", type=int, default=5, help="stop after this many differences")
    options = parser.parse_args()
    if options.show:
        program = generate(options.seed)
        print(program.source())
        for name, value in run(program, ORACLE).items():
            print(
                f"{name}: {value.dtype.torch_name}{list(value.shape)}"
                if isinstance(value, Arr)
                else f"{name}: {value}"
            )
        return 0
    report, start = Report(), time.time()
    for program in programs(options.count, options.seed):
        if options.oracle:
            report.programs += 1
            run(program, ORACLE)
            continue
        import torchc

        check(program, torchc, report, compiled=not options.eager)
        if len(report.failures) >= options.failures:
            break
    for text in report.failures:
        print(text, end="\n\n")
    ways = ", ".join(f"{n} {way}" for way, n in report.runs.items())
    print(
        f"{report.programs} programs ({ways}), {len(report.failures)} differ, {time.time() - start:.1f} s"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
