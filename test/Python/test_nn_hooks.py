"""Hooks of modules, state_dict extensions, lazy modules, parametrizations."""

import collections
import copy
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
nn = torch.nn


def linear(weight=2.0):
    layer = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(weight)
    return layer


def test_backward_hooks_see_and_replace_gradients():
    layer, seen = linear(), []
    layer.register_full_backward_pre_hook(lambda m, out: (out[0] * 10,))
    layer.register_full_backward_hook(
        lambda m, inp, out: seen.append((inp[0].item(), out[0].item()))
    )
    handle = layer.register_full_backward_hook(lambda m, inp, out: (inp[0] + 1,))
    x = torch.ones(1, 1, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [(20.0, 10.0)] and x.grad.item() == 21.0 and layer.weight.grad.item() == 10.0
    handle.remove()
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.item() == 20.0


class Two(nn.Module):
    """Two outputs of the first input; a second input is unused."""

    def __init__(self, kind=lambda a, b: (a, b)):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
        self.kind = kind

    def forward(self, x, y=None):
        return self.kind(x * 2 * self.weight, x * 3 * self.weight)


def numbers(grads):
    return [None if g is None else g.item() for g in grads]


def watched(module):
    """(what its backward pre-hook saw, what its backward hook saw)."""
    before, after = [], []
    module.register_full_backward_pre_hook(lambda m, out: before.append(numbers(out)))
    module.register_full_backward_hook(
        lambda m, inp, out: after.append((numbers(inp), numbers(out)))
    )
    return before, after


def test_backward_hooks_without_differentiable_input():
    layer, seen = linear(), []
    layer.register_full_backward_hook(lambda m, inp, out: seen.append((inp, out[0].item())))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(torch.ones(1, 1)).sum().backward()
    assert seen == [((None,), 1.0)]
    module = Two()
    before, after = watched(module)
    p, q = module(torch.ones(()))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        (p + q * 5).backward()
    assert before == [[1.0, 5.0]] and after == [([None], [1.0, 5.0])]
    assert module.weight.grad.item() == 17
    module.register_full_backward_hook(lambda m, inp, out: (torch.ones(()),))
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="None for all gradients"):
        module(torch.ones(()))[0].backward()


def test_backward_hooks_run_once_for_all_inputs_and_outputs():
    module = Two()
    before, after = watched(module)
    x, y = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    p, q = module(x, y)
    (p + q * 5).backward(retain_graph=True)
    assert before == [[1.0, 5.0]] and after == [([17.0, 0.0], [1.0, 5.0])]
    assert x.grad.item() == 17 and y.grad.item() == 0
    p.backward(retain_graph=True)
    q.backward()
    assert before[1:] == [[1.0, None], [None, 1.0]]
    assert after[1:] == [([2.0, 0.0], [1.0, None]), ([3.0, 0.0], [None, 1.0])]


class Product(nn.Module):
    def forward(self, a, b):
        return a * b


def test_backward_hooks_see_zeros_of_tensors_without_gradient():
    module = Product()
    _, after = watched(module)
    module(torch.tensor(2.0), torch.tensor(3.0, requires_grad=True)).backward()
    assert after == [([0.0, 2.0], [1.0])]


def test_backward_hooks_refuse_inputs_written_in_place():
    layer = nn.ReLU(inplace=True)
    layer.register_full_backward_hook(lambda m, inp, out: None)
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="modified inplace.*custom Function"):
        layer(x * 2)
    with torch.no_grad():
        assert layer(x * 2).tolist() == [2, 0]


def test_backward_hooks_replace_each_gradient():
    module = Product()
    handle = module.register_full_backward_hook(lambda m, inp, out: (inp[0] * 10, inp[1] * 100))
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    module(a, b).backward()
    assert a.grad.item() == 30 and b.grad.item() == 200
    handle.remove()
    module.register_full_backward_hook(lambda m, inp, out: (None, None))
    a.grad = b.grad = None
    module(a, b).backward()
    assert a.grad is None and b.grad is None
    for register, name in (
        (module.register_full_backward_hook, "grad_input"),
        (module.register_full_backward_pre_hook, "grad_output"),
    ):
        handle = register(lambda m, *grads: (torch.ones(()),) * 3)
        with pytest.raises(RuntimeError, match=f"invalid number of {name}, got 3"):
            module(a, b).backward()
        handle.remove()


