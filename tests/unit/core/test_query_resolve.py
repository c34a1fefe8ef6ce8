"""From a typed text to rows."""

from __future__ import annotations

import pytest

from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels
from explorer.core.query import RowTerm, parse
from explorer.core.query_resolve import complete, resolve

WORDS = ["king", "man", "woman", "queen", "paris", "well-known", "my name", ". . .", "+", "a - b", "a", "b"]
WORDS += [
    "bank",
    "Germany",
    "new york",
    "bank",
    "alike",
    ".",
    "all",
    "#3",
    "2*a",
    "-lrb-",
    None,
    "new",
    "york",
]


@pytest.fixture(scope="module")
def index() -> LabelIndex:
    return LabelIndex(Labels.from_texts(WORDS, "test"))


def asked(text: str, index: LabelIndex | None) -> list[tuple[float, str | None]]:
    resolved = resolve(text, index, len(WORDS))
    return [(term.weight, WORDS[term.row]) for term in resolved.terms]


def test_that_an_expression_is_its_rows(index):
    assert asked("king - man + woman", index) == [(1, "king"), (-1, "man"), (1, "woman")]
    assert resolve("2*#4 - #0", index, 25).terms == (RowTerm(2, 4), RowTerm(-1, 0))
    assert resolve(parse("king - man"), index, 25) == resolve("king - man", index, 25)


@pytest.mark.parametrize(
    "label", ["my name", ". . .", "+", "a - b", "2*a", "-lrb-", "well-known", "new york"]
)
def test_that_a_text_that_is_a_label_to_the_letter_is_that_label(index, label):
    resolved = resolve(label, index, len(WORDS))
    assert resolved.terms == (RowTerm(1.0, WORDS.index(label)),)
    assert resolved.matched == "exact"


def test_that_a_number_sign_means_the_row_unless_there_is_none(index):
    assert resolve("#3", index, len(WORDS)).terms == (RowTerm(1, 3),)
    assert asked('"#3"', index) == [(1, "#3")]
    few = LabelIndex(Labels.from_texts(["a", "#3"], "test"))
    assert resolve("#3", few, 2).terms == (RowTerm(1, 1),)
    with pytest.raises(
        ExplorerError, match=r"There is no row #25: the table has 25 rows\. The last is #24\."
    ):
        resolve("king - #25", index, 25)


def test_that_the_loosest_match_of_all_terms_is_said(index):
    assert resolve("king - man", index, 25).matched == "exact"
    resolved = resolve("king - Ġman + KING", index, 25)
    assert resolved.matched == "case-folded"
    assert resolved.notes == ("“Ġman” was found as “man”.", "“KING” was found as “king”.")
    assert resolve("king - Ġman", index, 25).matched == "normalised"


def test_that_a_label_on_two_rows_asks_the_first_and_names_both(index):
    resolved = resolve("bank", index, 25)
    assert resolved.terms == (RowTerm(1.0, 12),)
    assert resolved.notes == ("“bank” stands on 2 rows (#12, #15); #12 is asked.",)


def test_that_many_rows_of_a_label_are_not_all_named():
    index = LabelIndex(Labels.from_texts(["x"] * 500, "test"))
    (note,) = resolve("x", index, 500).notes
    assert note.endswith("#19 and 480 more); #0 is asked.")


def test_that_operators_without_blanks_are_read_where_that_gives_known_labels(index):
    resolved = resolve("king-man+woman", index, 25)
    assert [WORDS[term.row] for term in resolved.terms] == ["king", "man", "woman"]
    assert [term.weight for term in resolved.terms] == [1, -1, 1]
    assert resolved.notes == ("Read as king - man + woman.",)
    assert asked("well-known - king-man", index) == [(1, "well-known"), (-1, "king"), (-1, "man")]
    assert asked("2*king-man", index) == [(2, "king"), (-1, "man")]
    assert asked("king -man", index) == [(1, "king"), (-1, "man")]
    assert asked("#0-#1", index) == [(1, "king"), (-1, "man")]
    assert asked('king-"new york"', index) == [(1, "king"), (-1, "new york")]
    with pytest.raises(ExplorerError, match="“king-zebra”"):
        resolve("king-zebra", index, 25)


def test_that_a_sentence_is_the_mean_of_its_tokens(index):
    resolved = resolve("All man alike.", index, 25)
    assert resolved.is_sentence
    assert [WORDS[term.row] for term in resolved.terms] == ["all", "man", "alike", "."]
    assert sum(term.weight for term in resolved.terms) == pytest.approx(1)
    assert resolved.matched == "case-folded"
    assert "Read as a sentence of 4 tokens: the mean of their rows." in resolved.notes


def test_that_words_which_are_a_label_together_are_no_sentence(index):
    resolved = resolve("New York", index, 25)
    assert resolved.terms == (RowTerm(1.0, 14),)
    assert resolved.matched == "case-folded"
    assert "Read as the one label “new york”." in resolved.notes


def test_that_a_sign_alone_finds_its_marked_token():
    index = LabelIndex(Labels.from_texts(["▁a", "▁+"], "test"))
    assert resolve("+", index, 2).terms == (RowTerm(1.0, 1),)
    assert resolve("+", index, 2).matched == "normalised"


def test_that_an_unknown_word_gets_the_closest_ones_offered(index):
    with pytest.raises(ExplorerError) as caught:
        resolve("knig - man", index, 25)
    assert caught.value.message == "No row has the label “knig”."
    assert caught.value.hint == "Closest are: king."
    with pytest.raises(ExplorerError) as caught:
        resolve("qeen - wmoan", index, 25)
    assert caught.value.message == "No rows have the labels “qeen”, “wmoan”."
    assert "queen for “qeen”" in caught.value.hint
    assert "woman" in caught.value.hint


def test_that_a_fault_of_the_grammar_is_what_is_said(index):
    with pytest.raises(ExplorerError, match="follows the - at character 6"):
        resolve("king -", index, 25)


def test_that_a_table_without_labels_is_asked_by_row_alone():
    assert resolve("#1 - #0", None, 2).terms == (RowTerm(1, 1), RowTerm(-1, 0))
    with pytest.raises(ExplorerError, match="The table has no labels"):
        resolve("king", None, 2)
    with pytest.raises(ExplorerError, match="has 1 row\\."):
        resolve("#1", None, 1)


def test_that_completion_puts_a_label_in_the_place_of_what_was_typed(index):
    offers = complete("king - 2*wom + a", 12, index)
    assert [(offer.label, offer.text, offer.cursor) for offer in offers] == [
        ("woman", "king - 2*woman + a", 14)
    ]
    assert [offer.text for offer in complete("new", 3, index)] == ["new", '"new york"']
    assert [offer.text for offer in complete("new yo", 6, index)] == ['"new york"', "new york"]
    assert complete("king - ", 7, index) == []
    assert complete("", 0, index) == []
