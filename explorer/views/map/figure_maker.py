"""From the document to the figure that the map shows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QFontMetricsF

from explorer.core.labels import label_of
from explorer.core.selection import mask_of
from explorer.document import Document, LayoutStage
from explorer.document.colouring import ALWAYS, BY_ITSELF
from explorer.export.figure import Figure, Legend, LegendEntry, LegendScale, Link, MapPath
from explorer.export.labelling import with_labels
from explorer.export.legend import legend_layout
from explorer.export.paths import path_label_boxes
from explorer.export.text import TextCache, font
from explorer.render.density import density_colours, fullest, prefers_density
from explorer.render.labels import LabelDensity, Placement
from explorer.render.palette import Theme, rgb
from explorer.render.point_index import PointIndex
from explorer.render.raster import Dots, dots_for
from explorer.render.viewport import Viewport
from explorer.views.map.colouring import Coloured
from explorer.views.map.kept import Kept
from explorer.views.map.notes import note_of, subtitle_of
from explorer.views.map.pictures_on_map import PicturesOnMap
from explorer.views.map.places import Places, Shown
from explorer.views.map.point_indexing import FEWEST
from explorer.views.map.regions_on_map import emptied_regions, region_labels
from explorer.views.map.table_facts import TableFacts

SHOWN_RESULTS = 15
MOST_NUMBERED = 1000
MOST_LOOKED_AT = 100_000
NOTE_SIZE = 16
"""No letter of the map's title is larger, in points."""
FAINT_TO_STRONG = np.linspace(0.06, 0.9, 64)
FILE_NAMES = "file names"
_NO_ROWS = np.empty(0, np.int64)

IndexOf = Callable[[NDArray[np.float32]], PointIndex | None]
"""The index of some positions, where there is one already."""


