"""The compile helper and the object cache, as a program meets them: killed, forked, damaged, off."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import needs_compiler  # noqa: E402


def test_off():
    code = (
        "import torchc as t\n"
        "f = t.compile(lambda x: x + 1)\n"
        "for _ in range(3): assert f(t.ones(2)).tolist() == [2.0, 2.0]\n"
        "assert f.tier()[0] == 'eager' and 'off' in f.report(), f.report()\n"
        "assert t._C._jit_helper_pid() == -1\n"
    )
    run_python(code, TORCHC_COMPILE="off")


def run_python(code, **env):
    path = os.pathsep.join(p for p in sys.path if p)
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


# Waits for the helper and kills it, and nothing else: a pid of -1 would mean every process.
KILL = """
import os, signal, time, torchc as t
def kill_helper():
    for _ in range(5000):
        pid = t._C._jit_helper_pid()
        if pid > 1:
            os.kill(pid, signal.SIGKILL)
            return pid
        time.sleep(0.002)
    raise SystemExit("no helper was started")
"""


@needs_compiler
def test_killed_helper(tmp_path):
    code = (
        KILL
        + """
def make(k): return t.compile(lambda x: (x * k).exp() + k)
f = make(1.5); f(t.ones(3)); t._C._jit_wait(); f(t.ones(3))
assert f.counts()["launches"] == 1, f.report()
first = kill_helper()
g = make(2.5)
want = (t.ones(3) * 2.5).exp() + 2.5
for _ in range(5): assert g(t.ones(3)).tolist() == want.tolist()
t._C._jit_wait()
h = make(3.5); h(t.ones(3)); t._C._jit_wait(); h(t.ones(3))
assert h.counts()["launches"] == 1, h.report() + t.jit.records()
assert t._C._jit_helper_pid() != first
try:
    os.wait()
    raise SystemExit("wait() saw the helper")
except ChildProcessError:
    pass
"""
    )
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


@needs_compiler
def test_killed_while_compiling(tmp_path):
    code = (
        KILL
        + """
f = t.compile(lambda x: (x * 1.25).tanh() + 2)
want = (t.ones(3) * 1.25).tanh() + 2
f(t.ones(3))
kill_helper()
for _ in range(20): assert f(t.ones(3)).tolist() == want.tolist()
t._C._jit_wait()
for _ in range(3): assert f(t.ones(3)).tolist() == want.tolist()
"""
    )
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


@needs_compiler
def test_cache(tmp_path):
    code = """
import torchc as t
f = t.compile(lambda x: x.exp() * 3, background=False)
for _ in range(3): assert f(t.zeros(2)).tolist() == [3.0, 3.0]
assert f.counts()["launches"] == 2, f.report()
print("cache" if "compiled (cache)" in f.report() else "helper")
"""
    run = lambda: run_python(code, TORCHC_CACHE_DIR=str(tmp_path)).strip()  # noqa: E731
    assert run() == "helper"
    assert run() == "cache"
    entries = [p for p in tmp_path.rglob("*") if p.is_file() and p.stat().st_size > 500]
    assert entries
    for entry in entries:
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 255
        entry.write_bytes(data)
    assert run() == "helper"
    assert run() == "cache"


@needs_compiler
def test_fork(tmp_path):
    code = """
import os, torchc as t
f = t.compile(lambda x: x.exp() * 7)
f(t.zeros(2))
pid = os.fork()
for _ in range(3): assert f(t.zeros(2)).tolist() == [7.0, 7.0]
t._C._jit_wait()
for _ in range(3): assert f(t.zeros(2)).tolist() == [7.0, 7.0]
t._C._jit_wait()
f(t.zeros(2))
assert f.counts()["launches"] >= 1, f.report()
if pid == 0: os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))
