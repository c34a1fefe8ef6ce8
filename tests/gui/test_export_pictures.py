"""What leaves the window as a picture: its pixels, its files, and what happens when they can't be written."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from explorer.core.errors import ExplorerError
from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, Legend, LegendEntry, LegendScale, Link, MapLabel
from explorer.export.labelling import with_labels
from explorer.export.legend import legend_layout
from explorer.export.painter import image_of, paint
from explorer.export.save import save_pdf, save_png, save_svg, to_image
from explorer.export.text import TextCache, draw_text, font, shown_text
from explorer.render.palette import DARK, LIGHT, category_palette, rgb, sequence
from explorer.render.raster import Dots, Raster, dots_for
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")

WIDTH, HEIGHT = 320, 240
GROUND, RING, ACCENT = rgb(LIGHT.map), rgb(LIGHT.ring), rgb(LIGHT.accent)


def figure(places=(), codes=None, **more) -> Figure:
    """Rows at positions in points from the left top corner."""
    xy = np.array([(x, -y) for x, y in places], np.float32).reshape(-1, 2)
    return Figure(
        xy=xy,
        codes=np.zeros(len(xy), np.uint8) if codes is None else np.array(codes, np.uint8),
        palette=more.pop("palette", category_palette(9, more.get("theme", LIGHT))),
        viewport=more.pop("viewport", Viewport(WIDTH, HEIGHT, WIDTH / 2, -HEIGHT / 2, 1.0)),
        dots=more.pop("dots", Dots(3.0, 1.0)),
        **more,
    )


def pixels(image: QImage) -> np.ndarray:
    """Red, green, blue as int, shape (height, width, 3)."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    words = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return np.stack([(words >> shift) & 255 for shift in (16, 8, 0)], axis=-1)[:, : image.width()].astype(int)


def shown(of: Figure, scale: float = 1.0) -> np.ndarray:
    return pixels(to_image(of, scale))


def near(pixel: np.ndarray, colour: tuple[int, int, int], within: int = 3) -> bool:
    return bool(np.abs(pixel - colour).max() <= within)


def a_cloud(rows: int = 2000, **more) -> Figure:
    xy = np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)
    codes = (np.arange(rows) % 9).astype(np.uint8)
    view, dots = Viewport.fitted(xy, WIDTH, HEIGHT), dots_for(rows, WIDTH, HEIGHT)
    return Figure(xy, codes, category_palette(9, LIGHT), view, dots, **more)


def test_that_points_have_their_colours_on_the_theme_s_ground():
    for theme in (LIGHT, DARK):
        image = shown(figure([(50, 60), (90, 60)], [0, 4], theme=theme))
        assert near(image[60, 50], rgb(theme.categories[0]))
        assert near(image[60, 90], rgb(theme.categories[4]))
        assert near(image[200, 200], rgb(theme.map), 0)


def test_that_results_are_ringed_and_the_focus_is_larger():
    image = shown(figure([(50, 60), (90, 60), (130, 60)], [0, 1, 2], results=np.array([1]), focus=2))
    assert near(image[60, 90], rgb(LIGHT.categories[1]))
    assert near(image[60, 130], rgb(LIGHT.categories[2]))
    reach = {x: (np.abs(image[60, x : x + 12] - GROUND).max(axis=1) > 20).sum() for x in (50, 90, 130)}
    assert reach[50] < reach[90] < reach[130]
    for x, radius in ((90, 4.5), (130, 6.0)):
        ring = image[60, x + int(radius - 1) : x + int(radius + 1)]
        assert ring.min() < 90, "dark ring"
    assert image[60, 50:60].min() > 50, "no ring"


def test_that_the_best_result_lies_on_top():
    image = shown(figure([(50, 60), (51, 60)], [0, 1], results=np.array([0, 1])))
    assert near(image[60, 50], rgb(LIGHT.categories[0]))


def test_that_a_query_is_a_star_and_its_links_run_to_the_results():
    image = shown(figure([(250, 60)], stars=((50, -60),), links=(Link(50, -60, (0,)),)))
    assert near(image[60, 50], RING, 12)
    blended = tuple(round((a + g) / 2) for a, g in zip(ACCENT, GROUND, strict=True))
    for x in (90, 150, 200):
        column = image[57:64, x] - GROUND
        assert np.abs(column.sum(axis=0) - (np.array(blended) - GROUND)).max() < 12, (
            "one point wide, half seen"
        )
        assert not np.abs(image[50, x] - GROUND).any()


