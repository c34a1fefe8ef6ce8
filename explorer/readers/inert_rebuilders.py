"""The short list of calls in a pickle that are answered with a value: containers, bytes, NumPy arrays.

Every function here is called as ``function(machine, args)`` with whatever a file put there. It checks what
it gets, raises ValueError or TypeError where that is not what it should be, and charges what it copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from explorer.readers.inert_values import Global, Instance, PickledArray, PickledDType, array_of, is_shape

if TYPE_CHECKING:
    from explorer.readers.inert_pickle import Machine


def _mapping(machine: Machine, args: tuple[Any, ...]) -> dict[Any, Any]:
    """``OrderedDict()``, ``OrderedDict(pairs)``, ``dict(mapping)``: order is kept by any dictionary."""
    made: dict[Any, Any] = {}
    _fill(machine, made, args[0] if args else ())
    return made


def _default_dict(machine: Machine, args: tuple[Any, ...]) -> dict[Any, Any]:
    """``defaultdict(factory)``: the factory is never called."""
    return _mapping(machine, args[1:])


def _counter(machine: Machine, args: tuple[Any, ...]) -> Counter[Any]:
    made: Counter[Any] = Counter()
    _fill(machine, made, args[0] if args else ())
    return made


def _fill(machine: Machine, made: dict[Any, Any], entries: Any) -> None:
    if not isinstance(entries, dict | list | tuple):
        raise TypeError("a dictionary is made from something that is none")
    machine.charge(100 + 100 * len(entries))
    for key, value in entries.items() if isinstance(entries, dict) else entries:
        machine.put(made, key, value)


def _set(machine: Machine, args: tuple[Any, ...]) -> set[Any]:
    made: set[Any] = set()
    for items in args[:1]:
        if not isinstance(items, list | tuple | set | frozenset):
            raise TypeError("a set is made from something that has no items")
        machine.charge(240 + 64 * len(items))
        for item in items:
            machine.add(made, item)
    return made


def _frozen_set(machine: Machine, args: tuple[Any, ...]) -> frozenset[Any]:
    return frozenset(_set(machine, args))


def _list(machine: Machine, args: tuple[Any, ...]) -> list[Any]:
    """``list(items)`` and ``deque(items, maxlen)``."""
    items = args[0] if args else ()
    if not isinstance(items, list | tuple):
        raise TypeError("a list is made from something that has no items")
    machine.charge(64 + 8 * len(items))
    return list(items)


def _bytes(machine: Machine, args: tuple[Any, ...]) -> bytes:
    """``bytes`` and ``bytearray`` from nothing, from bytes, from small numbers, or from Latin-1 text."""
    match args:
        case ():
            return b""
        case (bytes() as data,):
            return data
        case (list() as numbers,):
            machine.charge(64 + len(numbers))
            return bytes(numbers)
        case (str() as text, str()):
            return _encoded(machine, (text, "latin1"))
    raise TypeError("bytes are made from something else")


def _encoded(machine: Machine, args: tuple[Any, ...]) -> bytes:
    """``_codecs.encode(text, "latin1")``: how bytes are written in protocol 2."""
    text, encoding = args if len(args) == 2 else (*args, "utf-8")
    if type(text) is not str or encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise ValueError("a text is encoded in an unknown way")
    machine.charge(64 + 4 * len(text))
    return text.encode(encoding)


def _complex(machine: Machine, args: tuple[Any, ...]) -> complex:
    real, imaginary = args
    return complex(float(real), float(imaginary))


def _reconstructed(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``copyreg._reconstructor(cls, base, state)``: objects and kinds of containers, up to protocol 1."""
    cls, _base, state = args
    made = machine.call(cls, ())
    if isinstance(made, Instance):
        made.entries = state if isinstance(state, dict) else None
        made.items = state if isinstance(state, list) else None
    return made


def _new_object(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``copyreg.__newobj__(cls, *args)``."""
    return machine.call(args[0], args[1:])


def _dtype(machine: Machine, args: tuple[Any, ...]) -> PickledDType:
    machine.charge(100)
    code = args[0]
    if isinstance(code, Global):  # a scalar type, e.g. ml_dtypes.bfloat16
        code = code.name
    if type(code) is not str:
        raise TypeError("a NumPy type is named by something that is no text")
    return PickledDType(code)


def _empty_array(machine: Machine, args: tuple[Any, ...]) -> PickledArray:
    """``_reconstruct(type, shape, code)``: what the array holds comes later, as its state."""
    machine.charge(200)
    return PickledArray()


def _array_from_buffer(machine: Machine, args: tuple[Any, ...]) -> PickledArray:
    """``_frombuffer(data, dtype, shape, order)``: arrays in protocol 5."""
    data, dtype, shape, order = args
    machine.charge(200 + (len(data) if isinstance(data, bytes) else 0))
    return PickledArray(array_of(data, dtype, shape, order) if isinstance(dtype, PickledDType) else None)


def _scalar(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``scalar(dtype, data)`` as a Python number or text; None for what is neither."""
    dtype, data = args if len(args) == 2 else (args[0], b"")
    machine.charge(100)
    if not isinstance(dtype, PickledDType):
        raise TypeError("a NumPy number without a type")
    array = array_of(data, dtype, (), "C")
    return None if array is None else array.item()


def _size(machine: Machine, args: tuple[Any, ...]) -> tuple[int, ...]:
    """``torch.Size(sizes)``."""
    (sizes,) = args
    if isinstance(sizes, list):
        machine.charge(64 + 8 * len(sizes))
        sizes = tuple(sizes)
    if not is_shape(sizes):
        raise ValueError("a size is no size")
    return sizes  # type: ignore[no-any-return]


def _both(name: str) -> tuple[str, str]:
    """The name in NumPy 1 and 2."""
    return f"numpy.core.{name}", f"numpy._core.{name}"


STANDARD: Mapping[str, Callable[[Machine, tuple[Any, ...]], Any]] = {
    "collections.OrderedDict": _mapping,
    "collections.defaultdict": _default_dict,
    "collections.Counter": _counter,
    "collections.deque": _list,
    "_codecs.encode": _encoded,
    **{
        f"{module}.{name}": rebuild
        for module in ("builtins", "__builtin__")
        for name, rebuild in (
            ("dict", _mapping),
            ("list", _list),
            ("set", _set),
            ("frozenset", _frozen_set),
            ("bytes", _bytes),
            ("bytearray", _bytes),
            ("complex", _complex),
        )
    },
    **{f"{module}._reconstructor": _reconstructed for module in ("copyreg", "copy_reg")},
    **{f"{module}.__newobj__": _new_object for module in ("copyreg", "copy_reg")},
    "numpy.dtype": _dtype,
    **dict.fromkeys(_both("multiarray._reconstruct"), _empty_array),
    **dict.fromkeys(_both("multiarray.scalar"), _scalar),
    **dict.fromkeys(_both("numeric._frombuffer"), _array_from_buffer),
    "torch.Size": _size,
}
