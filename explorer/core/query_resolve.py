"""From what was typed to the rows that are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from explorer.core.errors import ExplorerError
from explorer.core.label_index import How, LabelIndex
from explorer.core.query import (
    Query,
    RowTerm,
    Term,
    format_query,
    parse_partial,
    replace_term,
    spread_operators,
)
from explorer.core.wording import counted

_HOW: tuple[How, ...] = ("exact", "normalised", "case-folded")
_NAMED_ROWS = 20


@dataclass(frozen=True)
class Resolved:
    """A query whose rows are known.

    Attributes
    ----------
    text : str
        As typed.
    terms : tuple of RowTerm
        In the order typed. A sentence's weights are 1 / number of tokens: their mean.
    matched : {"exact", "normalised", "case-folded"}
        How the labels were found: the loosest of all terms.
    notes : tuple of str
        What the person should know of how the text was read, one sentence each.
    is_sentence : bool
    """

    text: str
    terms: tuple[RowTerm, ...]
    matched: How
    notes: tuple[str, ...]
    is_sentence: bool = False


@dataclass(frozen=True)
class Completion:
    """A label offered for what is being typed.

    Attributes
    ----------
    row : int
    label : str
    text : str
        The whole query with the label put in.
    cursor : int
        Where typing goes on.
    """

    row: int
    label: str
    text: str
    cursor: int


def resolve(query: Query | str, index: LabelIndex | None, rows: int) -> Resolved:
    """Find the rows that a query text asks for.

    A text that is a label to the letter is that label, whatever the grammar would make of it
    (``my name``, ``. . .``, ``a - b``); only ``#row`` is always the row. Then the grammar, with
    each label exact, normalised or case-folded. Where the grammar makes no query of the text, or a
    sentence, a label that is the text once both are normalised or case-folded goes first, too.
    An unknown word that holds operators is split there (``king-man+woman``) where that gives
    known labels alone.

    Parameters
    ----------
    query : Query or str
        As typed, or as ``parse_partial`` reads it.
    index : LabelIndex or None
        None where the table has no labels.
    rows : int
        The table's row count.

    Raises
    ------
    ExplorerError
        Where the text is no query, a label is unknown (the hint offers the closest), or a row
        is beyond the table.
    """
    if isinstance(query, str):
        query = parse_partial(query)
    whole = None if index is None else _as_one_label(query, index, rows)
    if whole is not None:
        return whole
    if query.problem is not None:
        raise query.problem
    reading = _Reading(index, rows)
    terms = reading.sentence(query.terms) if query.is_sentence else reading.expression(query.terms)
    if not reading.unknown:
        return Resolved(query.text, terms, reading.matched, tuple(reading.notes), query.is_sentence)
    return _split_at_operators(query, reading, index, rows) or _refuse(reading.unknown, index)


def complete(text: str, cursor: int, index: LabelIndex, limit: int = 12) -> list[Completion]:
    """Labels for the term that is being typed before the cursor, best first.

    Where several words were typed in a row, labels that continue all of them come before those
    that continue the last.
    """
    query = parse_partial(text)
    before = parse_partial(text[:cursor])
    offers: dict[int, Completion] = {}
    if before.is_sentence and cursor == len(text):
        for row in index.complete(text, limit):
            label = index.labels[row]
            typed = format_query([Term(1.0, label, None, False, 0, 0)])
            offers[row] = Completion(row, label, typed, len(typed))
    typed_term, term = before.term_at(cursor), query.term_at(cursor)
    if typed_term is not None and term is not None and typed_term.text:
        for row in index.complete(typed_term.text, limit):
            label = index.labels[row]
            offers.setdefault(row, Completion(row, label, *replace_term(query, term, label)))
    return list(offers.values())[:limit]


def _as_one_label(query: Query, index: LabelIndex, rows: int) -> Resolved | None:
    """The query read as one label, where it has to be read so."""
    only = query.terms[0] if len(query.terms) == 1 else None
    if only is not None and only.row is not None and only.row < rows:
        return None
    found = [(text, index.find(text)) for text in (query.text, query.text.strip()) if text]
    matches = [(text, match) for text, match in found if match is not None]
    if not matches:
        return None
    # Blanks around the text count where a label has them, too.
    whole, match = min(matches, key=lambda each: _HOW.index(each[1].how))
    must = query.is_sentence or query.problem is not None
    if not (must or match.how == "exact"):
        return None
    reading = _Reading(index, rows)
    term = reading.label(Term(1.0, whole, None, True, 0, len(query.text)))
    if query.operators or query.is_sentence:
        reading.notes.append(f"Read as the one label {_quote(index.labels[term.row])}.")
    return Resolved(query.text, (term,), reading.matched, tuple(reading.notes))


def _split_at_operators(
    query: Query, failed: _Reading, index: LabelIndex | None, rows: int
) -> Resolved | None:
    text = query.text
    for term in reversed(failed.unknown):
        if not term.quoted:
            text = spread_operators(text, term.start, term.end)
    spread = parse_partial(text)
    if text == query.text or spread.problem is not None or spread.is_sentence:
        return None
    reading = _Reading(index, rows)
    terms = reading.expression(spread.terms)
    if reading.unknown:
        return None
    reading.notes.append(f"Read as {format_query(spread.terms)}.")
    return Resolved(query.text, terms, reading.matched, tuple(reading.notes))


class _Reading:
    """Looks up terms; keeps how they were found, what to say of it, and which are not there."""

    def __init__(self, index: LabelIndex | None, rows: int) -> None:
        self.index = index
        self.rows = rows
        self.matched: How = "exact"
        self.notes: list[str] = []
        self.unknown: list[Term] = []

    def expression(self, terms: tuple[Term, ...]) -> tuple[RowTerm, ...]:
        return tuple(self.label(term) if term.row is None else self.row(term) for term in terms)

    def sentence(self, words: tuple[Term, ...]) -> tuple[RowTerm, ...]:
        """The mean of the words' rows; an unknown word is parted from its punctuation."""
        tokens: list[Term] = []
        for word in words:
            tokens.extend([word] if self.knows(word.text or "") else self.pieces(word))
        terms = tuple(replace(self.label(token), weight=1 / len(tokens)) for token in tokens)
        self.notes.append(f"Read as a sentence of {len(tokens)} tokens: the mean of their rows.")
        return terms

    def pieces(self, word: Term) -> list[Term]:
        texts = re.findall(r"\w+|[^\w\s]", word.text or "")
        return [replace(word, text=text) for text in texts] if all(map(self.knows, texts)) else [word]

    def knows(self, text: str) -> bool:
        return self.index is not None and self.index.find(text) is not None

    def row(self, term: Term) -> RowTerm:
        assert term.row is not None
        if term.row >= self.rows:
            raise ExplorerError(
                f"There is no row #{term.row}: the table has {counted(self.rows, 'row')}.",
                f"The last is #{self.rows - 1}." if self.rows else "",
            )
        return RowTerm(term.weight, term.row)

    def label(self, term: Term) -> RowTerm:
        label = term.text or ""
        match = None if self.index is None else self.index.find(label)
        if self.index is None or match is None:
            self.unknown.append(term)
            return RowTerm(term.weight, -1)
        row = match.rows[0]
        self.matched = max(self.matched, match.how, key=_HOW.index)
        if match.how != "exact":
            self.say(f"{_quote(label)} was found as {_quote(self.index.labels[row])}.")
        if len(match.rows) > 1:
            self.say(f"{_quote(label)} stands on {_row_list(match.rows)}; #{row} is asked.")
        return RowTerm(term.weight, row)

    def say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _refuse(unknown: list[Term], index: LabelIndex | None) -> Resolved:
    words = list(dict.fromkeys(term.text or "" for term in unknown))
    if index is None:
        raise ExplorerError(
            f"The table has no labels to find {_quote(words[0])} among.",
            "Add a vocabulary, or ask for a row by its number, such as #0.",
        )
    hints = []
    for word in words:
        closest = ", ".join(index.labels[row] for row in index.closest(word))
        if closest:
            hints.append(closest if len(words) == 1 else f"{closest} for {_quote(word)}")
    if len(words) == 1:
        message = f"No row has the label {_quote(words[0])}."
    else:
        message = f"No rows have the labels {', '.join(map(_quote, words))}."
    raise ExplorerError(message, f"Closest are: {'; '.join(hints)}." if hints else "")


def _row_list(rows: tuple[int, ...]) -> str:
    named = ", ".join(f"#{row}" for row in rows[:_NAMED_ROWS])
    more = len(rows) - _NAMED_ROWS
    return f"{len(rows)} rows ({named}{f' and {more} more' if more > 0 else ''})"


def _quote(label: str) -> str:
    return f"“{label}”"