class FigureMaker:
    """Makes figures of the document, keeping between calls what is slow to make."""

    def __init__(
        self,
        document: Document,
        facts_of: Callable[[], TableFacts],
        cache: TextCache,
        pictures: PicturesOnMap | None = None,
        index_of: IndexOf = lambda _xy: None,
    ) -> None:
        self._document = document
        self._facts_of = facts_of
        self._pictures = pictures
        self._cache = cache
        self._index_of = index_of
        self._dense = False
        self.would_show_crowds = False
        self._placement: Placement | None = None
        self._named: NDArray[np.int64] | None = None
        self._standing: Kept[NDArray[np.int64]] = Kept()
        self._chosen: Kept[NDArray[np.int64]] = Kept()
        self._unseen: Kept[NDArray[np.int64]] = Kept()
        self._emptied: Kept[frozenset[int]] = Kept()
        self.places = Places(document)
        self.colours: Coloured | None = None
        self.fitted_scale = 1.0

    def another(self) -> FigureMaker:
        """A maker of the same figures, with the labels that are seen, which changes nothing of this one's."""
        made = FigureMaker(self._document, self._facts_of, self._cache, self._pictures, self._index_of)
        made.colours, made.fitted_scale = self.colours, self.fitted_scale
        made._dense, made._placement, made._named = self._dense, self._placement, self._named
        made._standing, made._chosen, made._unseen = self._standing, self._chosen, self._unseen
        return made

    def table_changed(self) -> None:
        """Take up another table."""
        self._placement = None
        for kept in (self._standing, self._chosen, self._unseen, self.places):
            kept.forget()

    def make(
        self,
        view: Viewport,
        theme: Theme,
        *,
        hover: int | None = None,
        obstacles: NDArray[np.float64] | None = None,
        titled: bool = False,
        moving: bool = False,
    ) -> Figure | None:
        """The figure for a view; None where there is nothing to show.

        Parameters
        ----------
        view : Viewport
        theme : Theme
        hover : int, optional
            The row under the cursor.
        obstacles : float64 array, shape (m, 4), optional
            What lies over the map, in points; labels keep clear of it.
        titled : bool
            With title and query, for a picture that leaves the window.
        moving : bool
            The view goes on moving: fewer new labels will do.
        """
        document, colours = self._document, self.colours
        table, standing = document.table, self._standing_out()
        order = self._order(standing)
        shown = self._shown(standing, order, hover) if moving else self.places.shown()
        if table is None or shown is None or colours is None or len(colours.codes) != len(shown.xy):
            return None
        xy = shown.xy
        if titled and document.stage is LayoutStage.MOVING:
            xy = xy.copy()  # what is painted and saved meanwhile stays as it was seen
        index = self._index_of(xy) if shown.sample is None else None
        dots = dots_for(self._rows_shown, view.width, view.height, view.scale / self.fitted_scale)
        self._dense = self._shows_density(index, view, dots)
        figure = Figure(
            xy=xy,
            depth=shown.depth,
            sample=shown.sample,
            codes=colours.codes,
            palette=colours.palette,
            viewport=view,
            dots=dots,
            index=index,
            density=self._dense,
            theme=theme,
            hover=hover,
            paths=self._paths(shown),
            # Pictures tell what a region is about, and would hide its name.
            regions=()
            if self._shows_pictures
            else region_labels(document, view, self.places, shown, self._emptied_regions(colours)),
            selected=standing,
            dims_all=document.filtered is not None and not len(standing),
            legend=_legend(document, colours, self._count_scale(index, view, theme)),
            title=table.title if titled else "",
            subtitle=subtitle_of(document) if titled else note_of(document),
            **self._answer_on_map(shown),
        )
        if self._pictures is not None:
            nearness = view.scale / self.fitted_scale
            figure = self._pictures.added_to(figure, nearness, _covered(figure, obstacles), moving=moving)
        if order is not self._named:
            self._named, self._placement = order, None
        if index is None and order is not None:
            # Without an index each row costs time: those that matter most must do.
            order = order[:MOST_LOOKED_AT]
        figure, self._placement = with_labels(
            figure,
            lambda row: label_of(table.labels, row),
            self._cache,
            density=LabelDensity(
                document.look.labels if self._are_named(order) and not figure.dims_all else "none"
            ),
            order=order,
            twins=self._facts_of().twins,
            obstacles=_with_names_of_paths(figure, obstacles),
            previous=self._placement,
            # The index of many rows that rest will soon be there, and is a reason to look again.
            moving=moving or (index is None and len(xy) >= FEWEST and not titled),
        )
        return figure

    def _shown(
        self, standing: NDArray[np.int64], order: NDArray[np.int64] | None, hover: int | None
    ) -> Shown | None:
        """Where rows are in a picture that moves, those with a mark or a name among them."""
        if self._shows_pictures or len(standing) > MOST_LOOKED_AT:
            return self.places.shown()
        answer = self._document.answer
        named = _NO_ROWS if order is None else order[:MOST_LOOKED_AT]
        results = _NO_ROWS if answer is None else answer.result.rows[:SHOWN_RESULTS]
        focus = None if answer is None else answer.question.focus
        single = np.array([row for row in (hover, focus) if row is not None], np.int64)
        return self.places.turning(np.concatenate([standing, named, results, single]))

    def _shows_density(self, index: PointIndex | None, view: Viewport, dots: Dots) -> bool:
        chosen = self._document.look.crowds
        self.would_show_crowds = index is not None and prefers_density(index, view, dots, self._dense)
        return self.would_show_crowds if chosen == BY_ITSELF else chosen == ALWAYS

    def _emptied_regions(self, colours: Coloured) -> frozenset[int]:
        """The regions whose rows are switched off in the legend."""
        regions, positions = self._document.regions, self._document.positions
        if not regions or positions is None or not self._document.colouring.hidden:
            return frozenset()

        def make() -> frozenset[int]:
            return emptied_regions(regions, positions, colours.palette[colours.codes, 3] > 0)

        return self._emptied.of(make, regions, positions, colours)

    def _count_scale(self, index: PointIndex | None, view: Viewport, theme: Theme) -> LegendScale | None:
        """What the brightness of a crowd means, while crowds are shown."""
        if not self._dense or index is None:
            return None
        colours = density_colours(theme)
        if self.colours is not None and len(self.colours.entries) > 1:
            # Crowds of several colours keep these, and are the stronger the fuller they are.
            ground, strong = np.array(rgb(theme.map)), np.array(rgb(theme.text))
            colours = np.rint(ground + FAINT_TO_STRONG[:, None] * (strong - ground)).astype(np.uint8)
        return LegendScale(colours, "1 row", f"{round(fullest(index, view)):,} a point")

    def _standing_out(self) -> NDArray[np.int64]:
        """The rows that are not dimmed; empty where none are."""
        selected, fitting = self._document.selection, self._document.filtered
        if fitting is None:
            return selected
        return self._standing.of(
            lambda: selected[fitting[selected]] if len(selected) else np.flatnonzero(fitting),
            selected,
            fitting,
        )

    @property
    def _rows_shown(self) -> int:
        isolation = self._document.isolation
        return self._facts_of().shown if isolation is None else len(isolation.rows)

    def _order(self, standing: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Rows by importance for labels, of those that stand out where some do; None without labels."""
        table, order = self._document.table, self._facts_of().order
        if table is None or table.labels is None:
            return None
        if len(standing):
            rows = table.listing.rows
            order = self._chosen.of(lambda: order[mask_of(standing, rows)[order]], standing, order)
        carries = None if self._pictures is None or self._names_tell() else self._pictures.carries
        if carries is None:
            return order
        return self._unseen.of(lambda: order[~carries[order]], order, carries)

    def _names_tell(self) -> bool:
        """Whether names say more than the pictures beside them: a file's name does not."""
        table = self._document.table
        files = table is not None and table.labels is not None and table.labels.source.startswith(FILE_NAMES)
        return not (files and self._shows_pictures)

    @property
    def _shows_pictures(self) -> bool:
        return self._pictures is not None and self._pictures.shown

    def _are_named(self, order: NDArray[np.int64] | None) -> bool:
        if order is None:
            return self._facts_of().shown <= MOST_NUMBERED
        return len(order) > 0

    def _paths(self, shown: Shown) -> tuple[MapPath, ...]:
        """The tokens' ways, as they are seen; those of a map of other dimensions have no place on it."""
        dimensions = shown.positions.shape[1]
        return tuple(
            MapPath(self.places.located(shown, path.places), path.label)
            for path in self._document.token_paths
            if path.places.shape[1] == dimensions
        )

    def _answer_on_map(self, shown: Shown) -> dict:
        answer, xy = self._document.answer, shown.xy
        if answer is None:
            return {}
        rows = answer.result.rows[:SHOWN_RESULTS]
        placed = rows[np.isfinite(xy[rows]).all(axis=1)]
        focus = answer.question.focus
        if focus is not None:
            if not np.isfinite(xy[focus]).all():
                return {"results": placed}
            start = (float(xy[focus, 0]), float(xy[focus, 1]))
            return {"results": placed, "focus": focus, "links": (Link(*start, tuple(placed.tolist())),)}
        star = self.places.star(shown)
        if star is None:
            return {}
        return {"results": placed, "stars": (star,), "links": (Link(*star, tuple(placed.tolist())),)}


def _with_names_of_paths(figure: Figure, obstacles: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    boxes = [box.getRect() for box in path_label_boxes(figure) if box is not None]
    if not boxes:
        return obstacles
    return np.concatenate([np.array(boxes, np.float64), *([] if obstacles is None else [obstacles])])


def _covered(figure: Figure, obstacles: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Left, top, width, height of what lies over the map, legend, title and note with it."""
    boxes = [np.zeros((0, 4))] if obstacles is None else [obstacles]
    lines = [text for text in (figure.title, figure.subtitle) if text]
    if lines:
        width = max(QFontMetricsF(font(NOTE_SIZE)).horizontalAdvance(text) for text in lines)
        boxes.append(np.array([[0.0, 0.0, width + NOTE_SIZE + 16, 20.0 * len(lines) + 16]]))
    layout = legend_layout(figure)
    if layout is not None:
        boxes.append(np.array([layout.card.getRect()], np.float64))
    return np.concatenate(boxes)


def _legend(document: Document, colours: Coloured, counts: LegendScale | None) -> Legend | None:
    if colours.scale is not None:
        return Legend(colours.title, scale=LegendScale(colours.palette[:255, :3], *colours.scale))
    entries = tuple(
        LegendEntry(
            colours.colours_of(code)[0],
            name,
            code in document.colouring.hidden,
            sums=code >= colours.own,
            mixed=colours.colours_of(code)[1:],
        )
        for code, name in colours.entries
    )
    return Legend(colours.title, entries, counts) if colours.title else None
