"""Optimizers and schedules against figures that PyTorch 2.15 gave for the same gradients and steps (float64)."""

import copy
import json
import pathlib
import pickle

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
S = torch.optim.lr_scheduler
START = [[1.0, -2.0, 0.5], [0.25, 3.0, -1.5]]

REFERENCE = json.loads((pathlib.Path(__file__).parent / "reference/optim.json").read_text())
STEPS, SCHEDULES, PLATEAU = (REFERENCE[key] for key in ("steps", "schedules", "plateau"))


def schedule(expression, o):
    """The schedule of an expression such as "S.StepLR(o, 3)" for the optimizer o."""
    return eval(expression, {"S": S, "o": o})


def gradient(i):
    rows = [
        [(-1) ** (i + j + k) * (0.1 + 0.3 * j + 0.2 * k) * (1 + i % 3) for k in range(3)]
        for j in range(2)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def parameter(values=START):
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def run(p, optimizer, steps):
    for i in steps:
        p.grad = gradient(i)
        optimizer.step()


@pytest.mark.parametrize("name, options, want", STEPS)
def test_seven_steps_give_pytorchs_figures(name, options, want):
    p = parameter()
    optimizer = getattr(torch.optim, name)([p], **options)
    run(p, optimizer, range(7))
    np.testing.assert_allclose(p.detach().numpy().ravel(), want, rtol=2e-7, atol=1e-9)


@pytest.mark.parametrize("name, options, want", STEPS)
def test_saved_state_continues_the_same_way(name, options, want, tmp_path):
    p = parameter()
    optimizer = getattr(torch.optim, name)([p], **options)
    run(p, optimizer, range(3))
    torch.save(optimizer.state_dict(), tmp_path / "o.pt")
    q = parameter(p.detach().numpy().tolist())
    other = getattr(torch.optim, name)([q], lr=0.7)
    other.load_state_dict(torch.load(tmp_path / "o.pt"))
    assert set(other.param_groups[0]) == set(optimizer.param_groups[0])
    run(p, optimizer, range(3, 6))
    run(q, other, range(3, 6))
    # As in PyTorch, loading casts 0-d state such as NAdam's mu_product to the parameter's dtype.
    np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-7)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "LBFGS"])
def test_optimizers_copy_and_pickle(name):
    p = parameter()
    optimizer = getattr(torch.optim, name)([p], lr=0.25)
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert other.param_groups[0]["lr"] == 0.25
        assert other.param_groups[0]["params"][0] is not p
        assert torch.equal(other.param_groups[0]["params"][0], p)


def test_tensor_learning_rates_are_used_and_filled():
    p = parameter([[1.0]])
    optimizer = torch.optim.SGD([p], lr=torch.tensor(0.5))
    p.grad = torch.ones(1, 1, dtype=torch.float64)
    rate = optimizer.param_groups[0]["lr"]
    scheduler = S.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert p.item() == 0.5 and rate is optimizer.param_groups[0]["lr"] and rate.item() == 0.25


def quadratic(p, optimizer):
    scale = torch.tensor([1.0, 3.0, 0.5], dtype=torch.float64)

    def closure():
        optimizer.zero_grad()
        loss = ((p - 1) ** 2 * scale).sum()
        loss.backward()
        return loss

    return closure


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum(search):
    p = parameter()
    optimizer = torch.optim.LBFGS([p], max_iter=30, line_search_fn=search)
    optimizer.step(quadratic(p, optimizer))
    np.testing.assert_allclose(p.detach().numpy(), np.ones((2, 3)), atol=1e-6)
    assert set(optimizer.state_dict()["state"][0]) >= {"func_evals", "n_iter", "d", "t", "H_diag"}


def test_hooks_see_and_replace_the_arguments():
    p, seen = parameter([[1.0]]), []
    optimizer = torch.optim.SGD([p], lr=1.0)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "mark": 1})
    optimizer.register_load_state_dict_pre_hook(
        lambda o, state: {k: v for k, v in state.items() if k != "mark"}
    )
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "before"]
    state = optimizer.state_dict()
    assert state["mark"] == 1
    optimizer.load_state_dict(state)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda p: torch.optim.Adam([p], betas=(1.0, 0.9)), "beta parameter at index 0: 1.0"),
        (lambda p: torch.optim.AdamW([p], eps=-1), "epsilon value: -1"),
        (lambda p: torch.optim.RMSprop([p], momentum=-1), "momentum value: -1"),
        (lambda p: torch.optim.Adagrad([p], lr_decay=-1), "lr_decay value: -1"),
        (lambda p: torch.optim.Rprop([p], etas=(2, 3)), "eta values: 2, 3"),
        (lambda p: torch.optim.SGD([("a", p), p]), "with/without names"),
        (lambda p: torch.optim.Muon([torch.nn.Parameter(torch.ones(2))]), "2D"),
    ],
)
def test_wrong_options_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make(parameter())