def test_that_what_has_no_place_is_not_drawn():
    nan = float("nan")
    spoiled = figure(
        [(50, 60), (nan, 5), (1e30, 1e30)],
        results=np.array([1, 2]),
        focus=1,
        hover=2,
        stars=((nan, nan), (1e38, 0)),
        links=(Link(nan, 0, (0,)), Link(0, 0, (1, 2)), Link(1e38, 1e38, (0,))),
    )
    assert np.array_equal(shown(spoiled), shown(figure([(50, 60)])))


def test_that_hover_enlarges_one_row():
    places = [(50, 60), (90, 60)]
    plain, hovered = shown(figure(places)), shown(figure(places, hover=1))
    assert np.array_equal(plain[:, :70], hovered[:, :70])
    assert np.abs(hovered[60, 95] - GROUND).max() > 100 > np.abs(plain[60, 95] - GROUND).max()


def test_that_a_selection_dims_all_others():
    image = shown(figure([(50, 60), (90, 60)], selected=np.array([1]), dots=Dots(3.0, 0.6)))
    plain = shown(figure([(50, 60)], dots=Dots(3.0, 0.6)))
    contrast = {x: np.abs(image[60, x] - GROUND).sum() for x in (50, 90)}
    assert contrast[50] < 0.4 * np.abs(plain[60, 50] - GROUND).sum() < contrast[90]


def test_that_overlays_can_be_hit_though_the_painter_draws_them():
    of = figure([(50, 60), (90, 60)], results=np.array([0]), focus=1)
    for ratio in (1, 2):
        raster = Raster(WIDTH * ratio, HEIGHT * ratio)
        draw_points(of, raster, ratio)
        assert raster.row_at(54.5 * ratio, 60 * ratio, 0) == 0
        assert raster.row_at(96 * ratio, 60 * ratio, 0) == 1


def test_that_labels_have_a_halo_in_the_ground_s_colour():
    rng = np.random.default_rng(0)
    crowd = rng.uniform((0, 0), (WIDTH, HEIGHT), (40_000, 2))
    of = figure(crowd, labels=(MapLabel(0, "hello", 100, 100),))
    image = shown(of)
    box = image[98:118, 98:132]
    assert (np.abs(box - GROUND).max(axis=-1) <= 2).mean() > 0.12, "halo"
    assert (np.abs(box - rgb(LIGHT.text)).max(axis=-1) <= 60).mean() > 0.02, "letters"
    assert (np.abs(image[150:170, 98:132] - GROUND).max(axis=-1) <= 2).mean() < 0.01


def test_that_repeated_painting_and_a_cache_change_no_pixel():
    of, _ = with_labels(a_cloud(), str, TextCache())
    raster = Raster(WIDTH, HEIGHT)
    draw_points(of, raster)
    cache, pictures = TextCache(), []
    for _ in range(3):
        image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        paint(painter, of, points=image_of(raster), cache=cache)
        painter.end()
        pictures.append(pixels(image))
    assert np.array_equal(pictures[1], pictures[2])
    for picture in (pictures[0], shown(of)):  # Qt's very first drawing of a glyph differs by a hair
        assert np.abs(picture - pictures[2]).max() <= 4


def test_that_the_painter_is_left_as_it_was():
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    before = painter.pen(), painter.brush(), painter.renderHints(), painter.hasClipping()
    paint(painter, a_cloud(stars=((0, 0),)))
    assert (painter.pen(), painter.brush(), painter.renderHints(), painter.hasClipping()) == before
    painter.end()


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_that_a_png_has_the_pixels_asked_for(tmp_path, scale):
    save_png(a_cloud(), tmp_path / "map.png", scale)
    image = QImage(str(tmp_path / "map.png"))
    assert (image.width(), image.height()) == (WIDTH * scale, HEIGHT * scale)
    assert image.dotsPerMeterX() == pytest.approx(scale * 96 / 0.0254, abs=1)


def test_that_points_are_drawn_anew_at_a_larger_scale_not_stretched():
    of = figure([(50.3, 60.6)], dots=Dots(5.0, 1.0))
    smooth = Qt.TransformationMode.SmoothTransformation
    stretched = to_image(of).scaled(WIDTH * 4, HEIGHT * 4, mode=smooth)
    sharp, soft = (
        np.abs(np.diff(image[242, 160:260].sum(axis=-1))) for image in (shown(of, 4), pixels(stretched))
    )
    assert sharp.max() > 2 * soft.max()


