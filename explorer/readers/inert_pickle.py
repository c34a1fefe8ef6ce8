"""A pickle reader that can't do anything: it knows the opcodes, but has nothing to call.

Pickle is a small stack language (the opcodes are described in the standard library's ``pickletools``). Here
it is interpreted by hand instead of by ``pickle.Unpickler``: that one sizes its memo and its buffers by
what a file claims, calls whatever lies on its stack, sets attributes on it, and hashes keys that were made
to collide. Here a class or function is a ``Global``, a record of its name; calling one makes an
``Instance``, a record of the call. The only exception is a fixed list of rebuilders, looked up by name.
"""

from __future__ import annotations

import codecs
import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from explorer.core.errors import ExplorerError
from explorer.readers.inert_rebuilders import STANDARD
from explorer.readers.inert_values import Global, Instance, PersistentId, PickledArray, PickledDType

Buffer: TypeAlias = bytes | mmap.mmap
Rebuilder: TypeAlias = Callable[["Machine", tuple[Any, ...]], Any]

_MEMORY = 1 << 30  # bytes that containers may take, over four times the pickle's own size
_MAX_MARKS = 100_000
_MAX_LONG = 1024  # bytes of one integer
_MAX_TWINS = 100  # compound keys of one hash in one container


class PickleFault(ValueError):
    """The bytes are no pickle, or one that can't be read within bounds."""


def load_pickle(source: Path | Buffer, *, name: str = "", rebuilders: Mapping[str, Rebuilder] = STANDARD) -> Any:
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
    except PickleFault as fault:
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
    PickleFault
    """
    machine = Machine(data, start, len(data) if end is None else end, persistent, rebuilders)
    try:
        return machine.run(), machine.position
    except PickleFault:
        raise
    except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error) as error:
        raise PickleFault(f"near byte {machine.position}: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise PickleFault(f"near byte {machine.position}: too deep or too large") from error


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
        self.budget = _MEMORY + 4 * (end - start)
        self._globals: dict[tuple[str, str], Global] = {}
        self._twins: dict[tuple[int, int], int] = {}

    def run(self) -> Any:
        """Read up to the STOP opcode; the value on top of the stack."""
        stack, memo, data, end = self.stack, self.memo, self.data, self.end
        while self.position < end:
            position = self.position
            op = data[position]
            # What most of a vocabulary is made of comes first, without a call.
            if op == 0x8C:  # SHORT_BINUNICODE
                stop = position + 2 + data[position + 1]
                stack.append(data[position + 2 : stop].decode("utf-8", "surrogatepass"))
                self.position = stop
            elif op == 0x94:  # MEMOIZE
                memo[len(memo)] = stack[-1]
                self.position = position + 1
                self.budget -= 100
                if self.budget < 0:
                    raise PickleFault("it would take too much memory")
            elif op == 0x4D:  # BININT2
                stack.append(data[position + 1] | data[position + 2] << 8)
                self.position = position + 3
            elif op == 0x4B:  # BININT1
                stack.append(data[position + 1])
                self.position = position + 2
            elif op == 0x2E:  # STOP
                self.position = position + 1
                return stack.pop()
            else:
                handler = _HANDLERS[op]
                if handler is None:
                    raise PickleFault(f"byte {position} is no opcode")
                self.position = position + 1
                handler(self)
            if self.position > end:
                break
        raise PickleFault("it breaks off")

    # What handlers and rebuilders use.

    def charge(self, amount: int) -> None:
        """Spend bytes of memory out of what this pickle may take."""
        self.budget -= amount
        if self.budget < 0:
            raise PickleFault("it would take too much memory")

    def take(self, count: int) -> bytes:
        """The next bytes."""
        position = self.position
        if count > self.end - position:
            raise PickleFault("it breaks off")
        self.position = position + count
        return self.data[position : position + count]

    def number(self, size: int) -> int:
        """The next little-endian unsigned integer."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        """The next line, without its end."""
        stop = self.data.find(b"\n", self.position, self.end)
        if stop < 0:
            raise PickleFault("it breaks off")
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
            raise PickleFault("a class is named by something that is no text")
        found = self._globals.get((module, name))
        if found is None:
            self.charge(300)
            found = self._globals[module, name] = Global(module, name)
        return found

    def call(self, target: Any, args: Any, kwargs: Any = None) -> Any:
        """Record a call, or rebuild what is on the list."""
        if not isinstance(target, Global) or type(args) is not tuple:
            raise PickleFault("it calls something that is no class or function")
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
                raise PickleFault("a key is too large a number")
        elif kind is tuple or kind is frozenset:
            if len(key) > 64 or any(type(part) in (tuple, frozenset) for part in key):
                raise PickleFault("a key is too deep")
            for part in key:
                self._check_key(container, part)
            twins = (id(container), hash(key))
            self._twins[twins] = self._twins.get(twins, 0) + 1
            self.charge(200)
            if self._twins[twins] > _MAX_TWINS:
                raise PickleFault("its keys were made to collide")
        elif kind is complex or isinstance(key, dict | list | set):
            raise PickleFault("a key is of a kind that cannot be one")


_HANDLERS: list[Callable[[Machine], None] | None] = [None] * 256


def _op(code: bytes) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    def register(handler: Callable[[Machine], None]) -> Callable[[Machine], None]:
        _HANDLERS[code[0]] = handler
        return handler

    return register


def _constant(code: bytes, value: Any) -> None:
    def handler(machine: Machine) -> None:
        machine.stack.append(value)

    _HANDLERS[code[0]] = handler


def _sized(code: bytes, size: int, decode: Callable[[bytes], Any]) -> None:
    """A value behind its length, which is a number of ``size`` bytes."""

    def handler(machine: Machine) -> None:
        machine.stack.append(decode(machine.take(machine.number(size))))

    _HANDLERS[code[0]] = handler


def _fixed(code: bytes, layout: str) -> None:
    unpack, size = struct.Struct(layout).unpack, struct.calcsize(layout)

    def handler(machine: Machine) -> None:
        machine.stack.append(unpack(machine.take(size))[0])

    _HANDLERS[code[0]] = handler


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _old_text(raw: bytes) -> str:
    """Python 2's byte strings: text where they are, and bytes can be had back where they are not."""
    return raw.decode("utf-8", "surrogateescape")


