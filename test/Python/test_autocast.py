"""torch.autocast on the CPU: dtypes are those of PyTorch's lists, values those of the casts written by hand."""

import copy
import inspect
import pickle
import threading
import warnings

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
import torchc.nn.functional as F  # noqa: E402
from torchc import nn  # noqa: E402
from torchc.utils.checkpoint import checkpoint  # noqa: E402

LOWER = (torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True)
def outside():
    torch.manual_seed(0)
    yield
    assert (
        not torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.bfloat16
    )
    assert torch.is_autocast_cache_enabled()


def same(a, b):
    assert a.dtype is b.dtype and torch.equal(a, b), (a, b)


x, y, v = torch.rand(3, 3), torch.rand(3, 3), torch.rand(3)
batch, image, volume = torch.rand(2, 3, 3), torch.rand(1, 2, 5, 5), torch.rand(1, 2, 4, 4, 4)
labels = torch.tensor([0, 2, 1])

PRODUCTS = {
    "matmul": (torch.matmul, x, y),
    "operator": (lambda a, b: a @ b, x, y),
    "method": (lambda a, b: a.mm(b), x, y),
    "mm": (torch.mm, x, y),
    "bmm": (torch.bmm, batch, batch),
    "addmm": (torch.addmm, x, x, y),
    "baddbmm": (torch.baddbmm, batch, batch, batch),
    "addbmm": (torch.addbmm, x, batch, batch),
    "linear": (F.linear, x, y, v),
    "linear without bias": (F.linear, x, y, None),
    "conv1d": (F.conv1d, batch, torch.rand(4, 3, 2)),
    "conv1d by name": (lambda a, b: F.conv1d(a, b, padding="same"), batch, torch.rand(4, 3, 2)),
    "conv2d": (F.conv2d, image, torch.rand(3, 2, 2, 2), v),
    "conv3d": (F.conv3d, volume, torch.rand(3, 2, 2, 2, 2)),
    "conv_transpose1d": (F.conv_transpose1d, batch, torch.rand(3, 4, 2)),
    "conv_transpose2d": (F.conv_transpose2d, image, torch.rand(2, 3, 2, 2)),
    "conv_transpose3d": (F.conv_transpose3d, volume, torch.rand(2, 3, 2, 2, 2)),
    "conv_tbc": (F.conv_tbc, batch, torch.rand(2, 3, 4), torch.rand(4)),
    "prelu": (F.prelu, x - 0.5, v),
    "attention": (F.scaled_dot_product_attention, batch, batch, batch),
    "einsum": (lambda a, b: torch.einsum("ij,jk->ik", a, b), x, y),
    "tensordot": (lambda a, b: torch.tensordot(a, b, 1), x, y),
    "multi_dot": (lambda a, b: torch.linalg.multi_dot([a, b, a]), x, y),
    "matrix_power": (lambda a: torch.linalg.matrix_power(a, 3), x),
    "vecdot": (torch.linalg.vecdot, x, y),
}


@pytest.mark.parametrize("dtype", LOWER)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_cast_to_the_lower_type(name, dtype):
    function, *args = PRODUCTS[name]
    by_hand = function(*(a if a is None else a.to(dtype) for a in args))
    with torch.autocast("cpu", dtype=dtype):
        same(function(*args), by_hand)
    assert function(*args).dtype is torch.float32


