"""Embedding Explorer: open trained embedding tables, see their map, ask them for neighbours."""

__version__ = "0.1.0"
