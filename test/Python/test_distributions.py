"""Distributions against figures that PyTorch 2.15 gave, and samples against their own moments."""

import json
import pathlib

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
D = torch.distributions
t = torch.tensor
ROWS = json.loads((pathlib.Path(__file__).parent / "reference/distributions.json").read_text())


WHATS = ("log_prob", "entropy", "mean", "variance", "stddev", "cdf")
FIGURES = [(row, what) for row in ROWS for what in WHATS if what in row]


@pytest.mark.parametrize(
    ("row", "what"), FIGURES, ids=[f"{row['make']}-{what}" for row, what in FIGURES]
)
def test_figures_are_pytorchs(row, what):
    d = eval(row["make"], {"D": D, "t": t})
    assert list(d.batch_shape) == row["batch_shape"] and list(d.event_shape) == row["event_shape"]

    def compute():
        if what in ("log_prob", "cdf"):
            return getattr(d, what)(t(row["value"]))
        value = getattr(d, what)
        return value() if callable(value) else value

    got = compute()
    np.testing.assert_allclose(got.detach().numpy().ravel(), row[what], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("row", ROWS, ids=[row["make"] for row in ROWS])
def test_samples_have_the_shape_and_the_moments(row):
    torch.manual_seed(0)
    d = eval(row["make"], {"D": D, "t": t})
    assert list(d.sample((4,)).shape) == row["samples"]
    if "mean" not in row or "LogNormal" in row["make"]:
        return
    values = d.sample((20000,)).numpy().reshape(20000, -1)
    np.testing.assert_allclose(values.mean(0), row["mean"], atol=0.06)
    np.testing.assert_allclose(values.std(0), row["stddev"], atol=0.06)


def test_divergences_are_pytorchs():
    kl = D.kl_divergence
    pairs = [
        (D.Normal(0.5, 1.5), D.Normal(0.0, 1.0), 0.3445349),
        (D.Categorical(t([1.0, 2.0, 3.0])), D.Categorical(t([2.0, 2.0, 1.0])), 0.25146),
        (D.Bernoulli(t([0.3])), D.Bernoulli(t([0.6])), 0.1837869),
        (D.Uniform(0.0, 1.0), D.Uniform(-1.0, 2.0), 1.098612),
        (D.Uniform(0.0, 1.0), D.Uniform(0.5, 2.0), np.inf),
        (D.Exponential(t([1.0])), D.Exponential(t([2.0])), 0.3068528),
        (D.Laplace(0.0, 1.0), D.Laplace(1.0, 2.0), 0.3770869),
    ]
    for p, q, want in pairs:
        np.testing.assert_allclose(kl(p, q).item(), want, rtol=3e-6)
    normal, log_normal = D.Normal(t(0.5), t(1.5)), D.LogNormal(t(0.0), t(1.0))
    np.testing.assert_allclose(
        kl(D.LogNormal(t(0.5), t(1.5)), log_normal).item(), 0.3445349, rtol=3e-6
    )
    for pair in ((normal, log_normal), (log_normal, normal)):
        with pytest.raises(NotImplementedError, match="LogNormal"):
            kl(*pair)
    assert not isinstance(log_normal, D.Normal)
    with pytest.raises(NotImplementedError, match="p type Normal and q type Cauchy"):
        kl(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))


def test_samples_that_depend_on_parameters_have_gradients():
    scale = t(2.0, requires_grad=True)
    d = D.Laplace(0.0, scale)
    assert d.rsample((3,)).requires_grad and not d.sample((3,)).requires_grad
    D.Exponential(scale).rsample().backward()
    assert scale.grad.item() < 0


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: D.Normal(0.0, -1.0), "parameter scale"),
        (lambda: D.Uniform(1.0, 0.0), "low>= high"),
        (lambda: D.Bernoulli(t([1.5])), "parameter probs"),
        (lambda: D.Bernoulli(), "must be specified"),
        (lambda: D.Categorical(t(1.0)), "one-dimensional"),
        (lambda: D.Exponential(1.0).log_prob(t(-1.0)), "within the support"),
        (lambda: D.Categorical(t([1.0, 1.0])).log_prob(t(2)), "within the support"),
    ],
)
def test_wrong_arguments_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_class_of_probability_zero_is_never_drawn():
    torch.manual_seed(1)
    d = D.Categorical(t([0.0, 0.5, 0.0, 0.5, 0.0]))
    drawn = set(d.sample((2000,)).tolist())
    assert drawn == {1, 3}


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_samples_are_finite_and_logarithms_of_them_too(name, monkeypatch):
    dtype = getattr(torch, name)
    one = torch.ones(1, dtype=dtype)
    torch.manual_seed(0)

    def check(count):
        for values in (
            D.Laplace(0 * one, one).sample((count,)),
            D.Exponential(one).sample((count,)).log(),
            torch.nn.functional.gumbel_softmax(torch.zeros(count, 4, dtype=dtype)),
        ):
            assert values.dtype is dtype and bool(values.isfinite().all())

    check(20000)
    rand = torch._C.rand
    for end in (0.0, 1 - 2.0**-24):  # the ends, which are drawn seldom
        monkeypatch.setattr(torch._C, "rand", lambda *a, end=end, **k: rand(*a, **k).fill_(end))
        check(3)
