"""The error classes that PyTorch has no class for; a class's docstring is its help page.

Wrong shapes, dtypes, indices and arguments raise PyTorch's classes: RuntimeError, TypeError, IndexError, ValueError.
"""

__all__ = ["ArtefactError", "CompileError", "Unsupported"]


class Unsupported(NotImplementedError):
    """A thing that PyTorch has and torchc does not have yet, or not for these arguments.

    The message names the operation, the argument and what is supported. Nothing was computed, no tensor changed.
    What to do: use the form that the message names, or compute it from the operations that exist.
    """


class CompileError(RuntimeError):
    """A function or a model could not be compiled.

    Raised where the program asked for a compiled result (`fullgraph=True`, the command line); an ordinary compiled
    function stays eager instead and its `report()` has this text. The message names the node, the operation and the
    source line. What to do: `TORCHC_DUMP=folder` writes every stage up to the failing one.
    """


class ArtefactError(RuntimeError):
    """A compiled model, trace or saved program can't be read, or was made for another machine.

    The message names the file, the offset and what was expected there. Nothing of the file was run.
    What to do: `torchc inspect FILE` prints what can be read of it; compile it again with this version.
    """
