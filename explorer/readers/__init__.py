"""Bytes to embedding tables: one module a format, one registry. Nothing a file holds is ever executed."""

from explorer.readers.registry import open_file

__all__ = ["open_file"]
