"""assert_close, dtype limits, and the names that every PyTorch program asks for."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
assert_close = torch.testing.assert_close


@pytest.mark.parametrize(
    "actual, expected, options",
    [
        ([1.0, 2.0], [1.0, 2.000001], {}),
        ([1.0], [1.1], {"rtol": 0, "atol": 0.2}),
        ([float("nan")], [float("nan")], {"equal_nan": True}),
        ([float("inf")], [float("inf")], {}),
    ],
)
def test_close_values_pass(actual, expected, options):
    assert_close(torch.tensor(actual), torch.tensor(expected), **options)


@pytest.mark.parametrize(
    "actual, expected, text",
    [
        (torch.ones(2), torch.ones(3), "shape"),
        (torch.ones(2), torch.ones(2).double(), "dtype"),
        (torch.ones(2), torch.tensor([1.0, 2.0]), "Mismatched elements: 1 / 2"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "equal"),
        (torch.tensor(float("nan")), torch.tensor(float("nan")), "Scalars"),
        (torch.tensor(float("inf")), torch.tensor(1.0), "Scalars"),
        ([torch.ones(1)], [torch.ones(1), torch.ones(1)], "length"),
        ({"a": 1.0}, {"b": 1.0}, "keys"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 3.0]}, r"item \['a'\]\[1\]"),
        (1, 1.0, "do not match"),
    ],
)
def test_differences_are_reported(actual, expected, text):
    with pytest.raises(AssertionError, match=text):
        assert_close(actual, expected)


def test_messages_and_misuse():
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(torch.ones(1), torch.zeros(1), msg="mine")
    with pytest.raises(AssertionError, match="^> Tensor"):
        assert_close(torch.ones(1), torch.zeros(1), msg=lambda text: "> " + text)
    with pytest.raises(ValueError, match="rtol"):
        assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(TypeError):
        assert_close("a", "a")
    assert_close(np.ones(2), np.ones(2))


def test_there_is_no_cuda_and_it_says_so():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert torch.version.cuda is None and not torch.backends.mps.is_available()
    torch.cuda.manual_seed_all(1)
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    for call in (torch.cuda.current_device, torch.cuda.Stream, torch.nn.Linear(1, 1).cuda):
        with pytest.raises(RuntimeError, match="Found no NVIDIA driver on your system"):
            call()


def test_old_constructors_and_constants():
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert torch.FloatTensor(2, 3).shape == (2, 3)
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.LongTensor)
    assert torch.pi == np.pi and torch.inf == float("inf") and torch.newaxis is None


def test_settings_are_kept():
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    with pytest.raises(ValueError, match="medium"):
        torch.set_float32_matmul_precision("low")


def test_grad_scaler_skips_bad_steps():
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    scaler.scale((p * 2).sum()).backward()
    assert p.grad.item() == 16.0
    scaler.step(optimizer)
    scaler.update()
    assert p.item() == -1.0 and scaler.get_scale() == 16.0
    p.grad = torch.full((1,), float("inf"))
    scaler.step(optimizer)
    scaler.update()
    assert p.item() == -1.0 and scaler.get_scale() == 8.0


def test_grad_scaler_is_pickled_between_steps():
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for other in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
        assert other.state_dict() == scaler.state_dict()
        parameter = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([parameter], lr=1.0)
        other.scale(parameter.sum()).backward()
        other.step(optimizer)
        with pytest.raises(AssertionError, match="at the end after scaler.update"):
            pickle.dumps(other)
        other.update()
        assert parameter.item() == 0


def test_trees():
    from torchc.utils import _pytree

    tree = {"a": [1, (2, 3)], "b": None}
    leaves, spec = _pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, None] and spec.num_leaves == 4
    assert _pytree.tree_unflatten(leaves, spec) == tree
    assert _pytree.tree_map_only(int, lambda x: x * 2, tree) == {"a": [2, (4, 6)], "b": None}
    with pytest.raises(ValueError, match="length 1"):
        _pytree.tree_unflatten([1], spec)


def test_profiler_records_marked_ranges(tmp_path):
    seen = []
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(i).name for i in range(5)] == [
        "NONE",
        "WARMUP",
        "RECORD",
        "RECORD_AND_SAVE",
        "NONE",
    ]
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path))

    def ready(prof):
        seen.append({e.key: e.count for e in prof.key_averages()})
        handler(prof)

    with torch.profiler.profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(6):
            with torch.profiler.record_function("step"):
                torch.ones(3).sum()
            prof.step()
    assert seen == [{"step": 2}] and len(list(tmp_path.iterdir())) == 1
    with torch.profiler.profile() as prof:
        torch.profiler.record_function("f")(lambda: None)()
    assert "f" in prof.key_averages().table()
