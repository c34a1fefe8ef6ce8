"""Looking rows up by label, against plain loops over the labels."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from explorer.core.label_index import LabelIndex, fold, normalise
from explorer.core.labels import Labels

PIECES = [
    "a",
    "b",
    "A",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "İ",
    "ﬁ",
    "Ġ",
    "▁",
    "</w>",
    "##",
    "@@",
    " ",
    "\n",
    "\u00a0",
    "東",
]
ODD = ["\udcff", "\U0010ffff", "ÿ", "\x00", "\ud7ff", "Ａ", "x"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.lists(st.sampled_from(PIECES + ODD), max_size=4).map("".join),
    st.text(alphabet="ab", max_size=3),
)
LABELS = st.lists(st.one_of(st.none(), TEXTS), max_size=30)


def index_of(texts: list[str | None]) -> LabelIndex:
    return LabelIndex(Labels.from_texts(texts, "test"))


def named(texts: list[str | None]) -> list[tuple[int, str]]:
    return [(row, text) for row, text in enumerate(texts) if text is not None]


@given(LABELS, TEXTS)
def test_that_all_rows_of_a_label_are_found_as_by_a_loop(texts, wanted):
    pairs = named(texts)
    expected = None
    for how, same in [
        ("exact", [row for row, text in pairs if text == wanted]),
        ("normalised", [row for row, text in pairs if normalise(text) == normalise(wanted) != ""]),
        ("case-folded", [row for row, text in pairs if fold(text) == fold(wanted) and normalise(wanted)]),
        ("normalised", [row for row, text in pairs if wanted and text == "##" + wanted]),
        ("normalised", [row for row, text in pairs if wanted and text == wanted + "@@"]),
    ]:
        if same and expected is None:
            expected = (tuple(same), how)
    match = index_of(texts).find(wanted)
    assert (match and (match.rows, match.how)) == expected


@given(LABELS, TEXTS, st.integers(1, 8))
def test_that_completions_are_whole_then_beginning_then_anywhere_in_row_order(texts, prefix, limit):
    pairs = [(row, fold(text)) for row, text in named(texts)]
    wanted = fold(prefix, open_end=True)
    whole = [row for row, text in pairs if text == wanted]
    beginning = [row for row, text in pairs if text.startswith(wanted)]
    anywhere = [row for row, text in pairs if wanted in text]
    expected = list(dict.fromkeys(whole + beginning + anywhere if wanted else [row for row, _ in pairs]))
    assert index_of(texts).complete(prefix, limit) == expected[:limit]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abcé東", max_size=6), max_size=40), st.text(alphabet="abcé東", max_size=6))
def test_that_the_closest_labels_need_the_fewest_edits(texts, wanted):
    index = index_of([*texts])
    first = {text: row for row, text in reversed(named([*texts])) if text}
    distances = sorted((OSA.distance(wanted, text), row) for text, row in first.items())
    for reach in (2, max(2, len(wanted) // 2)):
        expected = [row for distance, row in distances if distance <= reach][:3]
        if len(expected) == 3:
            break
    assert index.closest(wanted, 3) == expected


@pytest.mark.parametrize(
    ("label", "typed", "how"),
    [
        ("king", "king", "exact"),
        ("Ġking", "king", "normalised"),
        ("▁king", "king", "normalised"),
        ("king</w>", "king", "normalised"),
        ("king</w>", "King", "case-folded"),
        ("Ġking", " king ", "normalised"),
        ("caf\u00e9", "cafe\u0301", "normalised"),
        ("ﬁne", "fine", "normalised"),
        ("new\u00a0york", "new york", "normalised"),
        ("straße", "STRASSE", "case-folded"),
        ("##ing", "ing", "normalised"),
        ("th@@", "th", "normalised"),
        ("Ġ", "▁", None),
        ("king", "kin", None),
        ("king", "", None),
        ("", "", "exact"),
        (". . .", ". . .", "exact"),
    ],
)
def test_that_a_label_is_found_by_its_plain_form(label, typed, how):
    match = index_of(["queen", None, label]).find(typed)
    assert (match and match.how) == how


def test_that_the_exact_form_goes_before_others_that_look_alike():
    index = index_of(["King", "king</w>", "king", "Ġking", "king"])
    assert index.find("king").rows == (2, 4)
    assert index.find("Ġking").rows == (3,)
    assert index.find("KING").rows == (0, 1, 2, 3, 4)


def test_that_rows_without_a_label_are_never_found():
    index = LabelIndex(Labels.from_texts(["a", None, ""], "test", rows=5))
    assert index.find("").rows == (2,)
    assert index.find("#1") is None
    assert index.complete("") == [0, 2]


def test_that_an_index_of_no_labels_answers_nothing():
    index = index_of([])
    assert index.find("a") is None
    assert index.complete("a") == index.complete("") == index.closest("a") == []


def test_that_slices_make_the_index_that_one_go_makes():
    rng = random.Random(0)
    texts = ["".join(rng.choices("abcé", k=rng.randint(0, 4))) for _ in range(25_000)]
    texts[12_345] = "a\U0010ffffb"
    labels = Labels.from_texts(texts, "test")
    steps = LabelIndex.in_slices(labels)
    done = []
    while True:
        try:
            done.append(next(steps))
        except StopIteration as end:
            index = end.value
            break
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert len(done) > 3
    for text in ("a", "abcé", "A\U0010ffffB", "cab"):
        assert index.find(text) == LabelIndex(labels).find(text)
        rows = tuple(row for row, label in enumerate(texts) if fold(label) == fold(text))
        assert index.find(text).rows == rows


def test_that_a_large_vocabulary_answers_as_a_loop_does():
    rng = random.Random(1)
    texts = ["".join(rng.choices(string.ascii_letters, k=rng.randint(1, 4))) for _ in range(100_000)]
    index = index_of(texts)
    for text in rng.choices(texts, k=20):
        assert index.find(text).rows == tuple(row for row, label in enumerate(texts) if label == text)
        hits = [row for row, label in enumerate(texts) if label.lower().startswith(text.lower())]
        whole = [row for row in hits if len(texts[row]) == len(text)]
        assert index.complete(text, 5) == list(dict.fromkeys(whole + hits))[:5] or len(hits) < 5
