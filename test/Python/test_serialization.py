"""Checkpoints: round trips, files that PyTorch wrote, damaged and foreign files."""

import copy
import io
import os
import pathlib
import pickle
import stat
import threading
import zipfile
from collections import OrderedDict

import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
REFERENCE = pathlib.Path(__file__).parent / "reference"
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **options)
    return file.getvalue()


def loaded(data, **options):
    return torch.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_shape(dtype):
    dtype = getattr(torch, dtype)
    tensors = [
        torch.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype),
        torch.tensor(1).to(dtype),
        torch.zeros(0, 3, dtype=dtype),
        torch.ones(4, 4, dtype=dtype)[1:3].t(),
    ]
    for want, got in zip(tensors, loaded(saved(tensors))):
        assert got.dtype is dtype and got.shape == want.shape and got.stride() == want.stride()
        assert torch.equal(got, want)


def test_views_share_memory_after_loading():
    base = torch.arange(12.0).reshape(3, 4)
    data = {
        "row": base[1],
        "base": base,
        "t": base.t(),
        "wide": base[:1].expand(5, 4),
        "again": base,
    }
    got = loaded(saved(data))
    item = base.element_size()
    assert got["row"].data_ptr() - got["base"].data_ptr() == 4 * item
    assert got["t"].stride() == (1, 4) and got["wide"].stride() == (0, 1)
    assert got["again"] is got["base"]
    got["base"][1, 0] = 99.0
    assert got["row"][0].item() == 99.0 and got["t"][0, 1].item() == 99.0


def test_containers_and_attributes():
    parameter = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    tagged = torch.ones(1)
    tagged.tag = "kept"
    data = OrderedDict(
        a=[1, 2.5, None, True, "x", b"y", (1, (2,)), {3}],
        parameter=parameter,
        grad=torch.ones(1, requires_grad=True),
        tagged=tagged,
        dtype=torch.bfloat16,
        size=torch.Size([2, 3]),
        device=torch.device("cpu"),
        meta=torch.zeros(2, 3, device="meta"),
        complex=1 + 2j,
    )
    got = loaded(saved(data))
    assert got["a"] == data["a"] and type(got) is OrderedDict and got["complex"] == 1 + 2j
    assert isinstance(got["parameter"], torch.nn.Parameter) and not got["parameter"].requires_grad
    assert got["grad"].requires_grad and got["tagged"].tag == "kept"
    assert got["dtype"] is torch.bfloat16 and got["size"] == (2, 3) and got["device"].type == "cpu"
    assert got["meta"].device.type == "meta" and got["meta"].shape == (2, 3)


def test_state_dicts_keep_their_metadata():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    got = loaded(saved(model.state_dict()))
    assert got._metadata["1"] == {"version": 2}
    model.load_state_dict(got)


