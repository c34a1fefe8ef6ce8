"""Queries for an encoder: which parts of what was typed are texts to encode, and which name rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.query import RowTerm, Term, parse_partial
from explorer.core.query_outline import Outline, Part, outline
from explorer.core.query_resolve import Resolved
from explorer.core.text_note import TextNote


@dataclass(frozen=True)
class TextTerm:
    """A text for the encoder.

    Attributes
    ----------
    weight : float
    text : str
    start, end : int
        Where it stands in the query as typed, without quotation marks.
    """

    weight: float
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class PictureTerm:
    """A picture for the encoder.

    Attributes
    ----------
    weight : float
    path : str
        Of its file.
    """

    weight: float
    path: str


@dataclass(frozen=True)
class Understood:
    """What a typed text asks for.

    Attributes
    ----------
    rows : tuple of RowTerm
    texts : tuple of TextTerm
    matched : str
        The loosest way in which a label was found.
    notes : tuple of str
        How the text was read, one sentence each.
    """

    rows: tuple[RowTerm, ...]
    texts: tuple[TextTerm, ...] = ()
    matched: str = "exact"
    notes: tuple[str, ...] = ()


def read_query(text: str) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """The terms of a query for pictures, and notes on how it was read.

    The grammar is that of ``explorer.core.query``; words without an operator between them are one text.

    Raises
    ------
    ExplorerError
        The text is no query.
    """
    query = parse_partial(text)
    stripped = text.strip()
    before = len(text) - len(text.lstrip())
    whole = Term(1.0, stripped, None, False, before, before + len(stripped))
    if query.is_sentence:
        return (whole,), ()
    if query.problem is None:
        return query.terms, ()
    if query.operators or not stripped:
        raise query.problem
    return (whole,), (f"Read as one text: {stripped}",)


def understand(text: str, index: LabelIndex | None, rows: int, *, words_first: bool) -> Understood:
    """Tell texts for an encoder from rows.

    ``#row`` is always the row, and a quoted label to the letter is that label's row. Where rows are pictures
    (``words_first``) everything else is text. Elsewhere labels come first: only what is none is text, and of
    words without an operator between them all are one text unless each is a label.

    Parameters
    ----------
    text : str
        As typed.
    index : LabelIndex or None
        None where the table has no labels.
    rows : int
        The table's row count.
    words_first : bool

    Raises
    ------
    ExplorerError
        The text is no query, or a row is beyond the table.
    """
    if not words_first:
        labels = outline(text, index, rows).resolved
        if labels is not None:
            return Understood(labels.terms, (), labels.matched, labels.notes)
    terms, notes = read_query(text)
    found: list[RowTerm] = []
    texts: list[TextTerm] = []
    matched = "exact"
    said = list(notes)
    for term in terms:
        row = _row_of(term, index, rows, words_first)
        if row is None:
            texts.append(TextTerm(term.weight, term.text or "", *_inside(text, term)))
        else:
            found += (RowTerm(term.weight * each.weight, each.row) for each in row.terms)
            matched = row.matched if row.matched != "exact" else matched
            said += (note for note in row.notes if note not in said)
    return Understood(tuple(found), tuple(texts), matched, tuple(said))


def text_outline(text: str, index: LabelIndex | None, rows: int, *, words_first: bool) -> Outline:
    """Mark the parts of a text that an encoder reads, while it is being typed; never raises.

    Parameters are those of ``understand``. Every text is known: there is nothing that cannot be encoded.
    """
    if not words_first:
        labels = outline(text, index, rows)
        if labels.resolved is not None:
            return labels
    query = parse_partial(text)
    try:
        terms, _ = read_query(text)
        found = understand(text, index, rows, words_first=words_first)
    except ExplorerError as error:
        parts = tuple(Part(term.start, term.end, term.text is not None, _name(term)) for term in query.terms)
        return Outline(query, parts, None, error)
    parts = tuple(Part(term.start, term.end, True, _name(term)) for term in terms)
    return Outline(query, parts, Resolved(text, found.rows, "exact", found.notes), None)


def _name(term: Term) -> str:
    return f"#{term.row}" if term.text is None else term.text


def placed(note: TextNote, term: TextTerm, typed: str) -> TextNote:
    """A note on a term's text as a note on the whole query, so that the query line can show the place.

    Parameters
    ----------
    note : TextNote
        Its places are those in ``term.text``.
    term : TextTerm
    typed : str
        The query.
    """
    places = list(_places(typed, term.start, term.end))
    last = len(places) - 1
    start, end = (places[min(max(place, 0), last)] for place in (note.start, note.end))
    return replace(note, start=start, end=end)


def _row_of(term: Term, index: LabelIndex | None, rows: int, words_first: bool) -> Resolved | None:
    """The row that a term names, where it names one."""
    if term.row is not None:
        understood = outline(f"#{term.row}", index, rows)
        if understood.problem is not None:
            raise understood.problem
        return understood.resolved
    if index is None or (words_first and not term.quoted):
        return None
    match = index.find(term.text or "")
    if match is None or (words_first and match.how != "exact"):
        return None
    notes = []
    if match.how != "exact":
        notes.append(f"“{term.text}” was found as “{index.labels[match.rows[0]]}”.")
    return Resolved(term.text or "", (RowTerm(1.0, match.rows[0]),), match.how, tuple(notes))


def _inside(typed: str, term: Term) -> tuple[int, int]:
    """Where a term's text stands in the query, without weight and quotation marks."""
    if term.quoted:
        start = typed.index('"', term.start) + 1
        closed = typed[term.end - 1] == '"' and term.end - 1 >= start
        return start, term.end - closed
    return term.end - len(term.text or ""), term.end


def _places(typed: str, start: int, end: int) -> list[int]:
    """The place of each character of a term's text in the query, and of its end: escapes take two."""
    quoted = start > 0 and typed[start - 1] == '"'
    found, at = [], start
    while at < end:
        at += quoted and typed[at] == "\\" and typed[at + 1 : at + 2] in ('"', "\\")
        found.append(at)
        at += 1
    return [*found, end]
