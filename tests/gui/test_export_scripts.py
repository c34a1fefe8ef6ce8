"""Names in any script fit the boxes they are given, and can be read over any crowd."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, MapLabel
from explorer.export.labelling import with_labels
from explorer.export.painter import image_of, paint
from explorer.export.text import HALO, LABEL_SIZE, LONGEST, TextCache, draw_label, font, shown_text
from explorer.render.palette import DARK, LIGHT, category_palette, rgb
from explorer.render.raster import Dots, Raster, dots_for
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")

NAMES = {
    "Latin": "Ångström gjpqy",
    "Cyrillic": "слово",
    "Greek": "λέξη",
    "Chinese": "單詞",
    "Japanese": "ことば",
    "Korean": "단어",
    "Arabic": "كلمة",
    "Hebrew": "מילה",
    "Hindi": "शब्दों",
    "Thai": "ที่ปู่",
    "Tamil": "சொல்",
    "emoji": "🎉👩‍👩‍👧 fun",
    "stacked": "é̂̃ x̱̲",
    "mixed": "abc كلمة 12",
}


def can_draw(text: str) -> bool:
    """Whether there is a font for each of the letters: drawn alone, none is the box of a missing one."""
    missing = drawn("\U000f1234")
    return all(not np.array_equal(drawn(letter), missing) for letter in text if letter.isalpha())


def drawn(text: str) -> np.ndarray:
    image = QImage(160, 60, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setFont(font(24))
    painter.drawText(QPointF(12, 40), text)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(60, 160, 4)[:, :, 3].copy()


def words(image: QImage) -> np.ndarray:
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())


@pytest.mark.parametrize("script", NAMES)
@pytest.mark.parametrize("bold", [False, True])
def test_that_a_name_stays_within_the_box_that_was_measured(script, bold):
    text = shown_text(NAMES[script])
    if not can_draw(text):
        pytest.skip(f"no font for {script} here")
    width, height = TextCache().size(text, bold)
    margin = 30
    image = QImage(round(width) + 2 * margin, round(height) + 2 * margin, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_label(painter, MapLabel(0, text, 0, 0, bold), LIGHT, QPointF(margin, margin))
    painter.end()
    lines, columns = np.nonzero(words(image) >> 24 > 60)
    assert len(lines)
    assert columns.min() >= margin - HALO - 1.5
    assert columns.max() <= margin + width + HALO + 1.5
    assert lines.min() >= margin - HALO - 2
    assert lines.max() <= margin + height + HALO + 2


@pytest.mark.parametrize("script", NAMES)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_that_a_name_can_be_read_over_any_crowd(script, theme):
    text = shown_text(NAMES[script])
    if not can_draw(text):
        pytest.skip(f"no font for {script} here")
    crowd = np.random.default_rng(0).uniform((0, -80), (200, 0), (20_000, 2)).astype(np.float32)
    view = Viewport(200, 80, 100, -40, 1.0)
    codes = (np.arange(20_000) % 9).astype(np.uint8)
    label = MapLabel(0, text, 20, 30)
    figure = Figure(crowd, codes, category_palette(9, theme), view, Dots(2.0, 1.0), theme, labels=(label,))
    raster, image = Raster(200, 80), QImage(200, 80, QImage.Format.Format_RGB32)
    draw_points(figure, raster)
    painter = QPainter(image)
    paint(painter, figure, points=image_of(raster))
    painter.end()
    width, height = TextCache().size(text)
    box = words(image)[30 : 30 + int(height), 20 : 20 + int(width)]
    pixels = np.stack([(box >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)
    ink, ground = (np.abs(pixels - rgb(colour)).max(axis=-1) for colour in (theme.text, theme.map))
    if script != "emoji":
        assert (ink < 90).mean() > 0.03, "letters"
    assert (ground < 50).mean() > 0.25, "the ground's colour around them"


def test_that_a_name_from_right_to_left_is_drawn_so():
    word = NAMES["Hebrew"]
    if not can_draw(word):
        pytest.skip("no font for Hebrew here")
    first, last = (drawn(letter).sum(axis=0) for letter in (word[0], word[-1]))
    whole = drawn(word).sum(axis=0)
    ink = np.flatnonzero(whole)
    first_ink, last_ink = np.flatnonzero(first), np.flatnonzero(last)
    right = whole[ink[-1] - np.ptp(first_ink) : ink[-1] + 1]
    left = whole[ink[0] : ink[0] + np.ptp(last_ink) + 1]
    assert np.corrcoef(right, first[first_ink[0] : first_ink[-1] + 1])[0, 1] > 0.8
    assert np.corrcoef(left, last[last_ink[0] : last_ink[-1] + 1])[0, 1] > 0.8


def test_that_names_of_ten_thousand_letters_are_cut_and_cost_no_more():
    rng = np.random.default_rng(0)
    xy = rng.normal(size=(2000, 2)).astype(np.float32)
    view, cache = Viewport.fitted(xy, 800, 600), TextCache()
    figure = Figure(xy, np.zeros(2000, np.uint8), category_palette(1, LIGHT), view, dots_for(2000, 800, 600))
    scripts = [NAMES[script] * 3000 for script in ("Latin", "Arabic", "Hindi", "emoji", "stacked")]
    labelled, _ = with_labels(figure, lambda row: scripts[row % 5], cache)
    assert len(labelled.labels) > 20
    for label in labelled.labels:
        assert len(label.text) <= LONGEST
        assert label.text.endswith("…")
        width, _ = cache.size(label.text)
        assert label.x >= 0
        assert label.x + width <= 800


def test_that_no_two_names_of_any_scripts_overlap_in_their_pixels():
    rng = np.random.default_rng(0)
    xy = rng.normal(size=(3000, 2)).astype(np.float32)
    view, cache = Viewport.fitted(xy, 800, 600), TextCache()
    figure = Figure(xy, np.zeros(3000, np.uint8), category_palette(1, LIGHT), view, dots_for(3000, 800, 600))
    names = list(NAMES.values())
    labelled, _ = with_labels(figure, lambda row: names[row % len(names)], cache)
    times = np.zeros((600, 800), int)
    for label in labelled.labels:
        alone = QImage(800, 600, QImage.Format.Format_ARGB32)
        alone.fill(Qt.GlobalColor.transparent)
        painter = QPainter(alone)
        face = font(LABEL_SIZE)
        painter.setFont(face)
        painter.setPen(QColor("black"))
        painter.drawText(QPointF(label.x, label.y + QFontMetricsF(face).ascent()), label.text)
        painter.end()
        times += words(alone) >> 24 > 40
    assert len(labelled.labels) > 40
    assert times.max() == 1
