"""What rows can be filtered and coloured by: metadata, and what the session knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.core.columns import Categories, Values
from explorer.core.filter_query import parse_filter
from explorer.core.filter_rows import rows_fitting
from explorer.core.health import Health, HealthCounts, RowState
from explorer.core.labels import Labels
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.results import Background, Clusters, Metric, SearchResult, Trust
from explorer.core.table import Role
from explorer.document import Answer, Document, Question, ZeroShot
from explorer.document.colouring import (
    AS_CATEGORIES,
    AS_SCALE,
    CLUSTER,
    NORM,
    ORDER,
    PLAIN,
    SIMILARITY,
    TRUST,
    ZERO_SHOT,
    Colouring,
)
from explorer.document.columns import SessionColumns, colour_data

ROWS = 6


@pytest.fixture
def document() -> Document:
    made = Document()
    health = Health(
        np.array([0, 0, RowState.ZERO, 0, 0, RowState.NAN], np.uint8),
        np.array([1, 2, 0, 4, 5, np.nan], np.float32),
        np.arange(ROWS),
        HealthCounts(),
    )
    metadata = {
        "year": np.array(["1990", "1991", "", "1993", "1994", "1995"]),
        "digit": np.array([3, 1, 3, 3, 1, 2]),
        "tags": np.array(["['a', 'b']", "['b']", "[]", "['a']", "['b']", "['c', 'a']"]),
        "norm": np.array(["low", "low", "high", "high", "low", "high"]),
    }
    made.set_table(
        LoadedTable(
            1,
            "file",
            TableListing("table", ROWS, 4, "float32", Role.OTHER),
            Labels.from_texts(list("abcdef"), "test"),
            health,
            False,
            "cpu",
            metadata,
        )
    )
    return made


def fitting(document: Document, text: str) -> list[int]:
    condition = parse_filter(text)
    assert condition is not None
    return np.flatnonzero(rows_fitting(condition, SessionColumns(document), ROWS)).tolist()


def test_that_conditions_speak_of_what_the_session_knows(document: Document) -> None:
    assert fitting(document, "row > 3") == [4, 5]
    assert fitting(document, "rank <= 2") == [0, 1]
    assert fitting(document, "state = zero") == [2]
    assert fitting(document, "state != healthy") == [2, 5]
    assert fitting(document, "state ~ /^[nz]/") == [2, 5]
    document.set_clusters(Clusters(np.array([0, 1, -1, 0, 1, -1], np.int16), ("one", "two")))
    assert fitting(document, "cluster = 2") == [1, 4]
    document.set_trust(Trust(0.9, 0.9, ROWS, 3, np.array([0.1, 0.5, np.nan, 1, 0, np.nan], np.float32)))
    assert fitting(document, "trust >= 0.5") == [1, 3]
    document.set_zero_shot(
        ZeroShot(("dog", "cat"), np.array([0, 1, -1, 1, 0, -1], np.int16), np.ones(ROWS, np.float32))
    )
    assert fitting(document, "class = cat") == [1, 3]
    assert fitting(document, "class is missing") == [2, 5]


def test_that_a_tables_own_column_hides_the_sessions(document: Document) -> None:
    assert fitting(document, "norm = high") == [2, 3, 5]
    assert list(SessionColumns(document)).count("norm") == 1


def test_that_scores_are_the_answers_until_those_of_all_rows_are_known(document: Document) -> None:
    assert fitting(document, "score > -9") == []
    background = Background(0.0, 1.0, np.zeros(1, np.int64), np.zeros(2))
    result = SearchResult(np.array([3, 0]), np.array([0.9, 0.4], np.float32), Metric.COSINE, background)
    document.set_answer(Answer(Question("a", ()), result))
    assert fitting(document, "score > 0.3") == [0, 3]
    document.set_similarities(np.array([0.4, 0.35, np.nan, 0.9, 0.1, np.nan], np.float32))
    assert fitting(document, "score > 0.3") == [0, 1, 3]
    document.set_answer(None)
    assert fitting(document, "score > -9") == []


def coloured(document: Document, **changes: object) -> Categories | Values | None:
    document.set_colouring(replace(Colouring(), **changes))  # type: ignore[arg-type]
    return colour_data(document)


def test_that_colours_are_categories_or_numbers_by_what_a_column_holds(document: Document) -> None:
    year = coloured(document, by="year")
    assert isinstance(year, Values)
    assert np.array_equal(year.values, [1990, 1991, np.nan, 1993, 1994, 1995], equal_nan=True)
    digit = coloured(document, by="digit")
    assert isinstance(digit, Categories)
    assert digit.names == ("3", "1", "2")
    assert isinstance(coloured(document, by="digit", scale=AS_SCALE), Values)
    assert isinstance(coloured(document, by="year", scale=AS_CATEGORIES), Categories)


def test_that_a_list_is_coloured_by_its_first_item_or_by_a_chosen_one(document: Document) -> None:
    first = coloured(document, by="tags")
    assert isinstance(first, Categories)
    assert [first.names[code] if code >= 0 else "" for code in first.codes] == ["a", "b", "", "a", "b", "c"]
    chosen = coloured(document, by="tags", item="a")
    assert isinstance(chosen, Categories)
    assert (chosen.codes == 0).tolist() == [True, False, False, True, False, True]
    assert chosen.names == ("a",)


def test_that_what_is_not_there_yet_has_no_colours(document: Document) -> None:
    for by in (CLUSTER, SIMILARITY, TRUST, ZERO_SHOT, PLAIN, "no such column"):
        assert coloured(document, by=by) is None
    assert isinstance(coloured(document, by=NORM), Values)
    assert isinstance(coloured(document, by=ORDER), Values)
    document.set_clusters(Clusters(np.array([0, 1, -1, 0, 1, 1], np.int16), ("one", "two")))
    found = coloured(document, by=CLUSTER)
    assert isinstance(found, Categories)
    assert found.names == ("two", "one"), "the commonest first"
    assert found.codes.tolist() == [1, 0, -1, 1, 0, 0]
