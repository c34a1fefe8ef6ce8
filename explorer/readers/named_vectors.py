"""Vectors that come with their names: ``{word: vector}``, ``{"features", "image_ids"}``, tensor and list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import INTEGERS
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, Role
from explorer.readers.inert_values import Instance, PickledArray
from explorer.readers.packed_labels import BRACKETED, INSIDE
from explorer.readers.tensors import Tensor, from_array, reshaped, stacked

_NAME_KEYS = (  # what a list of names is called, the likeliest to name a row first
    r"words?|tokens?|vocab(ulary)?|itos|idx2\w+|id2\w+|index_to_key|stoi|\w+2idx|\w+2id|\w+_to_(id|idx|int|index)",
    r"(image|img|photo|file)?_?(ids?|paths?|files?|names?)|filenames?|keys?|titles?|uris?|urls?|captions?|texts?",
    r"labels?|classes|targets?|categories|y",
)
_WORD_KEYS = re.compile(_NAME_KEYS[0])
_CLASS_KEYS = re.compile(_NAME_KEYS[2])
_IMAGE_KEYS = re.compile(r".*(image|img|photo|picture|visual).*")
_IMAGE_FILE = re.compile(r".*\.(jpe?g|png|webp|gif|bmp|tiff?|heic|avif)", re.IGNORECASE)
_PARAMETER = re.compile(r"(.*\.)?(weight|bias|gamma|beta|running_mean|running_var|scale|shift|[ab]_2)(_\w+)?")
_MAX_NUMBERS = 50_000_000  # in vectors saved as plain lists
_PLACEHOLDER = re.compile(r"<[^<>]+>")  # a textual inversion's token


@dataclass(frozen=True, eq=False)
class NamedVectors:
    """A table and what its rows are called.

    Attributes
    ----------
    name : str
    tensor : Tensor
        Of two dimensions.
    role : Role
    texts : list of str or None
        A name a row, where there are any.
    metadata : dict of str to array
    notes : tuple of str
    """

    name: str
    tensor: Tensor
    role: Role
    texts: list[str] | None = None
    metadata: dict[str, NDArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self) -> EmbeddingTable:
        """The table as it is offered."""
        rows, dim = self.tensor.shape
        return EmbeddingTable(
            self.name,
            rows,
            dim,
            self.tensor.dtype,
            self.role,
            self.tensor.read,
            labels=None if self.texts is None else labels_of(self.texts),
            metadata=self.metadata,
            notes=self.notes,
        )


def labels_of(texts: Sequence[str | None]) -> Labels:
    """Labels that a file holds itself; names that only tokenizers use are special."""
    return Labels.from_texts(texts, INSIDE, special=[i for i, text in enumerate(texts) if text in BRACKETED])


def as_tensor(value: Any) -> Tensor | None:
    """A tensor, or an array of numbers; None for anything else."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, PickledArray) and value.value is not None:
        return from_array(value.value)
    return None


def as_texts(value: Any) -> list[str] | None:
    """A list of names: texts, paths or whole numbers; a mapping of names to rows. None for anything else."""
    if isinstance(value, dict):
        return _by_id(value)
    if isinstance(value, PickledArray):
        array = value.value
        if array is None or array.ndim != 1 or array.dtype.kind not in "USOiu":
            return None
        value = array.tolist()
    elif isinstance(value, Tensor):
        value = value.read().tolist() if len(value.shape) == 1 and value.dtype in INTEGERS else None
    if not isinstance(value, list | tuple) or not value:
        return None
    texts = [_text(item) for item in value]
    return texts if all(text is not None for text in texts) else None  # type: ignore[return-value]


def _texts_for(value: Any, rows: int) -> list[str] | None:
    """Names, where there is one for each row."""
    texts = as_texts(value) if _length(value) == rows else None
    return texts if texts is not None and len(texts) == rows else None


def _length(value: Any) -> int | None:
    if isinstance(value, PickledArray):
        return None if value.value is None or value.value.ndim == 0 else len(value.value)
    if isinstance(value, Tensor):
        return value.shape[0] if value.shape else None
    return len(value) if isinstance(value, list | tuple | dict) else None


def _text(item: Any) -> str | None:
    if type(item) is str:
        return item
    if type(item) is bytes:
        return item.decode("utf-8", "backslashreplace")
    if type(item) is int:
        return str(item)
    if isinstance(item, Instance) and item.cls.module.startswith("pathlib"):
        return "/".join(part for part in item.args if isinstance(part, str)).replace("//", "/")
    return None