def test_fused_and_foreach_exclude_each_other():
    with pytest.raises(RuntimeError, match="fused"):
        torch.optim.Adam([parameter()], fused=True, foreach=True)


def two_groups():
    params = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    groups = [{"params": [p], "lr": lr} for p, lr in zip(params, (0.5, 0.1))]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def rates(optimizer):
    return [group["lr"] for group in optimizer.param_groups]


@pytest.mark.parametrize("name, expression, want", SCHEDULES, ids=[row[0] for row in SCHEDULES])
def test_schedules_give_pytorchs_rates(name, expression, want):
    optimizer = two_groups()
    scheduler = schedule(expression, optimizer)
    assert type(scheduler).__name__ == name
    got = [rates(optimizer)]
    for _ in range(8):
        optimizer.step()
        scheduler.step()
        got.append(rates(optimizer))
        assert scheduler.get_last_lr() == got[-1]
    np.testing.assert_allclose(got, want, rtol=1e-10)


@pytest.mark.parametrize("name, expression, want", SCHEDULES, ids=[row[0] for row in SCHEDULES])
def test_saved_schedules_continue(name, expression, want):
    optimizer = two_groups()
    scheduler = schedule(expression, optimizer)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    other = two_groups()
    second = schedule(expression, other)
    second.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    other.load_state_dict(optimizer.state_dict())
    other.step()
    second.step()
    np.testing.assert_allclose(rates(other), want[5], rtol=1e-10)


def test_plateau_gives_pytorchs_rates():
    optimizer = two_groups()
    scheduler = S.ReduceLROnPlateau(
        optimizer, patience=1, factor=0.5, cooldown=1, min_lr=[0.1, 0.01]
    )
    got = [rates(optimizer)]
    for metric in [1, 0.9, 0.9, 0.95, 0.9, 0.9, 0.9, 0.9]:
        optimizer.step()
        scheduler.step(metric)
        got.append(rates(optimizer))
    np.testing.assert_allclose(got, PLATEAU, rtol=1e-10)


def test_steps_in_the_wrong_order_are_warned_of():
    optimizer = two_groups()
    scheduler = S.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda o: S.StepLR(3, 1), TypeError),
        (lambda o: S.ExponentialLR(o, 0.9, last_epoch=3), KeyError),
        (lambda o: S.LambdaLR(o, [lambda e: 1]), ValueError),
        (lambda o: S.OneCycleLR(o, 0.1), ValueError),
        (lambda o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]), ValueError),
        (lambda o: S.ReduceLROnPlateau(o, mode="up"), ValueError),
        (lambda o: S.CyclicLR(o, 0.1, 0.2, mode="square"), ValueError),
    ],
)
def test_wrong_schedules_are_refused(make, error):
    with pytest.raises(error):
        make(two_groups())


def test_averaged_models():
    model = torch.nn.Linear(2, 1, bias=False)
    average = torch.optim.swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model.weight.fill_(value)
        average.update_parameters(model)
    assert average.module.weight.tolist() == [[3.0, 3.0]] and average.n_averaged == 3
    ema = torch.optim.swa_utils.AveragedModel(
        model, avg_fn=torch.optim.swa_utils.get_ema_avg_fn(0.5)
    )
    ema.update_parameters(model)
    with torch.no_grad():
        model.weight.fill_(2.0)
    ema.update_parameters(model)
    assert ema.module.weight.tolist() == [[4.0, 4.0]]


def test_clipping():
    p, q = parameter([[3.0]]), parameter([[4.0]])
    p.grad, q.grad = p.detach().clone(), q.detach().clone()
    assert torch.nn.utils.clip_grad_norm_([p, q], 2.5).item() == 5.0
    np.testing.assert_allclose([p.grad.item(), q.grad.item()], [1.5, 2.0], rtol=1e-6)
    torch.nn.utils.clip_grad_value_([p, q], 1.75)
    assert q.grad.item() == 1.75
    q.grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        torch.nn.utils.clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
    assert torch.nn.utils.clip_grad_norm_([p], 1.0, norm_type=float("inf")).item() > 0


@pytest.mark.parametrize(
    "name, options",
    [(row[0], row[1]) for row in STEPS] + [("Muon", {})],
)
def test_a_whole_step_is_one_graph(name, options):
    """No optimizer reads a tensor's value: the exporter refuses what does."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4, bias=False), torch.nn.ReLU())
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    step(torch.ones(5, 3))
    assert torch.export.export(step, (torch.ones(5, 3),)).inputs == ("x",)
