"""Pixel by pixel: what a disc covers, what lies on top, and that nothing is written outside."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.render.raster import (
    LEVELS,
    PHASES,
    Dots,
    Layer,
    Raster,
    disc_of,
    dots_for,
)
from explorer.render.viewport import Viewport

RED, GREEN, BLUE, HIDDEN, FAINT = range(5)
PALETTE = np.array(
    [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 0], [255, 0, 0, 128]], np.uint8
)
WHITE = 0xFFFFFFFF
OFF = 1 / (2 * PHASES) + 1 / (2 * LEVELS)
"""By so many pixels a disc may lie beside its centre: half a phase, and half a step of coverage."""
PLAIN = Dots(3.0, 1.0)


def view(width: int, height: int) -> Viewport:
    """Data is pixels: (x, -y) in the data lies at pixel (x, y)."""
    return Viewport(width, height, width / 2, -height / 2, 1.0)


def at(*places: tuple[float, float]) -> np.ndarray:
    return np.array([(x, -y) for x, y in places], np.float32).reshape(-1, 2)


def drawn(places, codes=None, width=40, height=30, dots=PLAIN, **more) -> Raster:
    xy = places if isinstance(places, np.ndarray) else at(*places)
    codes = np.zeros(len(xy), np.uint8) if codes is None else np.array(codes, np.uint8)
    raster = Raster(width, height)
    raster.draw(xy, codes, PALETTE, view(width, height), dots, **more)
    return raster


def channels(raster: Raster) -> np.ndarray:
    """Alpha, red, green, blue as int, shape (height, width, 4)."""
    return np.stack([(raster.pixels >> shift) & 255 for shift in (24, 16, 8, 0)], axis=-1).astype(int)


@pytest.mark.parametrize("radius", [0.75, 1.0, 2.1, 4.5, 9.0])
@pytest.mark.parametrize("place", [(20.125, 15.375), (20.875, 15.625), (20.375, 15.125)])
def test_that_each_pixel_is_covered_by_its_share_of_the_disc(radius, place):
    alpha = channels(drawn([place], dots=Dots(radius, 1.0)))[:, :, 0]
    y, x = np.mgrid[0:30, 0:40] + 0.5
    cover = np.clip(radius + 0.5 - np.hypot(x - place[0], y - place[1]), 0, 1)
    rounding = (math.ceil(radius * 32) - radius * 32) / 32 + 1 / 32 + 1 / 255
    assert np.abs(alpha / 255 - cover).max() <= rounding


@pytest.mark.parametrize("radius", [1.0, 2.0, 4.5, 8.0, 16.0])
@given(st.floats(30, 31), st.floats(30, 31))
@settings(max_examples=15)
def test_that_a_disc_weighs_its_area_wherever_it_lies(radius, x, y):
    alpha = channels(drawn([(x, y)], width=60, height=60, dots=Dots(radius, 1.0)))[:, :, 0]
    assert alpha.sum() / 255 == pytest.approx(math.pi * (radius**2 + 1 / 12), rel=0.06)
    lines, columns = np.mgrid[0:60, 0:60] + 0.5
    assert (alpha * columns).sum() / alpha.sum() == pytest.approx(x, abs=OFF)
    assert (alpha * lines).sum() / alpha.sum() == pytest.approx(y, abs=OFF)


def test_that_colours_are_premultiplied_words_as_qt_reads_them():
    raster = drawn([(20, 15)], [GREEN], dots=Dots(4.0, 0.5))
    assert raster.pixels[15, 20] == 0x80008000
    opaque = drawn([(20, 15)], [BLUE], dots=Dots(4.0, 1.0))
    assert opaque.pixels[15, 20] == 0xFF0000FF


def test_that_two_half_transparent_discs_mix():
    raster = drawn([(20, 15), (20, 15)], [RED, BLUE], dots=Dots(4.0, 0.5), ground=WHITE)
    assert channels(raster)[15, 20] == pytest.approx([255, 127, 63, 191], abs=2)


def test_that_an_opaque_ground_stays_opaque_under_any_number_of_discs():
    rng = np.random.default_rng(0)
    xy = rng.uniform((0, -30), (40, 0), (5000, 2)).astype(np.float32)
    raster = drawn(xy, rng.integers(0, 5, 5000), dots=Dots(2.3, 0.37), ground=WHITE)
    assert (raster.pixels >> 24 == 255).all()


def test_that_later_rows_lie_above_earlier_ones_and_layers_above_all():
    places = [(20, 15), (20, 15), (20, 15)]
    assert drawn(places, [RED, GREEN, BLUE]).pixels[15, 20] == 0xFF0000FF
    assert drawn(places, [RED, GREEN, BLUE]).ids[15, 20] == 2
    ordered = drawn(places, [RED, GREEN, BLUE], rows=np.array([2, 1, 0]))
    assert (ordered.pixels[15, 20], ordered.ids[15, 20]) == (0xFFFF0000, 0)
    layers = [Layer(np.array([1]), Dots(5.0, 1.0)), Layer(np.array([0]), Dots(1.0, 1.0))]
    layered = drawn(places, [RED, GREEN, BLUE], layers=layers)
    assert (layered.pixels[15, 20], layered.ids[15, 20]) == (0xFFFF0000, 0)
    assert (layered.pixels[15, 24], layered.ids[15, 24]) == (0xFF00FF00, 1)


def test_that_an_unpainted_layer_claims_its_pixels_without_changing_them():
    plain = drawn([(10, 15), (11, 15)], [RED, GREEN])
    claimed = drawn(
        [(10, 15), (11, 15)], [RED, GREEN], layers=[Layer(np.array([0]), Dots(6.0, 1.0), painted=False)]
    )
    assert np.array_equal(plain.pixels, claimed.pixels)
    assert claimed.ids[15, 11] == 0
    assert claimed.ids[15, 15] == 0


def test_that_hidden_rows_are_neither_drawn_nor_hit():
    raster = drawn([(10, 10), (20, 15)], [HIDDEN, RED])
    assert raster.ids[10, 10] == -1
    assert raster.pixels[10, 10] == 0
    assert raster.ids[15, 20] == 1


def test_that_dimmed_rows_are_fainter_and_still_hit():
    raster = drawn([(10, 10)], [FAINT])
    assert raster.pixels[10, 10] == 0x80800000
    assert raster.ids[10, 10] == 0


def test_that_a_code_without_a_colour_is_not_drawn():
    raster = drawn([(10, 10)], [200])
    assert not raster.pixels.any()
    assert (raster.ids == -1).all()


def test_that_no_hits_are_noted_when_none_are_asked_for():
    raster = drawn([(10, 10)])
    raster.draw(at((10, 10)), np.zeros(1, np.uint8), PALETTE, view(40, 30), Dots(3.0, 1.0), hits=False)
    assert raster.row_at(10, 10) == -1
    assert raster.pixels[10, 10] == 0xFFFF0000


wild = st.one_of(
    st.floats(-60, 100),
    st.sampled_from(
        [math.nan, math.inf, -math.inf, 1e30, -1e30, 3.4e38, -3.4e38, 1e10, 0.0, 40.0, 30.0, -0.0]
    ),
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(wild, wild), max_size=25),
    st.sampled_from([0.3, 0.75, 1.3, 2.1, 6.0, 25.0]),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
)
def test_that_the_row_under_a_pixel_is_the_topmost_disc_and_nothing_is_written_outside(places, radius, size):
    width, height = size
    raster = Raster(width, height)
    guard = 5000
    words = np.full(height * width + 2 * guard, 0xDEADBEEF, np.uint32)
    rows = np.full(height * width + 2 * guard, -77, np.int32)
    raster.pixels = words[guard:-guard].reshape(height, width)
    raster.ids = rows[guard:-guard].reshape(height, width)
    xy = at(*places)
    raster.draw(xy, np.zeros(len(xy), np.uint8), PALETTE, view(width, height), Dots(radius, 0.5))
    assert (words[:guard] == 0xDEADBEEF).all()
    assert (words[-guard:] == 0xDEADBEEF).all()
    assert (rows[:guard] == -77).all()
    assert (rows[-guard:] == -77).all()

    y, x = np.mgrid[0:height, 0:width] + 0.5
    certain = np.full((height, width), -1)
    doubtful = np.zeros((height, width), bool)
    for row, (px, py) in enumerate(xy.astype(float) * (1, -1)):
        if not (abs(px) < 1000 and abs(py) < 1000):
            continue
        distance = np.hypot(x - px, y - py)
        phase = 0.36  # an eighth of a pixel each way, coverage in sixteenths, the radius in 32nds
        hit, miss = distance < radius - phase, distance > max(radius, 0.8) + phase
        certain[hit], doubtful[hit] = row, False
        doubtful |= ~hit & ~miss
    assert np.array_equal(raster.ids[~doubtful], certain[~doubtful])
    assert np.array_equal(raster.ids >= 0, (raster.ids >= 0) & (raster.pixels != 0))


def test_that_every_lone_row_can_be_hit_however_small_its_dot():
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(5, 25, (50, 2)):
        raster = drawn([(x, y)], dots=Dots(0.1, 0.1))
        assert (raster.ids == 0).sum() >= 1
        assert raster.ids[int(y), int(x)] == 0


def test_that_a_disc_at_the_edge_is_the_same_disc_cut_off():
    whole = drawn([(20.3, 15.7)], width=40, height=30, dots=Dots(6.0, 0.7))
    moved = Raster(40, 30)
    cut = Viewport(40, 30, 20 + 18, -15, 1.0)
    moved.draw(at((20.3, 15.7)), np.zeros(1, np.uint8), PALETTE, cut, Dots(6.0, 0.7))
    assert np.array_equal(moved.pixels[:, :22], whole.pixels[:, 18:])
    assert np.array_equal(moved.ids[:, :22], whole.ids[:, 18:])


def test_that_twice_the_pixels_show_the_same_picture():
    rng = np.random.default_rng(3)
    xy = rng.normal(size=(3000, 2)).astype(np.float32)
    codes = rng.integers(0, 3, 3000).astype(np.uint8)
    fitted = Viewport.fitted(xy, 200, 150)
    once, twice = Raster(200, 150), Raster(400, 300)
    dots = Dots(2.1, 0.4)
    once.draw(xy, codes, PALETTE, fitted, dots, ground=WHITE)
    twice.draw(xy, codes, PALETTE, fitted.magnified(2), dots.magnified(2), ground=WHITE)
    small = channels(twice).reshape(150, 2, 200, 2, 4).mean(axis=(1, 3))
    difference = small - channels(once)
    assert np.abs(difference).mean() < 4
    assert abs(difference.mean()) < 1
    ids = twice.ids.reshape(150, 2, 200, 2).transpose(0, 2, 1, 3).reshape(150, 200, 4)
    assert (ids == once.ids[:, :, None]).any(axis=2).mean() > 0.93


def test_that_a_cheap_picture_of_a_crowd_is_about_as_dark():
    rng = np.random.default_rng(4)
    xy = rng.uniform((0, -30), (40, 0), (20_000, 2)).astype(np.float32)
    whole = channels(drawn(xy, dots=Dots(1.0, 0.05)))[5:-5, 5:-5, 0]
    cheap = channels(drawn(xy, dots=Dots(1.0, 0.05), step=4))[5:-5, 5:-5, 0]
    assert cheap.mean() == pytest.approx(whole.mean(), rel=0.1)


@pytest.mark.parametrize("convert", [np.float64, np.asfortranarray, lambda a: np.repeat(a, 2, 0)[::2]])
def test_that_positions_in_any_layout_are_drawn(convert):
    xy = at((10, 10), (20, 15))
    assert np.array_equal(drawn(convert(xy)).pixels, drawn(xy).pixels)


def test_that_memory_that_may_not_be_written_is_drawn_without_a_second_compilation():
    from explorer.render import kernels

    xy = at((10, 10), (20, 15))
    expected = drawn(xy).pixels
    xy.flags.writeable = False
    assert np.array_equal(drawn(xy).pixels, expected)
    assert len(kernels.splat.signatures) == 1


def test_that_arrays_that_do_not_fit_are_refused_before_anything_is_written():
    xy = at((10, 10), (20, 15))
    with pytest.raises(ValueError, match="1 colour codes for positions of shape"):
        drawn(xy, [0])
    for wrong in ([2], [-1]):
        with pytest.raises(ValueError, match="outside of 0 to 1"):
            drawn(xy, rows=np.array(wrong))
    with pytest.raises(ValueError, match="viewport 40 × 30 on 39 × 30"):
        Raster(39, 30).draw(xy, np.zeros(2, np.uint8), PALETTE, view(40, 30), Dots(1, 1))


def test_that_an_empty_table_and_an_empty_window_are_drawn():
    assert not drawn([]).pixels.any()
    raster = Raster(0, 0)
    raster.draw(at((0, 0)), np.zeros(1, np.uint8), PALETTE, Viewport(1, 1), Dots(1, 1))
    assert raster.pixels.shape == (1, 1)


def test_that_dots_shrink_and_fade_as_rows_crowd_and_grow_as_one_comes_closer():
    sizes = [dots_for(rows, 840, 760) for rows in (1, 100, 12_000, 100_000, 1_000_000, 10_000_000)]
    assert sizes == sorted(sizes, key=lambda dots: (-dots.radius, -dots.opacity))
    assert sizes[2].radius == pytest.approx(2.1, abs=0.05)
    assert sizes[2].opacity == pytest.approx(0.42, abs=0.01)
    assert dots_for(12_000, 840, 760, zoom=4).radius > sizes[2].radius
    assert dots_for(0, 0, 0).radius > 0


def test_that_a_disc_is_the_same_from_all_four_sides():
    disc = disc_of(3.0)
    for phase, mirrored in ((0, 3), (5, 6), (0, 12)):
        assert disc.taps[phase] == disc.taps[mirrored]
        count = disc.taps[phase]
        assert sorted(disc.level[phase, :count]) == sorted(disc.level[mirrored, :count])


def test_that_numba_is_loaded_only_when_something_is_drawn():
    names = "raster labels density selection hit palette viewport points point_index camera thumbnails budget"
    code = "; ".join(f"import explorer.render.{name}" for name in names.split())
    code += "; import sys; sys.exit(bool({'numba', 'PySide6'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
