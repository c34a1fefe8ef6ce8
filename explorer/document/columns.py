"""What rows can be filtered and coloured by: their metadata, and what the session knows of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from explorer.core.columns import Categories, Column, Kind, Values, label_column
from explorer.core.health import RowState
from explorer.core.results import SearchResult
from explorer.document.colouring import (
    AS_CATEGORIES,
    AS_SCALE,
    CLUSTER,
    NORM,
    ORDER,
    SIMILARITY,
    TRUST,
    ZERO_SHOT,
)
from explorer.document.document import Document

STATES = {
    RowState.HEALTHY: "healthy",
    RowState.NAN: "nan",
    RowState.INFINITE: "infinite",
    RowState.ZERO: "zero",
    RowState.PADDING: "padding",
}


class SessionColumns(Mapping[str, Column]):
    """A document's columns as they are now, by the names that conditions use.

    A metadata column hides one of the session's own of the same name.
    """

    def __init__(self, document: Document) -> None:
        self._metadata = document.columns
        self._makers = {} if document.table is None else _makers(document)

    def __getitem__(self, name: str) -> Column:
        if name in self._metadata:
            return self._metadata[name]
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._makers if name not in self._metadata)
        yield from self._metadata

    def __len__(self) -> int:
        return len({*self._makers, *self._metadata})

    @property
    def of_table(self) -> frozenset[str]:
        """The names of those that lay in the table's file: they are read when first asked for."""
        return frozenset(self._metadata)


class ReadColumns(Mapping[str, Column | None]):
    """A document's columns as they are now, None for each of the table's that is not among those read."""

    def __init__(self, columns: SessionColumns, read: Collection[str]) -> None:
        self._columns = columns
        self._unread = columns.of_table.difference(read)

    def __getitem__(self, name: str) -> Column | None:
        return None if name in self._unread else self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _makers(document: Document) -> dict[str, Callable[[], Column]]:
    table = document.table
    assert table is not None
    rows, health, labels = table.listing.rows, table.health, table.labels
    clusters, trust, zero_shot = document.clusters, document.trust, document.zero_shot
    makers: dict[str, Callable[[], Column]] = {
        "row": lambda: Column("row", np.arange(rows)),
        "rank": lambda: Column("rank", np.arange(1, rows + 1)),
        "norm": lambda: Column("norm", health.norms),
        "state": lambda: Column.coded("state", health.states, tuple(STATES.values())),
        "score": lambda: Column("score", similarities(document)),
    }
    if labels is not None:
        makers["label"] = lambda: label_column(labels)
    if clusters is not None:
        codes = clusters.codes
        makers["cluster"] = lambda: Column("cluster", np.where(codes < 0, np.nan, codes + 1.0))
    if trust is not None and trust.per_row is not None:
        shares = trust.per_row
        makers["trust"] = lambda: Column("trust", shares)
    if zero_shot is not None:
        makers["class"] = lambda: Column.coded("class", zero_shot.codes, zero_shot.classes)
    return makers


def similarities(document: Document) -> NDArray[np.float32]:
    """Each row's score under the question shown; NaN where it is not known."""
    assert document.table is not None
    if document.similarities is not None:
        return document.similarities
    if document.answer is None:
        return np.full(document.table.listing.rows, np.nan, np.float32)
    return scores_of_all(document.answer.result, document.table.listing.rows)


def scores_of_all(result: SearchResult, rows: int) -> NDArray[np.float32]:
    """A result as a score per row; NaN for rows that it leaves out."""
    scores = np.full(rows, np.nan, np.float32)
    scores[result.rows] = result.scores
    return scores


def colour_data(document: Document) -> Categories | Values | None:
    """What the rows are coloured by: a category or a number for each.

    None where all have one colour, as while what is asked for is not there yet (clusters, an answer,
    trust). The codes of categories are those that ``Colouring.hidden`` and ``recoloured`` speak of.
    """
    if document.table is None:
        return None
    colouring = document.colouring
    if colouring.by in _KNOWN:
        return _KNOWN[colouring.by](document)
    column = document.columns.get(colouring.by)
    return None if column is None else column_data(column, colouring.scale, colouring.item)


def _clusters(document: Document) -> Categories | None:
    clusters = document.clusters
    return None if clusters is None else Categories.of(clusters.codes, clusters.names)


def _norms(document: Document) -> Values | None:
    return None if document.table is None else Values(document.table.health.norms)


def _order(document: Document) -> Values | None:
    return (
        None if document.table is None else Values(np.arange(document.table.listing.rows, dtype=np.float32))
    )


def _similarity(document: Document) -> Values | None:
    return None if document.answer is None else Values(similarities(document))


def _trust(document: Document) -> Values | None:
    trust = document.trust
    return None if trust is None or trust.per_row is None else Values(trust.per_row)


def _zero_shot(document: Document) -> Categories | None:
    shot = document.zero_shot
    return None if shot is None else Categories.of(shot.codes, shot.classes)


_KNOWN: dict[str, Callable[[Document], Categories | Values | None]] = {
    CLUSTER: _clusters,
    NORM: _norms,
    ORDER: _order,
    SIMILARITY: _similarity,
    TRUST: _trust,
    ZERO_SHOT: _zero_shot,
}


def column_data(column: Column, scale: str, item: str) -> Categories | Values:
    """A column as its rows are coloured by it; ``scale`` and ``item`` as in Colouring."""
    if column.kind is Kind.LIST and item in column.items.names:
        wanted = np.array([name == item for name in column.items.names])
        return Categories.of(np.where(column.items.rows_with(wanted), 0, -1), (item,))
    if column.kind in (Kind.NUMBER, Kind.DATE):
        along = scale == AS_SCALE or (scale != AS_CATEGORIES and not column.is_coded)
        if along:
            return Values(column.numbers, are_dates=column.kind is Kind.DATE)
    return column.categories
