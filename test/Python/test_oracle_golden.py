"""The oracle against recorded behaviour of PyTorch: promotion, values within tolerance, gradients.

Needs the optional data folder; this is where a misread rule of names, shapes or types would show.
"""

from __future__ import annotations

import functools
import json
import pathlib
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oracle import api, body, dtypes
from oracle.dtypes import Arr, DType

TYPES = {d.torch_name: d for d in DType}
PROMOTED = ("add", "sub", "mul", "div", "eq", "lt", "maximum", "where", "cat")
OPS = """torch.add torch.sub torch.mul torch.div torch.neg torch.exp torch.log torch.tanh
torch.maximum torch.where torch.eq torch.ne torch.lt torch.le torch.gt torch.ge torch.matmul
torch.sum torch.max torch.argmax torch.reshape torch.transpose torch.cat torch.index_select
torch.index_add torch.scatter torch.gather torch.log_softmax torch.softmax torch.mean
torch.nn.functional.cross_entropy torch.nn.functional.one_hot torch.nn.functional.relu
Tensor.expand torch.cumsum torch.amax torch.squeeze torch.unsqueeze torch.permute""".split()


class Unsupported(Exception):
    """A case outside what the oracle has: complex types, keywords it does not take."""


@functools.lru_cache(maxsize=1)
def _shards(folder: pathlib.Path, area: str) -> list[tuple[list[dict[str, Any]], bytes]]:
    out = []
    for path in sorted((folder / "golden").glob(f"{area}-*.zip")):
        with zipfile.ZipFile(path) as z:
            index = json.loads(z.read("index.json"))
            blob = z.read("blob.bin") if "blob.bin" in z.namelist() else b""
        out.append((index if isinstance(index, list) else index["cases"], blob))
    return out


def _tensor(node: dict[str, Any], blob: bytes) -> api.Tensor:
    if node["d"] not in TYPES:
        raise Unsupported(node["d"])
    dtype = TYPES[node["d"]]
    count = node.get("n", int(np.prod(node["s"], dtype=np.int64)))
    flat = np.frombuffer(blob, dtype.storage, count, node["o"]).copy()
    if "st" in node:
        strides = [s * dtype.storage.itemsize for s in node["st"]]
        data = np.lib.stride_tricks.as_strided(flat[node.get("so", 0) :], node["s"], strides)
    else:
        data = flat.reshape(node["s"])
    return api.Tensor(Arr(dtype, data), bool(node.get("g")))


def _decode(node: Any, blob: bytes) -> Any:
    if isinstance(node, list):
        return [_decode(n, blob) for n in node]
    if not isinstance(node, dict):
        return node
    tag = node.get("$")
    if tag == "t":
        return _tensor(node, blob)
    if tag in ("tup", "size"):
        return tuple(_decode(n, blob) for n in node["v"])
    if tag == "f":
        return float(node["v"])
    if tag == "dtype" and str(node["v"]).split(".")[-1] in TYPES:
        return TYPES[str(node["v"]).split(".")[-1]]
    raise Unsupported(str(tag))


def _resolve(name: str) -> Any:
    if name.startswith("Tensor."):
        return getattr(api.Tensor, name[7:])
    target: Any = api
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    return target


def _close(got: Any, want: Any, tol: tuple[float, float], where: str) -> None:
    if isinstance(want, (tuple, list)):
        for g, w in zip(got, want):
            _close(g, w, tol, where)
        return
    if not isinstance(want, api.Tensor):
        return
    assert (got.dtype, got.shape) == (want.dtype, want.shape), where
    if not want.dtype.is_float:
        assert np.array_equal(got.arr.data, want.arr.data), where
        return
    a, b = (dtypes.cast(t.arr, DType.F64).data for t in (got, want))
    np.testing.assert_allclose(a, b, rtol=tol[0], atol=tol[1], err_msg=where)


def _cases(folder: pathlib.Path, op: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    for cases, blob in _shards(folder, "ops"):
        yield from ((c, blob) for c in cases if c["op"] == op)


def _run(case: dict[str, Any], blob: bytes, table: dict[str, Any]) -> bool:
    """Check one case; False when it is outside the oracle's reach."""
    try:
        args = _decode(case["a"], blob)
        kwargs = {k: _decode(v, blob) for k, v in case.get("k", {}).items()}
        want = _decode(case["out"], blob)
        if kwargs.pop("dtype", None) is not None:
            return False
        got = _resolve(case["op"])(*args, **kwargs)
    except (Unsupported, body.BodiesMissing, TypeError, NotImplementedError):
        return False
    tol = table["tol"].get(case["dt"], [1e-7, 1e-7])
    tol = tuple(max(a, b) for a, b in zip(tol, case.get("tol", tol)))
    _close(got, want, tol, case["id"])
    if "ct" in case:
        outputs = got if isinstance(got, (tuple, list)) else [got]
        leaves = [t for t in _flat(args) + _flat(list(kwargs.values())) if t.requires_grad]
        picked = [(outputs[i], _decode(c, blob)) for i, c in case["ct"]]
        found = api.grad([o for o, _ in picked], leaves, [c for _, c in picked], allow_unused=True)
        for g, w in zip(found, _decode(case["gr"], blob)):
            if w is not None and g is not None:
                _close(g, w, tol, case["id"] + " gradient")
    return True


def _flat(items: Any) -> list[api.Tensor]:
    if isinstance(items, api.Tensor):
        return [items]
    return [t for i in items for t in _flat(i)] if isinstance(items, (list, tuple)) else []


@pytest.mark.parametrize("op", OPS)
def test_recorded_values(op: str, shared: pathlib.Path) -> None:
    table = json.loads((shared / "golden" / "meta.json").read_text())
    ran = sum(_run(case, blob, table) for case, blob in _cases(shared, op))
    if not ran:
        pytest.skip("no case of this op is within the oracle's reach")


def _operand(kind: str, name: str) -> Any:
    if kind == "py":
        return {"bool": True, "int": 1, "float": 1.0}.get(name)
    if name not in TYPES:
        return None
    return api.ones(() if kind == "0d" else (2,), dtype=TYPES[name])


@pytest.mark.parametrize("op", PROMOTED)
def test_recorded_promotion(op: str, shared: pathlib.Path) -> None:
    checked = 0
    for cases, _ in _shards(shared, "promo"):
        for case in cases:
            if case["fn"] != op or case["id"].endswith("dtype"):
                continue
            for kind_a, a, kind_b, b, want in case["rows"]:
                x, y = _operand(kind_a, a), _operand(kind_b, b)
                if x is None or y is None or want not in TYPES:
                    continue
                if op == "cat":
                    if "0d" in (kind_a, kind_b):
                        continue
                    got = api.cat([x, y])
                elif op == "where":
                    got = api.where(api.tensor([True, False]), x, y)
                else:
                    got = getattr(api, op)(x, y)
                assert got.dtype.torch_name == want, (case["id"], a, b)
                checked += 1
    assert checked > 20
