"""Modules: registration, names, state_dicts, hooks, starting values, printing."""

import copy
import math
from collections import OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
nn = torch.nn
F = nn.functional


def mlp():
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2, bias=False))


class Owner(nn.Module):
    """One of each: a parameter, two buffers, a child, a plain attribute."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.child = nn.Linear(3, 2)
        self.plain = 7

    def forward(self, x, scale=1):
        return self.child(x) * scale


def test_names_and_order_are_pytorchs():
    assert list(mlp().state_dict()) == ["0.weight", "0.bias", "2.weight"]
    owner = Owner()
    assert [name for name, _ in owner.named_parameters()] == [
        "weight",
        "child.weight",
        "child.bias",
    ]
    assert [name for name, _ in owner.named_buffers()] == ["mean", "scratch"]
    assert list(owner.state_dict()) == ["weight", "mean", "child.weight", "child.bias"]
    assert [name for name, _ in owner.named_modules()] == ["", "child"]
    assert [name for name, _ in owner.named_parameters(recurse=False)] == ["weight"]


def test_shared_parameters_are_listed_once():
    a = nn.Linear(2, 2)
    both = nn.Sequential(a, a)
    assert len(list(both.parameters())) == 2
    assert len(list(both.named_parameters(remove_duplicate=False))) == 4
    assert list(both.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_assignment_registers_and_moves_between_registries():
    owner = Owner()
    owner.plain = nn.Parameter(torch.ones(1))
    assert "plain" in owner._parameters and "plain" not in owner.__dict__
    owner.mean = nn.Parameter(torch.ones(3))
    assert "mean" not in owner._buffers and "mean" in owner._parameters
    owner.child = None
    assert owner.child is None and "child" in owner._modules
    del owner.weight
    assert not hasattr(owner, "weight")


@pytest.mark.parametrize(
    "change, error, text",
    [
        (lambda m: setattr(m, "weight", torch.ones(2)), TypeError, "weight"),
        (lambda m: setattr(m, "child", 3), TypeError, "child"),
        (lambda m: setattr(m, "mean", 3), TypeError, "mean"),
        (lambda m: m.register_parameter("a.b", None), KeyError, "a.b"),
        (lambda m: m.register_parameter("", None), KeyError, "empty"),
        (lambda m: m.register_parameter("plain", None), KeyError, "plain"),
        (lambda m: m.register_parameter("x", torch.ones(1)), TypeError, "Parameter"),
        (lambda m: m.register_buffer("x", 1), TypeError, "Tensor"),
        (lambda m: m.add_module("x", 1), TypeError, "Module"),
        (lambda m: m.missing, AttributeError, "missing"),
        (lambda m: m.get_submodule("child.weight"), AttributeError, "weight"),
        (lambda m: m.get_parameter("child.nothing"), AttributeError, "nothing"),
        (lambda m: m.train("yes"), ValueError, "boolean"),
        (lambda m: m.to(torch.int64), TypeError, "int64"),
        (lambda m: nn.Module()(1), NotImplementedError, "forward"),
    ],
)
def test_misuse_is_named(change, error, text):
    with pytest.raises(error, match=text):
        change(Owner())


def test_assigning_before_init_is_refused():
    class Late(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Late()


def test_every_write_moves_the_epoch():
    epoch = torch._C._epoch
    owner = Owner()
    writes = [
        lambda: setattr(owner, "plain", 8),
        lambda: setattr(owner, "weight", nn.Parameter(torch.ones(2))),
        lambda: setattr(owner, "child", nn.Linear(1, 1)),
        lambda: owner._parameters.update(weight=None),
        lambda: owner._buffers.pop("mean"),
        lambda: owner.eval(),
        lambda: delattr(owner, "plain"),
        lambda: owner.register_forward_hook(print).remove(),
    ]
    for write in writes:
        before = epoch()
        write()
        assert epoch() > before


def test_state_dict_round_trip_and_sharing():
    a, b = mlp(), mlp()
    result = b.load_state_dict(a.state_dict())
    assert not result.missing_keys and not result.unexpected_keys
    for x, y in zip(a.parameters(), b.parameters()):
        assert np.array_equal(x.detach().numpy(), y.detach().numpy())
        assert x.data_ptr() != y.data_ptr()
    assert a.state_dict()["0.weight"].data_ptr() == a[0].weight.data_ptr()
    assert not a.state_dict()["0.weight"].requires_grad
    assert a.state_dict(keep_vars=True)["0.weight"] is a[0].weight
    assert isinstance(a.state_dict(), OrderedDict)
    assert a.state_dict()._metadata["0"] == {"version": 1}


def test_load_names_everything_that_is_wrong():
    model = mlp()
    state = model.state_dict()
    del state["0.bias"]
    state["extra"] = torch.ones(1)
    state["2.weight"] = torch.ones(5, 5)
    with pytest.raises(RuntimeError) as error:
        model.load_state_dict(state)
    for text in ("0.bias", "extra", "2.weight", "[5, 5]", "[2, 3]"):
        assert text in str(error.value)
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(state, strict=False)
    state["2.weight"] = torch.zeros(2, 3)
    assert model.load_state_dict(state, strict=False) == (["0.bias"], ["extra"])
    with pytest.raises(TypeError, match="dict"):
        model.load_state_dict(3)


def test_load_takes_the_real_parts_of_complex_values():
    layer = nn.Linear(2, 2)
    weight = torch.tensor([[1 + 2j, 3], [5j, 6 - 1j]])
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        layer.load_state_dict({"weight": weight.t(), "bias": weight[1]})
    assert layer.weight.tolist() == [[1, 0], [3, 6]] and layer.bias.tolist() == [0, 6]


def test_load_names_values_that_cannot_be_copied():
    state = {"weight": torch.ones(2, 2, device="meta"), "bias": torch.ones(2)}
    with pytest.raises(RuntimeError, match=r'named "weight".*an exception occurred'):
        nn.Linear(2, 2).load_state_dict(state)


def test_zeroed_gradients_stay_the_same_tensors():
    layer = nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    grad = layer.weight.grad
    layer.zero_grad(False)
    assert grad is layer.weight.grad and grad.sum().item() == 0
    layer.zero_grad()
    (layer(torch.ones(1, 2)) ** 2).sum().backward(create_graph=True)
    grad = layer.weight.grad
    assert grad.requires_grad
    layer.zero_grad(set_to_none=False)
    assert grad is layer.weight.grad and grad.grad_fn is None and not grad.requires_grad


def test_losses_refuse_what_does_not_fit():
    F = nn.functional
    ones = torch.ones(2, 3)
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss):
        for weight in (torch.ones(3), torch.ones(2, 1)):
            with pytest.raises(ValueError, match="same size"):
                loss(ones, 0 * ones, weight=weight)
        assert loss(ones, 2 * ones, weight=ones).item() in (1.0, 0.5)
    log_probs = torch.randn(5, 2, 4).log_softmax(2)
    rows, flat = torch.tensor([[1, 2], [1, 2]]), torch.tensor([1, 2, 3])
    times = torch.tensor([5, 5])
    for targets, lengths, text in (
        (rows, [3, 1], "size at least 3 at dimension 1, but got size 2"),
        (torch.tensor([[1, 2]] * 3), [1, 1], "size 2 at dimension 0, but got size 3"),
        (flat, [3, 1], "size 4 at dimension 0, but got size 3"),
        (flat, [1, 1], "size 2 at dimension 0, but got size 3"),
        (flat, [4, -1], "at least 0, but got value -1"),
    ):
        with pytest.raises(RuntimeError, match=text):
            F.ctc_loss(log_probs, targets, times, torch.tensor(lengths))
    with pytest.raises(RuntimeError, match="input_lengths.*-5"):
        F.ctc_loss(log_probs, flat, torch.tensor([5, -5]), torch.tensor([2, 1]))
    same = F.ctc_loss(log_probs, torch.tensor([1, 2, 1]), times, torch.tensor([2, 1]))
    assert same.item() == F.ctc_loss(log_probs, rows, times, torch.tensor([2, 1])).item()


def test_cosine_similarity_counts_dimensions_after_broadcasting():
    a, b = torch.tensor([3.0, 4.0]), torch.tensor([[3.0, 4.0], [4.0, 3.0]])
    got = nn.functional.cosine_similarity(a, b, dim=1)
    np.testing.assert_allclose(got.numpy(), [1.0, 0.96], rtol=1e-6)
    with pytest.raises(IndexError):
        nn.functional.cosine_similarity(a, b, dim=2)


def test_load_with_assign_takes_the_tensors():
    model = nn.Linear(2, 2)
    state = {"weight": torch.zeros(2, 2), "bias": torch.ones(2)}
    model.load_state_dict(state, assign=True)
    assert isinstance(model.weight, nn.Parameter)
    assert model.weight.data_ptr() == state["weight"].data_ptr()


def test_forward_hooks_see_and_replace():
    owner, seen = Owner(), []
    first = owner.register_forward_pre_hook(lambda m, args: seen.append("pre"))
    owner.register_forward_hook(lambda m, args, out: seen.append("post"))
    owner.register_forward_hook(lambda m, a, k, out: seen.append(k) or out * 0, with_kwargs=True)
    owner.register_forward_pre_hook(lambda m, args: seen.append("first"), prepend=True)
    out = owner(torch.ones(1, 3), scale=2)
    assert seen == ["first", "pre", "post", {"scale": 2}]
    assert not out.detach().numpy().any()
    first.remove()
    first.remove()
    assert len(owner._forward_pre_hooks) == 1


def test_train_eval_apply_zero_grad():
    model, seen = mlp(), []
    assert model.training and not model.eval().training
    assert not model[0].training
    assert model.apply(lambda m: seen.append(type(m).__name__)) is model
    assert seen == ["Linear", "ReLU", "Linear", "Sequential"]
    model(torch.ones(1, 4)).sum().backward()
    assert model[0].weight.grad is not None
    model.zero_grad(set_to_none=False)
    assert not model[0].weight.grad.numpy().any()
    model.zero_grad()
    assert model[0].weight.grad is None
    assert not any(p.requires_grad for p in model.requires_grad_(False).parameters())


def test_to_casts_floats_only():
    owner = Owner()
    owner.register_buffer("count", torch.zeros(1, dtype=torch.int64))
    weight = owner.weight
    owner.double()
    assert owner.weight is weight and weight.dtype == torch.float64
    assert owner.mean.dtype == torch.float64 and owner.count.dtype == torch.int64


def test_linear_starts_within_its_bound_and_computes():
    torch.manual_seed(0)
    layer = nn.Linear(16, 8)
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    assert abs(weight).max() <= 1 / math.sqrt(16) and abs(bias).max() <= 1 / math.sqrt(16)
    assert weight.std() > 0.1
    x = np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 16)
    got = layer(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(got, x @ weight.T + bias, rtol=1e-5, atol=1e-6)
    torch.manual_seed(0)
    assert np.array_equal(nn.Linear(16, 8).weight.detach().numpy(), weight)


def test_containers_behave_like_lists():
    model = mlp()
    assert len(model) == 3 and isinstance(model[-1], nn.Linear) and len(model[:2]) == 2
    model.append(nn.ReLU()).insert(0, nn.ReLU())
    assert [type(m).__name__ for m in model] == ["ReLU", "Linear", "ReLU", "Linear", "ReLU"]
    del model[0]
    assert list(model._modules) == ["0", "1", "2", "3"]
    named = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.ReLU()))
    assert list(named._modules) == ["first", "second"]
    with pytest.raises(IndexError):
        model[9]


def test_copies_are_independent():
    model = mlp()
    other = copy.deepcopy(model)
    assert isinstance(other[0].weight, nn.Parameter)
    with torch.no_grad():
        other[0].weight.zero_()
    assert model[0].weight.detach().numpy().any()


def test_repr():
    assert repr(mlp()) == (
        "Sequential(\n"
        "  (0): Linear(in_features=4, out_features=3, bias=True)\n"
        "  (1): ReLU()\n"
        "  (2): Linear(in_features=3, out_features=2, bias=False)\n"
        ")"
    )


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_cross_entropy_against_numpy(reduction):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 3)).astype(np.float32)
    y = np.array([0, 2, 1, 1, 0])
    log_p = x - x.max(1, keepdims=True)
    log_p = log_p - np.log(np.exp(log_p).sum(1, keepdims=True))
    terms = -log_p[np.arange(5), y]
    want = {"none": terms, "mean": terms.mean(), "sum": terms.sum()}[reduction]
    got = nn.CrossEntropyLoss(reduction=reduction)(torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)


def test_truncated_normal_numbers_everywhere():
    """The mean of a normal distribution within [a, b] is mean + std (phi(a') - phi(b')) / (Phi(b') - Phi(a'))."""
    torch.manual_seed(0)
    fill = torch.nn.init.trunc_normal_
    for mean, std, a, b, want in (
        (0.0, 1.0, -2.0, 2.0, 0.0),
        (1.0, 2.0, -2.0, 1.5, 0.0331),
        (0.0, 1.0, 5.0, 6.0, 5.1831),
        (5.0, 0.1, -2.0, 2.0, 1.99667),
        (-5.0, 0.1, -2.0, 2.0, -1.99667),
    ):
        values = fill(torch.empty(20000), mean, std, a, b)
        assert a <= values.min().item() and values.max().item() <= b
        assert values.mean().item() == pytest.approx(want, abs=0.03 * std)
        assert values.std().item() > 0
    assert fill(torch.empty(3), 100.0, 0.1, 1.0, 2.0).tolist() == [2.0] * 3
    assert fill(torch.empty(3), 0.0, 0.0, 1.0, 2.0).tolist() == [1.0] * 3
    for a, b in ((2.0, 1.0), (math.nan, 1.0)):
        with pytest.raises(RuntimeError, match="a <= b"):
            fill(torch.empty(3), a=a, b=b)


def test_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="medium"):
        F.mse_loss(torch.ones(1), torch.ones(1), reduction="medium")


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_grad_modes_nest_decorate_and_restore(mode):
    want = mode is torch.enable_grad
    with torch.set_grad_enabled(not want):
        with mode():
            assert torch.is_grad_enabled() == want
        assert torch.is_grad_enabled() != want

        @mode()
        def plain():
            return torch.is_grad_enabled()

        @mode
        def bare():
            return torch.is_grad_enabled()

        @mode()
        def generator():
            got = yield torch.is_grad_enabled()
            yield got, torch.is_grad_enabled()

        assert plain() == bare() == want and plain.__name__ == "plain"
        running = generator()
        assert next(running) == want and torch.is_grad_enabled() != want
        assert running.send(5) == (5, want) and torch.is_grad_enabled() != want
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool"])
def test_embeddings_take_indices_of_two_types(dtype):
    table = torch.rand(5, 2)
    index = torch.tensor([1, 0]).to(getattr(torch, dtype))
    for call in (torch.nn.functional.embedding, torch.nn.functional.embedding_bag):
        with pytest.raises(RuntimeError, match="following scalar types: Long, Int; but got"):
            call(index.reshape(1, 2), table)
    assert torch.equal(torch.nn.functional.embedding(torch.tensor([1]).int(), table), table[1:2])


def test_a_learning_rate_is_a_number():
    with pytest.raises(TypeError):
        torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr="a")


def test_tables_and_groups_of_wrong_shape_are_refused():
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        F.embedding(torch.tensor([0]), torch.ones(3))
    with pytest.raises(RuntimeError, match="divisible by num_groups"):
        F.group_norm(torch.ones(1, 0, 2), 1)


def test_pools_refuse_wrong_ranks_and_sizes():
    for f in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        with pytest.raises(ValueError, match="at least 3 dimensions"):
            f(torch.ones(2, 2), (2, 2))
    for f in (F.adaptive_avg_pool1d, F.adaptive_max_pool1d):
        with pytest.raises(RuntimeError, match="1 output sizes"):
            f(torch.ones(1, 2, 3), ())
    with pytest.raises(RuntimeError, match="max_unpool2d"):
        F.max_unpool2d(torch.ones(4, 4), torch.zeros(4, 4, dtype=torch.int64), 2)
