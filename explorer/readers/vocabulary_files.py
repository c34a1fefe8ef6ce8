"""Vocabularies in every form they are saved in: what each id is called, and which ids are special.

word → id, id → word, both in a tuple, a list, objects with such attributes (torchtext), ``vocab.json``,
``tokenizer.json``, SentencePiece. Texts of labels have a reader of their own (``label_text``).
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.core.errors import ExplorerError
from explorer.readers import sentencepiece
from explorer.readers.gensim_file import words_of
from explorer.readers.inert_pickle import load_pickle
from explorer.readers.inert_values import Instance, PickledArray
from explorer.readers.label_text import LabelText, read_label_text
from explorer.readers.packed_labels import BRACKETED, escape
from explorer.readers.special_tokens import special_by_name, special_names
from explorer.readers.vector_lines import BOM

_LARGEST = 1 << 28
_DEEPEST = 4
_OLD_PICKLES = (b"(", b"]", b"}", b")", b"c")
_COUNTS = re.compile(r"count|freq", re.IGNORECASE)
_LISTS = re.compile(r"_?(itos|(i|id|idx|ind|index|int)(2|_to_)\w+)_?", re.IGNORECASE)
_OFFSET_MODELS = ("sentencepiece.bpe.model",)  # fairseq's models put the ids one further


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What ids are called.

    Attributes
    ----------
    source : str
        The file's name.
    texts : sequence of str or None
        By id; None where the tokenizer has no token of that id.
    special : frozenset of int
        Ids that the tokenizer marks as special, or whose names say so.
    keyed : bool
        Ids come from the file: a table may have more rows, which then are padding. Otherwise texts are
        matched to rows by their place, and their count must be right.
    side : str or None
        "source" or "target" where the file holds one for each side of a translator.
    """

    source: str
    texts: Sequence[str | None]
    special: frozenset[int]
    keyed: bool
    side: str | None = None


def read_vocabulary(path: Path) -> tuple[Vocabulary, ...] | LabelText:
    """What a file says of ids, by what it holds, never by its name alone.

    Returns
    -------
    tuple of Vocabulary or LabelText
        One vocabulary, or two (source and target); or the lines of a text.

    Raises
    ------
    ExplorerError
        The file holds no vocabulary, or one that contradicts itself.
    """
    if not path.is_file():  # a pipe would be waited for
        raise ExplorerError(f"There is no file {path}." if not path.exists() else f"{path} is no file.")
    try:
        if path.stat().st_size > _LARGEST:
            raise ExplorerError(f"{path.name} is too large for a vocabulary.")
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
    if head[:1] == b"\x80":
        return _from_object(load_pickle(path), path.name)
    if head.startswith(b"PK\x03\x04"):
        return _from_object(load_pickle(_zipped_pickle(path), name=path.name), path.name)
    if head[:1] in _OLD_PICKLES and (old := _old_pickle(path)) is not None:
        return _from_object(old, path.name)
    if head.removeprefix(BOM).lstrip()[:1] in (b"{", b"[") and (found := _from_json(path)) is not None:
        return found
    if sentencepiece.is_model(head):
        return (_from_sentencepiece(path),)
    text = read_label_text(path)
    tokens = _tokenizer_lines(text)
    return (_with_siblings(_vocabulary(path.name, tokens, keyed=True), path),) if tokens else text


def _old_pickle(path: Path) -> Any:
    """What a pickle of protocol 0 or 1 holds; None for anything else, as they have no mark of their own."""
    data = path.read_bytes()
    if not data.endswith(b"."):
        return None
    try:
        return load_pickle(data, name=path.name)
    except ExplorerError:
        return None


def _tokenizer_lines(text: LabelText) -> list[str] | None:
    """The lines of a tokenizer's own list (BERT's ``vocab.txt``), where the line is the id; else None."""
    if text.columns is not None or not text.count:
        return None
    lines = list(text.for_rows(text.count, False).labels)
    marked = sum(line in BRACKETED for line in lines[:200])
    return lines if marked >= 2 and len(set(lines)) == len(lines) else None