@pytest.mark.parametrize("name", ["torch_zip.pt", "torch_legacy.pt"])
def test_files_that_pytorch_wrote(name):
    got = torch.load(REFERENCE / name)
    assert got["base"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert got["col"].tolist() == [1.0, 4.0] and got["col"].stride() == (3,)
    assert got["col"].data_ptr() - got["base"].data_ptr() == 4
    assert got["t"].stride() == (1, 3)
    assert got["bf"].dtype is torch.bfloat16 and got["bf"].tolist() == [1.5, -2.0]
    assert got["flag"].item() is True and got["n"] == [1, "x", (2.5, None)]
    assert isinstance(got["p"], torch.nn.Parameter) and got["p"].tolist() == [3.0]


def test_a_module_that_pytorch_pickled():
    with pytest.raises(pickle.UnpicklingError, match="torch.nn.modules.linear.Linear"):
        torch.load(REFERENCE / "torch_module.pt")
    model = torch.load(REFERENCE / "torch_module.pt", weights_only=False)
    assert model(torch.ones(1, 2)).item() == 5.0
    again = loaded(saved(model), weights_only=False)
    assert again(torch.ones(1, 2)).item() == 5.0


def test_allowed_globals():
    data = saved(torch.nn.Linear(1, 1))
    needed = [torch.nn.Linear, set]
    with torch.serialization.safe_globals(needed):
        assert isinstance(loaded(data), torch.nn.Linear)
    assert torch.serialization.get_safe_globals() == []
    with pytest.raises(pickle.UnpicklingError):
        loaded(data)


def test_the_pickle_has_pytorchs_names_and_the_zip_its_entries():
    with zipfile.ZipFile(io.BytesIO(saved({"x": torch.ones(3)}))) as archive:
        names = archive.namelist()
        assert "archive/data.pkl" in names and "archive/data/0" in names
        assert archive.read("archive/version") == b"3\n"
        assert archive.read("archive/byteorder") == b"little"
        text = archive.read("archive/data.pkl")
        info = archive.getinfo("archive/data/0")
        assert info.compress_type == zipfile.ZIP_STORED
    assert b"torch._utils\n_rebuild_tensor_v2" in text and b"torchc" not in text


def test_map_location():
    data = saved(torch.ones(3))
    assert loaded(data, map_location="meta").device.type == "meta"
    seen = []

    def place(storage, location):
        seen.append((location, storage.nbytes()))
        return storage

    assert loaded(data, map_location=place).tolist() == [1.0] * 3 and seen == [("cpu", 12)]
    assert loaded(data, map_location={"cpu": "meta"}).device.type == "meta"
    with pytest.raises(RuntimeError, match="map_location=torch.device"):
        loaded(data, map_location={"cpu": "cuda:0"})
    with pytest.raises(RuntimeError, match="moon"):
        loaded(data, map_location={"cpu": "moon"})


def test_mmap(tmp_path):
    path = tmp_path / "m.pt"
    base = torch.arange(100.0)
    torch.save({"base": base, "part": base[50:]}, path)
    before = path.read_bytes()
    got = torch.load(path, mmap=True)
    assert torch.equal(got["base"], base) and torch.equal(got["part"], base[50:])
    got["base"].fill_(0)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="file name"):
        torch.load(io.BytesIO(before), mmap=True)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "c.pt"
    torch.save([1], path)
    with pytest.raises(Exception, match="pickle"):
        torch.save([2, lambda: None], path)
    assert torch.load(path) == [1] and os.listdir(tmp_path) == ["c.pt"]
    with pytest.raises(RuntimeError, match="Parent directory"):
        torch.save([1], tmp_path / "missing" / "c.pt")


@pytest.mark.parametrize("name", ["torch_zip.pt", "torch_legacy.pt"])
def test_truncated_files_are_refused(name):
    data = (REFERENCE / name).read_bytes()
    for length in range(0, len(data) - 1, 37):
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
            loaded(data[:length])


def plain(obj):
    """A comparable form of what a checkpoint holds."""
    if isinstance(obj, torch.Tensor):
        return (str(obj.dtype), obj.stride(), obj.tolist(), obj.requires_grad)
    if isinstance(obj, dict):
        return {key: plain(value) for key, value in obj.items()}
    return [plain(value) for value in obj] if isinstance(obj, (list, tuple)) else obj


def test_one_flipped_bit_is_refused_or_harmless():
    data = saved({"w": torch.arange(6.0).reshape(2, 3), "n": 3})
    want = plain(loaded(data))
    refused = 0
    for position in range(len(data)):
        for bit in (0, 5):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            try:
                got = plain(loaded(bytes(damaged)))
            except (RuntimeError, pickle.UnpicklingError, EOFError):
                refused += 1
            else:
                assert got == want, f"bit {bit} of byte {position}"
    assert refused > len(data) // 3


def test_flipped_bits_of_the_old_format_raise_nothing_else():
    data = (REFERENCE / "torch_legacy.pt").read_bytes()
    for position in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[position] ^= 1 << (position % 8)
        try:
            loaded(bytes(damaged))
        except (RuntimeError, pickle.UnpicklingError, EOFError):
            pass


class Evil:
    def __reduce__(self):
        return os.system, ("exit 3",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello world, this is text",
        b"PK\x03\x04 and then nothing of the kind",
        pickle.dumps(Evil()),
        pickle.dumps({"a": 1}),
    ],
)
def test_foreign_files_are_refused(data):
    with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
        loaded(data)


