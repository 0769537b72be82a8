"""The compile helper and the object cache, as a program meets them: killed, forked, damaged, off."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import needs_compiler  # noqa: E402
from helper_stress import left_behind, one_round  # noqa: E402


def test_off():
    code = (
        "import torchc as t\n"
        "f = t.compile(lambda x: x + 1)\n"
        "for _ in range(3): assert f(t.ones(2)).tolist() == [2.0, 2.0]\n"
        "assert f.tier()[0] == 'eager' and 'off' in f.report(), f.report()\n"
        "assert t._C._jit_helper_pid() is None\n"
        "whole = t.compile(lambda x: x + 1, fullgraph=True)\n"
        "assert whole(t.ones(2)).tolist() == [2.0, 2.0]\n"  # what was switched off is no error
    )
    run_python(code, TORCHC_COMPILE="off")


def start_python(code, **env):
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_python(code, **env):
    program = start_python(code, **env)
    try:
        out, err = program.communicate(timeout=120)
    finally:
        program.kill()
    assert program.returncode == 0, out + err
    return out


# Waits for the helper and signals it, and nothing else: it must say itself that it is this program's.
KILL = """
import os, signal, time, torchc as t
def kill_helper(what=signal.SIGKILL):
    for _ in range(5000):
        pid = t._C._jit_helper_pid()
        if pid is not None:
            with open(f"/proc/{pid}/cmdline") as file: words = file.read().split(chr(0))
            assert pid > 1 and words[:4] == ["torchc-compiled", "--serve", "3", str(os.getpid())], words
            os.kill(pid, what)
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


# A path for the long wait: the request is with the helper when that is stopped.
STOPPED = """
f = t.compile(lambda x: x + 1.5); f(t.ones(3)); t._C._jit_wait()
stopped = kill_helper(signal.SIGSTOP)
"""


@needs_compiler
def test_stopped_helper_is_given_up(tmp_path):
    code = (
        KILL
        + STOPPED
        + """
g = t.compile(lambda x: x * 2.5, background=False)
for _ in range(3): assert g(t.ones(3)).tolist() == [2.5] * 3
assert "stopped by a signal" in t.jit.records(), t.jit.records()
assert "stopped by a signal" in g.report(), g.report()
h = t.compile(lambda x: x * 3.5, background=False)
for _ in range(3): assert h(t.ones(3)).tolist() == [3.5] * 3
assert h.counts()["launches"] + h.counts()["replayed"] == 2, h.report()
assert t._C._jit_helper_pid() not in (None, stopped)
try:
    os.wait()
    raise SystemExit("wait() saw the helper")
except ChildProcessError:
    pass
"""
    )
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


@needs_compiler
@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)"])
def test_stopped_helper_ends_with_the_program(tmp_path, end):
    code = KILL + STOPPED + "print(os.getpid(), stopped, flush=True)\n" + end
    program = start_python(code, TORCHC_CACHE_DIR=str(tmp_path))
    out, err = program.communicate(timeout=60)
    assert len(out.split()) == 2, err
    assert left_behind(program.pid) == []


@needs_compiler
def test_interrupt_while_waiting(tmp_path):
    code = (
        KILL
        + STOPPED
        + """
import threading
g = t.compile(lambda x: x * 2.5, background=False)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    g(t.ones(3))
    raise SystemExit("the call came back")
except KeyboardInterrupt:
    pass
assert g.counts()["pending"] == 1, g.report()  # the helper wasn't given up yet
assert g(t.ones(3)).tolist() == [2.5] * 3
"""
    )
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


@needs_compiler
def test_waiting_has_a_limit(tmp_path):
    code = (
        KILL
        + STOPPED
        + """
from torchc.jit import _compiled
assert t._C._jit_wait(0.05)
g = _compiled(lambda x: x * 2.5, False, patience=0.05)
assert g(t.ones(3)).tolist() == [2.5] * 3
assert g.counts()["pending"] == 1 and "waited 0.05 s for the compiler" in g.report(), g.report()
assert not t._C._jit_wait(0.05)
"""
    )
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


def test_asking_for_the_helper_starts_nothing(tmp_path):
    code = """
import torchc as t
assert t._C._jit_helper_pid() is None and t._C._jit_wait() is True
assert t._C._jit_configure("", "", "", "only a test") is True  # not too late
f = t._C._CompiledFunction(lambda x: x + 1, "f")
f(t.ones(2))
assert "only a test" in f.report(), f.report()
"""
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))


@needs_compiler
@pytest.mark.parametrize("seed", range(2))
def test_signals_at_random(tmp_path, monkeypatch, seed):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    out, sent = one_round(seed, 3, str(tmp_path))
    assert sent


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


@needs_compiler
def test_fork_while_threads_wait_for_the_compiler(tmp_path):
    code = """
import os, signal, threading, time, torchc as t
def make(k): return t.compile(lambda x: (x * k).exp() + k, background=False)
x = t.zeros(2)
make(1)(x)  # Python's locks of modules that are being imported stay locked in a child
stop = False
def work(n):
    k = n
    while not stop:
        k += 10
        assert make(k)(x).tolist() == [k + 1.0] * 2
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for one in threads: one.start()
children = []
for i in range(12):
    time.sleep(0.02)
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # a child that hangs in a lock isn't interruptible
        for k in (1000 + i, 2000 + i):
            f = make(k)
            assert [f(x).tolist() for _ in range(3)] == [[k + 1.0] * 2] * 3
        os._exit(0)
    children.append(pid)
stop = True
for one in threads: one.join()
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 12
"""
    run_python(code, TORCHC_CACHE_DIR=str(tmp_path))
