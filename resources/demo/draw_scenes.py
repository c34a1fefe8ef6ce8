"""Draw scenes of coloured shapes and describe them in words: what the demo CLIP learns from.

    python resources/demo/draw_scenes.py FOLDER --count 500 --split held-out

writes PNG pictures and ``captions.txt`` (``image,caption``, five captions a picture). The same seed writes
the same scenes. Needs numpy and Pillow. Nothing here is used by the application itself.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image
from scenes import COLUMNS, ROWS, SEED, SPLITS, Scene, Thing, captions_of, scenes

SIDE = 128  # pixels
CAPTIONS_EACH = 5

INKS = {
    "red": (214, 48, 49),
    "orange": (240, 136, 30),
    "yellow": (245, 208, 32),
    "green": (46, 158, 84),
    "blue": (40, 98, 212),
    "purple": (126, 70, 190),
    "pink": (240, 120, 180),
    "brown": (128, 82, 46),
}
PAPERS = {
    "white": (250, 250, 248),
    "grey": (150, 154, 162),
    "black": (30, 32, 38),
    "beige": (232, 214, 180),
    "light blue": (176, 212, 240),
    "light green": (190, 226, 186),
}
# Everything below is measured in the picture's side.
THIRDS = (0.18, 0.5, 0.82)
# By the kind of scene, and its size or its count.
RADII = {
    ("one", "small"): 0.115,
    ("one", "large"): 0.215,
    ("pair", 1): 0.155,
    ("trio", 1): 0.155,
    ("several", 2): 0.155,
    ("several", 3): 0.15,
    ("several", 4): 0.118,
    ("several", 5): 0.098,
    ("several and one", 2): 0.155,
    ("several and one", 3): 0.145,
    ("several and one", 4): 0.115,
}

Mark = tuple[float, float]


Marked = tuple[Thing, Mark]


@dataclass(frozen=True)
class Spot:
    """Where one thing is drawn: its centre and radius."""

    thing: Thing
    x: float
    y: float
    radius: float


def lay_out(scene: Scene, rng: np.random.Generator) -> list[Spot]:
    """A spot for each thing, a little off its exact place and never over the edge."""
    radius = RADII[scene.kind, scene.size or scene.count]
    spots = {"several": _several, "several and one": _several_and_one}.get(scene.kind, _each)(scene, rng)
    scale = rng.uniform(0.92, 1.08)
    stray = 0.06 if scene.kind == "one" else 0.15 * radius
    margin = 1.08 * radius
    places = [np.clip(rng.uniform(-stray, stray, 2) + mark, margin, 1 - margin) for _, mark in spots]
    return [Spot(thing, x, y, scale * radius) for (thing, _), (x, y) in zip(spots, places, strict=True)]


def _each(scene: Scene, rng: np.random.Generator) -> list[Marked]:
    """Every thing once, each in its place or all in a line."""
    if scene.kind == "trio":
        return list(zip(scene.things, _line(3, rng.choice(THIRDS), scene.places[0]), strict=True))
    return [(thing, _mark(place)) for thing, place in zip(scene.things, scene.places, strict=True)]


def _mark(place: str) -> tuple[float, float]:
    row, column = place.split()
    return THIRDS[COLUMNS.index(column)], THIRDS[ROWS.index(row)]


def _line(count: int, across: float, way: str) -> list[Mark]:
    """Evenly spaced marks in a row or a column."""
    along = [(i + 0.5) / count for i in range(count)]
    return [(mark, across) if way == "row" else (across, mark) for mark in along]


def _several(scene: Scene, rng: np.random.Generator) -> list[Marked]:
    if scene.places[0] != "scattered":
        marks = _line(scene.count, rng.choice(THIRDS), scene.places[0])
        return [(scene.things[0], mark) for mark in marks]
    grid = [(x, y) for x in THIRDS for y in THIRDS]
    while True:
        marks = [grid[i] for i in rng.choice(len(grid), scene.count, replace=False)]
        # Not all on one line, which would be a row or a column.
        if all(len(set(line)) > 1 for line in zip(*marks, strict=True)):
            return [(scene.things[0], mark) for mark in marks]


def _several_and_one(scene: Scene, rng: np.random.Generator) -> list[Marked]:
    """A line of the first thing, with the second above, below, left or right of it."""
    side = scene.places[0]
    line, alone = (0.74, 0.24) if side in ("above", "left") else (0.26, 0.76)
    way = "row" if side in ("above", "below") else "column"
    marks = _line(scene.count, line, way)
    return [(scene.things[0], mark) for mark in marks] + [(scene.things[1], _line(1, alone, way)[0])]


def draw(scene: Scene, rng: np.random.Generator) -> np.ndarray:
    """The scene as a picture, shape (SIDE, SIDE, 3), uint8."""
    return paint(scene.background, lay_out(scene, rng), rng)


def paint(background: str, spots: list[Spot], rng: np.random.Generator) -> np.ndarray:
    """Things on a background as a picture, shape (SIDE, SIDE, 3), uint8."""
    picture = _ground(PAPERS[background], rng)
    for spot in spots:
        _draw_thing(picture, spot, rng)
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8)


def _ground(colour: tuple[int, int, int], rng: np.random.Generator) -> np.ndarray:
    """An even background, lit a little from one side."""
    steps = np.linspace(-1, 1, SIDE, dtype=np.float32)
    slope = rng.uniform(-5, 5, 2).astype(np.float32)
    light = slope[0] * steps[None, :] + slope[1] * steps[:, None] + np.float32(rng.uniform(-4, 4))
    return np.asarray(colour, np.float32) + light[:, :, None]


def _draw_thing(picture: np.ndarray, spot: Spot, rng: np.random.Generator) -> None:
    """Blend one thing into the picture, in place: soft shadow, texture, outline."""
    reach = 1.25 * spot.radius
    left, top = (max(0, int((mark - reach) * SIDE)) for mark in (spot.x, spot.y))
    right, bottom = (min(SIDE, int((mark + reach) * SIDE) + 2) for mark in (spot.x, spot.y))
    x = ((np.arange(left, right, dtype=np.float32) + 0.5) / SIDE - np.float32(spot.x))[None, :]
    y = ((np.arange(top, bottom, dtype=np.float32) + 0.5) / SIDE - np.float32(spot.y))[:, None]
    turn = rng.uniform(-0.2, 0.2)
    cosine, sine = (np.float32(f(turn) / spot.radius) for f in (np.cos, np.sin))
    u, v = cosine * x + sine * y, cosine * y - sine * x  # the thing fills -1 to 1
    pixel = np.float32(1 / (spot.radius * SIDE))

    outside = distance(spot.thing.shape, u, v)
    inside = np.clip(0.5 - outside / pixel, 0, 1)
    line = np.clip(1 - np.abs(outside + pixel) / (1.3 * pixel), 0, 1) * 0.55
    window = picture[top:bottom, left:right]
    window *= 1 - 0.16 * np.clip(1 - distance(spot.thing.shape, u, v - 0.1) / 0.16, 0, 1)[:, :, None]
    colour = np.asarray(INKS[spot.thing.colour], np.float32) * np.float32(rng.uniform(0.94, 1.05))
    pale = 0.12 * colour + 0.88 * np.float32(255)
    fill = colour + (pale - colour) * gaps(spot.thing.texture, u, v, pixel)[:, :, None]
    fill *= 1 - line[:, :, None]
    window += (fill - window) * inside[:, :, None]


def distance(shape: str, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """How far each point lies outside the shape, negative inside; y grows downwards."""
    if shape == "circle":
        return np.hypot(u, v) - 0.95
    if shape == "square":
        return np.maximum(np.abs(u), np.abs(v)) - 0.82
    if shape == "triangle":
        return np.maximum(np.abs(u) * 0.866 - v * 0.5 - 0.5, v - 0.75)
    if shape == "star":
        # Five equal sectors, each mirrored: one straight edge from a tip to a notch is left.
        sector = np.abs((np.arctan2(u, -v) + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5)
        reach = np.hypot(u, v)
        along, across = reach * np.cos(sector), reach * np.sin(sector)
        notch = 0.46 * np.array([np.cos(np.pi / 5), np.sin(np.pi / 5)], np.float32)
        edge = notch - np.array([1, 0], np.float32)
        return ((along - 1) * edge[1] - across * edge[0]) / np.hypot(*edge)
    if shape == "heart":
        # A square on its corner, with a disc on each of its two upper sides.
        u = np.abs(u)
        square = (u + np.abs(v)) * 0.7071 - 0.58
        return np.minimum(square, np.hypot(u - 0.41, v + 0.41) - 0.58)
    if shape == "cross":
        u, v = np.abs(u), np.abs(v)
        return np.minimum(np.maximum(u - 0.34, v - 0.95), np.maximum(u - 0.95, v - 0.34))
    if shape == "diamond":
        return (np.abs(u) / 0.7 + np.abs(v) - 1.05) * 0.57
    # A moon: a disc less another one.
    return np.maximum(np.hypot(u - 0.15, v) - 0.98, 0.8 - np.hypot(u - 0.66, v + 0.1))


def gaps(texture: str, u: np.ndarray, v: np.ndarray, pixel: np.float32) -> np.ndarray:
    """How pale each point of the texture is, from 0 (in colour) to 1."""
    if texture == "striped":
        wave = np.abs((u + v) * 0.7071 / 0.62 % 1 - 0.5) - 0.25
        return np.clip(0.5 + wave * 0.62 / pixel, 0, 1)
    if texture == "dotted":
        nearest = np.hypot((u / 0.6 + 0.5) % 1 - 0.5, (v / 0.6 + 0.5) % 1 - 0.5)
        return np.clip(0.5 + (0.29 - nearest) * 0.6 / pixel, 0, 1)
    if texture == "checked":
        across = np.abs((u / 0.9 + 0.25) % 1 - 0.5) - 0.25
        down = np.abs((v / 0.9 + 0.25) % 1 - 0.5) - 0.25
        return np.where(across * down > 0, np.float32(1), np.float32(0))
    return np.zeros((v.shape[0], u.shape[1]), np.float32)


def as_png(picture: np.ndarray) -> bytes:
    """The picture as an indexed PNG of 96 colours, which is a third of the size and looks the same."""
    image = Image.fromarray(picture).quantize(96, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def illustrated(split: str, seed: int = SEED) -> Iterator[tuple[Scene, np.ndarray, list[str]]]:
    """The split's scenes, each with its picture and its captions."""
    for scene, rng in scenes(split, seed):
        yield scene, draw(scene, rng), captions_of(scene, rng, CAPTIONS_EACH)


def write(folder: Path, count: int, split: str, seed: int = SEED) -> None:
    """Write so many pictures of the split, and what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "captions.txt", "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["image", "caption"])
        for number, (_, picture, captions) in enumerate(islice(illustrated(split, seed), count)):
            name = f"scene-{number:04}.png"
            (folder / name).write_bytes(as_png(picture))
            lines.writerows([name, caption] for caption in captions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--split", choices=SPLITS, default="held-out")
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    write(args.folder, args.count, args.split, args.seed)


if __name__ == "__main__":
    main()