p = torch.rand(3, 3) * 0.8 + 0.1
SINGLE = {
    "mse_loss": (F.mse_loss, x, y),
    "l1_loss": (F.l1_loss, x, y),
    "smooth_l1_loss": (F.smooth_l1_loss, x, y),
    "huber_loss": (F.huber_loss, x, y),
    "cross_entropy": (F.cross_entropy, x, labels),
    "nll_loss": (F.nll_loss, x, labels),
    "kl_div": (lambda a, b: F.kl_div(a, b, reduction="sum"), x, p),
    "binary_cross_entropy": (F.binary_cross_entropy, p, p),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, x, p),
    "poisson_nll_loss": (F.poisson_nll_loss, x, y),
    "margin_ranking_loss": (F.margin_ranking_loss, v, v, v),
    "hinge_embedding_loss": (F.hinge_embedding_loss, x, torch.ones(3, 3)),
    "cosine_embedding_loss": (F.cosine_embedding_loss, x, y, torch.ones(3)),
    "soft_margin_loss": (F.soft_margin_loss, x, y),
    "multi_margin_loss": (F.multi_margin_loss, x, labels),
    "multilabel_margin_loss": (F.multilabel_margin_loss, x, labels.expand(3, 3).contiguous()),
    "triplet_margin_loss": (F.triplet_margin_loss, x, y, p),
    "ctc_loss": (
        lambda a: F.ctc_loss(a, torch.tensor([[1]]), [3], [1]), batch[:1].transpose(0, 1).log_softmax(-1),
    ),
    "prod": (torch.prod, p),
    "prod of a dimension": (lambda a: a.prod(0), p),
    "trace": (torch.trace, x),
    "cdist": (torch.cdist, x, y),
    "quantile": (torch.quantile, x, 0.3),
    "inverse": (torch.inverse, x),
    "linalg.inv": (torch.linalg.inv, x),
    "linalg.svd": (lambda a: torch.linalg.svd(a)[1], x),
    "linalg.solve": (torch.linalg.solve, x, y),
    "linalg.qr": (lambda a: torch.linalg.qr(a)[1], x),
    "pinverse": (torch.pinverse, x),
    "fft": (lambda a: torch.fft.fft(a).real, x),
    "stft": (lambda a: torch.stft(a, 4, return_complex=True, window=torch.ones(4)).real, torch.rand(16)),
    "avg_pool3d": (lambda a: F.avg_pool3d(a, 2), volume),
    "max_pool3d": (lambda a: F.max_pool3d(a, 2), volume),
    "adaptive_avg_pool3d": (lambda a: F.adaptive_avg_pool3d(a, 2), volume),
    "grid_sample": (lambda a, g: F.grid_sample(a, g, align_corners=False), image, torch.rand(1, 2, 2, 2)),
    "reflection": (lambda a: F.pad(a, (1, 1, 1, 1), "reflect"), image),
    "replication": (lambda a: F.pad(a, (1, 1), "replicate"), batch),
    "max_unpool2d": (lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2), image[..., :4, :4]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", LOWER)
@pytest.mark.parametrize("name", SINGLE)
def test_what_loses_too_much_computes_in_float32(name, dtype):
    function, *args = SINGLE[name]
    lower = [
        a.to(dtype) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args
    ]
    again = [a.float() if isinstance(a, torch.Tensor) and a.dtype is dtype else a for a in lower]
    by_hand = function(*again)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        same(function(*lower), by_hand)


def test_others_compute_in_what_they_are_given():
    half = x.bfloat16()
    with torch.autocast("cpu"):
        for function in (
            torch.exp,
            torch.sum,
            lambda a: a + a,
            lambda a: torch.softmax(a, 0),
            torch.linalg.norm,
        ):
            assert function(half).dtype is torch.bfloat16 and function(x).dtype is torch.float32
        assert F.layer_norm(x, (3,)).dtype is torch.float32
        assert F.pad(volume.bfloat16(), (1,) * 6, "reflect").dtype is torch.bfloat16
        assert F.pad(half, (1, 1)).dtype is torch.bfloat16
        assert torch.mv(x, v).dtype is torch.dot(v, v).dtype is torch.float32


def test_functions_of_linear_algebra_multiply_in_their_own_type():
    a = x + torch.eye(3) * 3
    expected = (
        torch.matrix_exp(a),
        torch.linalg.polar(a)[0],
        torch.linalg.pinv(a),
        torch.linalg.det(a),
    )
    with torch.autocast("cpu"):
        got = (
            torch.matrix_exp(a),
            torch.linalg.polar(a)[0],
            torch.linalg.pinv(a),
            torch.linalg.det(a),
        )
    for e, g in zip(expected, got):
        same(g, e)


def test_joins_take_the_widest():
    half = x.bfloat16()
    with torch.autocast("cpu"):
        same(torch.cat([half, x]), torch.cat([half.float(), x]))
        same(torch.stack([half, x]), torch.stack([half.float(), x]))
        same(
            torch.index_copy(half, 0, torch.tensor([0]), x[:1]),
            half.float().index_copy(0, torch.tensor([0]), x[:1]),
        )
        assert torch.cat([half, half]).dtype is torch.bfloat16
        assert torch.cat([half, x.double()]).dtype is torch.float64
    with pytest.raises(RuntimeError):
        torch.index_copy(half, 0, torch.tensor([0]), x[:1])


