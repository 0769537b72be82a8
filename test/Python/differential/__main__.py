"""`python -m differential --count 500 --seed 0` from test/Python: run random programs, print
differences."""

from __future__ import annotations

import argparse
import sys
import time

from oracle.dtypes import Arr

from .generate import generate, programs
from .program import run
from .runner import ORACLE, WAYS, Report, check, check_artefacts


def _run(options: argparse.Namespace, arithmetic: bool, ways: list[str], report: Report) -> None:
    wanted = list(programs(options.count, options.seed, arithmetic))
    if options.oracle:
        report.programs += len(wanted)
        for program in wanted:
            run(program, ORACLE)
        return
    import torchc

    for program in wanted:
        check(program, torchc, report, ways)
        if len(report.failures) >= options.failures:
            return
    if "artefact" in ways:
        check_artefacts(wanted, torchc, report)


def main() -> int:
    """Exit status 0 when nothing differs."""
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="number of programs")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument(
        "--ways", default=",".join(WAYS), help="how to run them; default: %(default)s"
    )
    parser.add_argument(
        "--oracle", action="store_true", help="only run the oracle (needs no torchc)"
    )
    parser.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    parser.add_argument("--failures", type=int, default=5, help="stop after this many differences")
    parser.add_argument("--why", action="store_true", help="print why programs did not compile")
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
    ways = options.ways.split(",")
    if unknown := set(ways) - set(WAYS):
        parser.error(f"--ways: expected some of {', '.join(WAYS)}; got {', '.join(unknown)}")
    print(f"differential: {options.count} programs from seed {options.seed} on", file=sys.stderr)
    for arithmetic in (False, True):
        if some := [way for way in ways if (way == "replay") == arithmetic]:
            _run(options, arithmetic, some, report)
    for text in report.failures:
        print(text, end="\n\n")
    for text in report.fell_back if options.why else []:
        print("not compiled:", text)
    counts = ", ".join(f"{n} {way}" for way, n in report.runs.items())
    print(
        f"{report.programs} programs ({counts}), {len(report.fell_back)} not compiled, "
        f"{len(report.failures)} differ, {time.time() - start:.1f} s"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