def _zipped_pickle(path: Path) -> bytes:
    """The pickle inside what ``torch.save`` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            member = next((each for each in archive.infolist() if each.filename.endswith("/data.pkl")), None)
            if member is None or member.file_size > _LARGEST:
                raise ExplorerError(f"{path.name} holds no vocabulary.")
            return archive.read(member)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise ExplorerError(f"{path.name} is damaged: its zip cannot be read.", detail=str(error)) from error


# Objects


@dataclass(frozen=True, eq=False)
class _Numbering:
    """Words by their ids as one object has them: "to id", "to word", or "list"."""

    texts: list[str | None]
    direction: str

    def agrees(self, other: _Numbering) -> bool:
        """Whether both are one vocabulary, told in two directions."""
        if self.direction == other.direction:
            return False
        pairs = [(a, b) for a, b in zip(self.texts, other.texts, strict=False) if None not in (a, b)]
        shorter = min(sum(text is not None for text in each.texts) for each in (self, other))
        return all(a == b for a, b in pairs) and 2 * len(pairs) >= shorter


def _from_object(value: Any, name: str) -> tuple[Vocabulary, ...]:
    if isinstance(value, Instance) and value.cls.module.startswith("gensim") and (words := words_of(value)):
        return (_vocabulary(name, words, keyed=True),)
    groups: list[list[_Numbering]] = []
    for each in _find(value, name, 0):
        open_group = next((group for group in groups if len(group) == 1 and group[0].agrees(each)), None)
        if open_group is None:
            groups.append([each])
        else:
            open_group.append(each)
    if not groups:
        what = value.cls.path if isinstance(value, Instance) else f"a {type(value).__name__}"
        raise ExplorerError(
            f"{name} holds {what}, which does not say what each row is called.",
            "A vocabulary maps words to ids or ids to words, or lists the words in the order of their ids.",
        )
    if len(groups) == 2 and {len(group) for group in groups} == {1}:
        first, second = groups[0][0], groups[1][0]
        if {first.direction, second.direction} == {"to id", "to word"}:
            raise ExplorerError(f"{name} contradicts itself: its ids of words and its words of ids differ.")
    if len(groups) > 2:
        raise ExplorerError(f"{name} holds {len(groups)} vocabularies; it is not clear which is which.")
    sides = ("source", "target") if len(groups) == 2 else (None,)
    return tuple(
        replace(
            _vocabulary(name, max((each.texts for each in group), key=len), keyed=_keyed(group)), side=side
        )
        for group, side in zip(groups, sides, strict=True)
    )


def _keyed(group: list[_Numbering]) -> bool:
    return any(each.direction != "list" for each in group)


def _find(value: Any, name: str, depth: int) -> list[_Numbering]:
    """Everything in a value that numbers words, in its order."""
    if isinstance(value, Counter):
        raise ExplorerError(
            f"{name} counts words, but does not number them.",
            "Choose the vocabulary that was made from these counts.",
        )
    if isinstance(value, PickledArray):
        value = value.value.tolist() if value.value is not None and value.value.ndim == 1 else None
    if isinstance(value, dict):
        if _is_mapping(value):
            return [_Numbering(_by_id(value, name), "to id" if _is_word(next(iter(value))) else "to word")]
        return _find_named(value, name, depth)
    if isinstance(value, list | tuple):
        if value and all(_is_word(item) for item in value):
            return [_Numbering([_text(item) for item in value], "list")]
        if len(value) <= 8 and depth < _DEEPEST:
            return [each for item in value for each in _find(item, name, depth + 1)]
    if isinstance(value, Instance) and depth < _DEEPEST:
        found = _find_named({**value.attributes, **(value.entries or {})}, name, depth)
        if not found and value.cls.path.startswith("torchtext"):
            found = [
                replace(each, direction="to word") for each in _find((value.args, value.state), name, depth)
            ]
        return found
    return []


def _find_named(entries: Mapping[Any, Any], name: str, depth: int) -> list[_Numbering]:
    """The same in an object's attributes; counts beside the ids are no vocabulary."""
    if depth >= _DEEPEST or len(entries) > 200:
        return []
    found: list[_Numbering] = []
    for key, value in entries.items():
        if isinstance(value, Counter) or (isinstance(key, str) and _COUNTS.search(key)):
            continue
        if isinstance(value, dict | list | tuple | Instance | PickledArray):
            inner = _find(value, name, depth + 1)
            listed = isinstance(key, str) and _LISTS.fullmatch(key)
            found += [replace(each, direction="to word") if listed else each for each in inner]
    return found


def _is_mapping(entries: dict[Any, Any]) -> bool:
    """Whether a dictionary maps words to ids or ids to words."""
    if not entries:
        return False
    key, value = next(iter(entries.items()))
    return (_is_word(key) and _is_id(value)) or (_is_id(key) and _is_word(value))


