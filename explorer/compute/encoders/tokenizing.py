"""Texts to token ids, and what a person should know of it: what was cut off, what has no words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Encoding, Tokenizer

from explorer.compute.encoders.cleaning import Cleaned, Cleaner, as_typed
from explorer.core.text_note import NoteKind, TextNote

_WHOLE_SIGNS = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")  # a single sign can be a word
_SHORTEST = 3  # letters of a word whose spelling out tells something
_RARE = "\U00012000"  # a cuneiform sign
_SHOWN = 40  # characters of a text that a note quotes


@dataclass(frozen=True, eq=False)
class Tokens:
    """Texts as an encoder reads them.

    Attributes
    ----------
    ids : int64 array, shape (n, length)
    mask : bool array, shape (n, length)
        False where a row is only filled up.
    pieces : tuple of tuple of str
        The tokens of each text in words, without filling.
    notes : tuple of tuple of TextNote
        For each text.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.bool_]
    pieces: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[TextNote, ...], ...]


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """A tokenizer of the ``tokenizers`` library and how its model wants the ids.

    Attributes
    ----------
    tokenizer : tokenizers.Tokenizer
        Puts the special tokens around a text itself; its own cutting and filling are not used.
    limit : int
        Most tokens that the model takes, special ones included.
    pad : int
        Id that fills up.
    fill : bool
        Whether every text is filled up to ``limit``, not only to the longest.
    clean : callable
        What happens to a text before.
    expansions : mapping of int to sequence of int
        Ids that stand for several (tokens learned as several vectors).
    source : str
        Where it comes from, in words.
    """

    tokenizer: Tokenizer
    limit: int
    pad: int
    fill: bool = False
    clean: Cleaner = as_typed
    expansions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    @property
    def size(self) -> int:
        """Tokens that it knows, added ones included."""
        return int(self.tokenizer.get_vocab_size(with_added_tokens=True))

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Token ids of texts, cut and filled as the model wants them.

        Parameters
        ----------
        texts : sequence of str
            Empty ones are allowed: only the special tokens are left of them.
        """
        cleaned = [self.clean(text) for text in texts]
        encodings = self.tokenizer.encode_batch([each.text for each in cleaned])
        rows = [self._row(*pair) for pair in zip(cleaned, encodings, strict=True)]
        length = self.limit if self.fill else max((len(row.ids) for row in rows), default=0)
        ids = np.full((len(rows), length), self.pad, np.int64)
        mask = np.zeros(ids.shape, np.bool_)
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = row.ids
            mask[i, : len(row.ids)] = True
        return Tokens(ids, mask, tuple(row.pieces for row in rows), tuple(row.notes for row in rows))

    def with_tokens(self, added: Sequence[tuple[str, int]]) -> TextTokenizer:
        """A tokenizer that also knows learned tokens, each as a number of ids after the present ones.

        Parameters
        ----------
        added : sequence of (str, int)
            Each token's text and how many vectors it has.
        """
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        expansions = list(self.expansions)
        for text, count in added:
            first = tokenizer.get_vocab_size(with_added_tokens=True)
            names = [text, *(f"{text}_{i}" for i in range(1, count))]
            if tokenizer.add_tokens([AddedToken(name, normalized=False) for name in names]) < count:
                raise ValueError(f"{text} is known already")
            expansions.append((first, tuple(range(first, first + count))))
        return replace(self, tokenizer=tokenizer, expansions=tuple(expansions))

    def _row(self, cleaned: Cleaned, encoding: Encoding) -> _Row:
        tokens = _expanded(_tokens_of(encoding), dict(self.expansions))
        notes = _notes_on_words(cleaned, tokens, self._unknown)
        if len(tokens) > self.limit:
            closing = 0
            while closing < len(tokens) and tokens[-1 - closing].special:
                closing += 1
            kept = self.limit - closing
            notes = (_cut(cleaned, tokens[kept : len(tokens) - closing], self.limit), *notes)
            tokens = tokens[:kept] + tokens[len(tokens) - closing :]
        return _Row([token.id for token in tokens], tuple(token.text for token in tokens), notes)

    @cached_property
    def _unknown(self) -> int | None:
        """The id of what is not known, found by asking; None where everything is spelled out in bytes."""
        ids = self.tokenizer.encode(_RARE, add_special_tokens=False).ids
        text = self.tokenizer.id_to_token(ids[-1]) if ids else ""
        return ids[-1] if "unk" in (text or "").lower() else None


@dataclass(frozen=True)
class _Row:
    ids: list[int]
    pieces: tuple[str, ...]
    notes: tuple[TextNote, ...]


@dataclass(frozen=True)
class _Token:
    id: int
    text: str
    start: int
    end: int
    special: bool


def _tokens_of(encoding: Encoding) -> list[_Token]:
    parts = zip(encoding.ids, encoding.tokens, encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [_Token(id_, text, start, end, bool(special)) for id_, text, (start, end), special in parts]


def _expanded(tokens: list[_Token], expansions: dict[int, tuple[int, ...]]) -> list[_Token]:
    if not expansions:
        return tokens
    return [replace(token, id=id_) for token in tokens for id_ in expansions.get(token.id, (token.id,))]


def _cut(cleaned: Cleaned, dropped: list[_Token], limit: int) -> TextNote:
    start, end = cleaned.place(dropped[0].start), cleaned.place(dropped[-1].end)
    lost = cleaned.text[dropped[0].start : dropped[-1].end].strip()
    return TextNote(
        "cut",
        f"Only the first {limit} tokens are read; what follows is left out: “{_short(lost)}”.",
        start,
        end,
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _notes_on_words(cleaned: Cleaned, tokens: list[_Token], unknown: int | None) -> tuple[TextNote, ...]:
    """Words that are unknown, or spelled out in a script that the tokenizer did not learn."""
    if cleaned.text.isascii() and all(token.id != unknown for token in tokens):
        return ()  # the usual case, for thousands of captions at once
    pieces = _pieces_at(cleaned.text, tokens)
    lost = {
        i
        for token in tokens
        if token.id == unknown and not token.special
        for i in range(token.start, token.end)
    }
    strange: dict[str, list[tuple[int, int]]] = {}
    letters: dict[str, int] = {}
    plain: list[tuple[int, int]] = []
    for start, end, script in _words(cleaned.text):
        letters[script] = letters.get(script, 0) + end - start
        missing = any(i in lost for i in range(start, end))
        if script == "LATIN" or not script:
            if missing:
                plain.append((start, end))
        elif missing or _is_spelled(pieces, start, end, script):
            strange.setdefault(script, []).append((start, end))
    notes = []
    for script, spans in strange.items():
        if 2 * sum(end - start for start, end in spans) >= letters[script]:
            what = f"The tokenizer has no words for {_name(script)}, so this says little to the encoder"
            notes.append(_note("unknown script", what, cleaned, spans))
        else:
            plain += spans
    if plain:
        what = "The tokenizer does not know this, so it says nothing to the encoder"
        together = _note("unknown words", what, cleaned, sorted(plain))
        # One sentence for all, but a place for each: known words stand between them.
        notes += [
            replace(together, start=cleaned.place(start), end=cleaned.place(end))
            for start, end in sorted(plain)
        ]
    return tuple(notes)


def _note(kind: NoteKind, what: str, cleaned: Cleaned, spans: list[tuple[int, int]]) -> TextNote:
    quoted = _short("”, “".join(cleaned.text[start:end] for start, end in _joined(cleaned.text, spans)))
    return TextNote(kind, f"{what}: “{quoted}”.", cleaned.place(spans[0][0]), cleaned.place(spans[-1][1]))


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans with those made one that touch each other, or have nothing but blanks between them."""
    joined = spans[:1]
    for start, end in spans[1:]:
        if text[joined[-1][1] : start].strip():
            joined.append((start, end))
        else:
            joined[-1] = joined[-1][0], end
    return joined


