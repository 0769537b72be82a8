"""Handwritten digits, all the way: trained eagerly, again compiled with the same bits, shipped as an executable.

    build/venv/bin/python test/Examples/digits.py [--epochs N]

Prints one line for each result. Exit code 0 when all three reach the accuracy and agree bit for bit; what a build
can't do yet is named and gives exit code 1.
"""

import argparse
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import torchc as torch
    from torchc import nn
except ImportError as error:
    sys.exit(f"digits: {error}")

DATA = pathlib.Path(__file__).parent / "data/digits8x8"
TRAIN, BATCH, GOAL = 1500, 50, 0.95


def read_idx(name: str) -> np.ndarray:
    """The array of unsigned bytes in an IDX file: magic 0x08 and the rank, big-endian sizes, then the data."""
    data = (DATA / name).read_bytes()
    rank = data[3]
    sizes = struct.unpack_from(f">{rank}I", data, 4)
    if data[:3] != b"\0\0\x08" or len(data) != 4 + 4 * rank + np.prod(sizes):
        sys.exit(f"digits: {DATA / name} is not an IDX file of bytes")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(sizes)


def load():
    """Training and test images (n, 64) in [0, 2] and labels (n).

    The test digits were written by other people. Copies blurred half a pixel to each side make up for where
    a writer puts the digit; without them the accuracy stays near 0.92.
    """
    images, labels = (
        read_idx("images.idx").astype(np.float32) / 8,
        read_idx("labels.idx").astype(np.int64),
    )
    train, wide = images[:TRAIN], np.pad(images[:TRAIN], ((0, 0), (1, 1), (1, 1)))
    shifts = [(0, 1), (2, 1), (1, 0), (1, 2)]
    copies = [(train + wide[:, y : y + 8, x : x + 8]) / 2 for y, x in shifts]
    x = np.concatenate([train, *copies]).reshape(-1, 64)
    y = np.tile(labels[:TRAIN], 1 + len(copies))
    tensors = (x, y, images[TRAIN:].reshape(-1, 64).copy(), labels[TRAIN:].copy())
    return [torch.from_numpy(array) for array in tensors]


def progress(text: str, part: float):
    """A progress bar, on a terminal only."""
    if sys.stderr.isatty():
        bar = "#" * round(30 * part)
        end = "\r\033[K" if part >= 1 else ""
        print(f"\r{text:9} [{bar:30}] {part:4.0%}{end}", end="", file=sys.stderr, flush=True)


def train(x, y, epochs: int, compiled: bool):
    """A trained model, the loss of every step, and the seconds it took."""
    torch.manual_seed(0)
    shuffle = random.Random(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.95)

    def step(images, labels):
        optimizer.zero_grad()
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if compiled:
        step = torch.compile(step)
    losses = []
    start = time.perf_counter()
    for epoch in range(epochs):
        order = list(range(len(x)))
        shuffle.shuffle(order)
        for i in range(0, len(order), BATCH):
            rows = torch.tensor(order[i : i + BATCH])
            losses.append(step(x.index_select(0, rows), y.index_select(0, rows)))
        progress("compiled" if compiled else "eager", (epoch + 1) / epochs)
    bits = struct.pack(f"{len(losses)}f", *(loss.item() for loss in losses))
    return model, bits, time.perf_counter() - start


def accuracy(classes, y) -> float:
    """The share of rows whose class is the label."""
    return float(np.mean(np.asarray(classes) == y.numpy()))


def ship(model, x, folder: pathlib.Path):
    """The model as an executable in `folder`: its path and the seconds that compiling it took."""
    torchc = pathlib.Path(sys.executable).parent / "torchc"
    if not torchc.exists():
        raise NotImplementedError("this build has no command `torchc`")
    saved, executable = folder / "digits.tcz", folder / "digits"
    torch.export.save(torch.export.export(model, (x,)), saved)
    start = time.perf_counter()
    subprocess.run([torchc, "compile", saved, "--emit=exe", "-o", executable], check=True)
    return executable, time.perf_counter() - start


def run(executable: pathlib.Path, x, folder: pathlib.Path):
    """The logits that the executable gives for `x`, and the seconds from its start to its end (best of 5)."""
    np.save(folder / "x.npy", x.numpy())
    command = [executable, "--input", folder / "x.npy", "--output", folder / "logits.npy"]
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        # Nothing of this environment is needed: no path, no library, no variable.
        subprocess.run(command, check=True, env={}, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return np.load(folder / "logits.npy"), min(seconds)


def main() -> int:
    """Runs the three and compares them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    epochs = parser.parse_args().epochs
    x, y, test_x, test_y = load()

    model, losses, seconds = train(x, y, epochs, compiled=False)
    with torch.no_grad():
        logits = model(test_x).numpy()
    scores = [accuracy(logits.argmax(1), test_y)]
    print(f"accuracy eager:      {scores[0]:.4f}   (trained in {seconds:.2f} s)")

    other, compiled_losses, seconds = train(x, y, epochs, compiled=True)
    with torch.no_grad():
        scores.append(accuracy(other(test_x).argmax(1).numpy(), test_y))
    print(f"accuracy compiled:   {scores[1]:.4f}   (trained in {seconds:.2f} s)")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        executable, compile_seconds = ship(model, test_x, folder)
        answer, answer_seconds = run(executable, test_x, folder)
        size = executable.stat().st_size
    scores.append(accuracy(answer.argmax(1), test_y))
    print(f"accuracy executable: {scores[2]:.4f}")

    identical = losses == compiled_losses and answer.tobytes() == logits.tobytes()
    print(f"identical: {'yes' if identical else 'no'}")
    print(f"compile time: {compile_seconds:.3f} s")
    print(f"executable size: {size / 1024:.1f} KB")
    print(f"start-to-answer time: {answer_seconds * 1000:.2f} ms")
    return int(not identical or min(scores) < GOAL)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AttributeError, NotImplementedError) as missing:
        sys.exit(f"digits: this build can't go on: {missing}")