def _long(raw: bytes) -> int:
    if len(raw) > _MAX_LONG:
        raise PickleFault("a number is too large")
    return int.from_bytes(raw, "little", signed=True)


_constant(b"N", None)
_constant(b"\x88", True)
_constant(b"\x89", False)
_constant(b")", ())
_fixed(b"J", "<i")
_fixed(b"G", ">d")
_sized(b"X", 4, _text)
_sized(b"\x8d", 8, _text)
_sized(b"C", 1, bytes)
_sized(b"B", 4, bytes)
_sized(b"\x8e", 8, bytes)
_sized(b"\x96", 8, bytes)  # BYTEARRAY8
_sized(b"U", 1, _old_text)
_sized(b"T", 4, _old_text)
_sized(b"\x8a", 1, _long)
_sized(b"\x8b", 4, _long)


@_op(b"\x80")
def _protocol(machine: Machine) -> None:
    if machine.number(1) > 5:
        raise PickleFault("it is of a newer protocol than is known here")


@_op(b"\x95")
def _frame(machine: Machine) -> None:
    machine.take(8)


@_op(b"I")
def _int_line(machine: Machine) -> None:
    text = _digits(machine)
    machine.stack.append(text == b"01" if text in (b"00", b"01") else int(text))


@_op(b"L")
def _long_line(machine: Machine) -> None:
    machine.stack.append(int(_digits(machine).rstrip(b"L")))


@_op(b"F")
def _float_line(machine: Machine) -> None:
    machine.stack.append(float(_digits(machine)))