def test_operands_that_are_never_cast():
    with torch.autocast("cpu"):
        assert (x.double() @ y.double()).dtype is torch.float64
        assert (labels.view(1, 3) @ labels.view(3, 1)).dtype is torch.int64
        assert (x.to("meta") @ y.to("meta")).dtype is torch.float32
        assert (x.to(torch.complex64) @ y.to(torch.complex64)).dtype is torch.complex64
        with pytest.raises(RuntimeError):
            torch.mm(x.double(), y)


def test_out_and_in_place_compute_in_their_operands_type():
    expected = torch.mm(x, y)
    with torch.autocast("cpu"):
        same(torch.mm(x, y, out=torch.empty(3, 3)), expected)
        same(torch.zeros(3, 3).addmm_(x, y), torch.zeros(3, 3) + expected)
        same(torch.linalg.inv(x, out=torch.empty(3, 3)), torch.linalg.inv(x))


def test_contexts_nest_and_restore():
    with torch.autocast("cpu", dtype=torch.float16):
        assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.float16
        with torch.autocast("cpu", enabled=False):
            assert torch.mm(x, y).dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
            with torch.autocast("cpu", dtype=torch.bfloat16):
                assert torch.mm(x, y).dtype is torch.bfloat16
        with pytest.raises(ZeroDivisionError):
            with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
                assert not torch.is_autocast_cache_enabled()
                raise ZeroDivisionError
        assert torch.mm(x, y).dtype is torch.float16
    context = torch.autocast("cpu")
    with context, context:
        assert torch.mm(x, y).dtype is torch.bfloat16
    assert torch.mm(x, y).dtype is torch.float32


def test_as_decorator():
    @torch.autocast("cpu", dtype=torch.float16)
    def product(a, b=y):
        """Documented."""
        return a @ b

    assert product(x).dtype is product(x, b=y).dtype is torch.float16
    assert product.__name__ == "product" and product.__doc__ == "Documented."
    assert torch.mm(x, y).dtype is torch.float32


def test_a_thread_has_its_own_state():
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(torch.mm(x, y).dtype))
        thread.start()
        thread.join()
    assert seen == [torch.float32]


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="device_type"):
        torch.autocast(torch.device("cpu"))
    with pytest.raises(RuntimeError):
        torch.autocast("meta")
    with pytest.raises(RuntimeError):
        torch.autocast("nothing")
    with pytest.raises(TypeError):
        torch.set_autocast_enabled("cpu", 1)
    with pytest.warns(UserWarning, match="not supported"):
        off = torch.autocast("cpu", dtype=torch.float32)
    with off:
        assert torch.mm(x, y).dtype is torch.float32
    with pytest.warns(UserWarning, match="CUDA"):
        off = torch.autocast("cuda")
    with off:
        assert torch.mm(x, y).dtype is torch.float32
    assert torch.amp.is_autocast_available("cpu") and not torch.amp.is_autocast_available("meta")


def test_state_by_functions():
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert torch.mm(x, y).dtype is torch.float16 and torch.is_autocast_cpu_enabled()
        assert not torch.is_autocast_enabled() and torch.get_autocast_dtype("cuda") is torch.float16
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    assert torch.autocast_increment_nesting() == 1 and torch.autocast_decrement_nesting() == 0


# ---- gradients


def test_gradients_have_the_parameters_type():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.autocast("cpu"):
        out = model(x)
        loss = F.cross_entropy(out, torch.tensor([0, 1, 1]))
    assert out.dtype is torch.bfloat16 and loss.dtype is torch.float32
    loss.backward()
    by_hand = {name: q.detach().bfloat16().requires_grad_() for name, q in model.named_parameters()}
    out = torch.func.functional_call(model, by_hand, x.bfloat16())
    F.cross_entropy(out.float(), torch.tensor([0, 1, 1])).backward()
    for name, q in model.named_parameters():
        same(q.grad, by_hand[name].grad.float())


def uses(w, cache):
    with torch.autocast("cpu", cache_enabled=cache):
        return ((x @ w) * 3).float().sum() + (y @ w).float().sum()


