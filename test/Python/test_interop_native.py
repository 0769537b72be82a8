"""The memory of tensors in compiled code, images and plots."""

import array
import sys
import textwrap

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")


def test_numba():
    numba = pytest.importorskip("numba")

    @numba.njit
    def scale(values, by):
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                values[i, j] *= by

    x = torch.arange(6.0).reshape(2, 3)
    scale(x.numpy(), 2.0)
    assert x.tolist() == [[0, 2, 4], [6, 8, 10]]
    scale(np.asarray(x.T), 0.5)  # strides are kept
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]

    @numba.vectorize(["float32(float32)"])
    def square(v):
        return v * v

    assert np.asarray(square(x)).tolist() == [[0, 1, 4], [9, 16, 25]]


def test_cython(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    source = tmp_path / "views.pyx"
    source.write_text(
        textwrap.dedent("""
        def double(float[:, :] values):
            cdef Py_ssize_t i, j
            for i in range(values.shape[0]):
                for j in range(values.shape[1]):
                    values[i, j] *= 2
        def total(const long[::1] values):
            cdef long s = 0
            cdef Py_ssize_t i
            for i in range(values.shape[0]):
                s += values[i]
            return s
        """)
    )
    monkeypatch.chdir(tmp_path)
    modules = cythonize([Extension("views", ["views.pyx"])], quiet=True, language_level=3)
    command = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.inplace = True
    command.ensure_finalized()
    try:
        command.run()
    except Exception as error:
        pytest.skip(f"no C compiler for extension modules: {error}")
    monkeypatch.syspath_prepend(str(tmp_path))
    import views

    x = torch.arange(6.0).reshape(2, 3)
    views.double(x.numpy())
    views.double(x.T.numpy())
    assert x.tolist() == [[0, 4, 8], [12, 16, 20]]
    assert views.total(torch.tensor([1, 2, 3]).numpy()) == 6
    with pytest.raises(ValueError):
        views.double(torch.ones(2, 2, dtype=torch.float64).numpy())
    sys.modules.pop("views")


def test_buffers():
    x = torch.arange(6, dtype=torch.int32)
    view = memoryview(x.numpy())
    assert view.tolist() == [0, 1, 2, 3, 4, 5] and view.format == "i" and not view.readonly
    view[0] = 7
    assert x[0] == 7
    numbers = array.array("d", [1.0, 2.0])
    shared = torch.frombuffer(numbers, dtype=torch.float64)
    numbers[0] = 5.0
    assert shared.tolist() == [5.0, 2.0] and torch.tensor(numbers).tolist() == [5.0, 2.0]
    assert torch.frombuffer(bytearray(b"\1\2"), dtype=torch.uint8).tolist() == [1, 2]


def test_images():
    image = pytest.importorskip("PIL.Image")
    pixels = (torch.arange(48).reshape(4, 4, 3) * 5).to(torch.uint8)
    picture = image.fromarray(pixels.numpy())
    assert picture.size == (4, 4) and picture.mode == "RGB"
    assert torch.equal(torch.tensor(np.asarray(picture)), pixels)
    assert torch.equal(
        torch.from_numpy(np.array(picture.transpose(image.Transpose.FLIP_LEFT_RIGHT))),
        pixels.flip(1),
    )
    assert torch.equal(torch.as_tensor(np.array(picture)).permute(2, 0, 1)[1], pixels[..., 1])


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    t = torch.linspace(0, 1, 5)
    figure, axes = pyplot.subplots()
    (line,) = axes.plot(t, t**2)
    axes.scatter(t, t, c=t)
    axes.hist(t, bins=3)
    axes.imshow(torch.rand(3, 3))
    axes.bar(torch.arange(3), torch.ones(3))
    assert np.allclose(line.get_ydata(), t**2)
    figure.canvas.draw()
    pyplot.close(figure)
