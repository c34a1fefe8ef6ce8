"""What lies in a checkpoint's object graph: named tensors, tables with names, vocabularies.

The graph is what the inert unpickler gives: dictionaries, lists, records of modules. It is walked with every
container visited a few times at most, so that one that holds itself, or a thousand times over, is no trap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from explorer.readers.inert_values import Instance, PickledArray
from explorer.readers.named_vectors import NamedVectors, as_tensor, as_texts, find_in_dict, find_in_list, lone
from explorer.readers.tensors import Tensor, Unreadable

_WRAPPER = re.compile(
    r"(model_|ema_)?state_dict|model|model_state|net|network|module|weights|checkpoint|data"
    r"|params|params_ema|ema|ema_model|model_ema"
)
_NOT_MODEL = re.compile(
    r"\w*optim\w*|(lr_sched|scheduler|scaler|grad_scaler|callbacks|loops|rng|random|hyper_parameters|hparams)\w*"
)
_OPTIMIZER = frozenset(["state", "param_groups"])
_SKIPPED_MODULES = ("pandas", "sklearn", "scipy", "torch.optim")
_TRANSPARENT = frozenset(["_parameters", "_buffers", "_modules"])
_MAX_VISITS = 4  # of one container
_MAX_STEPS = 300_000
_MAX_DEPTH = 100
_MAX_TABLES = 16  # that are spelt out with their names
_LEAST_VOCABULARY = 4
_MAX_NAME = 1000
_LOOKED_INTO = (dict, list, tuple, Instance, Tensor, Unreadable, PickledArray)


@dataclass(eq=False)
class Contents:
    """What was found.

    Attributes
    ----------
    tensors : dict of str to Tensor
        By their names in the model: modules' attributes and dictionaries' keys joined by dots, without
        wrappers such as ``state_dict`` where that leaves the names unique.
    tables : list of NamedVectors
        Tables that the file spells out together with their names.
    vocabularies : list of (str, list of str)
        Lists that could name a table's rows, with the place where they stand.
    unreadable : dict of str to str
        Tensors that can't be shown, and why.
    tied : dict of str to str
        Names that are not stored, each with the stored name whose weights it shares.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    tables: list[NamedVectors] = field(default_factory=list)
    vocabularies: list[tuple[str, list[str]]] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    tied: dict[str, str] = field(default_factory=dict)

    def add(self, other: Contents) -> None:
        """Take in what another file of the same model holds."""
        self.tensors.update(other.tensors)
        self.tables.extend(other.tables)
        self.vocabularies.extend(other.vocabularies)
        self.unreadable.update(other.unreadable)
        self.tied.update(other.tied)


def contents_of(root: Any) -> Contents:
    """Walk an object graph.

    Parameters
    ----------
    root : object
        Plain Python values, ``Tensor``, ``PickledArray``, ``Instance``.
    """
    tensor = as_tensor(root)
    if tensor is not None:
        if not tensor.shape or not tensor.is_number:
            return Contents(tensors={"tensor": tensor})
        return Contents(tables=[lone(tensor, "tensor")])
    walk = _Walk()
    walk.run(root)
    found = Contents(tables=walk.tables, vocabularies=walk.vocabularies, unreadable=walk.unreadable)
    names = Counter(name for _, name, _ in walk.tensors)
    for wrapper, name, tensor in walk.tensors:
        full = name if names[name] == 1 or not wrapper else f"{wrapper}.{name}"
        found.tensors.setdefault(full, tensor)
    return found


@dataclass(frozen=True)
class _Place:
    """Where a value stands: the wrappers around it, then its name in the model."""

    wrapper: str = ""
    name: str = ""
    depth: int = 0

    def inside(self, key: str, wraps: bool = False) -> _Place:
        if wraps and not self.name:
            return _Place(f"{self.wrapper}.{key}" if self.wrapper else key, "", self.depth + 1)
        return _Place(
            self.wrapper, f"{self.name}.{key}" if self.name and key else self.name or key, self.depth + 1
        )


