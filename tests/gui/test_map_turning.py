"""A map of three dimensions, turned with the mouse and the keyboard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from map_driver import box_around, drag, move, pixels, rest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_driver import lay_out_for_ever, settle

from explorer.core.regions import Region
from explorer.document.look import Look, Seen
from explorer.document.staging import TokenPath
from explorer.export.figure import Figure
from explorer.render.camera import Camera, middle, project
from explorer.views.main_window import MainWindow
from explorer.views.map import places as places_module
from explorer.views.map.canvas import Tool


@pytest.fixture
def turning(qtbot: QtBot, open_window: MainWindow) -> MainWindow:
    """The words' table in three dimensions, by the choice in the layout panel."""
    choice = open_window.side.layout_section.dimensions
    choice.setCurrentText("3-D")
    choice.textActivated.emit("3-D")
    document = open_window.session.document
    qtbot.waitUntil(lambda: document.positions.shape[1] == 3)
    settle(qtbot, open_window)
    return open_window


def test_that_a_drag_turns_the_map_about_its_middle_and_back(turning: MainWindow) -> None:
    before, view = pixels(turning), turning.map.canvas.viewport_now
    assert turning.map.canvas.item.figure.depth is not None
    drag(turning, [QPoint(300, 300), QPoint(340, 300), QPoint(420, 330)])
    after = pixels(turning)
    assert turning.map.canvas.viewport_now == view, "it turns and is not moved"
    assert np.abs(after - before).max() > 30
    drag(turning, [QPoint(420, 330), QPoint(300, 300)])
    assert np.abs(pixels(turning) - before).max() < 1


def test_that_what_is_drawn_is_the_projection_of_the_positions(turning: MainWindow) -> None:
    drag(turning, [QPoint(300, 300), QPoint(380, 340)])
    figure, document = turning.map.canvas.item.figure, turning.session.document
    camera = turning.map.camera
    assert camera != Camera()
    xy, depth = project(document.positions, camera)
    np.testing.assert_allclose(figure.xy, xy, atol=1e-5)
    np.testing.assert_allclose(figure.depth, depth, atol=1e-5)


def test_that_many_rows_are_turned_as_a_sample_and_rest_as_a_whole(
    qtbot: QtBot, turning: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places_module, "MOST_TURNING", 100)
    document, item, seen = turning.session.document, turning.map.canvas.item, []
    show = item.show_figure

    def show_and_look(figure: Figure, **how: bool) -> None:
        show(figure, **how)
        if figure.sample is not None:
            rows = np.concatenate([figure.results, figure.sample.rows, [each.row for each in figure.labels]])
            xy, _ = project(document.positions, turning.map.camera)
            np.testing.assert_allclose(figure.sample.xy, xy[figure.sample.rows], atol=1e-5)
            named = np.setdiff1d(rows, figure.sample.rows)
            np.testing.assert_allclose(figure.xy[named], xy[named], atol=1e-5)
            seen.append((len(figure.sample), figure.sample.share, len(named)))

    monkeypatch.setattr(item, "show_figure", show_and_look)
    turning.session.asking.ask("king - man + woman")
    qtbot.waitUntil(lambda: document.answer is not None)
    drag(turning, [QPoint(300, 300), QPoint(350, 320), QPoint(390, 350)])
    rest(qtbot, turning)
    assert seen
    assert all(drawn == 100 and 0 < share < 1 and named > 20 for drawn, share, named in seen)
    xy, depth = project(document.positions, turning.map.camera)
    assert item.figure.sample is None
    np.testing.assert_allclose(item.figure.xy, xy, atol=1e-5)
    np.testing.assert_allclose(item.figure.depth, depth, atol=1e-5)


def test_that_regions_are_named_where_they_are_seen_and_those_behind_are_fainter(
    qtbot: QtBot, turning: MainWindow
) -> None:
    document, canvas = turning.session.document, turning.map.canvas
    view, about = canvas.viewport_now, np.array(middle(document.positions))
    reach = 0.2 * min(view.width, view.height) / view.scale
    centres = np.float32(about + reach * np.array([[-1, 0, 1], [1, 0, -1]]))
    document.set_regions(
        tuple(
            Region(name, float(x), float(y), rows, reach, name, float(z))
            for name, rows, (x, y, z) in zip(("front", "back"), (50, 80), centres, strict=True)
        )
    )
    for places in ([QPoint(300, 300)], [QPoint(300, 300), QPoint(320, 310), QPoint(340, 330)]):
        drag(turning, places)
        xy, depth = project(centres, turning.map.camera, centre=tuple(about))
        assert depth[0] > depth[1]
        front, back = sorted(canvas.item.figure.regions, key=lambda region: region.place)
        assert (front.text, back.text) == ("front", "back")
        np.testing.assert_allclose([(front.x, front.y), (back.x, back.y)], xy, atol=1e-3)
        assert back.opacity < 0.5 < front.opacity == 1
    turning.map.gestures.rename_region(back)
    QTest.keyClicks(turning.map.gestures.region_editor, "behind")
    QTest.keyClick(turning.map.gestures.region_editor, Qt.Key.Key_Return)
    assert [region.name for region in document.regions] == ["front", "behind"]


