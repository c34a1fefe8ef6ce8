"""A sentence's tokens and their rows."""

from __future__ import annotations

import pytest

from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels
from explorer.core.sentence import tokens_of

NAMES = ["the", "lord", "is", "my", "shepherd", ",", "new york", "well-known", 'say "so"', "I"]
INDEX = LabelIndex(Labels.from_texts(NAMES, "test"))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the lord is my shepherd", [("the", 0), ("lord", 1), ("is", 2), ("my", 3), ("shepherd", 4)]),
        ("The LORD", [("The", 0), ("LORD", 1)]),
        ("shepherd, I", [("shepherd", 4), (",", 5), ("I", 9)]),
        ("shepherd, xyz,", [("shepherd", 4), (",", 5), ("xyz,", None)]),
        ('in "new york"', [("in", None), ("new york", 6)]),
        ('"say \\"so\\""', [('say "so"', 8)]),
        ("#3 #99 #3a", [("#3", 3), ("#99", None), ("#3a", None)]),
        ("well-known", [("well-known", 7)]),
        ('an "open quote', [("an", None), ('"open', None), ("quote", None)]),
        ("  \n", []),
    ],
)
def test_that_a_sentence_is_split_as_a_query_is(
    sentence: str, expected: list[tuple[str, int | None]]
) -> None:
    assert [(token.text, token.row) for token in tokens_of(sentence, INDEX, len(NAMES))] == expected


def test_that_without_labels_only_row_numbers_are_known() -> None:
    assert [token.row for token in tokens_of("the #1", None, 2)] == [None, 1]
