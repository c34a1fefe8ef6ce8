"""Which tensors are tables, what each is for, and which comes first: by names, then by shapes."""

from __future__ import annotations

import numpy as np
import pytest
from family_shapes import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from model_shapes import BOOKS, Model, Shapes

from explorer.core.table import Role
from explorer.readers.roles import Found, find_tables, side_of
from explorer.readers.tensors import Tensor

PARTS = (
    "embedding",
    "pos",
    "pe",
    "cls",
    "token",
    "weight",
    "bias",
    "patch",
    "fc",
    "lm_head",
    "0",
    "src",
    "W",
    "model",
)
PARTS = (
    "embedding",
    "pos",
    "pe",
    "cls",
    "token",
    "weight",
    "bias",
    "patch",
    "fc",
    "lm_head",
    "0",
    "src",
    "model",
)
WRAPPERS = ("module.", "_orig_mod.", "model.", "module._orig_mod.", "model.module.")


def tensors(shapes: Shapes, dtype: str = "float32") -> dict[str, Tensor]:
    return {name: Tensor(dtype, shape, lambda: np.zeros(0), name) for name, shape in shapes.items()}


def listed(found: list[Found]) -> list[tuple[str, int, int, str]]:
    return [(table.names[0], table.rows, table.dim, table.role.value) for table in found]


@pytest.mark.parametrize("model", [*BOOKS.values(), *FAMILIES.values()], ids=[*BOOKS, *FAMILIES])
def test_that_known_models_offer_their_tables_in_order(model: Model) -> None:
    assert listed(find_tables(tensors(model.tensors))) == model.tables


@pytest.mark.parametrize("model", [*BOOKS.values(), *FAMILIES.values()], ids=[*BOOKS, *FAMILIES])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_that_wrappers_change_names_and_nothing_else(model: Model, wrapper: str) -> None:
    wrapped = {wrapper + name: shape for name, shape in model.tensors.items()}
    expected = [(wrapper + name, *rest) for name, *rest in model.tables]
    assert listed(find_tables(tensors(wrapped))) == expected


@pytest.mark.parametrize("model", [*BOOKS.values(), *FAMILIES.values()], ids=[*BOOKS, *FAMILIES])
@settings(max_examples=15)
@given(order=st.randoms())
def test_that_the_order_of_a_file_does_not_change_what_each_table_is(model: Model, order: object) -> None:
    names = list(model.tensors)
    order.shuffle(names)  # type: ignore[attr-defined]
    found = listed(find_tables(tensors({name: model.tensors[name] for name in names})))
    assert sorted(found) == sorted(model.tables)
    assert found[0][3] == model.tables[0][3]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("token_embedding_table.weight", (65, 384)),
        ("tok_emb.weight", (65, 512)),
        ("encoder.embed_tokens.weight", (1000, 64)),
        ("gpt_neox.embed_in.weight", (50432, 64)),
        ("transformer.word_embeddings.weight", (1000, 64)),
        ("language_model.embedding.word_embeddings.weight", (1000, 64)),
        ("language_model.embedding.weight", (1000, 64)),
        ("backbone.embeddings.weight", (1000, 64)),
        ("encoder.src_word_emb.weight", (1000, 64)),
        ("wordEmbedding.weight", (1000, 64)),
        ("embeddings", (1000, 64)),
        ("emb_layer.weight", (1000, 64)),
        ("embed.W_E", (1000, 64)),
        ("weight", (1000, 64)),
        ("rnn.embed.0.weight", (1000, 64)),
    ],
)
def test_that_a_token_table_is_known_by_many_names(name: str, shape: tuple[int, int]) -> None:
    layer = {"h.0.mlp.weight": (4096, 1024), "h.0.mlp.bias": (4096,)}
    shapes = {name: shape} if name == "weight" else {**layer, name: shape}
    assert listed(find_tables(tensors(shapes))) == [(name, *shape, "token")]


@pytest.mark.parametrize(
    ("name", "shape", "rows"),
    [
        ("pos_emb", (1, 128, 512), 128),
        ("encoder.position_enc.pos_table", (1, 200, 512), 200),
        ("position_embedding_table.weight", (256, 384), 256),
        ("positional_encoding.pe", (1, 5000, 256), 5000),
        ("pos_encoder.pe", (5000, 1, 200), 5000),
        ("pos_embed.W_pos", (1024, 768), 1024),
        ("image_encoder.pos_embed", (1, 64, 64, 1280), 4096),
        ("positions.weight", (100, 32), 100),
        ("pos_embedding.embedding.weight", (100, 32), 100),
    ],
)
def test_that_a_position_table_is_known_by_many_names_and_shapes(
    name: str, shape: tuple[int, ...], rows: int
) -> None:
    assert listed(find_tables(tensors({name: shape}))) == [(name, rows, shape[-1], "position")]


