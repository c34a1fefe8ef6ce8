"""How each part of a text is understood while it is being typed, for chips and underlines."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.query import Query, parse_partial
from explorer.core.query_resolve import Resolved, resolve


@dataclass(frozen=True)
class Part:
    """A stretch of the text that asks for a row.

    Attributes
    ----------
    start, end : int
    known : bool
        A row is there for it.
    label : str
        The label asked for, or ``#row``.
    """

    start: int
    end: int
    known: bool
    label: str


@dataclass(frozen=True)
class Outline:
    """A text's parts in order.

    Attributes
    ----------
    query : Query
    parts : tuple of Part
    resolved : Resolved or None
        The rows asked for; None where the text cannot be asked as it stands.
    problem : ExplorerError or None
        Why it cannot; offers no other labels.
    """

    query: Query
    parts: tuple[Part, ...]
    resolved: Resolved | None
    problem: ExplorerError | None


def outline(text: str, index: LabelIndex | None, rows: int) -> Outline:
    """Mark a text's parts as known or not; never raises, and looks for nothing to offer.

    Parameters
    ----------
    text : str
    index : LabelIndex or None
        None where the table has no labels.
    rows : int
        The table's row count.
    """
    query = parse_partial(text)
    silent = None if index is None else _NoOffers(index)
    resolved, problem = _try(text, silent, rows)
    if resolved is not None and len(resolved.terms) == 1 and (len(query.terms) != 1 or query.problem):
        blanks = len(text) - len(text.lstrip())
        whole = Part(blanks, len(text.rstrip()) or len(text), True, text.strip())
        return Outline(query, (whole,), resolved, problem)
    parts = tuple(
        Part(
            term.start,
            term.end,
            resolved is not None or _try(text[term.start : term.end], silent, rows)[0] is not None,
            term.text if term.text is not None else f"#{term.row}",
        )
        for term in query.terms
    )
    return Outline(query, parts, resolved, problem)


def _try(text: str, index: LabelIndex | None, rows: int) -> tuple[Resolved | None, ExplorerError | None]:
    try:
        return resolve(text, index, rows), None
    except ExplorerError as error:
        return None, error


class _NoOffers(LabelIndex):
    """An index that offers nothing for an unknown label: that search is the slow part of a refusal."""

    def __init__(self, index: LabelIndex) -> None:
        self.__dict__.update(index.__dict__)

    def closest(self, text: str, count: int = 5) -> list[int]:
        return []
