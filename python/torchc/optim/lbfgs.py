"""Limited-memory BFGS with an optional line search."""

from __future__ import annotations

from typing import NamedTuple

from torchc import _C
from torchc.autograd.grad_mode import enable_grad, no_grad
from torchc.optim.optimizer import Optimizer

__all__ = ["LBFGS"]


class _Point(NamedTuple):
    """A step length, the loss there, its gradient, and the gradient along the direction.

    The slope is a 0-d tensor, so that the interpolation is computed in the parameters' dtype, as PyTorch does; step
    lengths that come from it are tensors, too.
    """

    t: float
    loss: float
    gradient: _C.Tensor
    slope: _C.Tensor


def _cubic_minimum(a: _Point, b: _Point, bounds=None) -> float | _C.Tensor:
    """Where the cubic through both points' values and slopes is smallest, within the bounds."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    left, right = (a, b) if a.t <= b.t else (b, a)
    d2 = square.sqrt()
    part = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.t - (right.t - left.t) * part, low), high)


class _StrongWolfe:
    """A line search after Nocedal and Wright (2006), algorithms 3.5 and 3.6, for the strong Wolfe conditions."""

    decrease, curvature = 1e-4, 0.9

    def __init__(self, evaluate, start: _Point, reach, tolerance: float, most: int):
        self.evaluate, self.start, self.reach, self.tolerance = evaluate, start, reach, tolerance
        self.most = most  # as many trials as the step has evaluations left
        self.evaluations = 0

    def _at(self, t: float) -> _Point:
        self.evaluations += 1
        return self.evaluate(t)

    def _too_high(self, p: _Point) -> bool:
        return p.loss > self.start.loss + self.decrease * p.t * self.start.slope

    def _flat(self, p: _Point) -> bool:
        return abs(p.slope) <= -self.curvature * self.start.slope

    def search(self, t: float) -> _Point:
        """The accepted point, beginning at step length t."""
        before, now = self.start, self._at(t)
        for i in range(self.most):
            if self._too_high(now) or (i > 1 and now.loss >= before.loss):
                return self._zoom(before, now, i)
            if self._flat(now):
                return now
            if now.slope >= 0:
                return self._zoom(before, now, i)
            bounds = (now.t + 0.01 * (now.t - before.t), now.t * 10)
            before, now = now, self._at(_cubic_minimum(before, now, bounds))
        return min(self.start, now, key=lambda p: p.loss)

    def _inside(self, low: _Point, high: _Point, stuck: bool) -> tuple[float, bool]:
        """The next step length between the two, and whether it lies too near an end for a second time."""
        t = _cubic_minimum(low, high)
        left, right = min(low.t, high.t), max(low.t, high.t)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) >= margin:
            return t, False
        if stuck or t >= right or t <= left:
            return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
        return t, True

    def _zoom(self, a: _Point, b: _Point, used: int) -> _Point:
        # The interpolation's order of its ends doesn't matter: it sorts them.
        low, high = (a, b) if a.loss <= b.loss else (b, a)
        stuck = False
        while used < self.most and abs(high.t - low.t) * self.reach >= self.tolerance:
            t, stuck = self._inside(low, high, stuck)
            now = self._at(t)
            used += 1
            if self._too_high(now) or now.loss >= low.loss:
                high = now
                if high.loss < low.loss:
                    low, high = high, low
                continue
            if self._flat(now):
                return now
            if now.slope * (high.t - low.t) >= 0:
                high = low
            low = now
        return low


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of parameters and gradient.

    `step` needs a closure that clears the gradients, computes the loss, calls backward and returns the loss; it is
    called up to `max_eval` times. Only one parameter group; the state belongs to its first parameter.

    Args:
        max_iter, max_eval: iterations and closure calls of one step; max_eval defaults to 1.25 max_iter.
        tolerance_grad, tolerance_change: a largest gradient, a change of step or loss below these ends the step.
        line_search_fn: None (every step has length lr) or "strong_wolfe".
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = dict(
            lr=lr,
            max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change,
            history_size=history_size,
            line_search_fn=line_search_fn,
            maximize=maximize,
        )
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state):
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def _gradient(self):
        """All gradients as one vector, negated to maximise."""
        parts = [
            _C.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.reshape(-1)
            for p in self._params
        ]
        flat = _C.cat(parts)
        return -flat if self.param_groups[0]["maximize"] else flat

    def _add(self, t, direction):
        offset = 0
        for p in self._params:
            part = direction.narrow(0, offset, p.numel()).view_as(p)
            p.add_(part * t)
            offset += p.numel()

    def _loss(self, closure) -> float:
        loss = float(closure())
        return -loss if self.param_groups[0]["maximize"] else loss

    @no_grad()
    def step(self, closure):
        """Up to `max_iter` iterations; returns the closure's first loss."""
        enabled = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = enabled()
        loss = -float(first) if group["maximize"] else float(first)
        state["func_evals"] += 1
        gradient = self._gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first
        self._iterate(enabled, group, state, loss, gradient)
        return first

    def _iterate(self, closure, group, state, loss, gradient):
        d, t = state.get("d"), state.get("t")
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        evaluations = 1
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = self._direction(group, state, gradient, before, d, t)
            before, loss_before = gradient.clone(), loss
            t = group["lr"]
            if state["n_iter"] == 1:
                t = min(1.0, 1.0 / gradient.abs().sum()) * t
            slope = gradient.dot(d)
            if slope > -group["tolerance_change"]:
                break
            more = 1
            if group["line_search_fn"] is not None:
                loss, gradient, t, more = self._search(
                    closure,
                    group,
                    d,
                    t,
                    _Point(0, loss, gradient, slope),
                    group["max_eval"] - evaluations,
                )
            else:
                self._add(t, d)
                if n != group["max_iter"]:
                    loss, gradient = self._loss(closure), self._gradient()
                else:
                    more = 0
            evaluations += more
            state["func_evals"] += more
            if (
                evaluations >= group["max_eval"]
                or gradient.abs().max() <= group["tolerance_grad"]
                or (d * t).abs().max() <= group["tolerance_change"]
                or abs(loss - loss_before) < group["tolerance_change"]
            ):
                break
        state.update(d=d, t=t, prev_flat_grad=before, prev_loss=loss_before)

    @staticmethod
    def _direction(group, state, gradient, before, d, t):
        """The quasi-Newton direction by the two-loop recursion; the history is updated first."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -gradient
        y, s = gradient - before, d * t
        ys = y.dot(s)
        if ys > 1e-10:
            if len(state["old_dirs"]) == group["history_size"]:
                for history in (state["old_dirs"], state["old_stps"], state["ro"]):
                    history.pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        ys_s, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        al = state.setdefault("al", [None] * group["history_size"])
        q = -gradient
        for i in reversed(range(len(ys_s))):
            al[i] = steps[i].dot(q) * ro[i]
            q.sub_(ys_s[i] * al[i])
        r = q * state["H_diag"]
        for i in range(len(ys_s)):
            r.add_(steps[i] * (al[i] - ys_s[i].dot(r) * ro[i]))
        return r

    def _search(self, closure, group, d, t, origin: _Point, most: int):
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [p.clone() for p in self._params]

        def evaluate(length):
            self._add(length, d)
            value, new = self._loss(closure), self._gradient()
            for p, old in zip(self._params, start):
                p.copy_(old)
            return _Point(length, value, new, new.dot(d))

        reach = d.abs().max()
        search = _StrongWolfe(evaluate, origin, reach, group["tolerance_change"], most)
        found = search.search(t)
        self._add(found.t, d)
        return found.loss, found.gradient, found.t, search.evaluations
