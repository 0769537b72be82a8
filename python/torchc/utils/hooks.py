"""Handles of registered hooks."""

import itertools
import weakref

__all__ = ["RemovableHandle"]

_ids = itertools.count()


class _Gone(dict):
    """Stands for a dictionary that no longer exists."""


class RemovableHandle:
    """Removes a hook from the dictionaries that hold it; also usable as a context manager that removes at its end.

    Args:
        hooks: the dictionary of hooks, by id.
        extra_dict: more dictionaries (or a list of them) that may hold the same id.
    """

    def __init__(self, hooks, *, extra_dict=None):
        self.id = next(_ids)
        extra = [extra_dict] if isinstance(extra_dict, dict) else list(extra_dict or ())
        self._holders = [weakref.ref(holder) for holder in (hooks, *extra)]

    def __getstate__(self):
        """As PyTorch's: the dictionary, the id and, if there are some, the other dictionaries."""
        hooks, *extra = (holder() for holder in self._holders)
        return (hooks, self.id, tuple(extra)) if extra else (hooks, self.id)

    def __setstate__(self, state):
        global _ids
        hooks, self.id, *extra = state
        holders = (hooks, *(extra[0] if extra else ()))
        self._holders = [weakref.ref(_Gone() if holder is None else holder) for holder in holders]
        # An id of another process must not be given again.
        _ids = itertools.count(max(next(_ids), self.id + 1))

    def _replace(self, old, new):
        """Follows hooks that moved from one dictionary to another."""
        self._holders = [weakref.ref(new) if h() is old else h for h in self._holders]

    def remove(self):
        """Removes the hook; a second call does nothing."""
        for holder in self._holders:
            entries = holder()
            if entries is not None:
                entries.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()
