"""Compiling and running compiled code: the digits training step, first and later compile times.

Needs a build with the compile helper. Times are wall clock; read the ratios, machines differ.
"""

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


def per_step(step, batches, rounds: int = 25) -> float:
    """Best seconds of a round over the batches, per step."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for x, y in batches:
            step(x, y)
        best = min(best, (time.perf_counter() - start) / len(batches))
    return best


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
    first = compile_ms(1)
    later = sorted(compile_ms(n) for n in range(2, 22))
    print(f"first compiled answer, helper started    {first:8.1f} ms")
    print(f"later kernels, median / worst            {later[10]:8.1f} / {later[-1]:.1f} ms")
    step, batches = training_step(0)
    eager = per_step(step, batches)
    other, batches = training_step(0)
    compiled = torch.compile(other, background=False)
    for x, y in batches:
        compiled(x, y)
    fast = per_step(compiled, batches)
    print(f"digits training step eager               {eager * 1e6:8.1f} us")
    print(
        f"digits training step compiled            {fast * 1e6:8.1f} us, {fast / eager:.2f} of eager"
    )
    print(compiled.report())


if __name__ == "__main__":
    main()
