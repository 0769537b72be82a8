"""Compiling and running compiled code: the digits training step, first and later compile times.

Needs a build with the compile helper. Times are wall clock; read the ratios, machines differ.
"""

import argparse
import os
import tempfile
import time

os.environ["TORCHC_CACHE_DIR"] = tempfile.mkdtemp()  # nothing of an earlier run

import torchc as torch  # noqa: E402
from torchc import nn  # noqa: E402


def training_step(seed: int):
    """A two-layer network with SGD on random digits: a step function and its batches."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.95)
    loss_of = nn.CrossEntropyLoss()
    labels = torch.tensor([i % 10 for i in range(50)])
    batches = [(torch.rand(50, 64), labels) for _ in range(20)]

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, batches


BLOCK = 4  # steps timed at once: short, so that few blocks are interrupted by other programs


def interleaved(one, other, batches, pairs: int) -> tuple[list[float], list[float]]:
    """Seconds per step of two step functions, a block of steps each in turn: what disturbs the machine disturbs both,
    so that the ratios of pairs mean something where single times don't."""
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(2 * pairs):
        which = (i + i // 2) % 2  # a b b a: neither always follows the other
        step = (one, other)[which]
        some = [batches[(i * BLOCK + k) % len(batches)] for k in range(BLOCK)]
        start = time.perf_counter()
        for x, y in some:
            step(x, y)
        times[which].append((time.perf_counter() - start) / BLOCK)
    return times


def quantiles(values: list[float]) -> str:
    """Median and the range of the middle half."""
    v = sorted(values)
    return f"{v[len(v) // 2]:.2f} ({v[len(v) // 4]:.2f} to {v[-1 - len(v) // 4]:.2f})"


def compile_ms(n: int) -> float:
    """Milliseconds until a new one-kernel function has run from its object, the helper included."""
    code = f"lambda x: (x * {n}.5 + {n}).relu()"
    fn = torch.compile(eval(code), background=False)  # noqa: S307
    x = torch.rand(1000)
    start = time.perf_counter()
    fn(x)
    fn(x)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2000, help="pairs of blocks to time")
    parser.add_argument("--report", action="store_true", help="print report() of the compiled step")
    arguments = parser.parse_args()
    first = compile_ms(1)
    later = sorted(compile_ms(n) for n in range(2, 22))
    print(f"first compiled answer, helper started    {first:8.1f} ms")
    print(f"later kernels, median / worst            {later[10]:8.1f} / {later[-1]:.1f} ms")
    eager, batches = training_step(0)
    other, _ = training_step(0)
    compiled = torch.compile(other, background=False)
    for x, y in batches:
        compiled(x, y)
    interleaved(eager, compiled, batches, 50)
    slow, fast = interleaved(eager, compiled, batches, arguments.pairs)
    ratios = [f / s for f, s in zip(fast, slow, strict=True)]
    for name, times in (("eager", slow), ("compiled", fast)):
        us = [t * 1e6 for t in times]
        print(f"digits training step, {name:19}{min(us):8.1f} us best, median {quantiles(us)}")
    print(
        f"compiled / eager, pairs of blocks        {min(fast) / min(slow):8.2f} of bests, median {quantiles(ratios)}"
    )
    if arguments.report:
        print(compiled.report())


if __name__ == "__main__":
    main()