def test_a_pickle_can_only_call_what_is_allowed():
    for module, name in (
        ("os", "system"),
        ("builtins", "eval"),
        ("torch", "load"),
        ("torch._C", "Size"),
    ):
        payload = io.BytesIO()
        with zipfile.ZipFile(payload, "w") as archive:
            text = b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"X\x01\x00\x00\x001\x85R."
            archive.writestr("x/data.pkl", text)
        with pytest.raises(pickle.UnpicklingError, match=f"{module}.{name}"):
            loaded(payload.getvalue())


def as_checkpoint(text, method=zipfile.ZIP_STORED):
    payload = io.BytesIO()
    with zipfile.ZipFile(payload, "w", method) as archive:
        archive.writestr("x/data.pkl", text)
    return payload.getvalue()


class Shown:
    """Allowed in the tests below."""

    def __init__(self, value=0):
        self.value = value

    def hello(self):
        return "hello"

    def append(self, item):
        self.value = item


def shown(value):
    return Shown(value)


def test_a_file_cannot_change_what_it_names():
    name = f"c{__name__}\nShown\n".encode()
    state = b"N}X\x05\x00\x00\x00helloK\x07s\x86b."  # BUILD with (None, {"hello": 7})
    storage = b"ctorch\nFloatStorage\nN}X\x05\x00\x00\x00dtypectorch\nfloat64\ns\x86b."
    function = f"c{__name__}\nshown\n".encode()
    attacks = [storage, storage.replace(b"dtype", b"_targ"), b"ctorch\nfloat32\n" + state]
    own = [
        name + state,
        function + state,
        name + b"K\x01a.",
        name + b"(K\x01e.",
        name + b"K\x01K\x02s.",
    ]
    with torch.serialization.safe_globals([Shown, shown]):
        for attack in attacks + own:
            with pytest.raises((RuntimeError, pickle.UnpicklingError)):
                loaded(as_checkpoint(b"\x80\x02" + attack))
    for attack in attacks:
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            loaded(as_checkpoint(b"\x80\x02" + attack))
    assert Shown(3).hello() == "hello" and not hasattr(shown, "hello")
    assert loaded(saved(torch.ones(3))).dtype is torch.float32


def test_instances_of_added_classes_arrive():
    one = Shown([torch.arange(3.0), 5])
    with torch.serialization.safe_globals([Shown, shown]):
        got, kind = loaded(saved([one, Shown]))
        call = b"\x80\x02" + f"c{__name__}\nshown\n".encode() + b"K\x09\x85R."
        assert loaded(as_checkpoint(call)).value == 9
    assert kind is Shown and got.value[0].tolist() == [0, 1, 2] and got.value[1] == 5
    with pytest.raises(pickle.UnpicklingError, match="Shown"):
        loaded(saved(one))


@pytest.mark.parametrize("weights_only", [True, False])
def test_damaged_compressed_entries_are_refused(weights_only):
    text = b"\x80\x02]" + b"K\x01a" * 50 + b"."
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = as_checkpoint(text, method)
        for position in range(40, 40 + 30):
            damaged = bytearray(data)
            damaged[position] ^= 0x3F
            try:
                assert loaded(bytes(damaged), weights_only=weights_only) == [1] * 50
            except (RuntimeError, pickle.UnpicklingError, EOFError, OSError):
                pass
    unknown = b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00xyz\x86R."
    with pytest.raises(RuntimeError if weights_only else LookupError):
        loaded(as_checkpoint(unknown), weights_only=weights_only)


def test_a_tensor_outside_of_its_storage_is_refused():
    data = saved(torch.ones(4))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    # The offset (K 0) becomes 9: the fifth to eighth elements don't exist.
    entries["archive/data.pkl"] = entries["archive/data.pkl"].replace(b"QK\x00", b"QK\x09")
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(RuntimeError, match="out of bounds"):
        loaded(changed.getvalue())


def test_one_memory_with_two_dtypes_is_refused():
    x = torch.zeros(4)
    other = torch._C._storage_view(x, torch.int32, 0, (4,), (1,))
    with pytest.raises(RuntimeError, match="different types"):
        saved([x, other])


