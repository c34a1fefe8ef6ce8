"""gensim's saved models and ``KeyedVectors``, of every version: a pickle, with large arrays beside it.

An array ``vectors`` of the part ``wv`` of ``my.model`` lies in the pickle, or in ``my.model.wv.vectors.npy``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import FLOATS, name_of
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers import arrays, fasttext_ngrams
from explorer.readers.inert_pickle import load_pickle
from explorer.readers.inert_values import Instance, PickledArray
from explorer.readers.packed_labels import INSIDE, escape

_MARK = re.compile(rb"gensim\.(models|similarities|corpora)")
_PARTS = ("wv", "kv", "dv", "docvecs")  # where a model keeps its vectors; itself in old versions
_VECTORS = ("vectors", "syn0", "vectors_docs", "doctag_syn0")
_KEYS = ("index_to_key", "index2word", "index2entity")


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file is a pickle whose first class is one of gensim's."""
    pickled = head[:1] in (b"\x80", b"c", b"(")
    return pickled and _MARK.search(head[:300]) is not None


def read(path: Path) -> OpenedFile:
    """List the tables of a model: words, documents, and the output layer.

    Raises
    ------
    ExplorerError
        The model holds no vectors, or those that lie beside it are missing.
    """
    root = load_pickle(path)
    if not isinstance(root, Instance):
        raise ExplorerError(f"{path.name} is no gensim model.")
    parts = list(_parts(path, root))
    tables = [table for part in parts if (table := _table(part)) is not None]
    if tables:
        tables += _output_layers(path, root, tables[0])
    if not tables:
        raise ExplorerError(f"{path.name} is a gensim {root.cls.name}, which holds no word vectors.")
    return OpenedFile(path, f"gensim {root.cls.name}", tuple(tables))


@dataclass(frozen=True, eq=False)
class _Part:
    """An object of the model with its attributes, and where its arrays lie if not in the pickle.

    Attributes
    ----------
    prefix : str
        Dotted path inside the model, "" for the model itself.
    """

    path: Path
    prefix: str
    kind: str
    attributes: dict[Any, Any]

    def array(self, name: str) -> _Lazy | None:
        """The array of that name, inside or beside the pickle."""
        value = self.attributes.get(name)
        if isinstance(value, PickledArray):
            return None if value.value is None else _Lazy.of(value.value)
        separate = self.attributes.get("__numpys")
        if value is None and isinstance(separate, list) and name in separate:
            return _beside(self.path, ".".join(filter(None, (self.path.name, self.prefix, name))))
        return None


@dataclass(frozen=True, eq=False)
class _Lazy:
    """An array that is read when asked for."""

    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], NDArray]

    @classmethod
    def of(cls, array: NDArray) -> _Lazy:
        return cls(array.shape, name_of(array.dtype), lambda: array)


def _beside(path: Path, name: str) -> _Lazy:
    """The array in a file of that name: ``.npy``, or ``.npz`` where gensim packed it."""
    for suffix in (".npy", ".npz"):
        file = path.with_name(name + suffix)
        if file.is_file():
            table = arrays.read(file).tables[0]
            return _Lazy((table.rows, table.dim), table.dtype, table.read)
    raise ExplorerError(
        f"The vectors of {path.name} lie in {name}.npy, which is missing.",
        f"Put it beside {path.name}, under exactly that name.",
    )


def _parts(path: Path, root: Instance) -> Iterator[_Part]:
    for name in _PARTS:
        value = root.attributes.get(name)
        if isinstance(value, Instance):
            yield _Part(path, name, value.cls.name, value.attributes)
    yield _Part(path, "", root.cls.name, root.attributes)


def words_of(root: Instance) -> list[str | None] | None:
    """The words of a model or of its ``KeyedVectors``, in the order of their rows; None where it has none."""
    found = (_keys(part.attributes) for part in _parts(Path(), root))
    return next((keys for keys in found if keys), None)


def _table(part: _Part) -> EmbeddingTable | None:
    vectors = next((found for name in _VECTORS if (found := part.array(name)) is not None), None)
    if vectors is None:
        vectors = _from_ngrams(part)
    if vectors is None or len(vectors.shape) != 2 or vectors.dtype not in FLOATS or not all(vectors.shape):
        return None
    rows, dim = vectors.shape
    keys = _keys(part.attributes)
    if keys is not None and len(keys) > rows:
        raise ExplorerError(f"{part.path.name} is damaged: it has {len(keys):,} words for {rows:,} vectors.")
    counts = _counts(part.attributes, rows)
    documents = part.prefix in ("dv", "docvecs")
    return EmbeddingTable(
        f"{part.prefix}.vectors" if part.prefix else "vectors",
        rows,
        dim,
        vectors.dtype,
        Role.OTHER if documents else Role.TOKEN,
        vectors.read,
        labels=Labels.from_texts(keys, INSIDE, rows=rows) if keys is not None else None,
        metadata={} if counts is None else {"count": counts},
    )


