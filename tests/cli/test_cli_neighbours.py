"""``neighbours``: the nearest rows, against a plain computation of the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from words import WORDS, word_vectors


def rows_of(said) -> list[int]:
    return [entry["row"] for entry in said.answer["neighbours"]]


def plain_scores(terms: dict[int, float], metric: str) -> np.ndarray:
    vectors = word_vectors().astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    used = unit if metric == "cosine" else vectors
    query = sum(weight * used[row] for row, weight in terms.items())
    if metric == "euclidean":
        return np.linalg.norm(vectors - query, axis=1)
    return used @ query / (np.linalg.norm(query) if metric == "cosine" else 1)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_that_neighbours_are_those_of_a_plain_computation(call, folder, metric):
    said = call(
        "neighbours", folder / "glove.txt", "king - man + woman", "--metric", metric, "--json", "-k", 99
    )
    scores = plain_scores({0: 1, 2: -1, 3: 1}, metric)
    order = np.argsort(scores if metric == "euclidean" else -scores)
    assert rows_of(said) == [row for row in order if row not in (0, 2, 3)]
    assert rows_of(said)[0] == 1
    for entry in said.answer["neighbours"]:
        assert entry["score"] == pytest.approx(scores[entry["row"]], rel=1e-5, abs=1e-5)
        assert entry["label"] == WORDS[entry["row"]]


def test_that_json_has_the_promised_keys_in_their_order(call, folder):
    answer = call("neighbours", folder / "glove.txt", "2*zion", "-k", "2", "--json").answer
    assert list(answer) == ["query", "matched", "table", "metric", "neighbours", "notes"]
    assert (answer["query"], answer["matched"], answer["metric"]) == ("2*zion", "case-folded", "cosine")
    assert [list(entry) for entry in answer["neighbours"]] == [["rank", "row", "label", "score"]] * 2
    assert [entry["rank"] for entry in answer["neighbours"]] == [1, 2]


def test_that_the_querys_own_rows_come_back_when_asked_for(call, folder):
    assert 0 not in rows_of(call("neighbours", folder / "glove.txt", "king", "-k", "99", "--json"))
    said = call("neighbours", folder / "glove.txt", "king", "--include-query", "--json")
    assert said.answer["neighbours"][0] == {"rank": 1, "row": 0, "label": "king", "score": 1.0}


@pytest.mark.parametrize(("size", "shown"), [(1e-12, "2.500e-24"), (0.5, "0.6250"), (1e18, "2.500e+36")])
def test_that_a_score_of_any_size_can_be_read(call, tmp_path, size, shown):
    np.save(tmp_path / "rows.npy", np.float32([[1, 2], [0.5, 1]]) * np.float32(size))
    assert shown in call("neighbours", tmp_path / "rows.npy", "#0", "--metric", "dot").out


@pytest.mark.parametrize("k", ["12", "0099", "9" * 18, "9" * 25])
def test_that_a_k_beyond_the_table_gives_all_other_rows(call, folder, k):
    rows = rows_of(call("neighbours", folder / "glove.txt", "king", "-k", k, "--json"))
    assert sorted(rows) == list(range(1, 12))


def test_that_a_row_with_an_empty_label_is_called_by_its_number(call, tmp_path):
    np.save(tmp_path / "rows.npy", np.eye(3, dtype=np.float32) + 1)
    (tmp_path / "rows.txt").write_text("one\n\nthree\n")
    said = call("neighbours", tmp_path / "rows.npy", "one", "--json")
    assert {entry["row"]: entry["label"] for entry in said.answer["neighbours"]} == {1: "#1", 2: "three"}


def test_that_a_label_on_two_rows_asks_one_and_may_find_the_other(call, folder):
    said = call("neighbours", folder / "glove.txt", "bank", "-k", "99", "--json")
    assert any("#9, #10" in note for note in said.answer["notes"])
    assert 10 in rows_of(said)
    assert 9 not in rows_of(said)


def test_that_faulty_rows_are_no_neighbours(call, folder):
    said = call("neighbours", folder / "faulty.npy", "#5", "-k", "99", "--json")
    assert sorted(rows_of(said)) == [0, 4, 6, 7, 8, 9, 10, 11]
    assert said.answer["neighbours"][0] == {"rank": 1, "row": 7, "label": "#7", "score": 1.0}
    said = call(
        "neighbours", folder / "faulty.npy", "#5", "-k", "99", "--all-rows", "--metric", "dot", "--json"
    )
    assert sorted(rows_of(said)) == [0, 3, 4, 6, 7, 8, 9, 10, 11]


def test_that_special_and_padding_rows_are_left_out_by_default(call, tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "alpha", "beta", "gamma"]
    table = torch.randn((10, 6), generator=torch.Generator().manual_seed(0))
    torch.save({"bert.embeddings.word_embeddings.weight": table}, tmp_path / "pytorch_model.bin")
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", "utf-8")
    said = call("neighbours", tmp_path / "pytorch_model.bin", "alpha", "-k", "99", "--json")
    assert sorted(rows_of(said)) == [6, 7]
    said = call("neighbours", tmp_path / "pytorch_model.bin", "alpha", "-k", "99", "--json", "--all-rows")
    assert sorted(rows_of(said)) == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert (
        call("tables", tmp_path / "pytorch_model.bin", "--json").answer["tables"][0]["health"]["padding"] == 2
    )


def test_that_rows_scaled_by_the_root_of_dim_score_so(call, folder):
    plain, scaled = (
        call("neighbours", folder / "glove.txt", "king", "--metric", "dot", "--json", *more).answer[
            "neighbours"
        ]
        for more in ([], ["--scale"])
    )
    assert [entry["row"] for entry in plain] == [entry["row"] for entry in scaled]
    assert scaled[0]["score"] == pytest.approx(8 * plain[0]["score"], rel=1e-5)


def test_that_another_table_is_asked_where_it_is_named(call, folder):
    said = call(
        "neighbours",
        folder / "de2en.pth",
        "word3",
        "--table",
        "tgt_embed.0.lut.weight",
        "--target-labels",
        folder / "english.txt",
        "--json",
    )
    assert said.answer["table"] == "tgt_embed.0.lut.weight"
    assert said.answer["neighbours"][0]["label"].startswith("word")


def test_that_columns_are_aligned_and_say_how_the_query_was_read(call, folder):
    lines = call("neighbours", folder / "glove.txt", "KING", "-", "man", "-k", "3").out.splitlines()
    assert lines[0].startswith("KING - man: case-folded in ")
    header = lines.index("RANK   SCORE  ROW  LABEL")
    assert all(len(line.split()) == 4 for line in lines[header + 1 : header + 4])
    assert lines[-1] == "note: “KING” was found as “king”."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["glove.txt", "knig"], "No row has the label “knig”; closest are: king"),
        (["glove.txt", "king -"], "Nothing to add or subtract follows the - at character 6"),
        (["glove.txt", '"king'], "The quotation mark at character 1 is never closed"),
        (["glove.txt", ""], "The query is empty"),
        (["glove.txt", "#12"], "There is no row #12: the table has 12 rows; the last is #11."),
        (["glove.txt", "king - king"], "The query's terms cancel out"),
        (["glove.txt", "king", "--table", "x"], "glove.txt has no table named “x”; it holds "),
        (["faulty.npy", "king"], "The table has no labels to find “king” among"),
        (["faulty.npy", "#1"], "Row #1 holds a value that is not a number"),
        (["faulty.npy", "#3"], "Row #3 is all zeros"),
        (["absent.pth", "king"], "There is no file"),
        (["glove.txt", "king", "--labels", "absent.txt"], "absent.txt"),
        (["glove.txt", "king", "--device", "mps"], "This machine has no mps device"),
    ],
)
def test_that_a_query_that_cannot_be_answered_gets_one_sentence(call, folder, arguments, sentence):
    arguments = [folder / arguments[0], *arguments[1:]]
    assert sentence in call("neighbours", *arguments).sentence