def _by_id(mapping: dict[Any, Any]) -> list[str] | None:
    """``{word: id}`` or ``{id: word}`` as a list, where the ids are 0, 1, 2 ... without a gap."""
    if mapping and all(type(key) is int and type(text) is str for key, text in mapping.items()):
        mapping = {text: key for key, text in mapping.items()}
    if not mapping or not all(type(key) is str and type(row) is int for key, row in mapping.items()):
        return None
    ordered = sorted(mapping, key=mapping.__getitem__)
    return ordered if all(mapping[key] == row for row, key in enumerate(ordered)) else None


def find_in_dict(entries: Mapping[Any, Any], name: str) -> list[NamedVectors]:
    """Tables that a dictionary spells out with their names; empty where it does not.

    Parameters
    ----------
    entries : mapping
    name : str
        Where the dictionary stands in its file, "" for the whole.
    """
    if not entries:
        return []
    return _textual_inversion(entries, name) or _with_names(entries, name) or _vectors_by_name(entries, name)


def find_in_list(items: Sequence[Any], name: str) -> list[NamedVectors]:
    """The same for a list or tuple: a tensor beside its names, or vectors of one length."""
    if len(items) < 2 or all(as_tensor(item) is None for item in items[:8]):
        return []
    tensors = [tensor for item in items if (tensor := as_tensor(item)) is not None]
    if len(tensors) == len(items):
        return _stack(name, tensors, Role.OTHER, None)
    matrices = [tensor for tensor in tensors if len(tensor.shape) == 2]
    if len(matrices) != 1 or len(items) > 8:
        return []
    for item in items:
        texts = _texts_for(item, matrices[0].shape[0])
        if texts is not None:
            return [NamedVectors(name or "vectors", matrices[0], _role(name, "", texts), texts)]
    return []


def lone(tensor: Tensor, name: str) -> NamedVectors:
    """A tensor that is all its file holds; one vector is one row, further axes are rows too."""
    shape = tensor.shape if len(tensor.shape) > 1 else (1, *tensor.shape)
    rows = 1
    for size in shape[:-1]:
        rows *= size
    stored = " × ".join(map(str, shape))
    notes = (f"Stored as {stored}; the first axes are rows here.",) if len(shape) > 2 else ()
    return NamedVectors(name, reshaped(tensor, (rows, shape[-1])), Role.OTHER, notes=notes)


def _textual_inversion(entries: Mapping[Any, Any], name: str) -> list[NamedVectors]:
    """``{"string_to_param": {"*": n x dim}, "name"}``, ``{"<token>": n x dim}``, ``clip_l`` + ``clip_g``."""
    prefix = f"{name}." if name else ""
    learned = entries.get("string_to_param")
    if isinstance(learned, Instance):  # a ParameterDict
        parameters = learned.attributes.get("_parameters")
        learned = (
            parameters
            if isinstance(parameters, dict) and parameters
            else learned.entries or learned.attributes
        )
    if isinstance(learned, dict):
        token = entries.get("name")
        return [
            _learned(f"{prefix}string_to_param.{key}", tensor, token if isinstance(token, str) else str(key))
            for key, value in learned.items()
            if (tensor := as_tensor(value)) is not None and _is_rows(tensor)
        ]
    tensors = {key: as_tensor(value) for key, value in entries.items()}
    known = tensors.keys() <= {"clip_l", "clip_g", "t5xxl"} or tensors.keys() == {"emb_params"}
    if not known and not all(isinstance(key, str) and _PLACEHOLDER.fullmatch(key) for key in tensors):
        return []
    if any(tensor is None or not _is_rows(tensor) for tensor in tensors.values()):
        return []
    if not known and all(tensor is not None and len(tensor.shape) == 1 for tensor in tensors.values()):
        return []  # one row a token: vectors by name
    return [
        _learned(f"{prefix}{key}", tensor, None if known else str(key))
        for key, tensor in tensors.items()
        if tensor is not None
    ]


def _is_rows(tensor: Tensor) -> bool:
    return tensor.is_float and len(tensor.shape) in (1, 2) and all(tensor.shape)


def _learned(name: str, tensor: Tensor, token: str | None) -> NamedVectors:
    """Rows of one learned token, named as diffusers names them: the token, then the token with a number."""
    shape = tensor.shape if len(tensor.shape) == 2 else (1, *tensor.shape)
    texts = None if token is None else [token, *(f"{token}_{i}" for i in range(1, shape[0]))]
    return NamedVectors(name, reshaped(tensor, (shape[0], shape[1])), Role.TOKEN, texts)