def _pieces_at(text: str, tokens: list[_Token]) -> list[int]:
    """How many tokens begin at, or lie within, each character."""
    counts = [0] * len(text)
    for token in tokens:
        if not token.special and token.start < len(text):
            counts[token.start] += 1
    return counts


def _is_spelled(pieces: list[int], start: int, end: int, script: str) -> bool:
    """Whether a word falls into its letters, or even their bytes."""
    count = sum(pieces[start:end])
    if script in _WHOLE_SIGNS:
        return count > end - start
    return count >= end - start and end - start >= _SHORTEST


def _words(text: str) -> list[tuple[int, int, str]]:
    """Runs of letters of one script: start, end, the script ("" where there is none: signs, emoji)."""
    found: list[tuple[int, int, str]] = []
    for i, character in enumerate(text):
        if character.isspace():
            continue
        script = _script(character)
        if found and found[-1][1] == i and script in (found[-1][2], None):
            found[-1] = (found[-1][0], i + 1, found[-1][2])
        else:
            found.append((i, i + 1, script or ""))
    return found


def _script(character: str) -> str | None:
    """A letter's script as Unicode names it; "" for signs; None for marks, which go with what is before."""
    category = unicodedata.category(character)
    if category[0] == "M":
        return None
    if category[0] != "L":
        return ""
    return unicodedata.name(character, "").split(" ")[0].split("-")[0]


def _name(script: str) -> str:
    return {"CJK": "Chinese characters"}.get(script, f"{script.title()} letters")
