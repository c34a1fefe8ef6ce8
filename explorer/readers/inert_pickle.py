"""A pickle reader that can't do anything: it knows the opcodes, but has nothing to call.

Pickle is a small stack language (the opcodes are described in the standard library's ``pickletools``). Here
it is interpreted by hand instead of by ``pickle.Unpickler``: that one sizes its memo and its buffers by
what a file claims, calls whatever lies on its stack, sets attributes on it, and hashes keys that were made
to collide. Here a class or function is a ``Global``, a record of its name; calling one makes an
``Instance``, a record of the call. The only exception is a fixed list of rebuilders, looked up by name.
"""

from __future__ import annotations

import gc
import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from explorer.core.errors import ExplorerError
from explorer.readers.inert_opcodes import HANDLERS
from explorer.readers.inert_rebuilders import STANDARD
from explorer.readers.inert_values import BadPickleError, Global, Instance, PersistentId

Buffer: TypeAlias = bytes | mmap.mmap
Rebuilder: TypeAlias = Callable[["Machine", tuple[Any, ...]], Any]

_MEMORY = 1 << 29  # bytes that containers may take, and as many times the pickle's own size again
_GROWTH = 12
_MAX_TWINS = 100  # compound keys of one hash in one container


def load_pickle(
    source: Path | Buffer, *, name: str = "", rebuilders: Mapping[str, Rebuilder] = STANDARD
) -> Any:
    """Read a pickle without running anything of it.

    Parameters
    ----------
    source : Path, bytes or mmap
    name : str, optional
        What to call the file in messages; a path's own name otherwise.
    rebuilders : mapping of str to function, optional
        What may be rebuilt, by dotted name; all else becomes an ``Instance``.

    Returns
    -------
    object
        Plain Python values; ``collections.Counter``; ``PickledArray`` for NumPy arrays; ``Instance``,
        ``Global`` and ``PersistentId`` for everything that has no place here.

    Raises
    ------
    ExplorerError
        The file can't be read or is no sound pickle.
    """
    if isinstance(source, Path):
        name = name or source.name
        try:
            source = source.read_bytes()
        except OSError as error:
            raise ExplorerError(f"{name} cannot be read.", detail=str(error)) from error
    try:
        return read_pickle(source, rebuilders=rebuilders)[0]
    except BadPickleError as fault:
        raise ExplorerError(f"{name} is damaged: its pickle cannot be read.", detail=str(fault)) from fault