def test_backward_hooks_keep_the_kind_of_result():
    Pair = collections.namedtuple("Pair", "a b")
    module = Two(Pair)
    _, after = watched(module)
    x = torch.ones((), requires_grad=True)
    result = module(x)
    assert type(result) is Pair
    (result.a + result.b).backward()
    assert after == [([5.0], [1.0, 1.0])]
    for kind in (lambda a, b: [a, b], lambda a, b: {"a": a, "b": b}):
        module = Two(kind)
        _, after = watched(module)
        with pytest.warns(UserWarning, match="should be a Tensor or a tuple"):
            result = module(x)
        sum(result if isinstance(result, list) else result.values()).backward()
        assert not after


def test_always_called_hooks_run_after_an_error():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    module, seen = Fails(), []
    module.register_forward_hook(lambda m, args, result: seen.append(result), always_call=True)
    module.register_forward_hook(lambda m, args, result: seen.append("never"))
    with pytest.raises(ValueError, match="no"):
        module(1)
    assert seen == [None]


def test_global_hooks_see_every_module():
    from torchc.nn.modules.module import register_module_forward_hook

    seen = []
    handle = register_module_forward_hook(lambda m, args, result: seen.append(type(m).__name__))
    nn.Sequential(linear(), nn.ReLU())(torch.ones(1, 1))
    handle.remove()
    linear()(torch.ones(1, 1))
    assert seen == ["Linear", "ReLU", "Sequential"]


def test_state_dict_hooks_and_extra_state():
    class Extra(nn.Linear):
        extra = 1

        def get_extra_state(self):
            return {"extra": self.extra}

        def set_extra_state(self, state):
            self.extra = state["extra"]

    module = Extra(1, 1)
    module.extra = 7
    module.register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.update(mark=torch.ones(1))
    )
    module.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("mark"))
    module.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.clear())
    state = module.state_dict()
    assert list(state) == ["weight", "bias", "_extra_state", "mark"]
    other = Extra(1, 1)
    other.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("mark"))
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.extra == 7
    del state["_extra_state"]
    with pytest.raises(RuntimeError, match="_extra_state"):
        other.load_state_dict(state)


def test_load_with_assign_takes_the_tensors():
    layer, weight = linear(), torch.full((1, 1), 5.0)
    layer.load_state_dict({"weight": weight}, assign=True)
    assert layer.weight.data_ptr() == weight.data_ptr() and isinstance(layer.weight, nn.Parameter)
    assert layer.weight.requires_grad


def test_buffers():
    class Owner(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.Buffer(torch.ones(2))
            self.dropped = nn.Buffer(torch.ones(2), persistent=False)

    owner = Owner()
    assert list(owner.state_dict()) == ["kept"]
    assert [name for name, _ in owner.named_buffers()] == ["kept", "dropped"]
    owner.kept = torch.zeros(3)
    assert owner.get_buffer("kept").shape == (3,)
    with pytest.raises(TypeError, match="kept"):
        owner.kept = 3


def test_modules_copy_and_pickle():
    model = nn.Sequential(linear(), nn.BatchNorm1d(1), nn.ParameterList([torch.ones(2)]))
    model[0].register_forward_pre_hook(print)
    for other in (copy.deepcopy(model), copy.copy(model)):
        assert torch.equal(other[0].weight, model[0].weight)
    model[0]._forward_pre_hooks.clear()
    other = pickle.loads(pickle.dumps(model))
    assert list(other.state_dict()) == list(model.state_dict())
    epoch = torch._C._epoch()
    other[0].weight = None
    assert torch._C._epoch() > epoch  # its registries are ours again


def test_lazy_linear_takes_its_size_from_the_input():
    module = nn.LazyLinear(2)
    assert repr(module.weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        _ = module.weight.shape
    result = module(torch.ones(5, 3))
    assert type(module) is nn.Linear and result.shape == (5, 2) and module.in_features == 3
    other = nn.LazyLinear(2)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other(torch.ones(1, 3)), module(torch.ones(1, 3)))


def _saved_and_loaded(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), _saved_and_loaded]
)
def test_copies_of_lazy_modules_start_by_themselves(copied):
    module = nn.Sequential(nn.LazyLinear(2, dtype=torch.float64), nn.LazyBatchNorm1d())
    other = copied(module)
    assert other[0].weight.__dict__["_dtype"] is torch.float64
    x = torch.ones(3, 4, dtype=torch.float64)
    for _ in range(2):
        assert other[0](x).shape == (3, 2)
    assert type(other[0]) is nn.Linear and not other[0]._forward_pre_hooks
    assert other[1](torch.ones(3, 5)).shape == (3, 5)
    assert isinstance(module[0], nn.LazyLinear) and len(module[0]._forward_pre_hooks) == 1
    assert module[0](torch.ones(1, 7, dtype=torch.float64)).shape == (1, 2)


