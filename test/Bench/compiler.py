"""The compiler as a file: bytes on disk and deflated, libraries it needs, time from start to exit.

Prints figures of build/release when it is built, else of build/dev (which links shared libraries).
"""

import pathlib
import shutil
import statistics
import subprocess
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 100


def start_to_exit(*command: str) -> float:
    """Median seconds of RUNS runs."""
    seconds = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def main() -> None:
    """Prints one figure per line."""
    builds = [ROOT / "build" / name / "bin" / "torchc" for name in ("release", "dev")]
    torchc = next((path for path in builds if path.exists()), None)
    if torchc is None:
        raise SystemExit("compiler: expected build/release/bin/torchc or build/dev/bin/torchc")
    data = torchc.read_bytes()
    print(f"{torchc.relative_to(ROOT)}")
    print(f"  size                {len(data):12,} bytes")
    print(f"  deflated            {len(zlib.compress(data, 6)):12,} bytes")
    if readelf := shutil.which("readelf") or shutil.which("llvm-readelf-22"):
        text = subprocess.run(
            [readelf, "-d", torchc], capture_output=True, text=True, check=True
        ).stdout
        needed = [
            line.split("[")[1].rstrip("]") for line in text.splitlines() if "(NEEDED)" in line
        ]
        print(f"  needs               {' '.join(needed)}")
    bare = start_to_exit("true")
    print(f"  start to exit       {start_to_exit(str(torchc), '--version') * 1e3:9.2f} ms")
    print(f"  a bare process      {bare * 1e3:9.2f} ms")


if __name__ == "__main__":
    main()
