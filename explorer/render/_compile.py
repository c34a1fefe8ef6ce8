"""How kernels are compiled: ahead of their first call, once per machine, free of the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable)


def compiled(signature: str) -> Callable[[Kernel], Kernel]:
    """Compile a function for one signature on import, or load what an earlier run compiled.

    One signature, so that no call in the window ever meets a compiler; arrays that are only read
    are declared read-only, which admits both kinds. Where no folder can hold the cache (a
    read-only installation for a user without a home), each process compiles for itself.
    """

    def compile_now(function: Kernel) -> Kernel:
        options = {"nogil": True, "error_model": "numpy", "boundscheck": False}
        parsed = _parse(signature)
        try:
            return cast(Kernel, numba.njit(parsed, cache=True, **options)(function))
        except (RuntimeError, OSError):
            return cast(Kernel, numba.njit(parsed, **options)(function))

    return compile_now


def _parse(signature: str) -> Any:
    """``"f4[] b1 -> i8"``: a C-contiguous array per pair of brackets, ``!`` marks one that is written."""
    arguments, _, result = signature.partition("->")
    return _type(result.strip() or "none")(*(_type(word) for word in arguments.split()))


def _type(word: str) -> Any:
    written = word.endswith("!")
    name, _, brackets = word.rstrip("!").partition("[")
    scalar = getattr(numba.types, {"none": "void", "b1": "boolean"}.get(name, name))
    if not brackets:
        return scalar
    return numba.types.Array(scalar, brackets.count(",") + 1, "C", readonly=not written)
