"""What the tree of open files calls its tables."""

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from explorer.views.panels.sources import short_name
from explorer.views.wrapped_text import wrapped

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


def test_that_a_line_breaks_within_a_word_only_where_that_alone_is_too_long(qapp: QApplication) -> None:
    font = qapp.font()
    width = QFontMetrics(font).horizontalAdvance("scene-0020.")
    assert wrapped("a red heart", font, 4 * width, 2) == ["a red heart"]
    assert "".join(wrapped("scene-0020.png", font, width, 2)) == "scene-0020.png"
    (cut,) = wrapped("scene-0020.png", font, width, 1)
    assert cut.endswith("…")
    assert QFontMetrics(font).horizontalAdvance(cut) <= width
