"""How a text is understood while it is being typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels
from explorer.core.query_outline import outline
from explorer.core.query_resolve import resolve

NAMES = ["king", "man", "woman", "new york", "Paris", "a - b", "-", "don't", ",", "king's", "😀 cat"]
INDEX = LabelIndex(Labels.from_texts(NAMES, "test"))


def parts(text: str) -> list[tuple[str, bool]]:
    """Each part's stretch of the text, and whether it is known."""
    return [(text[part.start : part.end], part.known) for part in outline(text, INDEX, len(NAMES)).parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("king - man + woman", [("king", True), ("man", True), ("woman", True)]),
        ("king - mann", [("king", True), ("mann", False)]),
        ("2*king + #3 + #99", [("2*king", True), ("#3", True), ("#99", False)]),
        ('"new york" - ', [('"new york"', True)]),
        ("new york", [("new york", True)]),
        (" a - b", [("a - b", True)]),
        ("king-man", [("king-man", True)]),
        ("king wxnt woman", [("king", True), ("wxnt", False), ("woman", True)]),
        ("king, woman", [("king,", True), ("woman", True)]),
        ("PARIS", [("PARIS", True)]),
        ("", []),
    ],
)
def test_that_each_part_is_marked_where_it_stands(text: str, expected: list[tuple[str, bool]]) -> None:
    assert parts(text) == expected


@given(st.lists(st.sampled_from([*NAMES, "+", "-", " ", '"', "\\", "#1", "#99", "2*", "mann"])).map(" ".join))
def test_that_a_text_is_understood_exactly_where_it_can_be_asked(text: str) -> None:
    understood = outline(text, INDEX, len(NAMES))
    if understood.problem is None:
        assert understood.resolved == resolve(text, INDEX, len(NAMES))
        assert all(part.known for part in understood.parts)
    else:
        with pytest.raises(ExplorerError) as refused:
            resolve(text, INDEX, len(NAMES))
        assert understood.resolved is None
        assert understood.problem.message == refused.value.message
    for part in understood.parts:
        assert 0 <= part.start < part.end <= len(text)


def test_that_a_refusal_is_found_without_searching_for_close_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object) -> list[int]:
        raise AssertionError("the slow search was made")

    monkeypatch.setattr(LabelIndex, "closest", search)
    assert outline("kingg - man", INDEX, len(NAMES)).problem is not None


def test_that_a_table_without_labels_knows_its_rows_only() -> None:
    understood = outline("#2 + king", None, 3)
    assert [part.known for part in understood.parts] == [True, False]
