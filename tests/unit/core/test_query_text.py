"""Which parts of a typed text are for the encoder, and which are rows."""

from __future__ import annotations

import pytest

from explorer.core.errors import ExplorerError
from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels
from explorer.core.query import RowTerm
from explorer.core.query_text import Understood, placed, read_query, understand
from explorer.core.text_note import TextNote

FILES = LabelIndex(Labels.from_texts(["a.jpg", "dog", "beach 2.jpg"], "file names"))
WORDS = LabelIndex(Labels.from_texts(["king", "queen", "New York"], "words"))


def of_pictures(text: str) -> Understood:
    return understand(text, FILES, 3, words_first=True)


def of_words(text: str) -> Understood:
    return understand(text, WORDS, 3, words_first=False)


def texts(found: Understood) -> list[tuple[float, str]]:
    return [(term.weight, term.text) for term in found.texts]


def test_that_plain_words_are_text_even_where_a_file_is_called_so():
    found = of_pictures("dog")
    assert (texts(found), found.rows) == ([(1.0, "dog")], ())


def test_that_a_name_in_quotes_to_the_letter_is_the_row_and_other_quotes_are_text():
    assert of_pictures('"beach 2.jpg"').rows == (RowTerm(1.0, 2),)
    assert texts(of_pictures('"Beach 2.JPG"')) == [(1.0, "Beach 2.JPG")]


def test_that_terms_of_all_kinds_are_joined_with_their_weights():
    found = of_pictures('a dog + 2*"on the beach" - people + 0.5*#1 - "a.jpg"')
    assert texts(found) == [(1.0, "a dog"), (2.0, "on the beach"), (-1.0, "people")]
    assert found.rows == (RowTerm(0.5, 1), RowTerm(-1.0, 0))


def test_that_a_row_beyond_the_table_is_refused():
    with pytest.raises(ExplorerError, match="There is no row #3"):
        of_pictures("a dog - #3")


def test_that_labels_of_words_go_first_and_what_is_none_is_text():
    assert of_words("king - queen").rows == (RowTerm(1.0, 0), RowTerm(-1.0, 1))
    assert of_words("new york").rows == (RowTerm(1.0, 2),)
    assert texts(of_words("the king of france")) == [(1.0, "the king of france")]
    found = of_words("king + a man in a castle")
    assert (found.rows, texts(found)) == ((RowTerm(1.0, 0),), [(1.0, "a man in a castle")])


def test_that_a_text_that_is_no_query_is_one_text_and_says_so():
    (term,), notes = read_query('a "red" dog')
    assert (term.text, notes) == ('a "red" dog', ('Read as one text: a "red" dog',))
    with pytest.raises(ExplorerError, match="Nothing to add"):
        of_pictures("a dog +")


@pytest.mark.parametrize(
    ("typed", "text", "cut"),
    [
        ("  a dog on a log", "a dog on a log", "on a log"),
        ('2*"a dog on a log" + #1', "a dog on a log", "on a log"),
        (r'#1 - "a \"dog\" on a log"', 'a "dog" on a log', "on a log"),
    ],
)
def test_that_a_note_points_at_what_was_typed(typed, text, cut):
    (term,) = of_pictures(typed).texts
    assert term.text == text
    start = text.index(cut)
    note = placed(TextNote("cut", "", start, len(text)), term, typed)
    assert typed[note.start : note.end] == cut