def _digits(machine: Machine) -> bytes:
    text = machine.line()
    if len(text) > _MAX_LONG:
        raise PickleFault("a number is too large")
    return text


@_op(b"S")
def _string_line(machine: Machine) -> None:
    text = machine.line().strip()
    if len(text) < 2 or text[0] != text[-1] or text[:1] not in (b"'", b'"'):
        raise PickleFault("a text has no quotes")
    machine.stack.append(_old_text(codecs.escape_decode(text[1:-1])[0]))  # type: ignore[attr-defined]


@_op(b"V")
def _unicode_line(machine: Machine) -> None:
    machine.stack.append(machine.line().decode("raw-unicode-escape"))


@_op(b"(")
def _mark(machine: Machine) -> None:
    if len(machine.marks) > _MAX_MARKS:
        raise PickleFault("it is nested too deeply")
    machine.marks.append(len(machine.stack))


@_op(b"0")
def _pop(machine: Machine) -> None:
    machine.stack.pop()


@_op(b"1")
def _pop_mark(machine: Machine) -> None:
    machine.since_mark()


@_op(b"2")
def _duplicate(machine: Machine) -> None:
    machine.stack.append(machine.stack[-1])


@_op(b"t")
def _tuple(machine: Machine) -> None:
    items = machine.since_mark()
    machine.charge(48 + 8 * len(items))
    machine.stack.append(tuple(items))


def _small_tuple(code: bytes, count: int) -> None:
    def handler(machine: Machine) -> None:
        machine.charge(48 + 8 * count)
        if len(machine.stack) < count:
            raise PickleFault("its stack runs empty")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    _HANDLERS[code[0]] = handler


for _code, _count in ((b"\x85", 1), (b"\x86", 2), (b"\x87", 3)):
    _small_tuple(_code, _count)


@_op(b"]")
def _empty_list(machine: Machine) -> None:
    machine.charge(100)
    machine.stack.append([])


@_op(b"l")
def _list(machine: Machine) -> None:
    items = machine.since_mark()
    machine.charge(64 + 8 * len(items))
    machine.stack.append(items)


@_op(b"}")
def _empty_dict(machine: Machine) -> None:
    machine.charge(100)
    machine.stack.append({})


@_op(b"d")
def _dict(machine: Machine) -> None:
    items = machine.since_mark()
    machine.charge(100)
    entries: dict[Any, Any] = {}
    _set_entries(machine, entries, items)
    machine.stack.append(entries)


@_op(b"\x8f")
def _empty_set(machine: Machine) -> None:
    machine.charge(240)
    machine.stack.append(set())


@_op(b"\x91")
def _frozen_set(machine: Machine) -> None:
    items = machine.since_mark()
    machine.charge(240 + 64 * len(items))
    made: set[Any] = set()
    for item in items:
        machine.add(made, item)
    machine.stack.append(frozenset(made))


@_op(b"a")
def _append(machine: Machine) -> None:
    item = machine.stack.pop()
    _extend(machine, machine.stack[-1], [item])


@_op(b"e")
def _appends(machine: Machine) -> None:
    items = machine.since_mark()
    _extend(machine, machine.stack[-1], items)


def _extend(machine: Machine, target: Any, items: list[Any]) -> None:
    if isinstance(target, list):
        target.extend(items)
    elif isinstance(target, Instance):
        if target.items is None:
            machine.charge(100)
            target.items = []
        target.items.extend(items)
    else:
        raise PickleFault("it appends to something that is no list")


@_op(b"\x90")
def _add_items(machine: Machine) -> None:
    items = machine.since_mark()
    target = machine.stack[-1]
    if not isinstance(target, set):
        raise PickleFault("it adds to something that is no set")
    for item in items:
        machine.add(target, item)


@_op(b"s")
def _set_item(machine: Machine) -> None:
    value = machine.stack.pop()
    key = machine.stack.pop()
    _set_entries(machine, machine.stack[-1], [key, value])


@_op(b"u")
def _set_items(machine: Machine) -> None:
    items = machine.since_mark()
    _set_entries(machine, machine.stack[-1], items)


