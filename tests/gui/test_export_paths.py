"""Ways over the map: where their lines, dots and names lie."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from explorer.export.figure import Figure, MapPath
from explorer.export.paths import path_label_boxes
from explorer.export.save import save_svg, to_image
from explorer.render.palette import DARK, LIGHT, category_palette, rgb
from explorer.render.raster import Dots
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")

WIDTH, HEIGHT = 400, 300


def figure(*paths: MapPath, theme=LIGHT) -> Figure:
    view = Viewport(WIDTH, HEIGHT, WIDTH / 2, -HEIGHT / 2, 1.0)
    nothing = np.zeros((0, 2), np.float32), np.zeros(0, np.uint8), category_palette(1, theme)
    return Figure(*nothing, view, Dots(3.0, 1.0), theme=theme, paths=paths)


def way(*places: tuple[float, float], label: str = "", colour=None) -> MapPath:
    return MapPath(np.array([(x, -y) for x, y in places], np.float64), label, colour)


def colour_at(image: QImage, x: int, y: int) -> tuple[int, int, int]:
    pixel = QColor(image.pixel(x, y))
    return pixel.red(), pixel.green(), pixel.blue()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_that_ways_lead_from_stage_to_stage_each_in_a_colour_of_its_own(theme) -> None:
    image = to_image(figure(way((50, 50), (250, 50)), way((50, 150), (250, 150)), theme=theme))
    for place, y in enumerate((50, 150)):
        assert colour_at(image, 150, y) == pytest.approx(rgb(theme.categories[place]), abs=60)
        assert colour_at(image, 250, y) == rgb(theme.categories[place]), "the last stage's dot is full"
    assert colour_at(image, 150, 100) == rgb(theme.map)


def test_that_a_stage_without_a_place_is_passed_over() -> None:
    image = to_image(figure(way((50, 50), (np.nan, np.nan), (250, 50), colour=(10, 200, 30))))
    assert colour_at(image, 250, 50) == (10, 200, 30)
    assert colour_at(image, 150, 50)[1] > colour_at(image, 150, 50)[0] + 60


def test_that_a_way_without_any_place_draws_nothing() -> None:
    of = figure(way((np.nan, 0), label="nowhere"))
    assert path_label_boxes(of) == [None]
    assert len(np.unique(np.frombuffer(to_image(of).constBits(), np.uint32))) == 1


def test_that_its_name_stands_beside_its_end_and_never_outside() -> None:
    for x in (100, 390):
        of = figure(way((50, 80), (x, 80), label="king"))
        (box,) = path_label_boxes(of)
        assert box.right() <= WIDTH
        assert not box.contains(x, 80)
        assert abs(box.center().y() - 80) < 1


@pytest.mark.parametrize("x", [200, 385])
def test_that_names_of_ways_that_end_at_one_place_do_not_lie_over_each_other(x: int) -> None:
    boxes = path_label_boxes(figure(*(way((50, 80), (x, 80), label=f"word {n}") for n in range(6))))
    shown = [box for box in boxes if box is not None]
    assert boxes[0] is not None
    assert len(shown) >= 5
    for number, box in enumerate(shown):
        assert box.left() >= 0
        assert box.right() <= WIDTH
        assert not any(box.intersects(other) for other in shown[:number])


def test_that_no_way_crosses_out_the_name_of_another() -> None:
    alone = figure(way((50, 80), (150, 80), label="king", colour=(200, 30, 40)))
    box = path_label_boxes(alone)[0].toRect()
    x = box.center().x()
    crossed = to_image(figure(way((x, 20), (x, 200)), *alone.paths))
    clean = to_image(alone)

    def letters(image: QImage) -> int:
        places = ((x, y) for x in range(box.left(), box.right()) for y in range(box.top(), box.bottom()))
        return sum(colour_at(image, *place) == (200, 30, 40) for place in places)

    assert letters(crossed) == letters(clean) > 0


def test_that_files_of_shapes_hold_ways(tmp_path) -> None:
    save_svg(figure(way((50, 50), (250, 50), label="king")), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text("utf-8")
    assert "king" in text
    assert "polyline" in text or "path" in text