def _is_word(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _is_id(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _by_id(entries: Mapping[Any, Any], name: str) -> list[str | None]:
    """Words in the order of their ids; ids must be told apart and lie close together."""
    forward = _is_id(next(iter(entries.values())))
    texts: dict[int, str] = {}
    for key, value in entries.items():
        word, number = (key, value) if forward else (value, key)
        if not _is_id(number) or not (_is_word(word) or _is_id(word)):
            raise ExplorerError(f"{name} maps “{_shown(key)}” to something that is no id.")
        if number < 0:
            raise ExplorerError(f"{name} gives “{_shown(word)}” the id {number}, which no row can have.")
        if number in texts:
            raise ExplorerError(
                f"{name} gives the id {number} to “{_shown(texts[number])}” and to “{_shown(word)}”.",
                "These may be counts, not ids." if forward else "",
            )
        texts[int(number)] = _text(word)
    largest = max(texts)
    if largest > 4 * len(texts) + 100_000:
        raise ExplorerError(f"{name} has {len(texts):,} words, but an id of {largest:,}.")
    return [texts.get(number) for number in range(largest + 1)]


def _text(word: Any) -> str:
    if isinstance(word, bytes):
        return escape(word)
    if isinstance(word, str):
        sound = word.isascii() or not any("\udc80" <= char <= "\udcff" for char in word)
        return word if sound else escape(word.encode("utf-8", "surrogateescape"))
    return str(word)


def _shown(word: Any) -> str:
    return _text(word)[:60] if isinstance(word, str | bytes) else str(word)[:60]


# JSON


def _from_json(path: Path) -> tuple[Vocabulary, ...] | None:
    """What a JSON file numbers; None where it is none, but a text whose first line looks like it."""
    try:
        content = _load_json(path)
    except ExplorerError:
        if path.suffix.lower() == ".json":
            raise
        return None
    if isinstance(content, dict):
        model = content.get("model")
        if isinstance(model, dict) and isinstance(model.get("vocab"), dict | list):
            return (_from_tokenizer(path, content, model["vocab"]),)
        numbered = content and all(re.fullmatch(r"\d{1,18}", key) for key in content)
        if numbered and all(isinstance(value, str) for value in content.values()):
            content = {int(key): value for key, value in content.items()}
    return tuple(_with_siblings(each, path) for each in _from_object(content, path.name))


def _load_json(path: Path) -> Any:
    try:
        return json.loads(escape(path.read_bytes().removeprefix(BOM)))
    except (OSError, ValueError, RecursionError) as error:
        raise ExplorerError(f"{path.name} is damaged: it is not JSON.", detail=str(error)) from error


def _from_tokenizer(path: Path, content: dict[str, Any], vocab: Any) -> Vocabulary:
    """``tokenizer.json``: the model's own tokens, and those added to them."""
    if isinstance(vocab, list):  # Unigram: [token, score], the place is the id
        tokens = [entry[0] if isinstance(entry, list) and entry else entry for entry in vocab]
        if not all(isinstance(token, str) for token in tokens):
            raise ExplorerError(f"{path.name} is damaged: its vocabulary is no list of tokens.")
        texts: list[str | None] = list(tokens)
    else:
        texts = _by_id(vocab, path.name) if vocab else []
    added = content.get("added_tokens")
    entries = added if isinstance(added, list) else []
    named = {entry["id"]: entry["content"] for entry in entries if _is_added(entry)}
    special = {entry["id"] for entry in entries if _is_added(entry) and entry.get("special") is True}
    return _vocabulary(path.name, _with_added(texts, named, path.name), keyed=True, special=special)


def _is_added(entry: Any) -> bool:
    return isinstance(entry, dict) and _is_id(entry.get("id")) and isinstance(entry.get("content"), str)


def _with_added(texts: Sequence[str | None], added: Mapping[int, str], name: str) -> list[str | None]:
    if not added:
        return list(texts)
    known: dict[Any, Any] = {number: text for number, text in enumerate(texts) if text is not None}
    return _by_id({**known, **added}, name)


def _with_siblings(vocabulary: Vocabulary, path: Path) -> Vocabulary:
    """What a tokenizer's other files say: tokens added later, and which are special."""
    texts = list(vocabulary.texts)
    names: set[str] = set()
    extra = path.with_name("added_tokens.json")
    if extra.is_file() and extra != path:
        added = _load_json(extra)
        if isinstance(added, dict) and added and all(_is_id(number) for number in added.values()):
            texts = _with_added(texts, {number: token for token, number in added.items()}, extra.name)
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        settings = path.with_name(name)
        if settings.is_file() and settings.stat().st_size < _LARGEST:
            content = _load_json(settings)
            names |= set(special_names(content)) if isinstance(content, dict) else set()
    special = {number for number, text in enumerate(texts) if text in names}
    return replace(vocabulary, texts=texts, special=vocabulary.special | special)


# SentencePiece


def _from_sentencepiece(path: Path) -> Vocabulary:
    if path.name in _OFFSET_MODELS:
        raise ExplorerError(
            f"{path.name} numbers its pieces otherwise than the model that goes with it.",
            "Choose tokenizer.json, which has the model's own ids.",
        )
    try:
        pieces = sentencepiece.read_pieces(path.read_bytes())
    except (ValueError, OSError) as error:
        message = f"{path.name} is damaged: it is no sound SentencePiece model."
        raise ExplorerError(message, detail=str(error)) from error
    special = {number for number, piece in enumerate(pieces) if piece.is_special}
    texts = [piece.text for piece in pieces]
    return _with_siblings(_vocabulary(path.name, texts, keyed=True, special=special), path)


# Special tokens


def _vocabulary(
    name: str, texts: Sequence[str | None], *, keyed: bool, special: Iterable[int] = ()
) -> Vocabulary:
    return Vocabulary(name, texts, frozenset(special) | special_by_name(texts), keyed)
