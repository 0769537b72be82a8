"""Handwritten digits, all the way: a convolutional network trained eagerly, again compiled with the same bits,
exported to ONNX, imported again, and that compiled to an executable.

    build/venv/bin/python test/Examples/digits.py [--epochs N] [--keep FOLDER]

Prints one line for each result. Exit code 0 when all four reach the accuracy and agree bit for bit; what a build
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
TRAIN, BATCH, GOAL = 1500, 50, 0.97


def read_idx(name: str) -> np.ndarray:
    """The array of unsigned bytes in an IDX file: magic 0x08 and the rank, big-endian sizes, then the data."""
    data = (DATA / name).read_bytes()
    rank = data[3]
    sizes = struct.unpack_from(f">{rank}I", data, 4)
    if data[:3] != b"\0\0\x08" or len(data) != 4 + 4 * rank + np.prod(sizes):
        sys.exit(f"digits: {DATA / name} is not an IDX file of bytes")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(sizes)


def load():
    """Training and test images (n, 1, 8, 8) in [0, 2] and labels (n).

    The test digits were written by other people. Copies blurred half a pixel to every side make up for where
    a writer puts the digit.
    """
    images, labels = (
        read_idx("images.idx").astype(np.float32) / 8,
        read_idx("labels.idx").astype(np.int64),
    )
    train, wide = images[:TRAIN], np.pad(images[:TRAIN], ((0, 0), (1, 1), (1, 1)))
    shifts = [(y, x) for y in range(3) for x in range(3) if (y, x) != (1, 1)]
    copies = [(train + wide[:, y : y + 8, x : x + 8]) / 2 for y, x in shifts]
    x = np.concatenate([train, *copies]).reshape(-1, 1, 8, 8)
    y = np.tile(labels[:TRAIN], 1 + len(copies))
    tensors = (x, y, images[TRAIN:].reshape(-1, 1, 8, 8).copy(), labels[TRAIN:].copy())
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
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(128, 10),
    )
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1.0 / epochs, epochs)

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
        scheduler.step()
        progress("compiled" if compiled else "eager", (epoch + 1) / epochs)
    bits = struct.pack(f"{len(losses)}f", *(loss.item() for loss in losses))
    return model.eval(), bits, time.perf_counter() - start


def accuracy(classes, y) -> float:
    """The share of rows whose class is the label."""
    return float(np.mean(np.asarray(classes) == y.numpy()))


def ship(model, folder: pathlib.Path):
    """The ONNX file `model` as an executable in `folder`: its path and the seconds that compiling it took."""
    torchc = pathlib.Path(sys.executable).parent / "torchc"
    if not torchc.exists():
        raise NotImplementedError("this build has no command `torchc`")
    executable = folder / "digits"
    start = time.perf_counter()
    subprocess.run([torchc, "compile", model, "--emit=exe", "-o", executable], check=True)
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
    """Runs the four and compares them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files that are made there")
    args = parser.parse_args()
    x, y, test_x, test_y = load()

    model, losses, seconds = train(x, y, args.epochs, compiled=False)
    with torch.no_grad():
        logits = model(test_x).numpy()
    scores = [accuracy(logits.argmax(1), test_y)]
    print(f"accuracy eager:      {scores[0]:.4f}   (trained in {seconds:.2f} s)")

    other, compiled_losses, seconds = train(x, y, args.epochs, compiled=True)
    with torch.no_grad():
        scores.append(accuracy(other(test_x).argmax(1).numpy(), test_y))
    print(f"accuracy compiled:   {scores[1]:.4f}   (trained in {seconds:.2f} s)")

    with tempfile.TemporaryDirectory() as name:
        folder = args.keep or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "digits.onnx"
        torch.onnx.export(model, (test_x,), file)
        with torch.no_grad():
            imported = torch.onnx.load(file)(test_x).numpy()
        scores.append(accuracy(imported.argmax(1), test_y))
        print(
            f"accuracy ONNX:       {scores[2]:.4f}   (file of {file.stat().st_size / 1024:.1f} KB)"
        )

        executable, compile_seconds = ship(file, folder)
        answer, answer_seconds = run(executable, test_x, folder)
        size = executable.stat().st_size
    scores.append(accuracy(answer.argmax(1), test_y))
    print(f"accuracy executable: {scores[3]:.4f}")

    answers = {array.tobytes() for array in (logits, imported, answer)}
    identical = losses == compiled_losses and len(answers) == 1
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
