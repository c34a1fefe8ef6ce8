"""Colours: the window's two themes, categories, sequences, and rows' colour codes.

A palette is a uint8 array of shape (codes, 4): red, green, blue, opacity, not premultiplied.
A code's opacity is 255 for shown rows, 0 for hidden ones and anything between for dimmed ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.render.distinct import distinct_colours, from_oklab, given_on_map

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """The colours of a light or a dark window, as ``#rrggbb``."""

    name: str
    ground: str
    panel: str
    line: str
    text: str
    quiet: str
    accent: str
    accent_ground: str
    map: str
    ring: str
    categories: tuple[str, ...]

    @property
    def dark(self) -> bool:
        """Light text on a dark ground."""
        return self.name == "dark"


LIGHT = Theme(
    name="light",
    ground="#f6f7f9",
    panel="#ffffff",
    line="#e3e6eb",
    text="#1c2430",
    quiet="#6b7685",
    accent="#2563eb",
    accent_ground="#e8effe",
    map="#fcfcfd",
    ring="#14171c",
    categories=(
        "#3867d6",
        "#e07b24",
        "#2a9d72",
        "#d1495b",
        "#7d4fc4",
        "#a88a17",
        "#1b8fae",
        "#c04c99",
        "#6d8a2d",
    ),
)
DARK = Theme(
    name="dark",
    ground="#14171c",
    panel="#1b1f26",
    line="#2b313b",
    text="#e6e9ee",
    quiet="#93a0b0",
    accent="#6ea0ff",
    accent_ground="#22304d",
    map="#101317",
    ring="#ffffff",
    categories=(
        "#7aa2f7",
        "#f0a45d",
        "#6fc9a6",
        "#e8788a",
        "#b48ef0",
        "#d3b95e",
        "#5fc1d9",
        "#e58fc7",
        "#9fb36a",
    ),
)

# Every fifth colour of the CC0 tables by Smith, van der Walt and Firing (viridis, magma) and
# Nuñez, Anderton and Renslow (cividis); straight lines between them miss by under 3 of 255.
_VIRIDIS = (
    "440154 46085c 471063 481769 481d6f 482475 472a7a 46307e 453781 433d84 414287 3f4889 3d4e8a "
    "3a538b 38598c 355e8d 33638d 31688e 2e6d8e 2c718e 2a768e 297b8e 27808e 25848e 23898e 218e8d "
    "20928c 1f978b 1e9c89 1fa188 21a585 24aa83 28ae80 2eb37c 35b779 3dbc74 46c06f 50c46a 5ac864 "
    "65cb5e 70cf57 7cd250 89d548 95d840 a2da37 b0dd2f bddf26 cae11f d8e219 e5e419 f1e51d fde725"
)
_CIVIDIS = (
    "00204d 002455 00275e 002b67 002e6f 00316f 00356e 12386d 1f3c6d 28406c 30436c 36476b 3d4a6b "
    "424e6b 48526b 4d556c 52596c 575c6d 5b606e 60646f 646770 696b71 6d6e72 727274 767676 7a7a78 "
    "7f7d78 848179 888579 8d8979 928d78 979178 9c9577 a19976 a69d75 aca174 b1a573 b6a971 bbae6f "
    "c1b26d c6b66b ccbb69 d1bf66 d7c463 dcc860 e2cd5c e8d259 edd654 f3db4f f9e04a ffe544 ffea46"
)

_MAGMA = (
    "000004 02020b 050416 090720 0e0b2b 140e36 1a1042 21114e 29115a 311165 390f6e 420f75 4a1079 "
    "52137c 5a167e 621980 6a1c81 721f81 792282 812581 892881 912b81 992d80 a1307e aa337d b2357b "
    "ba3878 c23b75 ca3e72 d2426f d9466b e04c67 e75263 ec5860 f1605d f4695c f7725c f97b5d fb8560 "
    "fc8e64 fd9869 fea16e feaa74 feb47b febd82 fec68a fecf92 fed89a fde2a3 fdebac fcf4b6 fcfdbf"
)
_PUBLISHED = {"viridis": _VIRIDIS, "cividis": _CIVIDIS, "magma": _MAGMA}
SEQUENCES = ("viridis", "cividis", "magma", "blue-red")
"""The last is for values on both sides of a middle."""
_SEEN = {(False, "magma"): (0, 225), (True, "magma"): (45, 255), (True, "cividis"): (20, 255)}
"""Parts of sequences whose other colours could not be seen on a light (False) or a dark ground."""

# By Okabe and Ito (2008), for all kinds of eyes; those hard to see on a light ground come last.
_OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#f0e442")
MOST_DISTINCT = 30

NO_VALUE = 255
"""The code of a row without a value, in palettes of ``sequence_palette``."""
LONG_TAILS, TAILS_SAMPLE = 4, 100_000


