"""A convolutional network's training step on 8x8 digits: eager, compiled, and PyTorch's where an interpreter has it.

    tools/dev/bench cnn
    build/venv/bin/python test/Bench/cnn.py --peer PYTHON      an interpreter with PyTorch; one thread in each

Times are wall clock, best of many rounds over 20 batches of 50; read the ratios.
"""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TORCHC_CACHE_DIR", tempfile.mkdtemp())  # nothing of an earlier run


def training_step(torch, seed: int = 0):
    """conv-relu-pool-conv-relu-pool-flatten-linear with SGD on (50, 1, 8, 8): a step and its batches."""
    F = torch.nn.functional
    torch.manual_seed(seed)
    shapes = [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 128), (10,)]
    weights = [torch.nn.Parameter(torch.rand(*s) * 0.2 - 0.1) for s in shapes]
    w1, b1, w2, b2, w3, b3 = weights
    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    labels = torch.tensor([i % 10 for i in range(50)])
    batches = [(torch.rand(50, 1, 8, 8), labels) for _ in range(20)]

    def step(x, y):
        optimizer.zero_grad()
        h = torch.max_pool2d(torch.relu(torch.conv2d(x, w1, b1, padding=1)), 2)
        h = torch.max_pool2d(torch.relu(torch.conv2d(h, w2, b2, padding=1)), 2)
        loss = F.cross_entropy(F.linear(h.flatten(1), w3, b3), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, batches


def per_step(step, batches, rounds: int = 40) -> float:
    """Best seconds of a round over the batches, per step."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for x, y in batches:
            step(x, y)
        best = min(best, (time.perf_counter() - start) / len(batches))
    return best


def measure(module: str) -> None:
    """Prints `eager SECONDS` and, for torchc, the compiled figures."""
    torch = importlib.import_module(module)
    torch.set_num_threads(1)
    step, batches = training_step(torch)
    print("eager", per_step(step, batches))
    if module != "torchc":
        return
    step, batches = training_step(torch)
    compiled = torch.compile(step, background=False)
    start = time.perf_counter()
    for x, y in batches[:3]:
        compiled(x, y)
    print("compile", time.perf_counter() - start)
    print("compiled", per_step(compiled, batches))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="a Python interpreter that has PyTorch")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        return measure(args.measure)
    runs = [("torchc", sys.executable, "torchc")]
    if args.peer:
        runs.append(("PyTorch", args.peer, "torch"))
    for name, python, module in runs:
        text = subprocess.run(
            [python, __file__, "--measure", module], capture_output=True, text=True, check=True
        ).stdout
        for line in text.splitlines():
            what, seconds = line.split()
            print(f"{name:8} {what:9} {float(seconds) * 1e3:9.3f} ms")


if __name__ == "__main__":
    main()