def _set_entries(machine: Machine, target: Any, items: list[Any]) -> None:
    """Keys and values in turn."""
    if isinstance(target, Instance):
        if target.entries is None:
            machine.charge(100)
            target.entries = {}
        target = target.entries
    if not isinstance(target, dict) or len(items) % 2:
        raise PickleFault("it sets an entry of something that is no dictionary")
    machine.charge(40 * len(items))
    for i in range(0, len(items), 2):
        machine.put(target, items[i], items[i + 1])


@_op(b"q")
def _put_short(machine: Machine) -> None:
    _memoise(machine, machine.number(1))


@_op(b"r")
def _put_long(machine: Machine) -> None:
    _memoise(machine, machine.number(4))


@_op(b"p")
def _put_line(machine: Machine) -> None:
    _memoise(machine, int(_digits(machine)))


def _memoise(machine: Machine, index: int) -> None:
    machine.charge(100)
    machine.memo[index] = machine.stack[-1]


@_op(b"h")
def _get_short(machine: Machine) -> None:
    machine.stack.append(machine.memo[machine.number(1)])


@_op(b"j")
def _get_long(machine: Machine) -> None:
    machine.stack.append(machine.memo[machine.number(4)])


@_op(b"g")
def _get_line(machine: Machine) -> None:
    machine.stack.append(machine.memo[int(_digits(machine))])


@_op(b"c")
def _global(machine: Machine) -> None:
    module = machine.line().decode()
    machine.stack.append(machine.global_named(module, machine.line().decode()))


@_op(b"\x93")
def _stack_global(machine: Machine) -> None:
    name = machine.stack.pop()
    machine.stack.append(machine.global_named(machine.stack.pop(), name))


def _extension(code: bytes, size: int) -> None:
    """A class by its number in a registry of the machine that wrote the file."""

    def handler(machine: Machine) -> None:
        machine.stack.append(machine.global_named("copyreg.extension", str(machine.number(size))))

    _HANDLERS[code[0]] = handler


for _code, _count in ((b"\x82", 1), (b"\x83", 2), (b"\x84", 4)):
    _extension(_code, _count)


@_op(b"R")
@_op(b"\x81")
def _reduce(machine: Machine) -> None:
    args = machine.stack.pop()
    machine.stack.append(machine.call(machine.stack.pop(), args))


@_op(b"\x92")
def _new_object_ex(machine: Machine) -> None:
    kwargs = machine.stack.pop()
    args = machine.stack.pop()
    machine.stack.append(machine.call(machine.stack.pop(), args, kwargs))


@_op(b"i")
def _inst(machine: Machine) -> None:
    module = machine.line().decode()
    target = machine.global_named(module, machine.line().decode())
    machine.stack.append(machine.call(target, tuple(machine.since_mark())))


@_op(b"o")
def _obj(machine: Machine) -> None:
    target, *args = machine.since_mark()
    machine.stack.append(machine.call(target, tuple(args)))


@_op(b"b")
def _build(machine: Machine) -> None:
    state = machine.stack.pop()
    target = machine.stack[-1]
    if isinstance(target, Instance):
        target.state = state
    elif isinstance(target, PickledArray | PickledDType):
        machine.charge(1000 if not isinstance(state, tuple) else _array_cost(state))
        target.build(state)
    elif isinstance(target, Global):
        raise PickleFault(f"it changes {target.path}")
    # Attributes of a plain dictionary or list (a state dict's _metadata) have no use here.


def _array_cost(state: tuple[Any, ...]) -> int:
    data = state[-1] if state else None
    return 200 + (8 * len(data) if isinstance(data, list | bytes | str) else 0)


@_op(b"P")
def _persistent_line(machine: Machine) -> None:
    machine.stack.append(machine.persistent(machine.line().decode()))


@_op(b"Q")
def _persistent(machine: Machine) -> None:
    machine.stack.append(machine.persistent(machine.stack.pop()))
