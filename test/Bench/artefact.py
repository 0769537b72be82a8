"""A compiled classifier of digits as a file: bytes, code, and time from start to exit beside a bare process.

Needs the built package and compiler, of build/release or else of build/dev; the model has random weights.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = next(
    (b for b in [ROOT / "build/release"] if (b / "bin/torchc").exists()), ROOT / "build/dev"
)
RUNS = 200
BARE = "int main(void) { return 0; }\n"


def start_to_exit(*command: str) -> float:
    """Median milliseconds of RUNS runs."""
    seconds = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds) * 1e3


def code_bytes(file: pathlib.Path) -> int:
    """Size of .text by `torchc inspect`."""
    text = subprocess.run(
        [BUILD / "bin" / "torchc", "inspect", file], capture_output=True, text=True, check=True
    ).stdout
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(".text "))


def main() -> None:
    """Prints one figure per line."""
    sys.path.insert(0, str(BUILD / "python"))
    import torchc
    from torchc import export, nn

    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        export.save(export.export(model, (torchc.zeros(1, 64),)), folder / "net.tcz")
        for emit in ("exe", "so"):
            out = folder / f"net.{emit}"
            command = [
                BUILD / "bin" / "torchc",
                "compile",
                folder / "net.tcz",
                f"--emit={emit}",
                "-o",
                out,
            ]
            begin = time.perf_counter()
            subprocess.run(command, check=True)
            seconds = time.perf_counter() - begin
            print(
                f"  {emit:3}  {out.stat().st_size:8,} bytes, {code_bytes(out):7,} of code, compiled in {seconds:.2f} s"
            )
        (folder / "bare.c").write_text(BARE)
        subprocess.run(["clang-22", "-O2", folder / "bare.c", "-o", folder / "bare"], check=True)
        print(
            f"  self-test, start to exit {start_to_exit(str(folder / 'net.exe'), '--self-test'):7.2f} ms"
        )
        print(f"  a bare main              {start_to_exit(str(folder / 'bare')):7.2f} ms")


if __name__ == "__main__":
    main()
