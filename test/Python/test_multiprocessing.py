"""Functions that run in several processes: who waits for whom, and what a failure says."""

import os
import pickle
import signal
import time

import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
from torchc import multiprocessing as mp  # noqa: E402


def note(i, folder):
    (folder / str(i)).write_text("done")


def last_one_fails(i, error):
    if i == 1:
        raise error
    time.sleep(600)


def last_one_ends(i, how):
    if i == 1:
        os.kill(os.getpid(), signal.SIGKILL) if how == "signal" else os._exit(how)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(600)


def start(function, *args, **options):
    return mp.start_processes(function, args, 2, start_method="fork", **options)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_all_processes_run(tmp_path, method):
    assert mp.start_processes(note, (tmp_path,), 3, start_method=method) is None
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]


def test_a_failure_ends_the_others_and_has_the_traceback():
    began = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException, match="Process 1 terminated") as error:
        mp.start_processes(last_one_fails, (ValueError("no \ud800"),), 2, start_method="fork")
    assert time.monotonic() - began < 30
    assert "in last_one_fails" in str(error.value) and "ValueError: no" in str(error.value)
    assert error.value.error_index == 1
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value) and again.pid == error.value.pid


@pytest.mark.parametrize(("how", "text"), [(7, "exit code 7"), ("signal", "signal SIGKILL")])
def test_an_end_without_an_exception(how, text):
    with pytest.raises(
        mp.ProcessExitedException, match=f"process 1 terminated with {text}"
    ) as error:
        start(last_one_ends, how)
    again = pickle.loads(pickle.dumps(error.value))
    assert again.exit_code == (7 if how == 7 else -9)


def test_processes_that_are_not_waited_for(tmp_path):
    context = start(note, tmp_path, join=False)
    assert len(context.pids()) == 2
    while not context.join(timeout=10):
        pass
    assert context.join() and sorted(os.listdir(tmp_path)) == ["0", "1"]
    slow = start(last_one_fails, ValueError("late"), join=False)
    with pytest.raises(mp.ProcessRaisedException):
        while not slow.join(timeout=0.1, grace_period=5):
            pass
    assert not any(process.is_alive() for process in slow.processes)
