"""What the tree of open files calls its tables."""

import pytest

from explorer.views.panels.sources import short_name

BERT = [
    "embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
]
TRANSLATOR = ["src_embed.0.lut.weight", "tgt_embed.0.lut.weight", "generator.proj.weight"]


@pytest.mark.parametrize(
    ("name", "names", "short"),
    [
        (BERT[0], BERT, "…word_embeddings"),
        (BERT[2], BERT, "…token_type_embeddings"),
        (TRANSLATOR[0], TRANSLATOR, "src_embed.0.lut"),
        (TRANSLATOR[2], TRANSLATOR, "…proj"),
        ("weight", ["weight"], "weight"),
    ],
)
def test_that_a_short_name_tells_a_table_from_the_others(name: str, names: list[str], short: str) -> None:
    assert short_name(name, names) == short