def read_pickle(
    data: Buffer,
    start: int = 0,
    end: int | None = None,
    *,
    persistent: Callable[[Any], Any] = PersistentId,
    rebuilders: Mapping[str, Rebuilder] = STANDARD,
) -> tuple[Any, int]:
    """Read one pickle out of a buffer.

    Parameters
    ----------
    data : bytes or mmap
    start, end : int
        Where the pickle starts, and where the bytes it may use end.
    persistent : callable
        Gives the value for a persistent id.
    rebuilders : mapping of str to function
        Called as ``function(machine, args)``; what one makes in proportion to its arguments it
        announces by ``machine.charge``.

    Returns
    -------
    (object, int)
        The value, and the position after the pickle.

    Raises
    ------
    BadPickleError
    """
    machine = Machine(data, start, len(data) if end is None else end, persistent, rebuilders)
    collecting = gc.isenabled()
    gc.disable()  # millions of new containers, none of them garbage: looking through them triples the time
    try:
        return machine.run(), machine.position
    except BadPickleError:
        raise
    except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error) as error:
        raise BadPickleError(f"near byte {machine.position}: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise BadPickleError(f"near byte {machine.position}: too deep or too large") from error
    finally:
        if collecting:
            gc.enable()


_MEMO_SIZES = {0x94: 0, 0x71: 1, 0x72: 4}  # MEMOIZE, BINPUT, LONG_BINPUT: bytes of the index


class Machine:
    """One run over one pickle: stack, marks, memo, and what may still be spent."""

    def __init__(
        self,
        data: Buffer,
        start: int,
        end: int,
        persistent: Callable[[Any], Any],
        rebuilders: Mapping[str, Rebuilder],
    ) -> None:
        self.data = data
        self.position = start
        self.end = end
        self.persistent = persistent
        self.rebuilders = rebuilders
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.budget = _MEMORY + _GROWTH * (end - start)
        self._globals: dict[tuple[str, str], Global] = {}
        self._twins: dict[tuple[int, int], int] = {}

    def run(self) -> Any:
        """Read up to the STOP opcode; the value on top of the stack."""
        stack, memo, data, end, most = self.stack, self.memo, self.data, self.end, self.budget // 200
        position = self.position
        while position < end:
            op = data[position]
            # What vocabularies and state dicts are mostly made of comes first, without a call.
            if op == 0x8C:  # SHORT_BINUNICODE
                start = position + 2
                position = start + data[position + 1]
                stack.append(data[start:position].decode("utf-8", "surrogatepass"))
            elif op == 0x58:  # BINUNICODE
                start = position + 5
                position = start + int.from_bytes(data[position + 1 : start], "little")
                stack.append(data[start:position].decode("utf-8", "surrogatepass"))
            elif op in _MEMO_SIZES:
                start = position + 1
                position = start + _MEMO_SIZES[op]
                index = int.from_bytes(data[start:position], "little") if position > start else len(memo)
                memo[index] = stack[-1]
                if len(memo) > most:
                    raise BadPickleError("it would take too much memory")
            elif op == 0x4D:  # BININT2
                stack.append(data[position + 1] | data[position + 2] << 8)
                position += 3
            elif op == 0x4B:  # BININT1
                stack.append(data[position + 1])
                position += 2
            elif op == 0x2E:  # STOP
                self.position = position + 1
                return stack.pop()
            else:
                self.position = position + 1
                HANDLERS[op](self)
                position = self.position
        raise BadPickleError("it breaks off")

    # What handlers and rebuilders use.

    def charge(self, amount: int) -> None:
        """Spend bytes of memory out of what this pickle may take."""
        self.budget -= amount
        if self.budget < 0:
            raise BadPickleError("it would take too much memory")

    def take(self, count: int) -> bytes:
        """The next bytes."""
        position = self.position
        if count > self.end - position:
            raise BadPickleError("it breaks off")
        self.position = position + count
        return self.data[position : position + count]

    def number(self, size: int) -> int:
        """The next little-endian unsigned integer."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        """The next line, without its end."""
        stop = self.data.find(b"\n", self.position, self.end)
        if stop < 0:
            raise BadPickleError("it breaks off")
        text = self.data[self.position : stop]
        self.position = stop + 1
        return text

    def since_mark(self) -> list[Any]:
        """Take what lies above the last mark off the stack."""
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def global_named(self, module: Any, name: Any) -> Global:
        """The record for a name; one object a name."""
        if type(module) is not str or type(name) is not str:
            raise BadPickleError("a class is named by something that is no text")
        found = self._globals.get((module, name))
        if found is None:
            self.charge(300)
            found = self._globals[module, name] = Global(module, name)
        return found

    def call(self, target: Any, args: Any, kwargs: Any = None) -> Any:
        """Record a call, or rebuild what is on the list."""
        if not isinstance(target, Global) or type(args) is not tuple:
            raise BadPickleError("it calls something that is no class or function")
        rebuilder = self.rebuilders.get(target.path)
        if rebuilder is not None and not kwargs:
            return rebuilder(self, args)
        self.charge(200)
        return Instance(target, args, kwargs if type(kwargs) is dict else None)

    def put(self, entries: dict[Any, Any], key: Any, value: Any) -> None:
        """Set one entry; the key is checked."""
        if type(key) is not str:
            self._check_key(entries, key)
        entries[key] = value

    def add(self, items: set[Any], item: Any) -> None:
        """Add one item to a set; the item is checked."""
        if type(item) is not str:
            self._check_key(items, item)
        items.add(item)

    def _check_key(self, container: Any, key: Any) -> None:
        """Keys must be cheap to hash and must not collide in masses.

        Hashes of texts and bytes are seeded; small integers and floats collide in groups of a few dozen at
        most; only compound keys can be made to collide at will, and only they can be deep.
        """
        kind = type(key)
        if kind is int:
            if not -(1 << 63) <= key < 1 << 63:
                raise BadPickleError("a key is too large a number")
        elif kind is tuple or kind is frozenset:
            if len(key) > 64 or any(type(part) in (tuple, frozenset) for part in key):
                raise BadPickleError("a key is too deep")
            for part in key:
                self._check_key(container, part)
            twins = (id(container), hash(key))
            self._twins[twins] = self._twins.get(twins, 0) + 1
            self.charge(200)
            if self._twins[twins] > _MAX_TWINS:
                raise BadPickleError("its keys were made to collide")
        elif kind is complex or isinstance(key, dict | list | set):
            raise BadPickleError("a key is of a kind that cannot be one")
