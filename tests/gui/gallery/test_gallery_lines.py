"""Pictures in lines as wide as the room."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.views.panels.gallery_layout import GAP, justified


@pytest.mark.parametrize("width", [260, 320, 777, 3800])
def test_that_lines_are_as_wide_as_the_room_and_keep_every_shape(width: int) -> None:
    shapes = np.random.default_rng(3).choice([1.5, 0.67, 1.0, 1.78, 2.2], 500)
    lines = justified(shapes, width, 96, 18)
    assert [cell.place for line in range(len(lines.heights)) for cell in lines.cells(line)] == [*range(500)]
    for line in range(len(lines.heights) - 1):
        cells = lines.cells(line)
        assert cells[-1].left + cells[-1].width == pytest.approx(width)
        assert cells[0].left == 0
        for cell in cells:
            assert cell.width / cell.height == pytest.approx(shapes[cell.place])
    assert np.median(lines.heights) == pytest.approx(96, rel=0.15)
    assert np.diff(lines.tops) == pytest.approx(lines.heights + 18 + GAP)


def test_that_extreme_and_unknown_shapes_get_cells_that_can_be_seen() -> None:
    lines = justified(np.asarray([40.0, 1 / 40, np.nan, 1.0]), 300, 96, 18)
    shapes = [lines.cell(place).width / lines.cell(place).height for place in range(4)]
    assert shapes == pytest.approx([2.5, 0.4, 1.0, 1.0])
    assert justified(np.zeros(0), 300, 96, 18).between(0, 500) == []
    assert justified(np.ones(3), 1, 96, 18).total_height > 0


def test_that_more_pictures_leave_the_lines_before_as_they_were() -> None:
    shapes = np.random.default_rng(4).uniform(0.5, 2.2, 1000)
    few, many = justified(shapes[:300], 320, 96, 18), justified(shapes, 320, 96, 18)
    whole = len(few.heights) - 1
    assert np.array_equal(few.starts[:whole], many.starts[:whole])
    assert few.tops[:whole] == pytest.approx(many.tops[:whole])


def test_that_every_point_of_a_picture_finds_it_and_the_gaps_nothing() -> None:
    lines = justified(np.random.default_rng(5).uniform(0.5, 2.2, 60), 320, 96, 18)
    for place in range(60):
        cell = lines.cell(place)
        assert lines.at(cell.left + 1, cell.top + 1) == place
        assert lines.at(cell.left + cell.width - 1, cell.top + cell.height + 17) == place
        assert lines.at(cell.left + cell.width + GAP / 2, cell.top + 1) == -1
    assert lines.at(5, -1) == lines.at(5, lines.total_height + 1) == -1
