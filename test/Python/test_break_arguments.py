"""Arguments at the limits of what a function takes: numbers that a type can't hold, empty lists, 0 dimensions, NaN."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
F, L = torch.nn.functional, torch.linalg
INF, NAN = math.inf, math.nan


def _refuses(call, error, *words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


# ---- pointwise


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.int64])
def test_angles_are_pi_in_their_own_type(dtype):
    got = torch.angle(torch.tensor([-2, 3, 0], dtype=dtype))
    kind = np.float64 if dtype is torch.float64 else np.float32
    want = np.array([np.pi, 0, 0], kind).astype(np.float16 if dtype is torch.float16 else kind)
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_integer_limits_don_t_wrap(dtype):
    info = torch.iinfo(dtype)
    x = torch.tensor([info.min, 1, info.max], dtype=dtype)
    for idle in (
        x.clamp_min(info.min - 7),
        x.clamp_max(2**40),
        x.clone().clamp_min_(-(2**40)),
        torch.clamp_max(x, info.max + 1),
        x.clamp(info.min - 1, info.max + 1),
        F.hardtanh(x, info.min - 1, info.max + 1),
    ):
        assert idle.dtype is dtype and idle.tolist() == x.tolist()
    _refuses(lambda: x.clamp_min(info.max + 1), RuntimeError, "min", str(info.max + 1))
    _refuses(lambda: x.clamp_max_(info.min - 1), RuntimeError, "max", str(info.min - 1))
    assert F.hardtanh(torch.tensor([0, 1, 9], dtype=dtype)).tolist() == [0, 1, 1]


def test_in_place_results_keep_their_type():
    x = torch.ones(3)
    _refuses(lambda: x.cumsum_(0, dtype=torch.float64), RuntimeError, "float32", "float64")
    _refuses(lambda: x.cumprod_(0, dtype=torch.int32), RuntimeError, "float32", "int32")
    _refuses(lambda: x.float_power_(2), RuntimeError, "float32", "float64")
    assert x.tolist() == [1, 1, 1]
    assert x.cumsum_(0, dtype=torch.float32).tolist() == [1, 2, 3]
    assert torch.tensor([3.0], dtype=torch.float64).float_power_(2).tolist() == [9]


def test_tolerances_of_nan_are_refused():
    x = torch.ones(2)
    _refuses(lambda: torch.isclose(x, x, rtol=NAN), RuntimeError, "rtol", "nan")
    _refuses(lambda: torch.allclose(x, x, atol=NAN), RuntimeError, "atol", "nan")
    _refuses(lambda: torch.renorm(torch.ones(2, 2), NAN, 0, 1.0), RuntimeError, "nan")
    _refuses(lambda: torch.cosine_similarity(x, x, 0, eps=-1.0), RuntimeError, "eps", "-1.0")


def test_numbers_in_place_of_tensors():
    assert torch.zeros(2, dtype=torch.int8).copy_(7).tolist() == [7, 7]
    _refuses(lambda: torch.zeros(2, dtype=torch.int8).copy_(300), RuntimeError)
    z = torch.tensor([1 + 1j, 2])
    assert torch.lerp(z, torch.zeros_like(z), True).tolist() == [0, 0]
    assert torch.where(torch.tensor([2, 0], dtype=torch.uint8), 1, 2).tolist() == [1, 2]


# ---- reductions


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float32])
def test_all_and_any_over_no_dimensions(dtype):
    x = torch.tensor([[2, 0], [1, 1]]).to(dtype)
    for f in (torch.all, torch.any):
        for keepdim in (False, True):
            got = f(x, dim=(), keepdim=keepdim)
            assert got.tolist() == [[1, 0], [1, 1]]
            assert got.dtype is (torch.uint8 if dtype is torch.uint8 else torch.bool)
        got.zero_()
    assert x.tolist() == torch.tensor([[2, 0], [1, 1]]).to(dtype).tolist()


def test_trapezoids_of_small_integers():
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int64):
        x = torch.tensor([100, 100, 3], dtype=dtype)
        assert torch.trapezoid(x).item() == 151.5
        assert torch.trapezoid(x, dx=-2).item() == -303
        few = torch.tensor([1, 2, 4], dtype=dtype)
        assert torch.cumulative_trapezoid(few, dx=-3).tolist() == [-4.5, -13.5]


def test_norms_along_a_vector():
    x = torch.tensor([3.0, -4.0])
    assert torch.norm_except_dim(x, 0, 0).tolist() == [1, 1]
    assert torch.norm_except_dim(x, 2, 0).tolist() == [3, 4]
    # |7.3203|^1e-5 is 1.00002: half a step from 1 in float16, so that the root would be 1.
    got = F.pairwise_distance(torch.tensor([7.32]).half(), torch.tensor([0.0]).half(), 1e-5, 0.0)
    assert abs(got.item() - 7.32) < 0.01 and got.dtype is torch.float16


# ---- places


def test_places_of_a_number():
    x = torch.tensor(3.0)
    assert torch.index_select(x, 0, torch.tensor([0])).tolist() == 3
    for places in ([], [0, 0]):
        at = torch.tensor(places, dtype=torch.int64)
        _refuses(lambda at=at: torch.index_select(x, 0, at), RuntimeError, str(len(places)))
        assert x.index_fill(0, at, 5.0).item() == (5 if places else 3)
    _refuses(lambda: x.index_add(0, torch.tensor([0, 0]), torch.ones(2)), RuntimeError)


def test_places_of_take_along_dim_count_from_the_end_of_a_dimension():
    x = torch.arange(4.0)
    assert torch.take_along_dim(x, torch.tensor([-1]), 0).tolist() == [3]
    _refuses(lambda: torch.take_along_dim(x, torch.tensor([-1])), RuntimeError, "-1", "4")
    assert torch.gather(x, 0, torch.tensor([2]), sparse_grad=False).tolist() == [2]
    _refuses(
        lambda: torch.gather(x, 0, torch.tensor([2]), sparse_grad=True),
        NotImplementedError,
        "sparse_grad",
    )


# ---- losses and layers


def test_losses_outside_of_functional_reduce_by_number():
    x, y = torch.tensor([[1.0, -2.0], [3.0, 4.0]]), torch.ones(2, 2)
    terms = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    call = torch.binary_cross_entropy_with_logits
    assert call(x, y).tolist() == terms.tolist()
    assert call(x, y, reduction=1).item() == terms.mean().item()
    assert call(x, y, reduction="mean").item() == terms.mean().item()
    assert call(x, y, None, None, 2).item() == terms.sum().item()
    assert torch.kl_div(x, y).shape == torch.hinge_embedding_loss(x, y).shape == (2, 2)
    assert torch.margin_ranking_loss(x, x, y).shape == (2, 2)
    assert torch.cosine_embedding_loss(x, x, torch.ones(2)).shape == (2,)
    assert torch.triplet_margin_loss(x, x, y).shape == (2,)


def test_losses_promote_after_broadcasting():
    x, y = torch.ones(3, dtype=torch.bfloat16), torch.tensor(2.0, dtype=torch.float64)
    for loss in (F.mse_loss, F.l1_loss):
        got = loss(x, y, reduction="none")
        assert got.dtype is torch.float64 and got.tolist() == [1, 1, 1]
    got = F.smooth_l1_loss(torch.tensor(1.0).half(), x)
    assert got.dtype is torch.float32 and got.item() == 0


def test_losses_refuse_what_they_don_t_mean():
    x, ints = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64)
    _refuses(lambda: F.kl_div(x, ints, reduction="sum"), RuntimeError, "int64")
    _refuses(lambda: F.soft_margin_loss(x[0], x), RuntimeError, "[2, 3]", "[3]")
    _refuses(lambda: F.triplet_margin_loss(x, x[0], x), RuntimeError, "2, 1 and 2")
    _refuses(lambda: F.smooth_l1_loss(x, x, beta=NAN), RuntimeError, "beta")
    _refuses(lambda: F.huber_loss(x, x, delta=NAN), RuntimeError, "delta")
    _refuses(lambda: F.pdist(x, NAN), RuntimeError)
    _refuses(lambda: torch.cdist(x, x, NAN), RuntimeError)


@pytest.mark.parametrize("norm", [torch.norm, L.vector_norm])
def test_norms_keep_what_they_are_given(norm):
    x = torch.ones(4)
    assert norm(x, 2, dtype=torch.float64).item() == 2
    _refuses(lambda: norm(x, 2, dtype=torch.bfloat16), RuntimeError, "float32", "bfloat16")
    _refuses(lambda: norm(x, 2, dtype=torch.complex64), RuntimeError, "real", "complex64")
    _refuses(lambda: norm(x.int(), 2, dtype=torch.float32), NotImplementedError, "int32")


def test_similarity_of_integers_with_floats():
    got = F.cosine_similarity(torch.tensor([[1, 2]]), torch.tensor([[2.0, 4.0]]))
    assert abs(got.item() - 1) < 1e-6
    ints = torch.ones(1, 2, dtype=torch.int64)
    _refuses(lambda: F.cosine_similarity(ints, ints), RuntimeError, "int64")


def test_pools_need_a_size():
    for call in (torch.adaptive_avg_pool1d, torch.adaptive_max_pool1d):
        _refuses(lambda call=call: call(torch.ones(1, 2, 4), []), RuntimeError, "output_size")


def test_keywords_of_new_tensors():
    x = torch.ones(2, dtype=torch.float64)
    options = {"layout": torch.strided, "pin_memory": False, "requires_grad": True}
    for made in (
        x.new_zeros(3, **options),
        x.new_ones((3,), **options),
        x.new_empty(3, **options),
        x.new_full((3,), 2.0, **options),
        x.new_empty_strided((3,), (1,), **options),
    ):
        assert made.dtype is torch.float64 and made.shape == (3,) and made.requires_grad
    _refuses(lambda: x.new_zeros(3, colour=1), TypeError, "colour")
    assert torch.histogram(torch.ones(3)).hist.shape == (100,)


# ---- matrices


@pytest.mark.parametrize("call", [L.svd, L.pinv, lambda a: L.lstsq(a, a, driver="gelsd")])
def test_decompositions_of_infinities_end(call):
    a = torch.tensor([[INF, 1.0, 2.0], [1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    _refuses(lambda: call(a), L.LinAlgError, "non-finite")
    _refuses(lambda: call(torch.stack([torch.eye(3), a])), L.LinAlgError, "Batch element 1")


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_factors_of_nan_say_where(dtype):
    a = torch.eye(3, dtype=dtype).expand(4, 3, 3).clone()
    a[1, 0, 0], a[2, 2, 2] = NAN, NAN
    for upper in (False, True):
        assert L.cholesky_ex(a, upper=upper).info.tolist() == [0, 1, 3, 0]
    _refuses(lambda: L.cholesky(a), L.LinAlgError, "Batch element 1", "order 1")


def test_sizes_of_triangular_systems():
    _refuses(
        lambda: torch.triangular_solve(torch.ones(5, 5), torch.ones(1, 1)), RuntimeError, "1", "5"
    )
    x = torch.triangular_solve(torch.ones(2, 1), torch.tensor([[2.0, 0.0], [0.0, 4.0]])).solution
    assert x.tolist() == [[0.5], [0.25]]


def test_factors_are_triangles():
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    LD = L.ldl_factor(a).LD
    assert LD.tolist() == [[2.0, 0.0], [0.5, 2.5]]


def test_negative_powers_of_matrices():
    a = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    for got in (torch.matrix_power(a, -1), a.matrix_power(-1), L.matrix_power(a, -1)):
        assert got.tolist() == [[0.5, 0.0], [0.0, 0.25]]
    out = torch.empty(2, 2)
    assert torch.matrix_power(a, 2, out=out) is out and out[1, 1].item() == 16


# ---- what isn't a tensor


@pytest.mark.parametrize("value", [[1.0, 2.0], 2.0, "a", np.ones(2)], ids=repr)
def test_functions_in_python_say_which_argument_is_no_tensor(value):
    for call, name in (
        (torch.trapezoid, "trapezoid(): argument 'y' (position 1)"),
        (torch.cov, "cov(): argument 'input' (position 1)"),
        (torch.abs_, "abs_(): argument"),
        (L.matrix_norm, "matrix_norm(): argument 'A' (position 1)"),
        (F.relu_, "relu_(): argument"),
        (torch.special.ndtr, "ndtr(): argument 'input' (position 1)"),
        (lambda v: F.mse_loss(input=torch.ones(2), target=v), "mse_loss(): argument 'target'"),
    ):
        kind = type(value).__module__ + "." if isinstance(value, np.ndarray) else ""
        _refuses(
            lambda call=call: call(value), TypeError, name, f"not {kind}{type(value).__name__}"
        )


# ---- one element's stride


def test_strides_over_one_element_don_t_make_another_view():
    x = torch.ones(3, 1).t()  # strides (1, 1); x[:] has (3, 1)
    x[:] += 1
    x.add_(x[:])
    assert x.tolist() == [[4, 4, 4]]
    x.copy_(x.view(1, 3))
    assert x.tolist() == [[4, 4, 4]]
    y = torch.arange(4.0)
    _refuses(lambda: y[1:].add_(y[:-1]), RuntimeError, "single memory location")


def test_strings_are_no_index():
    _refuses(lambda: torch.ones(3)["a"], TypeError, "str")
    _refuses(lambda: torch.ones(3, 3)[0, "a"], TypeError, "str")
    _refuses(lambda: torch.ones(3)[1.5], IndexError, "float")
