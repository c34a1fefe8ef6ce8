"""What each pickle opcode does to the stack: one function an opcode, none calls what a file names."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.readers.inert_values import BadPickleError, Global, Instance, PickledArray, PickledDType

if TYPE_CHECKING:
    from explorer.readers.inert_pickle import Machine

_MAX_MARKS = 100_000
_MAX_LONG = 1024  # bytes of one integer


def _unknown(machine: Machine) -> None:
    raise BadPickleError(f"byte {machine.position - 1} is no opcode")


HANDLERS: list[Callable[[Machine], None]] = [_unknown] * 256


def _op(code: bytes) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    def register(handler: Callable[[Machine], None]) -> Callable[[Machine], None]:
        HANDLERS[code[0]] = handler
        return handler

    return register


def _constant(code: bytes, value: Any) -> None:
    def handler(machine: Machine) -> None:
        machine.stack.append(value)

    HANDLERS[code[0]] = handler


def _sized(code: bytes, size: int, decode: Callable[[bytes], Any]) -> None:
    """A value behind its length, which is a number of ``size`` bytes."""

    def handler(machine: Machine) -> None:
        machine.stack.append(decode(machine.take(machine.number(size))))

    HANDLERS[code[0]] = handler


def _fixed(code: bytes, layout: str) -> None:
    unpack, size = struct.Struct(layout).unpack, struct.calcsize(layout)

    def handler(machine: Machine) -> None:
        machine.stack.append(unpack(machine.take(size))[0])

    HANDLERS[code[0]] = handler


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _old_text(raw: bytes) -> str:
    """Python 2's byte strings: text where they are, and bytes can be had back where they are not."""
    return raw.decode("utf-8", "surrogateescape")


def _long(raw: bytes) -> int:
    if len(raw) > _MAX_LONG:
        raise BadPickleError("a number is too large")
    return int.from_bytes(raw, "little", signed=True)


_constant(b"N", None)
_constant(b"\x88", True)
_constant(b"\x89", False)
_constant(b")", ())
_fixed(b"J", "<i")
_fixed(b"G", ">d")
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
        raise BadPickleError("it is of a newer protocol than is known here")


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
        raise BadPickleError("a number is too large")
    return text


@_op(b"S")
def _string_line(machine: Machine) -> None:
    text = machine.line().strip()
    if len(text) < 2 or text[0] != text[-1] or text[:1] not in (b"'", b'"'):
        raise BadPickleError("a text has no quotes")
    machine.stack.append(_old_text(codecs.escape_decode(text[1:-1])[0]))


@_op(b"V")
def _unicode_line(machine: Machine) -> None:
    machine.stack.append(machine.line().decode("raw-unicode-escape"))


@_op(b"(")
def _mark(machine: Machine) -> None:
    if len(machine.marks) > _MAX_MARKS:
        raise BadPickleError("it is nested too deeply")
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
            raise BadPickleError("its stack runs empty")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    HANDLERS[code[0]] = handler


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
        raise BadPickleError("it appends to something that is no list")


@_op(b"\x90")
def _add_items(machine: Machine) -> None:
    items = machine.since_mark()
    target = machine.stack[-1]
    if not isinstance(target, set):
        raise BadPickleError("it adds to something that is no set")
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
        raise BadPickleError("it sets an entry of something that is no dictionary")
    machine.charge(40 * len(items))
    for i in range(0, len(items), 2):
        machine.put(target, items[i], items[i + 1])


@_op(b"p")
def _put_line(machine: Machine) -> None:
    machine.charge(100)
    machine.memo[int(_digits(machine))] = machine.stack[-1]


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

    HANDLERS[code[0]] = handler


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
        raise BadPickleError(f"it changes {target.path}")
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
