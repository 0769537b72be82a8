"""Context managers and decorators that switch the recording of gradients on and off in this thread."""

from torchc import _C

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


class _GradMode:
    """A block, or each call of a decorated function, with recording on or off; the old mode comes back at its end."""

    enabled = True
    _previous = False  # leaving without having entered switches recording off, as in PyTorch

    def __enter__(self):
        self._previous = _C._set_grad_enabled(self.enabled)

    def __exit__(self, *exception):
        _C._set_grad_enabled(self._previous)

    def __call__(self, function):
        """`function` with this mode in each of its calls, a generator's between its yields too."""
        import functools
        import inspect

        if inspect.isgeneratorfunction(function):
            wrapper = self._generator_wrapper(function)
        else:

            def wrapper(*args, **kwargs):
                with self._clone():
                    return function(*args, **kwargs)

        return functools.wraps(function)(wrapper)

    def _clone(self):
        # Each entry keeps its own previous mode: a recursive call must not overwrite the outer one's.
        return type(self)()

    def _generator_wrapper(self, function):
        def wrapper(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self._clone():
                    item = next(generator)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self._clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self._clone():
                            item = generator.throw(error)
                    else:
                        with self._clone():
                            item = generator.send(sent)
            except StopIteration as stop:
                return stop.value

        return wrapper


class _PlainGradMode(_GradMode):
    """A mode without an argument: usable as `@no_grad` and as `@no_grad()`."""

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        return mode if function is None else mode(function)


class no_grad(_PlainGradMode):
    """Nothing inside is recorded: results need no gradient. A context manager and a decorator."""

    enabled = False


class enable_grad(_PlainGradMode):
    """Recording is on inside, also within `no_grad`. A context manager and a decorator."""


class set_grad_enabled(_GradMode):
    """Switches recording on or off at once; used as a context manager, the old mode comes back at its end."""

    def __init__(self, mode: bool):
        self.enabled = bool(mode)
        self._previous = _C._set_grad_enabled(self.enabled)

    def __enter__(self):
        _C._set_grad_enabled(self.enabled)

    def __call__(self, function):
        """`function` with this mode in each of its calls; the caller's mode is the one from before."""
        _C._set_grad_enabled(self._previous)
        return super().__call__(function)

    def _clone(self):
        return set_grad_enabled(self.enabled)


class inference_mode(_GradMode):
    """Nothing inside is recorded, as under `no_grad`; `is_inference_mode_enabled()` is `mode`."""

    def __new__(cls, mode=True):
        """`@inference_mode` without parentheses is allowed."""
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode: bool = True):
        self.mode = bool(mode)
        self._modes = False, True

    def __enter__(self):
        self._modes = _C._set_inference_mode(self.mode), _C._set_grad_enabled(not self.mode)

    def __exit__(self, *exception):
        inference, grad = self._modes
        _C._set_inference_mode(inference)
        _C._set_grad_enabled(grad)

    def _clone(self):
        return inference_mode(self.mode)
