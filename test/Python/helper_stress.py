"""Programs that compile while their helper processes are killed, stopped and terminated at random moments.

`python test/Python/helper_stress.py [ROUNDS [SECONDS [SEED]]]` with torchc on PYTHONPATH; the tests run a short form.
Each program must compute what eager code computes, its wait() must see nobody, and nothing may be left when it ends.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = """
import os, random, sys, time
import torchc as t
seed, seconds = int(sys.argv[1]), float(sys.argv[2])
rng = random.Random(seed)
until = time.monotonic() + seconds
x = t.arange(40, dtype=t.float32) / 8
functions = 0
while time.monotonic() < until:
    k = rng.choice([0.5, 1.5, rng.random()])
    fn = lambda x: ((x * k).tanh() + k).exp().sum() - x
    f = t.compile(fn, background=rng.random() < 0.5)
    for _ in range(rng.randrange(2, 6)):
        got, want = f(x).tolist(), fn(x).tolist()
        assert got == want, (got, want, f.report())
    functions += 1
    try:
        os.waitpid(-1, os.WNOHANG)
        raise SystemExit("wait() saw a process")
    except ChildProcessError:
        pass
print(functions, t.jit.records().count(chr(10)))
"""


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _parent(pid: int) -> int:
    fields = _read(pathlib.Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _belongs(pid: int, program: int) -> bool:
    """Is it a helper of that program, or a process on the way to one?"""
    command = _read(pathlib.Path(f"/proc/{pid}/cmdline")).rstrip("\0").split("\0")
    helper = command[:1] == ["torchc-compiled"] and command[-1] == str(program)
    return helper or (pid != program and program in (_parent(pid), _parent(_parent(pid))))


def processes_of(program: int) -> list[int]:
    """Helpers of a program, and processes between it and them; never a process id below 2."""
    pids = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]
    return [p for p in pids if p > 1 and p != os.getpid() and _belongs(p, program)]


def send(pid: int, program: int, what: signal.Signals) -> bool:
    """Signals a process that still is what it was found to be."""
    if pid <= 1:
        return False
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if _belongs(pid, program):
            signal.pidfd_send_signal(handle, what)
            return True
    except OSError:
        pass
    finally:
        os.close(handle)
    return False


def left_behind(program: int, seconds: float = 5.0) -> list[int]:
    """What is still there of a program's processes after it ended; zombies don't count."""
    until = time.monotonic() + seconds
    while True:
        left = [
            p
            for p in processes_of(program)
            if _read(pathlib.Path(f"/proc/{p}/stat")).rpartition(")")[2].split()[:1]
            not in ([], ["Z"])
        ]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def one_round(seed: int, seconds: float, cache: str) -> tuple[str, int]:
    """Runs one program under attack; what it printed ("" if it was killed), and how many signals were sent."""
    rng = random.Random(seed)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(seed), str(seconds)],
        env={**os.environ, "TORCHC_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    kill_it = rng.random() < 0.4  # the program itself, at the end
    until = time.monotonic() + seconds + (0 if kill_it else 90)
    sent = 0
    while program.poll() is None and time.monotonic() < until:
        time.sleep(rng.random() ** 3 * 0.3)
        # Stopping is mixed with deaths: too many deaths in a row, and no helper is started any more.
        what = rng.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGSTOP, signal.SIGTERM])
        for pid in processes_of(program.pid):
            sent += send(pid, program.pid, what)
    hung = program.poll() is None and not kill_it
    program.kill()
    out, err = program.communicate()
    left = left_behind(program.pid)
    assert not hung, f"seed {seed}: the program hangs\n{out}{err}"
    assert not left, f"seed {seed}: processes {left} are left"
    assert program.returncode in ((0, -signal.SIGKILL) if kill_it else (0,)), f"{seed}:\n{out}{err}"
    return out, sent


def main(rounds: int = 100, seconds: float = 5, seed: int = 0) -> None:
    """Runs so many programs, one after the other."""
    for i in range(seed, seed + rounds):
        with tempfile.TemporaryDirectory() as cache:
            out, sent = one_round(i, seconds, cache)
        print(
            f"seed {i}: {sent} signals; functions, records: {out.strip() or 'killed'}", flush=True
        )


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))
