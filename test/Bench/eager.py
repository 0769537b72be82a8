"""What a call costs from Python, beside NumPy and, where installed, PyTorch, all in one run.

Peers are found on PYTHONPATH or in the folder named by --peers (a site-packages folder). Figures are ns per call, the
best of several repeats; read the ratios, machines differ.
"""

import argparse
import importlib
import subprocess
import sys
import timeit


def best(statement: str, names: dict, number: int = 50_000, repeats: int = 9) -> float:
    """Best ns per execution, the empty loop taken off."""
    timer = timeit.Timer(statement, globals=names)
    empty = min(timeit.Timer("pass").repeat(repeats, number))
    return (min(timer.repeat(repeats, number)) - empty) / number * 1e9


def cases(module, scalar_type) -> dict:
    """Operands of one element and the statements that every peer understands."""
    x, y = module.ones(1, dtype=scalar_type), module.ones(1, dtype=scalar_type)
    return {"x": x, "y": y, "m": module.ones((4, 4), dtype=scalar_type)}


STATEMENTS = ["x + y", "x * 2.0", "x - y", "m + m", "m[0]", "m @ m"]


def import_ms(module: str, path: str) -> float:
    """Best wall time of `import module` in a fresh interpreter, in ms."""
    code = (
        f"import sys, time; sys.path.append({path!r}); t = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - t)"
    )
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)) * 1e3


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="", help="a site-packages folder to look for peers in")
    peers = parser.parse_args().peers
    sys.path.append(peers)
    modules = {}
    for name in ["torchc", "numpy", "torch"]:
        try:
            modules[name] = importlib.import_module(name)
        except ImportError:
            print(f"({name} isn't installed)")
    names = {k: cases(m, m.float32) for k, m in modules.items()}
    print(f"{'ns per call':14}" + "".join(f"{k:>12}" for k in modules) + "   torchc / numpy, torch")
    for statement in STATEMENTS:
        row = {k: best(statement, names[k]) for k in modules}
        ratios = [f"{row['torchc'] / row[k]:.3f}" for k in ("numpy", "torch") if k in row]
        print(
            f"{statement:14}"
            + "".join(f"{v:12.1f}" for v in row.values())
            + "   "
            + ", ".join(ratios)
        )
    if "torchc" in modules:
        t = modules["torchc"]
        g = {"x": t.ones(1).requires_grad_(), "y": t.ones(1).requires_grad_()}
        print(f"{'x + y, grad':14}{best('x + y', g):12.1f}")
    times = {k: import_ms(k, peers) for k in modules}
    print("import, ms     " + "  ".join(f"{k} {v:.1f}" for k, v in times.items()))
    if "numpy" in times:
        print(f"import ratio   {times['torchc'] / times['numpy']:.3f} of numpy's")


if __name__ == "__main__":
    main()