def test_pickle_and_copies_of_tensors():
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_(True)
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert torch.equal(other, x) and other.requires_grad
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.full((2,), 3.0)
    copied = copy.deepcopy(parameter)
    assert isinstance(copied, torch.nn.Parameter) and copied is not parameter
    assert isinstance(pickle.loads(pickle.dumps(parameter)), torch.nn.Parameter)
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_deepcopy_keeps_shared_memory():
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {"row": base[1], "base": base, "t": base.t(), "wide": base[:1].expand(5, 4)}
    got = copy.deepcopy(tensors)
    for name, want in tensors.items():
        assert torch.equal(got[name], want) and got[name].stride() == want.stride()
    got["base"][1, 0] = 99.0
    assert got["row"][0].item() == 99 and got["t"][0, 1].item() == 99 and base[1, 0].item() == 4
    assert copy.deepcopy(base)[1, 0].item() == 4  # each deepcopy has a memory of its own
    part = torch.zeros(5, 3)[1:1]
    assert copy.deepcopy(part).shape == (0, 3)
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(4, dtype=numpy.int16)
    shared = copy.deepcopy(torch.from_numpy(array)[1:])
    shared[0] = 7
    assert array[1] == 1 and shared.tolist() == [7, 2, 3]


def test_safetensors_round_trip_and_damage(tmp_path):
    path = tmp_path / "x.safetensors"
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.bfloat16)}
    torch.serialization.save_safetensors(tensors, path, {"by": "test"})
    got = torch.serialization.load_safetensors(path)
    assert list(got) == ["a", "b"] and all(torch.equal(got[k], tensors[k]) for k in got)
    data = path.read_bytes()
    for damaged in (data[:5], data[:-1], b"\xff" * 8 + data[8:], data[:8] + b"x" + data[9:]):
        path.write_bytes(damaged)
        with pytest.raises(RuntimeError, match="safetensors"):
            torch.serialization.load_safetensors(path)


def test_saving_to_a_pipe(tmp_path):
    """No device here: as root, a save that replaces it would take /dev/null from the whole machine."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    # Held open for reading, so that a save that doesn't write to it neither blocks nor blocks this test.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link):
        torch.save([1, torch.ones(2)], path)
        assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()
        assert loaded(os.read(reader, 1 << 16))[0] == 1
    os.close(reader)
    with pytest.raises(OSError, match="directory"):
        torch.save(1, tmp_path)


def test_saving_goes_through_links_and_leaves_nothing(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.pt"
    link.symlink_to("there/real.pt")
    torch.save(1, link)
    assert link.is_symlink() and torch.load(tmp_path / "there/real.pt") == 1
    with pytest.raises(pickle.PicklingError):
        torch.save(lambda: 1, link)
    assert torch.load(link) == 1 and os.listdir(tmp_path / "there") == ["real.pt"]
    umask = os.umask(0o027)
    try:
        torch.save(2, tmp_path / "new.pt")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.pt").stat().st_mode) == 0o640


def test_saving_from_several_threads_and_past_a_leftover(tmp_path):
    path = tmp_path / "x.pt"
    (tmp_path / f"x.pt.{os.getpid()}.tmp").write_bytes(b"of a process that was killed")
    errors = []

    def save(value):
        try:
            for _ in range(20):
                torch.save(torch.full((100,), value), path)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and torch.load(path).shape == (100,)


def test_frombuffer_shares_memory():
    memory = bytearray(16)
    x = torch.frombuffer(memory, dtype=torch.int32)
    memory[4] = 7
    assert x.tolist() == [0, 7, 0, 0]
    x[0] = 3
    assert memory[0] == 3
    assert torch.frombuffer(memory, dtype=torch.int16, count=2, offset=4).tolist() == [7, 0]
    for options in ({"offset": 16}, {"count": 5}, {"offset": 1}, {"count": 0}):
        with pytest.raises(ValueError):
            torch.frombuffer(memory, dtype=torch.int32, **options)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    for target in ("/proc/x.pt", "/dev/full"):
        with pytest.raises(OSError) as caught:
            torch.save(torch.ones(2), target)
        assert caught.value.filename == target
    whole = tmp_path / "whole.pt"
    torch.save({"a": torch.ones(2)}, whole)
    for name, data in (("text", b"root:x:0:0"), ("half", whole.read_bytes()[:300])):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match=str(path)):
            torch.load(path)
