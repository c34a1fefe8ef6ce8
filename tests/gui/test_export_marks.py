"""Pictures and regions' names on the figure: their pixels, what is under the cursor, and who gives way."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage, QPixmap

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, Legend, LegendEntry, RegionLabel, Thumbnail
from explorer.export.labelling import region_box, with_labels
from explorer.export.legend import legend_layout
from explorer.export.save import save_pdf, save_svg, to_image
from explorer.export.text import LONGEST, MOST_LINES, TextCache, region_lines
from explorer.render.palette import DARK, LIGHT, category_palette, rgb
from explorer.render.raster import Dots, Raster
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")

WIDTH, HEIGHT = 400, 300
BLUE, ORANGE = rgb(LIGHT.categories[0]), rgb(LIGHT.categories[1])


def figure(places=(), codes=None, **more) -> Figure:
    xy = np.array([(x, -y) for x, y in places], np.float32).reshape(-1, 2)
    codes = np.zeros(len(xy), np.uint8) if codes is None else np.array(codes, np.uint8)
    palette = category_palette(9, more.get("theme", LIGHT))
    view = Viewport(WIDTH, HEIGHT, WIDTH / 2, -HEIGHT / 2, 1.0)
    return Figure(xy, codes, palette, view, Dots(3.0, 1.0), **more)


def pixels(of: Figure, scale: float = 1.0) -> np.ndarray:
    image = to_image(of, scale).convertToFormat(QImage.Format.Format_RGB32)
    words = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    return np.stack([(words >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)


def picture(colour: str, width: int = 8, height: int = 8) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    return image


def thumbnail(
    row: int, x: float, y: float, image: object, width: float = 40, height: float = 40
) -> Thumbnail:
    return Thumbnail(row, x - width / 2, y - height / 2, width, height, image)


def near(pixel: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool(np.abs(pixel - colour).max() <= 8)


@pytest.mark.parametrize("kind", [QImage, QPixmap.fromImage])
@pytest.mark.parametrize("scale", [1, 2])
def test_that_a_picture_covers_its_dot_in_a_frame_of_the_row_s_colour(kind, scale):
    of = figure([(100, 80), (250, 80)], [1, 0], thumbnails=(thumbnail(0, 100, 80, kind(picture("red"))),))
    shown = pixels(of, scale)
    assert near(shown[80 * scale, 100 * scale], (255, 0, 0))
    assert near(shown[80 * scale, 118 * scale], (255, 0, 0))
    assert near(shown[80 * scale, int(120.7 * scale)], ORANGE)
    assert near(shown[80 * scale, 250 * scale], BLUE)
    assert near(shown[80 * scale, 125 * scale], rgb(LIGHT.map))


def test_that_a_picture_lies_above_the_points():
    places = [(100, 80)] + [(90 + i, 80) for i in range(20)]
    of = figure(places, thumbnails=(thumbnail(0, 100, 80, picture("red")),))
    assert (np.abs(pixels(of)[65:95, 85:115] - (255, 0, 0)).max(axis=-1) <= 8).all()


@pytest.mark.parametrize("ratio", [1, 2])
def test_that_the_cursor_finds_the_picture_s_row_all_over_it(ratio):
    places = [(100, 80), (105, 85), (250, 80)]
    of = figure(places, thumbnails=(thumbnail(0, 100, 80, picture("red"), 60, 30),))
    raster = Raster(WIDTH * ratio, HEIGHT * ratio)
    draw_points(of, raster, ratio)
    for x, y in ((100, 80), (72, 67), (128, 93), (105, 85)):
        assert raster.row_at(x * ratio, y * ratio, 0) == 0
    assert raster.row_at(100 * ratio, 100 * ratio, 0) == -1
    assert raster.row_at(250 * ratio, 80 * ratio, 0) == 2


def test_that_a_picture_partly_outside_claims_what_is_inside():
    of = figure(
        [(2, 2)], thumbnails=(thumbnail(0, 2, 2, picture("red")), thumbnail(0, 900, 9, picture("red")))
    )
    raster = Raster(WIDTH, HEIGHT)
    draw_points(of, raster)
    assert raster.row_at(15, 15, 0) == 0
    assert (raster.ids == 0).sum() == 22 * 22


def test_that_the_focus_s_picture_is_ringed_and_lies_on_top():
    both = (thumbnail(0, 100, 80, picture("red")), thumbnail(1, 120, 80, picture("lime")))
    plain, focused = (pixels(figure([(100, 80), (120, 80)], thumbnails=both, focus=f)) for f in (None, 1))
    assert near(plain[80, 110], (255, 0, 0)), "the first lies on top"
    assert near(focused[80, 110], (0, 255, 0))
    assert near(focused[80, 143], rgb(LIGHT.ring))


def test_that_labels_keep_clear_of_pictures_and_stand_beside_their_own():
    of = figure(
        [(100, 80), (105, 95), (300, 200)],
        thumbnails=(thumbnail(0, 100, 80, picture("red"), 60, 40),),
    )
    cache = TextCache()
    of, _ = with_labels(of, lambda row: f"row {row}", cache)
    labels = {label.row: label for label in of.labels}
    assert labels[0].x >= 130
    for label in of.labels:
        width, height = cache.size(label.text)
        outside = label.x >= 130 or label.x + width <= 70 or label.y >= 100 or label.y + height <= 60
        assert outside, label


def test_that_a_region_s_name_is_large_centred_and_of_several_lines():
    one = pixels(figure(regions=(RegionLabel("HHHH", 200, -150, 30),)))
    two = pixels(figure(regions=(RegionLabel("HHHH\nHH", 200, -150, 30),)))
    quiet = np.array(rgb(LIGHT.quiet))
    for shown, low, high in ((one, 20, 24), (two, 50, 70)):
        lines, columns = np.nonzero(np.abs(shown - quiet).max(axis=-1) < 40)
        assert columns.mean() == pytest.approx(200, abs=2)
        assert (lines.min() + lines.max()) / 2 == pytest.approx(150, abs=6)
        assert low <= lines.max() - lines.min() <= high


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_that_a_region_s_name_can_be_read_over_a_crowd(theme):
    crowd = np.random.default_rng(0).uniform((0, 0), (WIDTH, HEIGHT), (30_000, 2))
    codes = np.arange(30_000) % 9
    region = RegionLabel("verbs", 200, -150, 28)
    of = figure(crowd, codes, theme=theme, regions=(region,))
    left, top, width, height = (int(side) for side in region_box(of, region, TextCache()))
    box = pixels(of)[top : top + height, left : left + width]
    assert (np.abs(box - rgb(theme.quiet)).max(axis=-1) <= 40).mean() > 0.08, "letters"
    assert (np.abs(box - rgb(theme.map)).max(axis=-1) <= 8).mean() > 0.1, "halo"


def test_that_regions_never_overlap_each_other_the_legend_or_the_window_s_edge():
    rng = np.random.default_rng(0)
    regions = tuple(
        RegionLabel(f"region {i}\nnumber {i}", *(float(v) for v in rng.uniform((-20, -320), (420, 20))))
        for i in range(60)
    )
    legend = Legend("title", tuple(LegendEntry((1, 2, 3), f"entry {i}") for i in range(4)))
    cache = TextCache()
    of, _ = with_labels(figure(regions=regions, legend=legend), str, cache)
    assert 3 < len(of.regions) < 60
    assert of.regions[0] == next(r for r in regions if r in of.regions)
    layout = legend_layout(of)
    assert layout is not None
    boxes = [np.array(layout.card.getRect()), *(np.array(region_box(of, r, cache)) for r in of.regions)]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert not ((one[:2] + one[2:] > other[:2]) & (other[:2] + other[2:] > one[:2])).all()
    for left, top, width, height in boxes[1:]:
        assert left >= 0
        assert top >= 0
        assert left + width <= WIDTH
        assert top + height <= HEIGHT


def test_that_regions_stay_while_one_comes_closer():
    rng = np.random.default_rng(1)
    regions = tuple(
        RegionLabel(f"region {i}", *(float(v) for v in rng.uniform((100, -200), (300, -100))))
        for i in range(40)
    )
    cache = TextCache()
    of = figure(regions=regions)
    before, _ = with_labels(of, str, cache)
    closer = replace(of, viewport=of.viewport.zoomed_at(200, 150, 1.3))
    after, _ = with_labels(closer, str, cache)
    still_whole = {
        region.text
        for region in before.regions
        if (box := region_box(closer, region, cache))[0] >= 0
        and box[1] >= 0
        and box[0] + box[2] <= WIDTH
        and box[1] + box[3] <= HEIGHT
    }
    assert still_whole
    assert still_whole <= {region.text for region in after.regions}


def test_that_labels_keep_clear_of_regions():
    places = np.random.default_rng(0).uniform((0, 0), (WIDTH, HEIGHT), (500, 2))
    cache = TextCache()
    region = RegionLabel("a region", 200, -150, 30)
    of, _ = with_labels(figure(places, regions=(region,)), lambda row: f"row {row}", cache)
    left, top, width, height = region_box(of, region, cache)
    assert len(of.labels) > 10
    for label in of.labels:
        wide, high = cache.size(label.text)
        assert (
            label.x >= left + width
            or label.x + wide <= left
            or label.y >= top + height
            or label.y + high <= top
        )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one", ["one"]),
        ("one\n\n two ", ["one", "two"]),
        ("", []),
        ("\n \n", []),
        ("a\nb\nc\nd", ["a", "b", "c"]),
        ("x" * 10_000, ["x" * (LONGEST - 1) + "…"]),
    ],
)
def test_that_a_region_s_name_is_a_few_short_lines(text, lines):
    assert region_lines(text) == lines
    assert len(lines) <= MOST_LINES


def test_that_a_region_without_a_place_or_a_name_is_not_drawn():
    nan = float("nan")
    odd = (RegionLabel("x", nan, 0), RegionLabel("", 200, -150), RegionLabel("far", 1e30, 1e30))
    plain = pixels(figure())
    assert np.array_equal(pixels(figure(regions=odd)), plain)
    labelled, _ = with_labels(figure(regions=odd), str, TextCache())
    assert labelled.regions == ()


def test_that_files_of_shapes_hold_pictures_and_regions(tmp_path):
    of = figure(
        [(100, 80)],
        thumbnails=(thumbnail(0, 100, 80, picture("red")),),
        regions=(RegionLabel("a region\nof words", 250, -200),),
    )
    save_svg(of, tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text()
    assert "a region" in text
    assert "of words" in text
    assert text.count("<image") == 2
    save_pdf(of, tmp_path / "map.pdf")
    assert (tmp_path / "map.pdf").stat().st_size > 1000
