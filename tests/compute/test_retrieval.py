"""Queries for pictures as vectors, and recall against a computation by hand."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.compute.retrieval import evaluate, picture_query
from explorer.core.errors import ExplorerError
from explorer.core.query_text import read_query
from explorer.core.retrieval import Recall


def unit(*rows: tuple[float, ...]) -> np.ndarray:
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_that_recall_and_median_rank_are_those_computed_by_hand():
    images = unit((1, 0), (0, 1), (1, 1))
    # Cosines to the three pictures:     1.00 0.00 0.71 | 0.89 0.45 0.95 | 0.00 1.00 0.71 | 0.95 0.32 0.89
    texts = unit((1, 0), (2, 1), (0, 1), (3, 1))
    owners = np.array([0, 0, 1, 2])
    found = evaluate(images, texts, owners)
    # Captions find their pictures at 1, 2, 1, 2.
    assert found.text_to_image == Recall(0.5, 1.0, 1.0, 1.5, 4)
    # Pictures find the best of their captions: the first at 1; the second at 1; the third's only one scores
    # 0.89, behind (2, 1) with 0.95: 2.
    assert found.image_to_text == Recall(2 / 3, 1.0, 1.0, 1.0, 3)


def test_that_any_order_of_captions_and_any_block_size_give_the_same(random, monkeypatch):
    images = unit(*random.normal(size=(40, 8)))
    owners = np.repeat(np.arange(40), 5)
    texts = unit(*(images[owners] + random.normal(size=(200, 8))))
    found = evaluate(images, texts, owners)
    order = random.permutation(200)
    monkeypatch.setattr("explorer.compute.retrieval._BLOCK_BYTES", 4 * 200 * 7)
    assert evaluate(images, texts[order], owners[order]) == found

    scores = images @ texts.T
    by_image = [min(int((scores[i] > s).sum()) + 1 for s in scores[i, owners == i]) for i in range(40)]
    by_text = [int((scores[:, j] > scores[owners[j], j]).sum()) + 1 for j in range(200)]
    assert found.text_to_image == Recall.of(np.array(by_text))
    assert found.image_to_text == Recall.of(np.array(by_image))
    assert 1 < found.text_to_image.median_rank < 20


def test_that_an_encoder_that_gives_one_vector_finds_no_more_than_chance():
    images, texts = np.tile(unit((1, 2)), (50, 1)), np.tile(unit((1, 2)), (50, 1))
    found = evaluate(images, texts, np.arange(50))
    assert found.text_to_image == found.image_to_text == Recall(1 / 50, 5 / 50, 10 / 50, 25.5, 50)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a dog on the beach", [(1.0, "a dog on the beach", None)]),
        ("dog", [(1.0, "dog", None)]),
        (
            'a dog + "on the beach" - people',
            [(1.0, "a dog", None), (1.0, "on the beach", None), (-1.0, "people", None)],
        ),
        ("0.5*night - #12", [(0.5, "night", None), (-1.0, None, 12)]),
        ('a "real" dog', [(1.0, 'a "real" dog', None)]),
    ],
)
def test_that_queries_are_read_as_texts_and_rows(text, terms):
    found, _ = read_query(text)
    assert [(term.weight, term.text, term.row) for term in found] == terms


def test_that_rows_are_summed_as_unit_vectors_and_must_not_cancel_out():
    rows = {0: np.array([3.0, 0.0]), 1: np.array([0.0, 0.5])}

    def no_encoder() -> None:
        raise AssertionError("rows alone need no encoder")

    terms, _ = read_query("2*#0 - #1")
    query = picture_query(terms, None, no_encoder, rows.__getitem__)
    assert query.vector.tolist() == [2.0, -1.0]
    assert query.own == (0, 1)
    with pytest.raises(ExplorerError, match="cancel out"):
        picture_query(read_query("#0 - #0")[0], None, no_encoder, rows.__getitem__)
    with pytest.raises(ExplorerError, match="nothing to look for"):
        picture_query((), None, no_encoder, rows.__getitem__)
