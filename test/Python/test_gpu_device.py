"""torch.cuda on the stand-in driver: moves, errors, memory, streams, training."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import pytest

from compiled import bits

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("cuda")
STORED = "uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz".split()
TYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def _numbers(*shape: int, seed: int = 0, dtype: Any = None) -> Any:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator)
    return x if dtype is None else (x * 50).to(dtype)


def test_properties() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() >= 1
    p = torch.cuda.get_device_properties(0)
    assert p.name == torch.cuda.get_device_name() and p.total_memory > 0 and p.warp_size == 32
    assert torch.cuda.get_device_capability() == (p.major, p.minor) >= (8, 0)
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == p.total_memory
    assert torch.cuda.current_device() == 0
    assert torch.accelerator.current_accelerator() == torch.device("cuda")


@pytest.mark.parametrize("name", TYPES)
def test_there_and_back(name: str) -> None:
    x = _numbers(5, 7, dtype=getattr(torch, name))
    y = x.to("cuda")
    assert (
        y.device == torch.device("cuda", 0) and y.is_cuda and not y.is_cpu and y.get_device() == 0
    )
    assert bits(y.cpu()) == bits(x) and bits(y.to("cpu")) == bits(x)
    assert y.cuda() is y and y.to("cuda:0") is y and x.cpu() is x
    assert bits(x.t().cuda().cpu()) == bits(x.t()) and x.t().cuda().stride() == x.t().stride()
    assert bits(x[::2, 1::3].cuda().cpu()) == bits(x[::2, 1::3])
    assert y.tolist() == x.tolist()
    assert x[:0].cuda().cpu().shape == (0, 7)


@pytest.mark.parametrize("name", STORED)
def test_stored_types_move_and_are_cast_on_the_host(name: str) -> None:
    t = getattr(torch, name)
    x = _numbers(5, 7).abs().to(t)
    y = x.cuda()
    assert y.dtype is t and bits(y.cpu()) == bits(x) and y.tolist() == x.tolist()
    assert bits(y.t()[1::2].contiguous().cpu()) == bits(x.t()[1::2].contiguous())
    assert bits(torch.cat([y, y[1:]]).cpu()) == bits(torch.cat([x, x[1:]]))
    y[1:3] = 2
    x[1:3] = 2
    assert bits(y.cpu()) == bits(x)
    assert bits(_numbers(3).abs().to("cuda", t).cpu()) == bits(_numbers(3).abs().to(t))
    for refused in (lambda: y.to(torch.float32), lambda: y.to(torch.bool), lambda: y + y):
        with pytest.raises(NotImplementedError):
            refused()
    if t.is_floating_point:
        with pytest.raises(NotImplementedError):
            torch.eq(y, y)
        return
    for op in (torch.eq, torch.mul, torch.maximum, torch.bitwise_xor):
        assert bits(op(y, y.flip(0)).cpu()) == bits(op(x, x.flip(0)))
    assert bits((y == 2).cpu()) == bits(x == 2) and bits((y * 3).cpu()) == bits(x * 3)


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
def test_casts_are_the_cpus(source: str, target: str) -> None:
    x = _numbers(4, 33, dtype=getattr(torch, source))
    if x.dtype.is_floating_point:
        x[0, :4] = torch.tensor([float("nan"), float("inf"), -0.0, -float("inf")]).to(x.dtype)
    to = getattr(torch, target)
    assert bits(x.cuda().to(to).cpu()) == bits(x.to(to))
    assert bits(x.to("cuda", to).cpu()) == bits(x.to(to))
    assert bits(x.cuda().t()[1::2].to(to).cpu()) == bits(x.t()[1::2].to(to))


def test_copies_across_devices() -> None:
    x = _numbers(4, 6)
    y = torch.zeros(6, 4, device="cuda")
    y.t().copy_(x)
    assert bits(y.cpu()) == bits(x.t().contiguous())
    z = torch.zeros(2, 4, 6)
    z.copy_(y.t())
    assert bits(z[1]) == bits(x)
    with pytest.raises(RuntimeError, match="expanded size|broadcast|expand"):
        torch.zeros(5).copy_(y)


def test_printing() -> None:
    assert repr(torch.tensor([1.5, 2.0]).cuda()) == "tensor([1.5000, 2.0000], device='cuda:0')"
    text = "tensor(3, device='cuda:0', dtype=torchc.int32)"
    assert repr(torch.tensor(3, dtype=torch.int32, device="cuda")) == text
    leaf = torch.ones(1, device="cuda", requires_grad=True)
    assert repr(leaf) == "tensor([1.], device='cuda:0', requires_grad=True)"


def test_views_and_writes() -> None:
    x = _numbers(4, 6)
    y = x.cuda()
    for t in (x, y):
        t[1] = 7
        t[:, 2:4] += 1
        t[2, 3] = t[0, 0]
        t.t()[5].mul_(2)
        t[::2].fill_(3)
    assert bits(y.cpu()) == bits(x)
    assert y[1].data_ptr() == y.data_ptr() + 24 and y[1]._base is y
    assert y[3, 2].item() == x[3, 2].item()
    assert bits(torch.cat([y, y[:1]], 0).cpu()) == bits(torch.cat([x, x[:1]], 0))


def test_more_dimensions_than_a_kernel_walks() -> None:
    x = _numbers(2, 3, 2, 3, 2, 3, 2, 3)
    order = (6, 4, 2, 0, 7, 5, 3, 1)
    y = x.cuda().permute(order)
    assert bits((y + y.sin()).cpu()) == bits(x.permute(order) + x.permute(order).sin())


@pytest.mark.parametrize("shape", [(1,), (1023,), (1024,), (1025,), (5000,), (3, 2049), (70000,)])
@pytest.mark.parametrize("name", ["sum", "prod", "amax", "argmin"])
def test_reductions_over_many_blocks(name: str, shape: tuple[int, ...]) -> None:
    x = _numbers(*shape)
    x = x * 0.01 + 1 if name == "prod" else x
    assert bits(getattr(x.cuda(), name)(-1).cpu()) == bits(getattr(x, name)(-1))


@pytest.mark.parametrize("k", [0, 1, 15, 16, 17, 1024, 1025, 2500])
def test_products_over_many_blocks(k: int) -> None:
    a, b = _numbers(19, k), _numbers(k, 35, seed=1)
    assert bits((a.cuda() @ b.cuda()).cpu()) == bits(a @ b)
    assert bits((b.t().cuda() @ a.t().cuda()).cpu()) == bits(b.t() @ a.t())
    assert bits((a[0].cuda() @ b[:, 0].cuda()).cpu()) == bits(a[0] @ b[:, 0])


def test_batched_products() -> None:
    a, b = _numbers(2, 1, 3, 4, 5), _numbers(7, 3, 5, 6, seed=1)
    for t in (torch.float32, torch.bfloat16, torch.int64):
        got = (a.to("cuda", t) @ b.to("cuda", t)).cpu()
        assert bits(got) == bits(a.to(t) @ b.to(t)), t


def test_a_product_keeps_the_sign_of_an_underflow() -> None:
    a, b = torch.tensor([[-1e-30, 0.0]]), torch.tensor([[1e-30], [1.0]])
    assert bits((a.cuda() @ b.cuda()).cpu()) == bits(a @ b)


def test_gradients_cross_devices() -> None:
    x, w = _numbers(8, 5), _numbers(5, 3, seed=1)
    grads = []
    for device in ("cpu", "cuda"):
        leaf = w.clone().requires_grad_()
        y = (x.to(device) @ leaf.to(device)).tanh()
        (y * y[0] - y.t()[1].sum()).mean().backward()
        assert leaf.grad.device.type == "cpu"
        grads.append(bits(leaf.grad))
    assert grads[0] == grads[1]
    moved = w.requires_grad_().cuda()
    assert moved.grad_fn.name() == "ToCopyBackward0"


def test_training_gives_the_cpus_bits() -> None:
    x, want = _numbers(16, 6), _numbers(16, 2, seed=2)
    states = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(3)
        layers = [
            torch.nn.Linear(6, 9),
            torch.nn.GELU(),
            torch.nn.LayerNorm(9),
            torch.nn.Linear(9, 2),
        ]
        model = torch.nn.Sequential(*layers).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = ((model(x.to(device)) - want.to(device)) ** 2).mean()
            loss.backward()
            optimizer.step()
        states.append({k: bits(v.cpu()) for k, v in model.state_dict().items()})
    assert states[0] == states[1]


def test_operands_on_two_devices_are_refused() -> None:
    x, y = torch.ones(3), torch.ones(3, device="cuda")
    message = "Expected all tensors to be on the same device, but found at least two devices"
    for call in (lambda: x + y, lambda: y * x, lambda: y @ x, lambda: torch.where(y > 0, x, y)):
        with pytest.raises(RuntimeError, match=f"{message}, (cpu and cuda:0|cuda:0 and cpu)!"):
            call()
    with pytest.raises(RuntimeError, match=message):
        x.add_(y)
    # A number of the CPU is one, as in PyTorch.
    assert (y + torch.tensor(2)).tolist() == [3.0] * 3 and (torch.tensor(2.0) * y).is_cuda


def test_what_has_no_kernel_says_so() -> None:
    x = torch.ones(3, 3, device="cuda")
    for call in (
        x.sort,
        lambda: x.cumsum(0),
        lambda: torch.rand(2, device="cuda"),
        lambda: x[x > 0],
    ):
        with pytest.raises(NotImplementedError, match="cuda"):
            call()
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.numpy()
    with pytest.raises(NotImplementedError, match="complex64"):
        torch.tensor([1 + 2j]).cuda() * 2


def test_errors_of_kernels_are_the_ops() -> None:
    x = torch.tensor([1, 2], device="cuda")
    with pytest.raises(RuntimeError, match="floor_divide.*ZeroDivisionError"):
        x // torch.tensor([1, 0], device="cuda")
    assert (x // torch.tensor([1, 1], device="cuda")).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.zeros(1, device="cuda:7")
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory. Tried to allocate"):
        torch.empty(1 << 45, device="cuda")


def test_memory_is_counted_and_comes_back() -> None:
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x = torch.zeros(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4096
    y = x + 1
    assert torch.cuda.max_memory_allocated() - before == 8192
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    del x, y
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() - before == 8192
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == before and stats["num_ooms"] >= 0
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    assert total - free >= torch.cuda.memory_reserved()


def test_training_leaks_nothing() -> None:
    model = torch.nn.Linear(5, 5).cuda()
    x = torch.ones(4, 5, device="cuda")

    def step() -> None:
        model(x).relu().sum().backward()
        model.zero_grad()

    step()
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(5):
        step()
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_streams_and_events() -> None:
    stream = torch.cuda.Stream()
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != stream
    x = torch.ones(8, device="cuda")
    stream.wait_stream(torch.cuda.current_stream())
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream and not stream.query()
        start.record()
        y = x * 3
        end.record()
    torch.cuda.current_stream().wait_event(end)
    assert (y + 1).tolist() == [4.0] * 8
    x.record_stream(stream)
    torch.nn.Parameter(x).record_stream(stream)
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing"):
        torch.cuda.Event().elapsed_time(end)
    torch.cuda.synchronize()
    assert stream.query()


def test_checkpoints_and_copies(tmp_path: Any) -> None:
    import copy
    import pickle

    x = _numbers(3, 4).cuda()
    for again in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert again.is_cuda and bits(again.cpu()) == bits(x.cpu())
    torch.save({"x": x, "row": x[1], "host": torch.ones(2)}, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt")
    assert loaded["x"].is_cuda and loaded["row"].is_cuda and loaded["host"].is_cpu
    assert bits(loaded["row"].cpu()) == bits(x[1].cpu())
    here = torch.load(tmp_path / "x.pt", map_location="cpu")
    assert here["x"].is_cpu and bits(here["x"]) == bits(x.cpu())
    assert torch.load(tmp_path / "x.pt", map_location="cuda")["host"].is_cuda
    model = torch.nn.Linear(4, 2).cuda()
    model.load_state_dict(torch.nn.Linear(4, 2).state_dict())
    assert model.weight.is_cuda


def test_compiled_functions_run_eagerly_here() -> None:
    f = torch.compile(lambda a: (a * 2).sin() + 1)
    x = _numbers(20)
    for _ in range(3):
        assert bits(f(x.cuda()).cpu()) == bits((x * 2).sin() + 1)


FAULT = """
import torchc as torch
x = torch.zeros(600, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    z = x + 1            # queued on another stream, which nothing makes wait
del x                    # freed on its own stream, and given away
torch.cuda.synchronize()
"""


def test_memory_freed_under_a_queued_kernel_is_found() -> None:
    """A tensor used on another stream without record_stream: the kernel there reads freed memory."""
    found = subprocess.run([sys.executable, "-c", FAULT], capture_output=True, text=True)
    assert found.returncode == 1
    assert "CUDA error: an illegal memory access was encountered" in found.stderr, found.stderr
    assert "free" in found.stderr and "kernel torchc_d_add_f32" in found.stderr
    good = FAULT.replace("del x", "x.record_stream(stream)\ndel x")
    subprocess.run([sys.executable, "-c", good], check=True)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_pointwise_results_keep_the_cpus_layout(rank: int) -> None:
    x = _numbers(*(2, 3, 4)[:rank])
    y = x.cuda()
    pairs = [(t + 1, t.exp(), t.transpose(0, -1) * 2 if rank > 1 else t) for t in (x, y)]
    for a, b in zip(*pairs):
        assert a.stride() == b.stride() and bits(a) == bits(b.cpu())


def test_in_place_results_of_another_type() -> None:
    for device in ("cpu", "cuda"):
        x = torch.arange(6, device=device).to(torch.int16)
        x += torch.ones(6, dtype=torch.int64, device=device)
        assert x.dtype == torch.int16 and x.tolist() == [1, 2, 3, 4, 5, 6]
        out = torch.empty(0, dtype=torch.float64, device=device)
        torch.add(x, 0.5, out=out)
        assert out.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
        with pytest.raises(RuntimeError, match="can't be cast"):
            x += 0.5
        assert (x > 3).any().item() and torch.where(x > 3, x, -x)[0].item() == -1


AFTER = """
import torchc as torch
x, y = torch.zeros(600, device="cuda"), torch.ones(1 << 20, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    z = x + 1
del x
for call in (torch.cuda.synchronize, lambda: y + 1, y.cpu, lambda: torch.empty(1 << 28, device="cuda")):
    try:
        call()
    except torch.cuda.OutOfMemoryError:
        raise SystemExit("reported as missing memory")
    except RuntimeError as error:
        assert "illegal memory access" in str(error), error
    else:
        raise SystemExit("went on")
del y, z
torch.cuda.empty_cache()
"""


def test_after_a_fault_every_call_reports_it() -> None:
    done = subprocess.run([sys.executable, "-c", AFTER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