def _with_names(entries: Mapping[Any, Any], name: str) -> list[NamedVectors]:
    """A few matrices, and lists that name their rows."""
    if len(entries) > 64:
        return []
    matrices = {
        str(key): tensor
        for key, value in entries.items()
        if (tensor := as_tensor(value)) is not None and len(tensor.shape) == 2 and tensor.is_number
    }
    lists = {
        str(key): (value, length)
        for key, value in entries.items()
        if str(key) not in matrices and (length := _length(value)) is not None
    }
    if any(_PARAMETER.fullmatch(key) for key in matrices):
        return []  # a model's tensors, with a vocabulary among them
    if not any(_name_rank(key) < len(_NAME_KEYS) for key in lists):
        return []
    return [_named(key, tensor, lists, name) for key, tensor in matrices.items()]


def _named(key: str, tensor: Tensor, lists: dict[str, tuple[Any, int]], name: str) -> NamedVectors:
    rows = tensor.shape[0]
    fitting = {k: texts for k, (value, _) in lists.items() if (texts := _texts_for(value, rows)) is not None}
    naming = [k for k in sorted(fitting, key=_name_rank) if not _are_classes(k, fitting[k])]
    chosen = naming[0] if naming else None
    notes = tuple(
        f"“{k}” has {length:,} entries for {rows:,} rows and is not used."
        for k, (_, length) in lists.items()
        if k not in fitting and _name_rank(k) < len(_NAME_KEYS)
    )
    texts = None if chosen is None else fitting[chosen]
    return NamedVectors(
        f"{name}.{key}" if name else key,
        tensor,
        _role(key, chosen or "", texts or []),
        texts,
        {k: _column(lists[k][0], fitting[k]) for k in fitting if k != chosen},
        notes,
    )


def _name_rank(key: str) -> int:
    for rank, pattern in enumerate(_NAME_KEYS):
        if re.fullmatch(pattern, key, re.IGNORECASE):
            return rank
    return len(_NAME_KEYS)


def _are_classes(key: str, texts: list[str]) -> bool:
    """Whether a list tells the rows' classes, not their names."""
    return bool(_CLASS_KEYS.fullmatch(key.lower())) and len(set(texts)) < len(texts) / 2


def _column(value: Any, texts: list[str]) -> NDArray:
    """A metadata column: numbers where all are, text otherwise."""
    if isinstance(value, list | tuple) and all(type(item) is int and abs(item) < 1 << 63 for item in value):
        return np.array(value, np.int64)
    if isinstance(value, PickledArray) and value.value is not None and value.value.dtype.kind in "iu":
        return value.value
    if isinstance(value, Tensor):
        return value.read().copy()
    return np.array(texts, object)


def _vectors_by_name(entries: Mapping[Any, Any], name: str) -> list[NamedVectors]:
    """``{name: vector}``, all vectors of one length and none of them a layer's parameter."""
    if not all(type(key) in (str, int) for key in entries):
        return []
    if any(isinstance(key, str) and len(key) < 1000 and _PARAMETER.fullmatch(key) for key in entries):
        return []
    vectors: list[Tensor] = []
    longest = _MAX_NUMBERS // len(entries)
    for value in entries.values():
        vector = as_tensor(value) or _number_list(value, longest)
        if vector is None or len(vector.shape) != 1 or vector.shape[0] < 2 or not vector.is_float:
            return []
        vectors.append(vector)
    texts = [str(key) for key in entries]
    return _stack(name, vectors, _role("", "words", texts), texts)


def _number_list(value: Any, longest: int) -> Tensor | None:
    """A vector that was saved as a plain list of numbers."""
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= longest:
        return None
    if all(type(item) is float for item in value):
        return from_array(np.array(value))
    return None


def _stack(name: str, vectors: list[Tensor], role: Role, texts: list[str] | None) -> list[NamedVectors]:
    try:
        table = stacked(vectors)
    except ValueError:
        return []
    return [NamedVectors(name or "vectors", table, role, texts)] if table.is_number else []


def _role(key: str, name_key: str, texts: list[str]) -> Role:
    """What rows with these names are: pictures, words or something else."""
    if re.search("text|caption|word|token", key.lower()):
        return Role.TOKEN if _WORD_KEYS.fullmatch(name_key.lower()) else Role.OTHER
    if _IMAGE_KEYS.fullmatch(key.lower()) or _IMAGE_KEYS.fullmatch(name_key.lower()):
        return Role.IMAGES
    if texts and sum(bool(_IMAGE_FILE.fullmatch(text)) for text in texts[:100]) > len(texts[:100]) / 2:
        return Role.IMAGES
    return Role.TOKEN if not name_key or _WORD_KEYS.fullmatch(name_key.lower()) else Role.OTHER