class _Walk:
    def __init__(self) -> None:
        self.tensors: list[tuple[str, str, Tensor]] = []
        self.tables: list[NamedVectors] = []
        self.vocabularies: list[tuple[str, list[str]]] = []
        self.unreadable: dict[str, str] = {}
        self._visits: Counter[int] = Counter()

    def run(self, root: Any) -> None:
        todo = [(_Place(), root)]
        for _ in range(_MAX_STEPS):
            if not todo:
                return
            place, value = todo.pop()
            children = list(self._visit(place, value))
            todo.extend(reversed(children))

    def _visit(self, place: _Place, value: Any) -> Iterator[tuple[_Place, Any]]:
        """Take in one value; what is inside it and has to be looked at."""
        if isinstance(value, Unreadable):
            self.unreadable[place.name] = value.kind
        elif (tensor := as_tensor(value)) is not None:
            self.tensors.append((place.wrapper, place.name, tensor))
        elif isinstance(value, dict | list | tuple | Instance) and self._is_new(place, value):
            yield from self._open(place, value)

    def _is_new(self, place: _Place, value: Any) -> bool:
        self._visits[id(value)] += 1
        return self._visits[id(value)] <= _MAX_VISITS and place.depth <= _MAX_DEPTH

    def _open(self, place: _Place, value: Any) -> Iterator[tuple[_Place, Any]]:
        if isinstance(value, Instance):
            yield from _inside_instance(place, value)
            return
        tables: list[NamedVectors] = []
        if len(self.tables) < _MAX_TABLES:
            find = find_in_dict if isinstance(value, dict) else find_in_list
            tables = find(value, place.name)
        if tables:
            self.tables.extend(tables)
        elif (texts := _vocabulary(value)) is not None:
            if self._visits[id(value)] == 1:
                self.vocabularies.append((place.name or place.wrapper, texts))
        elif isinstance(value, dict):
            yield from _inside_dict(place, value)
        else:
            yield from _named(place, enumerate(value))


def _vocabulary(value: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> list[str] | None:
    """Names in a list, or in a mapping to or from their numbers; not numbers alone."""
    if len(value) < _LEAST_VOCABULARY:
        return None
    first = next(iter(value.items())) if isinstance(value, dict) else value[:1]
    return as_texts(value) if any(type(part) is str for part in first) else None


def _inside_dict(place: _Place, value: dict[Any, Any]) -> Iterator[tuple[_Place, Any]]:
    if value.keys() >= _OPTIMIZER:
        return
    for key, item in value.items():
        if not isinstance(item, _LOOKED_INTO):
            continue
        if isinstance(key, str) and len(key) <= _MAX_NAME:
            if place.depth <= 1 and _NOT_MODEL.fullmatch(key.lower()):
                continue
            if isinstance(item, dict | Instance) and _WRAPPER.fullmatch(key):
                yield place.inside(key, wraps=True), item
                continue
        yield from _named(place, [(key, item)])


def _named(place: _Place, items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[_Place, Any]]:
    """What can hold a tensor, at the place inside this one that its key names."""
    for key, item in items:
        if isinstance(item, _LOOKED_INTO) and type(key) in (str, int):
            text = str(key)
            if len(place.name) + len(text) < _MAX_NAME:
                yield place.inside(text), item


def _inside_instance(place: _Place, value: Instance) -> Iterator[tuple[_Place, Any]]:
    """A module's parameters, buffers and modules under their own names; other objects' attributes."""
    if value.cls.module.startswith(_SKIPPED_MODULES):
        return
    for key, item in value.attributes.items():
        if key in _TRANSPARENT and isinstance(item, dict):
            yield from _named(place, item.items())
        elif isinstance(key, str) and not key.startswith("_"):
            yield from _named(place, [(key, item)])
    yield from _named(place, (value.entries or {}).items())
    yield from _named(place, enumerate(value.items or ()))
