"""Classes as they are typed."""

from __future__ import annotations

import pytest

from explorer.core.class_list import MOST_CLASSES, classes_of, sentences_of
from explorer.core.errors import ExplorerError


def test_that_classes_part_at_commas_and_lines_and_count_once() -> None:
    assert classes_of(" cat, dog ,\nfire  truck\n\n, cat;horse,") == ("cat", "dog", "fire truck", "horse")
    assert classes_of("  \n,") == ()


def test_that_each_class_stands_in_the_sentence() -> None:
    assert sentences_of(("cat", "{dog}")) == ("a photo of a cat", "a photo of a {dog}")
    assert sentences_of(("red", "blue"), "{} or not {}") == ("red or not red", "blue or not blue")


@pytest.mark.parametrize(
    ("classes", "template", "said"),
    [
        (("cat",), "a {}", "two classes or more"),
        (("cat", "dog"), "a photo", "no place"),
        (tuple(map(str, range(MOST_CLASSES + 1))), "a {}", "1,001 classes"),
    ],
)
def test_that_what_cannot_be_asked_is_refused(classes: tuple[str, ...], template: str, said: str) -> None:
    with pytest.raises(ExplorerError, match=said):
        sentences_of(classes, template)
