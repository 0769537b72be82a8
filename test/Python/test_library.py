"""torch.library: operators of one's own in eager execution. The oracle is NumPy, or the gradient by hand."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Sequence
from typing import Optional, Union

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from torchc import library  # noqa: E402


def numpy_sin(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy() * np.float32(by)))


@pytest.fixture
def sine():
    op = library.custom_op("tests::sine", numpy_sin, mutates_args=())

    @op.register_fake
    def _(x, by=2.0):
        return torch.empty_like(x)

    def setup(ctx, inputs, output):
        x, ctx.by = inputs
        ctx.save_for_backward(x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.cos(x * ctx.by) * ctx.by, None

    op.register_autograd(backward, setup_context=setup)
    return op


def values(n=5):
    return torch.linspace(-1, 1, n)


def test_a_custom_op_is_called_by_all_its_names(sine):
    x = values()
    want = np.sin(x.numpy() * np.float32(2))
    for call in (sine, torch.ops.tests.sine, torch.ops.tests.sine.default):
        np.testing.assert_array_equal(call(x).numpy(), want)
    np.testing.assert_array_equal(sine(x, by=3.0).numpy(), np.sin(x.numpy() * np.float32(3)))
    np.testing.assert_array_equal(sine(by=1, x=x).numpy(), np.sin(x.numpy()))
    assert (
        str(torch.ops.tests.sine.default._schema) == "tests::sine(Tensor x, float by=2.) -> Tensor"
    )
    assert repr(sine) == "<CustomOpDef(tests::sine)>"
    assert repr(torch.ops.tests.sine.default) == "<OpOverload(op='tests.sine', overload='default')>"
    assert str(torch.ops.tests.sine) == "tests.sine" and "sine" in dir(torch.ops.tests)


def test_ids_are_above_those_of_the_table(sine):
    assert torch.ops.tests.sine.default._number >= 0x10000


def test_gradients(sine):
    x = values().requires_grad_()
    y = sine(x, 3.0)
    assert y.grad_fn is not None and "tests_sine" in y.grad_fn.name()
    (y * 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * np.cos(3 * x.detach().numpy()), rtol=1e-6)


def test_second_derivatives(sine):
    x = values().requires_grad_()
    (g,) = torch.autograd.grad(sine(x).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(
        gg.numpy(), -4 * np.sin(2 * x.detach().numpy()), rtol=1e-5, atol=1e-6
    )


def test_no_gradient_is_recorded_without_need(sine):
    assert not sine(values()).requires_grad
    with torch.no_grad():
        assert not sine(values().requires_grad_()).requires_grad


def test_a_missing_derivative_is_an_error_in_backward():
    op = library.custom_op("tests::plain", numpy_sin, mutates_args=())
    y = op(values().requires_grad_())
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="tests::plain but no autograd formula was registered"):
        y.sum().backward()


def test_kernels_run_without_gradients():
    @library.custom_op("tests::copy", mutates_args=())
    def copy(x: torch.Tensor) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        return torch.from_numpy(x.numpy().copy())  # allowed where no gradient is recorded

    x = values().requires_grad_()
    assert copy(x).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()


def test_fake_kernels_serve_the_meta_device(sine):
    y = sine(torch.empty(3, 4, device="meta"))
    assert y.shape == (3, 4) and y.device.type == "meta"
    op = library.custom_op("tests::plain", numpy_sin, mutates_args=())
    with pytest.raises(NotImplementedError, match="no fake impl registered for tests::plain"):
        op(torch.empty(3, device="meta"))


def test_arguments_that_are_written():
    @library.custom_op("tests::scale_", mutates_args={"x"})
    def scale_(x: torch.Tensor, by: float) -> None:
        x.numpy()[...] *= by

    x = values()
    want, version, row = x.numpy() * np.float32(3), x._version, x[1:]
    assert scale_(x, 3.0) is None
    assert x._version > version
    np.testing.assert_array_equal(x.numpy(), want)
    np.testing.assert_array_equal(row.numpy(), want[1:])
    assert "Tensor(a0!) x" in str(torch.ops.tests.scale_.default._schema)
    w = values().requires_grad_()
    loss = (w * w).sum()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        scale_(w, 3.0)
    loss.backward()
    y = torch.exp(w)
    z = (y * y).sum()
    with pytest.raises(RuntimeError, match="writes to an argument that requires grad"):
        scale_(y, 2.0)
    z.backward()
    with pytest.raises(RuntimeError, match="non-functional operator"):
        scale_.register_autograd(lambda ctx, g: g)


def test_a_write_is_noticed_by_saved_tensors():
    @library.custom_op("tests::clear_", mutates_args="unknown")
    def clear_(x: torch.Tensor) -> None:
        x.numpy()[...] = 0

    w = values().requires_grad_()
    y = torch.exp(values())
    loss = (w * y).sum()
    clear_(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_lists_and_several_results():
    @library.custom_op("tests::halves", mutates_args=())
    def halves(xs: Sequence[torch.Tensor], n: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        total = sum(x.detach().numpy() for x in xs)
        return torch.from_numpy(total / n), torch.from_numpy(total * 0 + n), n + 1

    halves.register_autograd(
        lambda ctx, g0, g1, g2: ([g0 / ctx.n for _ in range(ctx.count)], None),
        setup_context=lambda ctx, inputs, output: vars(ctx).update(
            n=inputs[1], count=len(inputs[0])
        ),
    )
    a, b = values().requires_grad_(), values().requires_grad_()
    first, second, number = halves([a, b], 4)
    assert number == 5 and float(second.sum()) == 20
    np.testing.assert_array_equal(first.detach().numpy(), (a + b).detach().numpy() / 4)
    (first.sum() * 2).backward()
    np.testing.assert_array_equal(b.grad.numpy(), np.full(5, 0.5, np.float32))
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'Tensor\\[\\]' for argument 'xs'"
    ):
        halves(a, 4)


def test_list_results_have_gradients():
    @library.custom_op("tests::parts", mutates_args=())
    def parts(x: torch.Tensor, n: int) -> list[torch.Tensor]:
        return [x.detach() * (i + 1) for i in range(n)]

    def backward(ctx, grads):
        return sum(g * (i + 1) for i, g in enumerate(grads)), None

    parts.register_autograd(backward)
    x = values().requires_grad_()
    out = parts(x, 3)
    assert isinstance(out, list) and len(out) == 3
    (out[0].sum() + out[2].sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(5, 4, np.float32))


def test_schemas_from_annotations():
    def f(
        x: torch.Tensor,
        ys: list[torch.Tensor],
        z: Optional[torch.Tensor],  # noqa: UP045
        n: int,
        sizes: Sequence[int],
        s: str = "a",
        alpha: Union[int, float, bool] = 1,  # noqa: UP007
        dtype: torch.dtype | None = None,
        *,
        flag: bool = False,
        device: torch.device | None = None,
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        raise AssertionError

    assert library.infer_schema(f, mutates_args={"x"}) == (
        '(Tensor(a0!) x, Tensor[] ys, Tensor? z, SymInt n, SymInt[] sizes, str s="a", Scalar alpha=1, '
        "ScalarType? dtype=None, *, bool flag=False, Device? device=None) -> (Tensor, Tensor[])"
    )


@pytest.mark.parametrize(
    "annotate, text",
    [
        ("def f(x) -> torch.Tensor: ...", "Parameter x must have a type annotation"),
        ("def f(x: complex) -> torch.Tensor: ...", "Parameter x has unsupported type"),
        ("def f(x: torch.Tensor): ...", "No return type annotation"),
        ("def f(x: torch.Tensor) -> str: ...", "Return has unsupported type"),
        ("def f(*x: torch.Tensor) -> torch.Tensor: ...", "varargs"),
        ("def f(x: torch.Tensor = 1j) -> torch.Tensor: ...", "unsupported default value"),
    ],
)
def test_annotations_that_no_schema_says(annotate, text):
    space: dict = {"torch": torch}
    exec(annotate, space)
    with pytest.raises(ValueError, match=text):
        library.infer_schema(space["f"], mutates_args=())


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ((), {}, "missing value for argument 'x'"),
        (
            (1.0,),
            {},
            "Expected a value of type 'Tensor' for argument 'x' but instead found type 'float'",
        ),
        ((torch.ones(2), "a"), {}, "Expected a value of type 'float' for argument 'by'"),
        ((torch.ones(2), 1.0, 2.0), {}, "expected at most 2 argument"),
        ((torch.ones(2),), {"z": 1}, "Unknown keyword argument 'z'"),
        ((torch.ones(2), 1.0), {"by": 1.0}, "multiple values for argument 'by'"),
    ],
)
def test_wrong_calls(sine, args, kwargs, text):
    with pytest.raises(RuntimeError, match=text):
        sine(*args, **kwargs)


def test_names_that_do_not_exist():
    with pytest.raises(
        AttributeError, match="'_OpNamespace' 'tests' object has no attribute 'nothing'"
    ):
        _ = torch.ops.tests.nothing
    with pytest.raises(ValueError, match="namespace::name"):
        library.custom_op("nothing", numpy_sin, mutates_args=())
    with pytest.raises(ValueError, match="mutates_args should contain only names"):
        library.custom_op("tests::bad", numpy_sin, mutates_args={"q"})


@pytest.mark.parametrize(
    "schema",
    ["bad", "bad(", "bad(Tensor) -> Tensor", "bad(Thing x) -> Tensor", "bad(Tensor x) -> Thing", "bad(int x=a) -> ()",
     "bad(Tensor x) -> Tensor more stuff", "bad(int[ x) -> ()", "bad(Tensor x int y) -> ()", "bad(float x=None) -> ()"],
)  # fmt: skip
def test_malformed_schemas_are_refused(schema):
    lib = library.Library("tests_bad", "FRAGMENT")
    with pytest.raises(RuntimeError, match="expected .* at position"):
        lib.define(schema)


def test_a_result_must_not_be_an_argument():
    @library.custom_op("tests::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        same(values())


def test_wrong_results_are_refused():
    @library.custom_op("tests::wrong", mutates_args=())
    def wrong(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + 1

    with pytest.raises(RuntimeError, match="where the schema has 2 results"):
        wrong(values())


def test_library_define_and_impl():
    lib = library.Library("tests_lib", "DEF")
    assert lib.define("add_n(Tensor x, int n=1) -> Tensor") == "add_n"
    lib.define("twice(Tensor x, *, bool flag=True) -> Tensor")
    lib.impl("add_n", lambda x, n: torch.from_numpy(x.numpy() + n), "CPU")
    lib.impl("twice", lambda x, flag: x * 2 if flag else x, "CompositeImplicitAutograd")
    assert torch.ops.tests_lib.add_n(torch.zeros(2), 3).tolist() == [3, 3]
    x = values().requires_grad_()
    torch.ops.tests_lib.twice(x).sum().backward()  # a composite is differentiated through
    assert x.grad.tolist() == [2] * 5
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("add_n(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY"):
        library.Library("tests_lib", "DEF")
    with pytest.raises(NotImplementedError, match="no fake impl"):
        torch.ops.tests_lib.add_n(torch.empty(2, device="meta"))
    library.register_fake("tests_lib::add_n", lambda x, n=1: torch.empty_like(x))
    assert torch.ops.tests_lib.add_n(torch.empty(2, device="meta")).shape == (2,)
    del lib
    gc.collect()
    assert not hasattr(torch.ops.tests_lib, "add_n")


def test_a_library_that_lives_to_the_end_of_the_process_is_silent():
    program = (
        "import torchc\n"
        "lib = torchc.library.Library('tests_end', 'DEF')\n"
        "lib.define('f(Tensor x) -> Tensor')\n"
        "torchc.library.define('tests_end_free::g', '(Tensor x) -> Tensor')\n"
        "lib.itself = lib\n"  # garbage that only the interpreter's end collects
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_define_and_impl_by_name():
    library.define("tests_free::triple", "(Tensor x) -> Tensor")
    library.impl("tests_free::triple", "cpu", lambda x: torch.from_numpy(3 * x.detach().numpy()))
    library.register_autograd("tests_free::triple", lambda ctx, g: g * 3)
    x = values().requires_grad_()
    torch.ops.tests_free.triple(x).sum().backward()
    assert x.grad.tolist() == [3] * 5
    with pytest.raises(
        NotImplementedError, match="Could not run 'tests_free::triple'|no fake impl"
    ):
        torch.ops.tests_free.triple(torch.empty(1, device="meta"))


def test_overloads_are_chosen_by_arguments():
    lib = library.Library("tests_over", "FRAGMENT")
    lib.define("f.Tensor(Tensor x) -> Tensor")
    lib.define("f.Scalar(Scalar x) -> Tensor")
    lib.impl("f.Tensor", lambda x: x + 1, "CompositeExplicitAutograd")
    lib.impl("f.Scalar", lambda x: torch.tensor([float(x)]), "CompositeExplicitAutograd")
    assert torch.ops.tests_over.f(torch.zeros(1)).tolist() == [1]
    assert torch.ops.tests_over.f(7).tolist() == [7]
    assert sorted(torch.ops.tests_over.f.overloads()) == ["Scalar", "Tensor"]
    assert torch.ops.tests_over.f.Scalar(2).tolist() == [2]
    with pytest.raises(RuntimeError, match="No overload of tests_over::f"):
        torch.ops.tests_over.f("a")


def test_a_definition_is_replaced():
    for k in (1, 2):

        @library.custom_op("tests::again", mutates_args=())
        def again(x: torch.Tensor) -> torch.Tensor:
            return x + k  # noqa: B023

        assert again(torch.zeros(1)).tolist() == [k]
        assert torch.ops.tests.again(torch.zeros(1)).tolist() == [k]


def test_kernels_are_switched_off():
    @library.custom_op("tests::device", mutates_args=())
    def device(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    @device.register_kernel("cpu")
    def _(x):
        return x + 2

    assert device(torch.zeros(1)).tolist() == [2]
    with device.set_kernel_enabled("cpu", False):
        assert device(torch.zeros(1)).tolist() == [1]
    assert device(torch.zeros(1)).tolist() == [2]


def test_a_kernels_exception_is_the_programs():
    class Mine(Exception):
        pass

    @library.custom_op("tests::raises", mutates_args=())
    def raises(x: torch.Tensor) -> torch.Tensor:
        raise Mine("no")

    with pytest.raises(Mine, match="no"):
        raises(values())


def test_opcheck_finds_what_is_wrong(sine):
    args = (values().requires_grad_(), 2.0)
    assert library.opcheck(sine, args) == dict.fromkeys(
        [
            "test_schema",
            "test_autograd_registration",
            "test_faketensor",
            "test_aot_dispatch_dynamic",
        ],
        "SUCCESS",
    )

    @library.custom_op("tests::liar", mutates_args=())
    def liar(x: torch.Tensor) -> torch.Tensor:
        x.numpy()[0] = 5
        return x + 1

    @liar.register_fake
    def _(x):
        return torch.empty(7, device="meta")

    with pytest.raises(library.OpCheckError, match="not defined as mutable but was mutated"):
        library.opcheck(liar, (values(),), test_utils="test_schema")
    with pytest.raises(library.OpCheckError, match="by the fake kernel"):
        library.opcheck(liar, (values(),), test_utils="test_faketensor")
    results = library.opcheck(liar, (values().requires_grad_(),), raise_exception=False)
    assert "no autograd formula" in str(results["test_autograd_registration"])


class Shrinks:
    """A number that takes the rest out of the list it stands in while it is converted."""

    def __init__(self, items):
        self.items = items

    def _shrink(self):
        self.items.clear()
        self.junk = [bytearray(64) for _ in range(100)]

    def __index__(self):
        self._shrink()
        return 1

    def __float__(self):
        self._shrink()
        return 1.0


@pytest.mark.parametrize("kind", ["int[]", "float[]", "Scalar[]"])
def test_a_list_that_shrinks_while_it_is_read(kind):
    lib = library.Library("tests_shrink", "FRAGMENT")
    lib.define(f"f(Tensor x, {kind} n) -> Tensor")
    lib.impl("f", lambda x, n: x, "CPU")
    items: list = []
    items += [Shrinks(items), *([1] * 100)]
    with pytest.raises((RuntimeError, TypeError)):
        torch.ops.tests_shrink.f(torch.ones(2), items)


def test_saved_results_of_a_function_with_many():
    @library.custom_op("tests::many_saved", mutates_args=())
    def many(x: torch.Tensor) -> list[torch.Tensor]:
        return [x * float(i) for i in range(300)]

    def setup(ctx, inputs, output):
        ctx.save_for_backward(output[299])

    def backward(ctx, grads):
        return ctx.saved_tensors[0] * grads[299]

    many.register_autograd(backward, setup_context=setup)
    x = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(many(x)[299].sum(), x, create_graph=True)
    assert g.tolist() == [598]  # the saved result itself
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [598]  # its derivative by the same formula


def test_numbers_that_are_no_op():
    for number in ("x", -1, 2**32 + 1, 2**70):
        with pytest.raises((TypeError, RuntimeError, OverflowError)):
            torch._C._custom_remove(number)
