"""Bytes to embedding tables: one module a format, one registry. Nothing a file holds is ever executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.readers.registry import open_file

__all__ = ["open_file"]


def __getattr__(name: str) -> Any:
    # The registry imports every format; a process that only decodes pictures starts without them.
    if name in __all__:
        from explorer.readers.registry import open_file

        return open_file
    raise AttributeError(name)
