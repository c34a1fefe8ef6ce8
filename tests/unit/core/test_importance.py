"""Which rows get labels first."""

from explorer.core.importance import by_importance
from explorer.core.labels import Labels


def test_that_words_come_before_marks_in_the_vocabularys_order() -> None:
    labels = Labels.from_texts(["!", "[unused0]", "the", "##ing", "king", "Ġcat", "été"], "test")
    assert by_importance(labels).tolist() == [2, 4, 5, 6, 0, 1, 3]


def test_that_unnamed_and_special_rows_get_no_label() -> None:
    labels = Labels.from_texts(["[PAD]", None, "word", ""], "test", special=[0], rows=6)
    assert by_importance(labels).tolist() == [2]


def test_that_a_vocabulary_without_names_gives_no_labels() -> None:
    assert by_importance(Labels.from_texts([None, None], "test")).tolist() == []