def test_copied_handles_remove_the_copied_hook():
    layer = linear()
    layer.handle = layer.register_forward_hook(_triple, with_kwargs=True)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert other(torch.ones(1, 1)).item() == 6
        newer = other.register_forward_hook(lambda m, args, result: result + 1)
        assert newer.id > other.handle.id
        other.handle.remove()
        assert other(torch.ones(1, 1)).item() == 3
        assert not other._forward_hooks_with_kwargs and len(layer._forward_hooks) == 1


def _triple(module, args, kwargs, result):
    return result * 3


def test_weight_norm_both_ways():
    from torchc.nn.utils import parametrizations, parametrize, remove_weight_norm, weight_norm

    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    assert [name for name, _ in layer.named_parameters()] == [
        "bias",
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    np.testing.assert_allclose(layer.weight.detach().numpy(), before.numpy(), rtol=1e-6)
    layer.weight = before * 2
    np.testing.assert_allclose(layer.weight.detach().numpy(), 2 * before.numpy(), rtol=1e-6)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_g.grad is not None
    remove_weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_functional_call_replaces_and_restores():
    from torchc.nn.utils.stateless import functional_call

    layer = linear()
    assert (
        functional_call(layer, {"weight": torch.full((1, 1), 7.0)}, torch.ones(1, 1)).item() == 7.0
    )
    assert layer.weight.item() == 2.0
    with pytest.raises(ValueError, match="nothing"):
        functional_call(layer, {"nothing": torch.ones(1)}, torch.ones(1, 1))


def test_containers_of_parameters():
    params = nn.ParameterList([torch.ones(1), torch.zeros(2)])
    params.append(torch.ones(3))
    assert len(params) == 3 and isinstance(params[-1], nn.Parameter)
    assert [name for name, _ in params.named_parameters()] == ["0", "1", "2"]
    named = nn.ParameterDict({"a": torch.ones(1)})
    named["b"] = torch.ones(2)
    assert list(named) == ["a", "b"] and "a" in named and named.pop("a").shape == (1,)
    modules = nn.ModuleDict({"x": nn.ReLU()})
    modules.update([("y", nn.Tanh())])
    assert list(modules.keys()) == ["x", "y"]
    with pytest.raises(TypeError, match="ModuleDict.update"):
        modules.update(3)
    twice = nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
    assert len(twice * 2) == 4


def test_packed_sequences_round_trip():
    from torchc.nn.utils import rnn

    a, b = torch.arange(6.0).reshape(3, 2), torch.arange(2.0).reshape(1, 2)
    packed = rnn.pack_sequence([b, a], enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [2, 1, 1] and packed.sorted_indices.tolist() == [1, 0]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True)
    assert lengths.tolist() == [1, 3] and torch.equal(padded[1], a)
    for got, want in zip(rnn.unpack_sequence(packed), [b, a]):
        assert torch.equal(got, want)
    with pytest.raises(RuntimeError, match="sorted"):
        rnn.pack_padded_sequence(padded, [1, 3], batch_first=True)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "constant"])
def test_padding_against_numpy(mode):
    x = np.arange(24.0).reshape(1, 2, 3, 4)
    names = {"replicate": "edge", "circular": "wrap"}
    want = np.pad(x, ((0, 0), (0, 0), (2, 1), (1, 3)), names.get(mode, mode))
    got = nn.functional.pad(torch.from_numpy(x), (1, 3, 2, 1), mode=mode)
    assert np.array_equal(got.numpy(), want)


def test_reductions_that_are_unknown_are_refused():
    for loss in (nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.KLDivLoss):
        with pytest.raises(ValueError, match="medium"):
            loss(reduction="medium")(torch.ones(1), torch.ones(1))