def test_kept_casts_add_gradients_in_the_lower_type():
    w = torch.rand(3, 3, requires_grad=True)
    (kept,) = torch.autograd.grad(uses(w, True), w)
    (apart,) = torch.autograd.grad(uses(w, False), w)
    one = w.detach().bfloat16().requires_grad_()
    (((x.bfloat16() @ one) * 3).float().sum() + (y.bfloat16() @ one).float().sum()).backward()
    same(kept, one.grad.float())
    a, b = (w.detach().bfloat16().requires_grad_() for _ in range(2))
    (((x.bfloat16() @ a) * 3).float().sum() + (y.bfloat16() @ b).float().sum()).backward()
    same(apart, a.grad.float() + b.grad.float())


def test_a_kept_cast_is_never_stale():
    w = torch.rand(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        first = x @ w
        with torch.no_grad():
            without = x @ w
            w.mul_(2)
        assert not without.requires_grad
        same(x @ w, (x.bfloat16() @ w.detach().bfloat16()))
        assert (x @ w).requires_grad and not torch.equal(first, x @ w)
        torch.clear_autocast_cache()
        w.data = torch.ones(3, 3)
        same(x @ w, x.bfloat16() @ torch.ones(3, 3).bfloat16())
        w.data = torch.zeros(3, 3)
        same(x @ w, torch.zeros(3, 3).bfloat16())


def test_backward_inside_of_the_context():
    w = torch.rand(3, 3, requires_grad=True)
    with torch.autocast("cpu"):
        loss = torch.linalg.inv(w + 3 * torch.eye(3)).sum()
        loss.backward()
    inside, w.grad = w.grad, None
    torch.linalg.inv(w + 3 * torch.eye(3)).sum().backward()
    same(inside, w.grad)


def test_checkpoints_run_again_in_the_same_state():
    model = nn.Linear(3, 3)
    grads = []
    for run in (lambda m, a: m(a), lambda m, a: checkpoint(m, a, use_reentrant=False)):
        with torch.autocast("cpu"):
            out = run(model, x.clone().requires_grad_())
        out.float().square().sum().backward()
        grads.append(model.weight.grad)
        model.zero_grad()
    same(*grads)


class Scaled(torch.autograd.Function):
    seen: list = []

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        Scaled.seen.append(torch.is_autocast_enabled("cpu"))
        return g @ b.t(), a.t() @ g


class Exact(Scaled):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        assert not torch.is_autocast_enabled("cpu")
        return a @ b


def test_custom_functions():
    Scaled.seen.clear()
    a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
    with torch.autocast("cpu"):
        out = Scaled.apply(a, b)
        exact = Exact.apply(a.bfloat16(), b)
    assert out.dtype is torch.bfloat16 and exact.dtype is torch.float32
    out.float().sum().backward()
    exact.sum().backward()
    with torch.autocast("cpu"):
        plain = Scaled.apply(a, b).float().sum()
    plain.backward()
    assert Scaled.seen == [True, False, True]
    with pytest.raises(TypeError):
        torch.amp.custom_fwd(lambda ctx: None)
    with pytest.raises(ValueError):
        torch.amp.custom_bwd(lambda ctx: None, device_type=3)


MODULES = {
    "lstm": (lambda: nn.LSTM(3, 4), (torch.bfloat16, torch.bfloat16)),
    "gru": (lambda: nn.GRU(3, 4), (torch.float32, torch.float32)),
    "rnn": (lambda: nn.RNN(3, 4), (torch.bfloat16, torch.bfloat16)),
    "lstm cell": (lambda: nn.LSTMCell(3, 4), (torch.float32, torch.float32)),
    "gru cell": (lambda: nn.GRUCell(3, 4), (torch.float32,)),
    "rnn cell": (lambda: nn.RNNCell(3, 4), (torch.bfloat16,)),
    "encoder": (lambda: nn.TransformerEncoderLayer(3, 1, 8), (torch.float32,)),
    "attention": (lambda: nn.MultiheadAttention(3, 1), (torch.bfloat16, torch.bfloat16)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    make, expected = MODULES[name]
    module = make()
    with torch.autocast("cpu"):
        out = module(x, x, x) if name == "attention" else module(x)
    flat = []

    def collect(value):
        if isinstance(value, torch.Tensor):
            flat.append(value)
        else:
            for item in value:
                collect(item)

    collect(out)
    assert tuple(t.dtype for t in flat)[: len(expected)] == expected
    flat[0].float().sum().backward()
    assert all(q.grad is None or q.grad.dtype is torch.float32 for q in module.parameters())


# ---- compiled functions


def settled(function, *args):
    for _ in range(4):
        function(*args)
        torch._C._jit_wait(60.0)


def product(a, b):
    return a @ b


def training(model, a):
    with torch.autocast("cpu"):
        loss = F.mse_loss(model(a), torch.zeros(3, 2))
    loss.backward()
    return loss


@pytest.mark.parametrize("first", [False, True])
def test_compiled_code_notices_a_changed_state(first):
    compiled = torch.compile(product, background=False)
    states = {True: torch.autocast("cpu"), False: torch.autocast("cpu", enabled=False)}
    with torch.no_grad():
        with states[first]:
            settled(compiled, x, y)
        for state in (not first, first, not first):
            with states[state]:
                for _ in range(4):
                    same(compiled(x, y), product(x, y))
        with torch.autocast("cpu", dtype=torch.float16):
            same(compiled(x, y), product(x, y))
            settled(compiled, x, y)
            same(compiled(x, y), product(x, y))
        same(compiled(x, y), product(x, y))


def test_a_compiled_step_has_the_bits_of_eager():
    results = []
    for wrap in (lambda f: f, lambda f: torch.compile(f, background=False)):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 2))
        optimizer, step = torch.optim.SGD(model.parameters(), lr=0.1), wrap(training)
        for _ in range(8):
            optimizer.zero_grad()
            loss = step(model, x)
            optimizer.step()
        results.append([loss.detach(), *(q.detach() for q in model.parameters())])
    for a, b in zip(*results):
        same(a, b)


def test_compiled_under_an_outer_context_with_changing_parameters():
    model = nn.Linear(3, 3)
    compiled = torch.compile(lambda a: model(a), background=False)
    with torch.autocast("cpu"):
        for i in range(8):
            same(compiled(x), F.linear(x, model.weight, model.bias))
            with torch.no_grad():
                model.weight.add_(0.1 * i)


def test_control_flow_records_the_casts():
    def branch(a, b):
        return torch.cond(a.sum() > 0, lambda s, t: s @ t, lambda s, t: s @ t + 1, (a, b))

    with torch.autocast("cpu"):
        same(branch(x, y), x.bfloat16() @ y.bfloat16())
    same(branch(x, y), x @ y)


# ---- GradScaler on the CPU


def test_scaling_on_the_cpu():
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for _ in range(2):
        optimizer.zero_grad()
        scaler.scale((w * 0.5).sum()).backward()
        assert w.grad.tolist() == [0.5 * scaler.get_scale()] * 2
        scaler.step(optimizer)
        with pytest.raises(RuntimeError, match="step"):
            scaler.step(optimizer)
        with pytest.raises(RuntimeError, match="after step"):
            scaler.unscale_(optimizer)
        scaler.update()
    assert w.tolist() == [0.0, 0.0] and scaler.get_scale() == 16.0
    w.grad = torch.tensor([1.0, float("nan")])
    assert scaler.step(optimizer) is None and w.tolist() == [0.0, 0.0]
    scaler.update()
    assert scaler.get_scale() == 8.0
    scaler.update(torch.tensor(3.0))
    assert scaler.get_scale() == 3.0
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match="inf checks"):
        scaler.step(optimizer)
    with pytest.raises(ValueError):
        scaler.scale(1.0)
    half = torch.ones(1, dtype=torch.float16, requires_grad=True)
    half.grad = torch.ones(1, dtype=torch.float16)
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(torch.optim.SGD([half], lr=1.0))


def test_the_scale_is_a_float32():
    scaler = torch.amp.GradScaler("cpu", init_scale=3e38, growth_interval=1, backoff_factor=0.1)
    w = torch.ones(1, requires_grad=True)
    w.grad = torch.ones(1)
    scaler.step(torch.optim.SGD([w], lr=0.0))
    scaler.update()
    assert scaler.get_scale() == torch.tensor(3e38).item()


def test_wrapped_functions_look_like_functions():
    assert F.mse_loss.__name__ == "mse_loss" and "Squared" in F.mse_loss.__doc__
    assert list(inspect.signature(F.huber_loss).parameters)[:2] == ["input", "target"]
    assert pickle.loads(pickle.dumps(F.mse_loss)) is copy.deepcopy(F.mse_loss) is F.mse_loss
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        F.kl_div(x, x)
    assert caught and caught[0].filename == __file__