@pytest.mark.parametrize("shape", [(768,), (1, 768), (1, 1, 768)])
def test_that_a_class_token_is_one_row_in_each_of_its_shapes(shape: tuple[int, ...]) -> None:
    assert listed(find_tables(tensors({"cls_token": shape}))) == [("cls_token", 1, 768, "class token")]


@pytest.mark.parametrize(
    "name",
    [
        "encoder.rel_embeddings.weight",
        "layers.0.blocks.0.attn.relative_position_bias_table",
        "blocks.0.attn.rel_pos_h",
        "h.0.attn.bias",
        "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "time_embedding.linear_1.weight",
        "blocks.0.attn.output_projection.weight",
        "image_projection.fc.weight",
        "text_model.head.weight",
    ],
)
def test_that_layers_beside_a_table_are_no_tables(name: str) -> None:
    shapes = {"wte.weight": (500, 64), name: (64, 64), name.removesuffix("weight") + "bias": (64,)}
    assert [table.names[0] for table in find_tables(tensors(shapes))] == ["wte.weight"]


def test_that_a_bias_beside_it_makes_a_lookup_a_layer() -> None:
    shapes = {"weight": (1000, 64), "bias": (1000,)}
    assert listed(find_tables(tensors(shapes))) == [("weight", 1000, 64, "other")]


def test_that_a_table_without_a_telling_name_is_found_by_its_output_layer() -> None:
    shapes = {"E": (5000, 64), "core.w": (256, 64), "fc.weight": (5000, 64), "fc.bias": (5000,)}
    assert listed(find_tables(tensors(shapes))) == [
        ("E", 5000, 64, "token"),
        ("fc.weight", 5000, 64, "output layer"),
    ]


def test_that_a_file_of_unknown_names_offers_every_matrix_the_tall_ones_first() -> None:
    shapes = {"a": (64, 64), "b": (64, 512), "c": (5000, 32), "d": (300, 16), "e": (7,), "mask": (900, 9)}
    assert listed(find_tables(tensors(shapes))) == [
        ("c", 5000, 32, "other"),
        ("d", 300, 16, "other"),
        ("b", 64, 512, "other"),
        ("a", 64, 64, "other"),
    ]


def test_that_names_over_one_storage_are_one_table_under_the_likeliest_role() -> None:
    tied = tensors({"lm_head.weight": (500, 64), "wte.weight": (500, 64), "wpe.weight": (32, 64)})
    tied["lm_head.weight"] = Tensor("float32", (500, 64), lambda: np.zeros(0), "wte.weight")
    found = find_tables(tied)
    assert [table.names for table in found] == [("wte.weight", "lm_head.weight"), ("wpe.weight",)]
    assert found[0].role.value == "token"


@pytest.mark.parametrize("name", ["tok", "token", "model.tokens"])
def test_that_a_table_called_by_its_tokens_is_theirs_before_its_tied_head(name: str) -> None:
    shapes = {"head.weight": (60, 8), f"{name}.weight": (60, 8), "pos.weight": (90, 8), "blocks.0.w": (60, 8)}
    tied = tensors(shapes)
    tied["head.weight"] = Tensor("float32", (60, 8), lambda: np.zeros(0), f"{name}.weight")
    first = find_tables(tied)[0]
    assert (first.names, first.role) == ((f"{name}.weight", "head.weight"), Role.TOKEN)


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool", "complex64"])
def test_that_only_real_fractions_are_a_models_tables(dtype: str) -> None:
    assert find_tables(tensors({"wte.weight": (500, 64)}, dtype)) == []


def test_that_empty_tensors_are_no_tables() -> None:
    assert find_tables(tensors({"wte.weight": (0, 64), "wpe.weight": (5, 0), "E": (0, 0)})) == []


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("src_embed.0.lut.weight", "source"),
        ("tgt_embed.0.lut.weight", "target"),
        ("encoder.src_word_emb.weight", "source"),
        ("decoder.trg_word_emb.weight", "target"),
        ("encoder.embedding.weight", "source"),
        ("decoder.embedding.weight", "target"),
        ("generator.proj.weight", "target"),
        ("transformer.wte.weight", None),
    ],
)
def test_that_a_name_tells_its_side_of_a_translator(name: str, side: str | None) -> None:
    assert side_of(name) == side


@given(
    st.dictionaries(
        st.lists(
            st.sampled_from(PARTS),
            min_size=1,
            max_size=4,
        ).map(".".join),
        st.lists(st.integers(0, 9), max_size=5).map(tuple),
        max_size=8,
    )
)
def test_that_any_names_and_shapes_give_tables_that_hold_all_their_numbers(shapes: Shapes) -> None:
    for table in find_tables(tensors(shapes)):
        count = 1
        for size in shapes[table.names[0]]:
            count *= size
        assert table.rows * table.dim == count > 0