def rgb(colour: str) -> RGB:
    """Red, green and blue, 0 to 255, of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def sequence(name: str) -> NDArray[np.uint8]:
    """The colours of one of ``SEQUENCES``, shape (256, 3)."""
    if name == "blue-red":
        return _two_sided()
    anchors = np.array([rgb("#" + each) for each in _PUBLISHED[name].split()])
    places = np.arange(len(anchors)) * 5
    channels = [np.interp(np.arange(256), places, anchors[:, channel]) for channel in range(3)]
    return np.asarray(np.rint(np.stack(channels, axis=1)), np.uint8)


def _two_sided() -> NDArray[np.uint8]:
    """From blue over grey to red: lightness and chroma change evenly on both sides."""
    share = np.linspace(-1, 1, 256)
    away = np.abs(share)
    hue = np.radians(np.where(share < 0, 255.0, 35.0))
    chroma = 0.16 * away
    lab = np.column_stack([0.78 - 0.28 * away, chroma * np.cos(hue), chroma * np.sin(hue)])
    return np.asarray(np.rint(np.clip(from_oklab(lab), 0, 255)), np.uint8)


def category_colours(count: int, theme: Theme, kind: str = "theme") -> NDArray[np.uint8]:
    """As many colours as asked for, shape (count, 3).

    Parameters
    ----------
    count : int
    theme : Theme
    kind : {"theme", "okabe-ito", "distinct"}
        The theme's own 9, then lighter and darker ones; Okabe and Ito's 8, likewise; or up to 30 that
        are as far apart as can be to all kinds of eyes. After all of these they repeat: more
        can't be told apart (see ``colours_on_map``).
    """
    every = _every_colour(theme, kind)
    return every[np.arange(count) % len(every)]


def _every_colour(theme: Theme, kind: str) -> NDArray[np.uint8]:
    if kind == "distinct":
        return distinct_colours(MOST_DISTINCT, rgb(theme.map))
    names = theme.categories if kind == "theme" else _okabe_ito(theme)
    own = np.array([rgb(colour) for colour in names], np.float64)
    rounds = np.rint(np.concatenate([own, own + (255 - own) * 0.45, own * 0.6])).astype(np.uint8)
    _, first = np.unique(rounds, axis=0, return_index=True)  # black has no darker shade
    return np.asarray(rounds[np.sort(first)], np.uint8)


def _okabe_ito(theme: Theme) -> tuple[str, ...]:
    """Black is none on a dark ground: a light grey stands for it."""
    return tuple("#bbbbbb" if theme.dark and each == "#000000" else each for each in _OKABE_ITO)


def category_palette(count: int, theme: Theme, kind: str = "theme") -> NDArray[np.uint8]:
    """As many colours and one for rows in none, shape (count + 1, 4)."""
    return _with_others(category_colours(count, theme, kind), theme)


def colours_on_map(
    xy: NDArray[np.floating],
    categories: NDArray[np.integer],
    count: int,
    theme: Theme,
    kind: str = "theme",
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Colours for categories on a map: those that lie side by side there look as different as can be.

    Parameters
    ----------
    xy : float array, shape (rows, 2)
    categories : integer array, shape (rows,)
        From 0 for the commonest; negative for rows in none.
    count : int
        How many there are: any number.
    theme : Theme
    kind : {"theme", "okabe-ito", "distinct"}

    Returns
    -------
    colours : uint8 array, shape (n, 3)
        No more than categories, and than can be told apart.
    given : int32 array, shape (count,)
        Which of them each category has.
    """
    colours = _every_colour(theme, kind)[:count]
    return colours, given_on_map(xy, categories, count, colours)


def _with_others(colours: NDArray[np.uint8], theme: Theme) -> NDArray[np.uint8]:
    return with_opacity(np.concatenate([colours, [rgb(theme.quiet)]]).astype(np.uint8))


def sequence_palette(name: str, theme: Theme) -> NDArray[np.uint8]:
    """The palette of ``codes_of_values``, shape (256, 4); the last is for rows without a value."""
    ends = _SEEN.get((theme.dark, name), (0, 255))
    colours = sequence(name)[np.rint(np.linspace(*ends, NO_VALUE)).astype(np.intp)]
    return with_opacity(np.concatenate([colours, [rgb(theme.quiet)]]).astype(np.uint8))


def with_opacity(colours: NDArray[np.uint8], opacity: int = 255) -> NDArray[np.uint8]:
    """Colours of shape (n, 3) as a palette, shape (n, 4)."""
    return np.column_stack([colours, np.full(len(colours), opacity, np.uint8)])


def ends_of_scale(values: NDArray[np.floating], *, whole: bool = False) -> tuple[float, float]:
    """Where a scale of colours begins and ends: at the finite values' own ends, unless their tails are long.

    A few values far out would leave one colour to all others. Where the range is more than ``LONG_TAILS``
    times as wide as that of all but each end's fiftieth part, the scale is the latter's.

    Parameters
    ----------
    values : float array
    whole : bool
        Go to the values' own ends whatever their tails.

    Returns
    -------
    low, high : float
        Both 0 where no value is finite.
    """
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return 0.0, 0.0
    low, high = float(finite.min()), float(finite.max())
    if whole:
        return low, high
    inner = np.quantile(finite[:: max(1, len(finite) // TAILS_SAMPLE)], (0.02, 0.98)).tolist()
    with np.errstate(over="ignore"):
        long = high - low > LONG_TAILS * (inner[1] - inner[0]) > 0
    return (inner[0], inner[1]) if long else (low, high)


def codes_of_values(values: NDArray[np.floating], low: float, high: float) -> NDArray[np.uint8]:
    """A colour code per row: 0 at ``low`` and below to 254 at ``high`` and above; NaN has ``NO_VALUE``."""
    span = high - low
    with np.errstate(invalid="ignore", over="ignore"):
        share = (
            (values.astype(np.float64) - low) / span if span > 0 else np.where(np.isnan(values), np.nan, 0.5)
        )
        codes = np.rint(np.clip(share, 0.0, 1.0) * (NO_VALUE - 1))
    return np.where(np.isnan(codes), NO_VALUE, codes).astype(np.uint8)