def test_that_an_svg_shows_the_same_picture(tmp_path):
    of, _ = with_labels(a_cloud(results=np.arange(5), stars=((0, 0),), title="A map"), str, TextCache())
    save_svg(of, tmp_path / "map.svg")
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    QSvgRenderer(str(tmp_path / "map.svg")).render(painter)
    painter.end()
    difference = np.abs(pixels(image) - shown(of))
    assert difference.mean() < 6
    assert np.abs(pixels(image).mean(axis=(0, 1)) - shown(of).mean(axis=(0, 1))).max() < 2


def test_that_an_svg_keeps_texts_as_texts_and_stays_small(tmp_path):
    names = ["<b>&\"'", "two\nlines", "\udcff", "نص", "日本語", "\x00\x07", "a" * 500]
    labels = tuple(MapLabel(row, shown_text(name), 10, 20 + 20 * row) for row, name in enumerate(names))
    legend = Legend("k & <v>", (LegendEntry((1, 2, 3), "tab\there"),))
    of = a_cloud(100_000, labels=labels, legend=legend, title="x < y")
    save_svg(of, tmp_path / "map.svg")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    # A text whose letters come from several fonts is several elements.
    text = "".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    for part in ("<b>&\"'", "two↵lines", "\\udcff", "日本語", "··", "a" * 31 + "…", "k & <v>", "tab⇥here"):
        assert part in text
    assert (root.get("width"), root.get("viewBox")) == (f"{WIDTH / 96 * 25.4:.6g}mm", f"0 0 {WIDTH} {HEIGHT}")
    assert (tmp_path / "map.svg").stat().st_size < 3_000_000


def test_that_a_pdf_has_one_page_of_the_figure_s_size(tmp_path):
    save_pdf(a_cloud(title="A map"), tmp_path / "map.pdf")
    data = (tmp_path / "map.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    boxes = re.findall(rb"/MediaBox \[([\d. ]+)\]", data)
    assert [[float(number) for number in box.split()] for box in boxes] == [
        [0, 0, WIDTH * 0.75, HEIGHT * 0.75]
    ]


@pytest.mark.parametrize("save", [save_png, save_svg, save_pdf])
def test_that_a_picture_that_can_t_be_written_says_so_and_leaves_nothing_behind(tmp_path, save):
    with pytest.raises(ExplorerError, match="does not exist"):
        save(a_cloud(), tmp_path / "missing" / "map")
    with pytest.raises(ExplorerError, match="is a folder"):
        save(a_cloud(), tmp_path)
    with pytest.raises(ExplorerError, match="could not be written"):
        save(a_cloud(), tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_that_an_older_picture_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "map.png"
    path.write_text("old")
    path.chmod(0o640)
    save_png(a_cloud(), path)
    assert not QImage(str(path)).isNull()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["map.png"]


@pytest.mark.parametrize("scale", [0, 1000])
def test_that_a_picture_of_an_impossible_size_is_refused(tmp_path, scale):
    with pytest.raises(ExplorerError, match="can't be made"):
        save_png(a_cloud(), tmp_path / "map.png", scale)


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (30, 20)])
def test_that_a_tiny_window_is_painted(size):
    of = a_cloud(50, legend=Legend("title", (LegendEntry((1, 2, 3), "one"),)), stars=((0, 0),))
    of = replace(of, viewport=replace(of.viewport, width=size[0], height=size[1]))
    of, _ = with_labels(of, str, TextCache())
    raster = Raster(*size)
    draw_points(of, raster)
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    paint(painter, of, points=image_of(raster))
    painter.end()


def test_that_an_empty_table_gives_an_empty_map():
    assert (shown(figure()) == GROUND).all()


def test_that_the_legend_says_what_each_colour_means_and_what_it_leaves_out():
    entries = tuple(LegendEntry((200, i, 0), f"category {i}", hidden=i == 1) for i in range(40))
    of = figure(legend=Legend("40 categories", entries))
    layout = legend_layout(of)
    assert layout is not None
    assert len(layout.shown) + layout.more == 40
    assert layout.more > 0
    image = shown(of)
    line = layout.lines[0]
    assert near(image[round(line.center().y()), round(line.left() + 8)], (200, 0, 0))
    hidden = layout.lines[1]
    assert near(image[round(hidden.center().y()), round(hidden.left() + 8)], rgb(LIGHT.panel), 20)
    assert layout.card.bottom() <= HEIGHT
    assert layout.card.top() >= 0