def test_that_the_other_button_moves_and_arrow_keys_turn(turning: MainWindow) -> None:
    canvas = turning.map.canvas
    view, camera = canvas.viewport_now, turning.map.camera
    drag(turning, [QPoint(300, 300), QPoint(340, 320)], button=Qt.MouseButton.RightButton)
    assert canvas.viewport_now.x == pytest.approx(view.x - 40 / view.scale)
    assert turning.map.camera == camera
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert turning.map.camera.yaw > camera.yaw
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert turning.map.camera.yaw == pytest.approx(camera.yaw)


def test_that_the_document_knows_what_is_seen_and_the_map_goes_where_it_says(
    qtbot: QtBot, turning: MainWindow
) -> None:
    document, canvas = turning.session.document, turning.map.canvas
    assert document.look.seen is None
    drag(turning, [QPoint(300, 300), QPoint(380, 340)])
    drag(turning, [QPoint(300, 300), QPoint(340, 320)], button=Qt.MouseButton.RightButton)
    rest(qtbot, turning)
    moved, kept = canvas.viewport_now, document.look
    assert kept.seen == Seen(moved.x, moved.y, moved.scale)
    assert kept.camera == turning.map.camera != Camera()
    turning.map.fit()
    assert document.look.seen is None
    assert canvas.viewport_now != moved
    document.set_look(replace(kept, camera=Camera(), labels="none"))
    rest(qtbot, turning)
    now, figure = canvas.viewport_now, canvas.item.figure
    assert (now.x, now.y, now.scale) == pytest.approx((moved.x, moved.y, moved.scale))
    np.testing.assert_allclose(figure.xy, project(document.positions, Camera())[0], atol=1e-5)
    assert not figure.labels
    document.set_table(document.table)
    assert document.look == Look(labels="none")


def test_that_hover_click_and_box_find_rows_where_they_are_seen(qtbot: QtBot, turning: MainWindow) -> None:
    document, canvas = turning.session.document, turning.map.canvas
    drag(turning, [QPoint(300, 300), QPoint(390, 350)])
    rest(qtbot, turning)
    places = pixels(turning)
    row = int(np.nanargmin(places[:, 0]))
    move(turning, QPoint(*np.rint(places[row]).astype(int).tolist()))
    found = turning.map.pointing.row
    assert found is not None
    assert np.abs(places[found] - places[row]).max() < 8
    turning.map.use_tool(Tool.BOX)
    corners = box_around(turning, range(4))
    drag(turning, corners)
    x, y = places.T
    inside = (x > corners[0].x()) & (x < corners[1].x()) & (y > corners[0].y()) & (y < corners[1].y())
    assert document.selection.tolist() == np.flatnonzero(inside).tolist()
    turning.session.asking.ask("king - man + woman")
    qtbot.waitUntil(lambda: document.answer is not None)
    (star,) = canvas.item.figure.stars
    best = canvas.item.figure.viewport.to_pixels(np.array([star]))[0]
    queen = pixels(turning)[document.answer.result.rows[0]]
    assert np.abs(best - queen).max() < 0.25 * canvas.width(), "the star lies by what it is nearest to"


def test_that_a_saved_picture_is_turned_as_the_map_is(turning: MainWindow) -> None:
    drag(turning, [QPoint(300, 300), QPoint(390, 350)])
    picture, figure = turning.map.picture(), turning.map.canvas.item.figure
    np.testing.assert_array_equal(picture.xy, figure.xy)
    np.testing.assert_array_equal(picture.depth, figure.depth)


def test_that_the_way_back_to_two_dimensions_keeps_both_maps(qtbot: QtBot, turning: MainWindow) -> None:
    document, section = turning.session.document, turning.side.layout_section
    section.dimensions.textActivated.emit("2-D")
    qtbot.waitUntil(lambda: document.positions.shape[1] == 2)
    settle(qtbot, turning)
    assert turning.map.canvas.item.figure.depth is None
    assert not turning.map.canvas.turns
    assert [kept.shape[1] for _, kept in document.kept] == [2, 3]
    turning.session.mapping.show_kept(1)
    assert turning.map.canvas.turns
    assert turning.map.canvas.item.figure.depth is not None


def test_that_three_dimensions_move_while_umap_runs(qtbot: QtBot, turning: MainWindow) -> None:
    session = turning.session
    lay_out_for_ever(qtbot, session)
    before = pixels(turning).copy()
    qtbot.waitUntil(lambda: np.abs(pixels(turning) - before).max() > 1)
    drag(turning, [QPoint(300, 300), QPoint(390, 350)])
    assert turning.map.camera.yaw > 0
    session.mapping.stop()
    settle(qtbot, turning)


def test_that_tokens_ways_are_turned_with_the_map(turning: MainWindow) -> None:
    document = turning.session.document
    places = document.positions[:3].copy()
    document.set_token_paths(
        (
            TokenPath("king", ("in", "middle", "out"), places),
            TokenPath("flat", ("in", "out"), places[:2, :2]),
        )
    )
    for _ in range(2):
        (path,) = turning.map.canvas.item.figure.paths
        np.testing.assert_allclose(path.points, turning.map.canvas.item.figure.xy[:3], atol=1e-5)
        drag(turning, [QPoint(300, 300), QPoint(380, 340)])
    assert [path.label for path in turning.map.picture().paths] == ["king"]
