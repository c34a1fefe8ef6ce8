"""gensim's saved models, written by gensim itself in many versions."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from gensim.models import Doc2Vec, FastText, KeyedVectors, Word2Vec
from gensim.models.doc2vec import TaggedDocument
from gensim.test.utils import datapath
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile, Role
from explorer.readers import gensim_file

SENTENCES = [["human", "interface", "né", "日本", "tree", "graph"], ["graph", "minors", "tree", "né"]] * 5


def opened(path: str | Path) -> OpenedFile:
    path = Path(path)
    assert gensim_file.sniff(path, path.read_bytes()[:4096])
    return gensim_file.read(path)


def assert_same(table, vectors: KeyedVectors) -> None:
    assert list(table.labels) == vectors.index_to_key
    np.testing.assert_array_equal(table.read(), vectors.vectors)
    assert table.read().shape == (table.rows, table.dim)


@pytest.fixture(scope="module")
def word2vec() -> Word2Vec:
    return Word2Vec(SENTENCES, vector_size=6, min_count=1, seed=1, workers=1)


@pytest.mark.parametrize("separately", [None, ["vectors"]])
def test_that_keyed_vectors_open(tmp_path, word2vec, separately):
    word2vec.wv.save(str(tmp_path / "words.kv"), separately=separately)
    assert (tmp_path / "words.kv.vectors.npy").exists() == (separately is not None)
    file = opened(tmp_path / "words.kv")
    (table,) = file.tables
    assert_same(table, word2vec.wv)
    assert (file.format, table.name, table.role) == ("gensim KeyedVectors", "vectors", Role.TOKEN)
    assert table.metadata["count"].tolist() == word2vec.wv.expandos["count"].tolist()


def test_that_a_whole_model_has_its_words_first_and_then_its_output_layer(tmp_path, word2vec):
    word2vec.save(str(tmp_path / "my.model"))
    words, output = opened(tmp_path / "my.model").tables
    assert_same(words, word2vec.wv)
    assert (words.name, output.name, output.role) == ("wv.vectors", "syn1neg", Role.OUTPUT)
    np.testing.assert_array_equal(output.read(), word2vec.syn1neg)
    assert list(output.labels) == word2vec.wv.index_to_key


def test_that_arrays_beside_a_model_are_found(tmp_path, word2vec):
    word2vec.save(str(tmp_path / "my.model"), sep_limit=0)
    assert (tmp_path / "my.model.wv.vectors.npy").exists()
    words, output = opened(tmp_path / "my.model").tables
    assert_same(words, word2vec.wv)
    np.testing.assert_array_equal(output.read(), word2vec.syn1neg)


def test_that_missing_vectors_are_asked_for_by_name(tmp_path, word2vec):
    word2vec.save(str(tmp_path / "my.model"), sep_limit=0)
    (tmp_path / "my.model.wv.vectors.npy").unlink()
    with pytest.raises(ExplorerError, match=r"lie in my\.model\.wv\.vectors\.npy, which is missing"):
        gensim_file.read(tmp_path / "my.model")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("sizes", [(3, 6), (1, 2)])
def test_that_fasttext_words_are_made_of_their_ngrams(tmp_path, whole, sizes):
    model = FastText(
        SENTENCES, vector_size=6, min_count=1, bucket=70, min_n=sizes[0], max_n=sizes[1], seed=1, workers=1
    )
    (model if whole else model.wv).save(str(tmp_path / "ft.model"))
    table = opened(tmp_path / "ft.model").tables[0]
    assert list(table.labels) == model.wv.index_to_key
    np.testing.assert_allclose(table.read(), model.wv.vectors, rtol=1e-5, atol=1e-7)


def test_that_documents_follow_the_words(tmp_path):
    documents = [TaggedDocument(words, [f"doc {i}"]) for i, words in enumerate(SENTENCES)]
    model = Doc2Vec(documents, vector_size=5, min_count=1, seed=1, workers=1)
    model.save(str(tmp_path / "d2v.model"))
    words, docs, _ = opened(tmp_path / "d2v.model").tables
    assert_same(words, model.wv)
    assert_same(docs, model.dv)
    assert docs.role is Role.OTHER


@pytest.mark.parametrize(
    "name",
    [
        "word2vec_old",
        "word2vec_old_sep",
        "word2vec_3.3",
        "model-from-gensim-3.8.0.w2v",
        *(f"old_w2v_models/w2v_{v}.mdl" for v in ("0.13.4", "1.0.1", "2.3.0", "3.0.0", "3.4.0")),
    ],
)
def test_that_models_of_old_versions_read_as_gensim_reads_them(name):
    table = opened(datapath(name)).tables[0]
    assert_same(table, Word2Vec.load(datapath(name)).wv)
    assert table.role is Role.TOKEN


@pytest.mark.parametrize(
    "name",
    [
        "w2v-lee-v0.12.0",
        "word2vec_pre_kv_py2",
        "word2vec_pre_kv_py3",
        "word2vec_pre_kv_sep_py2",
        "word2vec_pre_kv_sep_py3_4",
        "old_w2v_models/w2v_0.12.0.mdl",
    ],
)
def test_that_models_too_old_for_todays_gensim_open(name):
    path = Path(datapath(name))
    with path.open("rb") as file:
        theirs = vars(pickle.load(file, encoding="latin1"))
    vectors = theirs["syn0"] if "syn0" in theirs else np.load(f"{path}.syn0.npy")
    table = opened(path).tables[0]
    np.testing.assert_array_equal(table.read(), vectors)
    assert list(table.labels) == theirs["index2word"]
    assert table.metadata["count"].tolist() == [theirs["vocab"][word].count for word in theirs["index2word"]]


@pytest.mark.parametrize("name", ["fasttext_old", "fasttext_old_sep", "ft_model_2.3.0"])
def test_that_old_fasttext_models_have_all_their_words(name):
    table = opened(datapath(name)).tables[0]
    assert table.labels.count == table.rows == len(set(table.labels))
    assert np.isfinite(table.read()).all()


@pytest.mark.parametrize("name", ["doc2vec_old", "doc2vec_old_sep", "old_d2v_models/d2v_3.4.0.mdl"])
def test_that_old_documents_are_named_by_their_numbers(name):
    documents = {table.name: table for table in opened(datapath(name)).tables}["docvecs.vectors"]
    assert list(documents.labels) == [str(number) for number in range(documents.rows)]
    assert documents.read().shape == (documents.rows, documents.dim)
    assert np.isfinite(documents.read()).all()


def test_that_a_poincare_model_opens():
    table = opened(datapath("poincare_test_3.4.0")).tables[0]
    assert (table.rows, table.dim, table.dtype) == (239, 2, "float64")
    assert table.labels[0] == "kangaroo.n.01"


@pytest.mark.parametrize("name", ["phraser-3.6.0.model", "tfidf_model_3_2.tst"])
def test_that_a_model_without_vectors_is_called_by_its_name(name):
    with pytest.raises(ExplorerError, match=r"is a gensim \w+, which holds no word vectors"):
        opened(datapath(name))


def test_that_other_pickles_are_left_to_others(tmp_path):
    path = tmp_path / "words.p"
    path.write_bytes(pickle.dumps({"gensim": 0}))
    assert not gensim_file.sniff(path, path.read_bytes())


@pytest.fixture(scope="module")
def saved(tmp_path_factory, word2vec) -> bytes:
    path = tmp_path_factory.mktemp("kv") / "words.kv"
    word2vec.wv.save(str(path))
    return path.read_bytes()


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(["cut", "flip", "drop"]), st.floats(0, 1), st.floats(0, 1), st.integers(0, 7))
def test_that_damage_is_refused_or_shifts_no_row(tmp_path_factory, saved, word2vec, kind, first, second, bit):
    low, high = sorted((int(first * (len(saved) - 1)), int(second * (len(saved) - 1))))
    flipped = bytearray(saved)
    flipped[low] ^= 1 << bit
    damaged = {"cut": saved[:low], "flip": bytes(flipped), "drop": saved[:low] + saved[high:]}[kind]
    path = tmp_path_factory.getbasetemp() / "damaged.kv"
    path.write_bytes(damaged)
    if not gensim_file.sniff(path, damaged[:4096]):
        return
    try:
        table = gensim_file.read(path).tables[0]
        vectors = table.read()
    except ExplorerError:
        return
    assert vectors.shape == (table.rows, table.dim)
    assert table.labels is None or len(table.labels) == table.rows
    # One flipped bit can turn the byte order or a value, and nobody could know; but no name moves.
    if kind == "flip" and table.labels is not None and table.labels.count == len(word2vec.wv):
        pairs = zip(table.labels, word2vec.wv.index_to_key, strict=False)
        assert sum(mine != theirs for mine, theirs in pairs) <= 1