def test_that_what_sums_up_the_other_categories_always_has_its_line():
    entries = tuple(LegendEntry((200, i, 0), f"category {i}", sums=i >= 38) for i in range(40))
    layout = legend_layout(figure(legend=Legend("40 categories", entries)))
    assert layout is not None
    own = len(layout.shown) - 2
    assert layout.places == (*range(own), 38, 39)
    assert layout.more == 38 - own
    assert layout.lines[own - 1].bottom() == layout.more_top
    assert layout.lines[own].top() > layout.more_top
    assert layout.lines[-1].bottom() < layout.card.bottom()


def test_that_a_legend_of_all_its_entries_leaves_nothing_out():
    entries = tuple(LegendEntry((200, i, 0), f"category {i}") for i in range(5))
    layout = legend_layout(figure(legend=Legend("5 categories", entries)))
    assert layout is not None
    assert (len(layout.lines), layout.more) == (5, 0)


def test_that_a_scale_runs_from_its_first_colour_to_its_last():
    of = figure(legend=Legend("norm", scale=LegendScale(sequence("viridis"), "0.1", "12")))
    layout = legend_layout(of)
    assert layout is not None
    y = round(layout.card.bottom() - 12 + 2 - 17 - 4)
    image = shown(of)
    assert near(image[y, round(layout.card.left() + 16)], (68, 1, 84), 20)
    assert near(image[y, round(layout.card.right() - 16)], (253, 231, 37), 20)


def test_that_density_shows_crowds_and_keeps_overlays():
    of = replace(a_cloud(5000, results=np.array([0])), density=True)
    image = shown(of)
    assert (np.abs(image - GROUND).max(axis=-1) > 30).mean() > 0.1
    raster = Raster(WIDTH, HEIGHT)
    draw_points(of, raster)
    x, y = of.viewport.to_pixels(of.xy[:1])[0]
    assert raster.row_at(x, y, 0) == 0


def test_that_a_file_keeps_nothing_of_a_failed_write(tmp_path):
    path: Path = tmp_path / "map.png"
    save_png(a_cloud(), path)
    before = path.read_bytes()
    with pytest.raises(ExplorerError):
        save_png(a_cloud(), path, 5000)
    assert path.read_bytes() == before


def test_that_pictographs_are_not_smeared_by_a_halo() -> None:
    def drawn(halo: QColor | None, outlined: bool = False) -> QImage:
        image = QImage(60, 40, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        draw_text(painter, "🎉", font(24), QColor("black"), QPointF(12, 30), halo, outlined=outlined)
        painter.end()
        return image

    def coloured(image: QImage) -> int:
        pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
        return sum(pixel.saturation() > 80 for pixel in pixels)

    bare = coloured(drawn(None))
    if not bare:
        pytest.skip("no font with coloured pictographs here")
    for outlined in (False, True):
        assert coloured(drawn(QColor("white"), outlined)) == bare


@pytest.mark.parametrize("outlined", [False, True])
def test_that_names_with_pictographs_can_be_read_over_a_crowd(outlined) -> None:
    image = QImage(120, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("black"))
    painter = QPainter(image)
    draw_text(
        painter, "🎉 HHHH", font(24), QColor("black"), QPointF(8, 30), QColor("white"), outlined=outlined
    )
    painter.end()
    box = pixels(image)[12:30, 40:100].max(axis=-1)
    assert (box > 200).mean() > 0.3, "the ground behind the letters"
    assert (box < 40).mean() > 0.1, "the letters"


def test_that_a_scale_below_entries_touches_none_of_them() -> None:
    entries = tuple(LegendEntry((200, 0, 0), f"entry {i}") for i in range(3))
    of = figure(legend=Legend("both", entries, LegendScale(sequence("viridis"), "1", "9")))
    layout = legend_layout(of)
    assert layout is not None
    image, left = shown(of), round(layout.card.left()) + 16
    bar = [y for y in range(HEIGHT) if near(image[y, left], (68, 1, 84), 25)]
    assert bar[0] >= layout.lines[-1].bottom() + 4
    assert bar[-1] < layout.card.bottom() - 15