def _output_layers(path: Path, root: Instance, words: EmbeddingTable) -> list[EmbeddingTable]:
    """The vectors that training compared the words with, where they are one a word."""
    trainables = root.attributes.get("trainables")
    owners = [_Part(path, "", root.cls.name, root.attributes)]
    if isinstance(trainables, Instance):
        owners.append(_Part(path, "trainables", trainables.cls.name, trainables.attributes))
    for owner in owners:
        try:
            layer = owner.array("syn1neg")
        except ExplorerError:
            continue  # the words are there; only their output layer was left behind
        if layer is not None and layer.shape == (words.rows, words.dim) and layer.dtype in FLOATS:
            return [
                EmbeddingTable(
                    "syn1neg", *layer.shape, layer.dtype, Role.OUTPUT, layer.read, labels=words.labels
                )
            ]
    return []


def _from_ngrams(part: _Part) -> _Lazy | None:
    """fastText's words, which newer versions do not save: each is the mean of itself and its n-grams."""
    words, ngrams = part.array("vectors_vocab"), part.array("vectors_ngrams")
    keys = _keys(part.attributes)
    if words is None or ngrams is None or keys is None or len(words.shape) != 2:
        return None
    shortest, longest, buckets = (_size(part, name) for name in ("min_n", "max_n", "bucket"))
    if buckets > ngrams.shape[0]:
        raise ExplorerError(
            f"{part.path.name} is damaged: {ngrams.shape[0]:,} of {buckets:,} n-grams are there."
        )
    compatible = part.attributes.get("compatible_hash") is not False

    def read() -> NDArray:
        hashes = (fasttext_ngrams.buckets(key or "", shortest, longest, buckets, compatible) for key in keys)
        return fasttext_ngrams.with_ngrams(words.read(), ngrams.read(), hashes)

    return _Lazy(words.shape, words.dtype, read)


def _size(part: _Part, name: str) -> int:
    value = part.attributes.get(name)
    if type(value) is not int or value < 0 or (name != "bucket" and value > 100):
        raise ExplorerError(f"{part.path.name} is damaged: its n-grams have no sizes.")
    return value


def _keys(attributes: dict[Any, Any]) -> list[str | None] | None:
    """What each row is called."""
    for name in _KEYS:
        if isinstance(attributes.get(name), list):
            return [_text(key) for key in attributes[name]]
    for name in ("key_to_index", "vocab"):
        if isinstance(attributes.get(name), dict) and attributes[name]:
            return _by_index(attributes[name])
    tags = attributes.get("offset2doctag")
    if isinstance(tags, list):
        largest = attributes.get("max_rawint")
        plain = largest + 1 if type(largest) is int and -1 <= largest < attributes.get("count", 0) else 0
        return [*map(str, range(plain)), *map(_text, tags)]
    return None


def _by_index(mapping: dict[Any, Any]) -> list[str | None] | None:
    """Keys in the order of their rows; None where the rows are not 0, 1, 2 ..."""
    rows = {_text(key): _index_of(value) for key, value in mapping.items()}
    if sorted(row for row in rows.values() if row is not None) != list(range(len(mapping))):
        return None
    return sorted(rows, key=lambda key: rows[key] or 0)


def _index_of(value: Any) -> int | None:
    index = value.attributes.get("index") if isinstance(value, Instance) else value
    return index if type(index) is int else None


def _text(key: Any) -> str | None:
    """A key as text; bytes of Python 2 that are not UTF-8 are escaped."""
    if isinstance(key, str):
        return escape(key.encode("utf-8", "surrogateescape")) if not _is_sound(key) else key
    return str(key) if type(key) is int else None


def _is_sound(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _counts(attributes: dict[Any, Any], rows: int) -> NDArray | None:
    """How often each word was seen."""
    expandos, vocab, words = (attributes.get(name) for name in ("expandos", "vocab", "index2word"))
    if isinstance(expandos, dict) and isinstance(expandos.get("count"), PickledArray):
        counts = expandos["count"].value
        return (
            counts if counts is not None and counts.shape == (rows,) and counts.dtype.kind in "iu" else None
        )
    if not isinstance(vocab, dict) or not isinstance(words, list) or len(words) != rows:
        return None
    counted = [vocab.get(word) if isinstance(word, str) else None for word in words]
    numbers = [each.attributes.get("count") if isinstance(each, Instance) else None for each in counted]
    if not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers):
        return None
    return np.array(numbers, np.int64)
