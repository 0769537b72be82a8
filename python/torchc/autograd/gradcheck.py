"""`gradcheck` and `gradgradcheck`: derivatives compared with finite differences."""

import sys
import types

import torchc
from torchc import _C

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A derivative differs from its numerical estimate."""


def _outputs(value) -> tuple:
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(isinstance(o, _C.Tensor) for o in items):
        raise ValueError("gradcheck expects the function to return tensors")
    return tuple(o for o in items if o.is_floating_point() or o.is_complex())


def _of_real_numbers(func, args):
    """`func` and `args` with pairs of parts in the place of complex inputs that are checked, and of complex outputs."""
    checked = [isinstance(a, _C.Tensor) and a.requires_grad and a.is_complex() for a in args]

    def real(*parts):
        with torchc.enable_grad():  # a function that differentiates asks what needs gradients
            own = [_C.view_as_complex(p) if c else p for p, c in zip(parts, checked, strict=True)]
        return tuple(_C.view_as_real(o) if o.is_complex() else o for o in _outputs(func(*own)))

    parts = (
        _C.view_as_real(a.detach()).requires_grad_() if c else a
        for a, c in zip(args, checked, strict=True)
    )
    return real, tuple(parts)


def _numerical(func, args, i: int, eps: float) -> list:
    """For each output the finite-difference Jacobian by input i, of shape (inputs, outputs)."""
    x = args[i]
    columns: list = []
    values = x.detach().clone().reshape(-1)
    for k in range(values.numel()):
        sides = []
        for step in (eps, -eps):
            moved = values.clone()
            moved[k] = moved[k] + step
            changed = moved.reshape(x.shape).requires_grad_(x.requires_grad)
            with torchc.no_grad():
                sides.append(_outputs(func(*args[:i], changed, *args[i + 1 :])))
        columns.append([((a - b) / (2 * eps)).reshape(-1) for a, b in zip(*sides, strict=True)])
    return [torchc.stack(list(column)) for column in zip(*columns, strict=True)]


def _analytical(output, x, retain=True):
    """The Jacobian by backward passes, of shape (inputs, outputs)."""
    columns = []
    for k in range(output.numel()):
        seed = torchc.zeros(output.numel(), dtype=output.dtype)
        seed[k] = 1
        (g,) = torchc.autograd.grad(
            output, (x,), seed.reshape(output.shape), retain_graph=retain, allow_unused=True
        )
        columns.append(torchc.zeros(x.numel(), dtype=x.dtype) if g is None else g.reshape(-1))
    if not columns:
        return torchc.zeros((x.numel(), 0), dtype=x.dtype)
    return torchc.stack(columns, 1)


def _check(func, args, eps, atol, rtol, nondet_tol):
    func, args = _of_real_numbers(func, args)
    outputs = _outputs(func(*args))
    if not any(o.requires_grad for o in outputs):
        raise ValueError("gradcheck: no output of the function requires a gradient")
    for i, x in enumerate(args):
        if not (isinstance(x, _C.Tensor) and x.requires_grad) or not x.numel():
            continue
        estimates = _numerical(func, args, i, eps)
        for j, (output, numerical) in enumerate(zip(outputs, estimates, strict=True)):
            if not output.requires_grad:
                analytical = torchc.zeros((x.numel(), output.numel()), dtype=x.dtype)
            else:
                analytical = _analytical(output, x)
                again = _analytical(output, x)
                if not torchc.allclose(analytical, again, rtol=0.0, atol=nondet_tol):
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        "times gives different values, although analytical gradient matches numerical gradient."
                    )
            if not torchc.allclose(
                analytical, numerical.to(analytical.dtype), rtol=rtol, atol=atol
            ):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input {i},\n"
                    f"numerical:{numerical}\nanalytical:{analytical}\n"
                )


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-06,
    atol=1e-05,
    rtol=0.001,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
) -> bool:
    """Whether the gradients of `func` at `inputs` agree with finite differences; for float64 and complex128.

    Complex inputs and outputs count as their two parts.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: tensors (those with requires_grad are checked) and other arguments.
        eps: the step; atol, rtol: what counts as equal; nondet_tol: how far two backward passes may differ.
        raise_exception: GradcheckError with both Jacobians instead of False.

    The other arguments are accepted; check_forward_ad and check_batched_grad raise NotImplementedError.
    """
    if check_forward_ad or check_batched_grad or check_batched_forward_grad:
        raise NotImplementedError(
            "gradcheck: forward mode and batched gradients are not implemented"
        )
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if not any(isinstance(a, _C.Tensor) and a.requires_grad for a in args):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    if not check_backward_ad:
        return True
    try:
        with torchc.enable_grad():
            _check(func, args, eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-06,
    atol=1e-05,
    rtol=0.001,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
) -> bool:
    """Whether second derivatives agree with finite differences of the first. Arguments as `gradcheck`.

    Args:
        grad_outputs: the cotangents; default: random ones.
    """
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = _outputs(func(*args))
    if grad_outputs is None:
        cotangents = tuple(torchc.rand(o.shape, dtype=o.dtype).requires_grad_() for o in outputs)
    else:
        given = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
        cotangents = given
    count = len(args)

    def first(*all_args):
        own, grads = all_args[:count], all_args[count:]
        wanted = tuple(a for a in own if isinstance(a, _C.Tensor) and a.requires_grad)
        with torchc.enable_grad():
            found = [o for o in _outputs(func(*own))]
            pairs = [(o, g) for o, g in zip(found, grads, strict=True) if o.requires_grad]
            return torchc.autograd.grad(
                [o for o, _ in pairs],
                wanted,
                [g for _, g in pairs],
                create_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )

    return gradcheck(
        first,
        args + cotangents,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
    )


class _Callable(types.ModuleType):
    """`torchc.autograd.gradcheck` is this module and the function too."""

    def __call__(self, *args, **kwargs):
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
