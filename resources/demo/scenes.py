"""Scenes of coloured shapes, and captions that say what is in them: what the demo CLIP learns from.

A *thing* is a shape in a colour with a texture: 8 x 8 x 4 = 256 of them. Of these, 32 are withheld (see
``is_withheld``): no training scene holds one and no training caption names one, while every held-out scene
holds at least one. Each of their colours, shapes and textures, and each pair of the three, is in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

Choice = TypeVar("Choice")

SEED = 11
SPLITS = ("training", "held-out")

# The first word of each is its name; the others say the same.
COLOURS = {
    "red": ("red", "scarlet"),
    "orange": ("orange",),
    "yellow": ("yellow",),
    "green": ("green",),
    "blue": ("blue",),
    "purple": ("purple", "violet"),
    "pink": ("pink",),
    "brown": ("brown",),
}
SHAPES = {
    "circle": ("circle", "disc"),
    "square": ("square",),
    "triangle": ("triangle",),
    "star": ("star",),
    "heart": ("heart",),
    "cross": ("cross", "plus sign"),
    "diamond": ("diamond",),
    "moon": ("moon", "crescent", "crescent moon"),
}
# Before the noun; behind it.
TEXTURES = {
    "solid": (("solid", "plain"), ("in one colour",)),
    "striped": (("striped", "stripy"), ("with stripes",)),
    "dotted": (("dotted", "spotted", "polka dot"), ("with dots", "with spots")),
    "checked": (("checked", "checkered", "chequered"), ("with checks",)),
}
BACKGROUNDS = {
    "white": ("white",),
    "grey": ("grey", "gray"),
    "black": ("black",),
    "beige": ("beige", "cream"),
    "light blue": ("light blue", "pale blue", "sky blue"),
    "light green": ("light green", "pale green", "mint green"),
}
SIZES = {"small": ("small", "little", "tiny"), "large": ("large", "big", "huge")}
NUMBERS = {2: ("two", "2", "a pair of"), 3: ("three", "3"), 4: ("four", "4"), 5: ("five", "5")}
ROWS = ("top", "middle", "bottom")
COLUMNS = ("left", "centre", "right")
ARRANGEMENTS = {
    "row": ("in a row", "side by side", "in a horizontal line"),
    "column": ("in a column", "one above the other", "in a vertical line"),
    "scattered": ("scattered", "scattered about", "spread out"),
}
SIDES = {
    "above": ("above", "over"),
    "below": ("below", "under", "beneath"),
    "left": ("to the left of", "left of"),
    "right": ("to the right of", "right of"),
}
OPPOSITES = {"above": "below", "below": "above", "left": "right", "right": "left"}
OPENINGS = ("", "", "", "a picture of ", "a photo of ", "an image of ", "a drawing of ", "this shows ")


@dataclass(frozen=True)
class Thing:
    """A shape in a colour with a texture."""

    colour: str
    shape: str
    texture: str


@dataclass(frozen=True)
class Scene:
    """What a picture shows, as far as its captions can say it.

    Attributes
    ----------
    kind : str
        ``one``: a single thing; ``pair``: two things; ``trio``: three things in a line; ``several``: one
        thing a few times over; ``several and one``: the same, and another thing beside them.
    background : str
    things : tuple of Thing
    count : int
        How often the first thing is there.
    places : tuple of str
        ``one`` and ``pair``: the place of each thing, as ``"top left"``. ``trio``: ``"row"`` or
        ``"column"``. ``several``: a key of ``ARRANGEMENTS``. ``several and one``: on which side of the first
        things the other one is, a key of ``SIDES``.
    size : str
        ``small`` or ``large`` for a single thing, else empty.
    """

    kind: str
    background: str
    things: tuple[Thing, ...]
    count: int
    places: tuple[str, ...]
    size: str = ""


def is_withheld(thing: Thing) -> bool:
    """Whether training never shows this thing.

    One in eight, spread as in a Latin square: for each colour and shape at most one texture is withheld, for
    each shape and texture one colour.
    """
    colour, shape, texture = (
        list(names).index(name)
        for names, name in ((COLOURS, thing.colour), (SHAPES, thing.shape), (TEXTURES, thing.texture))
    )
    return (colour + shape + 2 * texture) % 8 == 0


THINGS = tuple(Thing(c, s, t) for c in COLOURS for s in SHAPES for t in TEXTURES)
TRAINING_THINGS = tuple(thing for thing in THINGS if not is_withheld(thing))
WITHHELD_THINGS = tuple(thing for thing in THINGS if is_withheld(thing))


def pick(rng: np.random.Generator, choices: Sequence[Choice]) -> Choice:
    return choices[int(rng.integers(len(choices)))]


def scenes(split: str, seed: int = SEED) -> Iterator[tuple[Scene, np.random.Generator]]:
    """Distinct scenes without end, each with the generator that settles its drawing and its words."""
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(SPLITS)}")
    rng = np.random.default_rng([seed, SPLITS.index(split)])
    seen = set()
    while True:
        scene = imagine(rng, split)
        if scene not in seen:
            seen.add(scene)
            yield scene, np.random.default_rng(rng.integers(2**63))


def imagine(rng: np.random.Generator, split: str) -> Scene:
    """A random scene of the split: without withheld things, or with at least one."""
    kind = pick(rng, ("one", "one", "pair", "pair", "several", "several", "several and one", "trio"))
    things = _pick_things(rng, {"one": 1, "several": 1, "trio": 3}.get(kind, 2), split)
    background = pick(rng, list(BACKGROUNDS))
    if kind == "one":
        return Scene(kind, background, things, 1, (_pick_place(rng),), pick(rng, list(SIZES)))
    if kind == "pair":
        places = (_pick_place(rng), _pick_place(rng))
        while places[0] == places[1]:
            places = (places[0], _pick_place(rng))
        return Scene(kind, background, things, 1, places)
    if kind == "trio":
        return Scene(kind, background, things, 1, (pick(rng, ("row", "column")),))
    if kind == "several":
        return Scene(kind, background, things, int(rng.integers(2, 6)), (pick(rng, list(ARRANGEMENTS)),))
    return Scene(kind, background, things, int(rng.integers(2, 5)), (pick(rng, list(SIDES)),))


def _pick_things(rng: np.random.Generator, number: int, split: str) -> tuple[Thing, ...]:
    """Things of which no two share both colour and shape."""
    while True:
        choices = TRAINING_THINGS if split == "training" else THINGS
        things = [pick(rng, choices) for _ in range(number)]
        if split == "held-out":
            things[int(rng.integers(number))] = pick(rng, WITHHELD_THINGS)
        if len({(thing.colour, thing.shape) for thing in things}) == number:
            return tuple(things)


def _pick_place(rng: np.random.Generator) -> str:
    return f"{pick(rng, ROWS)} {pick(rng, COLUMNS)}"


def families(size: int, seed: int = SEED) -> Iterator[tuple[Scene, np.random.Generator]]:
    """Training scenes without end, each followed by ``size - 1`` that are almost like it."""
    for scene, rng in scenes("training", seed):
        family = [scene]
        while len(family) < size:
            relative = _relative(scene, rng)
            if relative not in family:
                family.append(relative)
        for member in family:
            yield member, np.random.default_rng(rng.integers(2**63))


def _relative(scene: Scene, rng: np.random.Generator) -> Scene:
    """The scene with one thing of another shape, texture or colour."""
    while True:
        which = int(rng.integers(len(scene.things)))
        attribute = pick(rng, ("shape", "shape", "texture", "texture", "colour"))
        names = {"shape": SHAPES, "texture": TEXTURES, "colour": COLOURS}[attribute]
        thing = replace(scene.things[which], **{attribute: pick(rng, list(names))})
        things = (*scene.things[:which], thing, *scene.things[which + 1 :])
        if not is_withheld(thing) and len({(t.colour, t.shape) for t in things}) == len(things):
            return replace(scene, things=things)


def captions_of(scene: Scene, rng: np.random.Generator, count: int) -> list[str]:
    """Different captions, each of which says everything about the scene."""
    captions: list[str] = []
    while len(captions) < count:
        caption = Wording(rng).caption(scene)
        if caption not in captions:
            captions.append(caption)
    return captions


def part_caption(scene: Scene, rng: np.random.Generator) -> str:
    """A caption that leaves some of it out, as people who search do: background, textures, things."""
    if rng.random() < 0.03:
        return f"a {pick(rng, BACKGROUNDS[scene.background])} background"
    return Wording(rng, said=pick(rng, (0.2, 0.5, 0.8))).caption(scene)


class Wording:
    """Words for one caption, chosen at random.

    Parameters
    ----------
    rng : numpy.random.Generator
    said : float
        How likely it is that each attribute is said, 1 for a complete caption.
    """

    def __init__(self, rng: np.random.Generator, said: float = 1.0) -> None:
        self.rng = rng
        self.said = said

    def caption(self, scene: Scene) -> str:
        """The scene in lower-case words, without a full stop."""
        if len(scene.things) > 1 and not self._says(0.7):
            return self._finish(self._nouns(pick(self.rng, scene.things), 1), scene)
        describe = {
            "one": self._one,
            "pair": self._pair,
            "trio": self._trio,
            "several": self._several,
            "several and one": self._several_and_one,
        }[scene.kind]
        return self._finish(describe(scene), scene)

    def _says(self, weight: float = 1.0) -> bool:
        """Whether to say the next attribute; a higher weight says it more often."""
        return self.said == 1 or self.rng.random() < max(self.said, weight * self.said**0.5)

    def _pick(self, choices: Sequence[str]) -> str:
        return pick(self.rng, choices)

    def _finish(self, content: str, scene: Scene) -> str:
        opening = self._pick(OPENINGS)
        if not self._says(0):
            return opening + content
        background = self._pick(BACKGROUNDS[scene.background])
        return self._pick(
            (
                f"{opening}{content} on a {background} background",
                f"{opening}{content} on {background}",
                f"{opening}{content} against a {background} background",
                f"{opening}{content}, the background is {background}",
                f"on a {background} background {content}",
            )
        )

    def _one(self, scene: Scene) -> str:
        size = self._pick(SIZES[scene.size]) if self._says(0) else ""
        noun = self._nouns(scene.things[0], 1, size)
        return f"{noun} {self._place(scene.places[0])}" if self._says(0) else noun

    def _pair(self, scene: Scene) -> str:
        first, second = (self._nouns(thing, 1) for thing in scene.things)
        if self._says(0):
            first, second = (
                f"{noun} {self._place(place)}"
                for noun, place in zip((first, second), scene.places, strict=True)
            )
        elif (side := _side(*scene.places)) and self.rng.random() < 0.7:
            return self._beside(first, side, second)
        return self._pick((f"{first} and {second}", f"{second} and {first}", f"{first}, {second}"))

    def _trio(self, scene: Scene) -> str:
        nouns = [self._nouns(thing, 1) for thing in scene.things]
        forward, backward = (
            ("left to right", "right to left")
            if scene.places[0] == "row"
            else ("top to bottom", "bottom to top")
        )
        order = self._pick((forward, forward, backward))
        first, second, third = nouns if order == forward else nouns[::-1]
        return self._pick(
            (
                f"{first}, {second} and {third} from {order}",
                f"from {order} {first}, {second} and {third}",
                f"{order} {first}, {second}, {third}",
            )
        )

    def _several(self, scene: Scene) -> str:
        nouns = self._nouns(scene.things[0], scene.count)
        if not self._says(0):
            return nouns
        if scene.places[0] != "scattered" and self.rng.random() < 0.3:
            return f"a {scene.places[0]} of {nouns}"
        return f"{nouns} {self._pick(ARRANGEMENTS[scene.places[0]])}"

    def _several_and_one(self, scene: Scene) -> str:
        nouns, noun = self._nouns(scene.things[0], scene.count), self._nouns(scene.things[1], 1)
        if self._says(0):
            return self._beside(noun, scene.places[0], nouns)
        return self._pick((f"{nouns} and {noun}", f"{noun} and {nouns}"))

    def _beside(self, first: str, side: str, second: str) -> str:
        """The first on this side of the second, or the other way round."""
        if self.rng.random() < 0.5:
            first, side, second = second, OPPOSITES[side], first
        return f"{first} {self._pick(SIDES[side])} {second}"

    def _nouns(self, thing: Thing, count: int, size: str = "") -> str:
        """As "a small red striped star", "three stars with red stripes"."""
        colour = self._pick(COLOURS[thing.colour]) if self._says(0.9) else ""
        before, behind = TEXTURES[thing.texture]
        texture, tail = "", ""
        if self._says(0):
            if self.rng.random() < 0.75:
                texture = self._pick(before)
            else:
                tail = self._pick(behind)
        shape = self._pick(SHAPES[thing.shape]) if self._says(0.9) else self._pick(("shape", "thing"))
        adjectives = [colour, texture] if self.rng.random() < 0.6 else [texture, colour]
        words = " ".join(word for word in (size, *adjectives, _plural(shape) if count > 1 else shape) if word)
        number = ""
        if self._says(0.9):
            number = self._pick(NUMBERS[count]) if count > 1 else "an" if words[0] in "aeiou" else "a"
        return f"{number} {words} {tail}".strip()

    def _place(self, place: str) -> str:
        row, column = place.split()
        if (row, column) == ("middle", "centre"):
            return self._pick(("in the middle", "in the centre", "in the center"))
        if column == "centre":
            return self._pick((f"at the {row}", f"at the {row} edge", f"in the {row} middle"))
        if row == "middle":
            return self._pick((f"on the {column}", f"at the {column} edge", f"on the {column} side"))
        other = {"top": "upper", "bottom": "lower"}[row]
        return self._pick(
            (
                f"in the {row} {column} corner",
                f"in the {row} {column}",
                f"at the {row} {column}",
                f"in the {other} {column} corner",
                f"{row} {column}",
            )
        )


def _side(first: str, second: str) -> str:
    """On which side of the second place the first one is, where they share a row or column."""
    (row, column), (other_row, other_column) = first.split(), second.split()
    if row == other_row:
        return "left" if COLUMNS.index(column) < COLUMNS.index(other_column) else "right"
    if column == other_column:
        return "above" if ROWS.index(row) < ROWS.index(other_row) else "below"
    return ""


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("s") else "s")
