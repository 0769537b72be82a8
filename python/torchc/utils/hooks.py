"""Handles of registered hooks."""

import itertools
import weakref

__all__ = ["RemovableHandle"]

_ids = itertools.count()


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
