"""The document: everything an open session knows, and an event for each part that changes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal

from explorer.core.columns import Columns
from explorer.core.encoder_info import EncoderInfo
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable
from explorer.core.pictures import Pictures
from explorer.core.query_text import PictureTerm
from explorer.core.regions import Region
from explorer.core.results import Clusters, Metric, PairHistogram, Trust
from explorer.core.retrieval import Retrieval
from explorer.core.selection import NO_ROWS, PackedRows
from explorer.core.wording import counted
from explorer.document.answer import Answer, Question
from explorer.document.colouring import SIMILARITY, Colouring, colouring_text, first_colouring
from explorer.document.encoding import IndexRun, ZeroShot
from explorer.document.history import History
from explorer.document.layout_stage import LayoutStage
from explorer.document.look import Look
from explorer.document.parts import set_part
from explorer.document.selection import Isolation
from explorer.document.sources import Source
from explorer.document.staging import ModelView, TokenPath
from explorer.document.undo import Change, Part, UndoStack


class Document:
    """One open session. Views read it and listen; only commands change it.

    Every ``*_changed`` signal is emitted after the change, in the thread that made it
    (the GUI thread, always).
    """

    sources_changed = Signal()
    table_changed = Signal()
    positions_changed = Signal()
    layout_changed = Signal()
    colours_changed = Signal()
    look_changed = Signal()
    answer_changed = Signal()
    asking_changed = Signal()
    trust_changed = Signal()
    pairs_changed = Signal()
    modality_gap_changed = Signal()
    selection_changed = Signal()
    isolation_changed = Signal()
    filter_changed = Signal()
    similarities_changed = Signal()
    regions_changed = Signal()
    undo_changed = Signal()
    encoder_changed = Signal()
    index_run_changed = Signal()
    retrieval_changed = Signal()
    query_pictures_changed = Signal()
    model_view_changed = Signal()
    token_paths_changed = Signal()

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.settings = LayoutSettings()
        self.drawn = LayoutSettings()
        self.look = Look()
        self.questions: History[Question] = History()
        self.metric = Metric.COSINE
        self.k = 50
        self.all_rows = False
        self.include_query = False
        self.changes = UndoStack()
        self.index_run: IndexRun | None = None
        self.model_view = ModelView()
        self.token_paths: tuple[TokenPath, ...] = ()
        self._begin(None)

    def _begin(self, table: LoadedTable | None) -> None:
        """Take up a table, with nothing known of it yet."""
        self.table = table
        self.columns = Columns({} if table is None else table.metadata)
        self.positions: NDArray[np.float32] | None = None
        self.sampled: int | None = None
        self.stage = LayoutStage.EMPTY if table is None else LayoutStage.WAITING
        self.kept: list[tuple[str, NDArray[np.float32]]] = []
        self.clusters: Clusters | None = None
        self.colouring = first_colouring(table)
        self.similarities: NDArray[np.float32] | None = None
        self.look = Look(self.look.labels, self.look.crowds)
        self.selection: NDArray[np.int64] = NO_ROWS
        self.isolation: Isolation | None = None
        self.filter = ""
        self._filter_is_draft = False
        self.filtered: NDArray[np.bool_] | None = None
        self.regions: tuple[Region, ...] = ()
        self.given_names: dict[str, str] = {}
        self.changes.clear()
        self.answer: Answer | None = None
        self.questions.clear()
        self.trust: Trust | None = None
        self.pairs: PairHistogram | None = None
        self.modality_gap: float | None = None
        self.encoder: EncoderInfo | None = None
        self.zero_shot: ZeroShot | None = None
        self.retrieval: Retrieval | None = None
        self.query_pictures: tuple[PictureTerm, ...] = ()

    # What is open

    def source_at(self, path: str) -> Source | None:
        """The open source with that path."""
        return next((source for source in self.sources if source.path == path), None)

    @property
    def has_captions(self) -> bool:
        """Whether the shown table is of a picture index that has captions to measure it by."""
        source = None if self.table is None else self.source_at(self.table.path)
        return source is not None and source.listing.manifest is not None and len(source.listing.tables) > 1

    def put_source(self, source: Source) -> None:
        """Add an opened file, or replace what was known of the same path."""
        for place, known in enumerate(self.sources):
            if known.path == source.path:
                self.sources[place] = source
                break
        else:
            self.sources.append(source)
        self.sources_changed.emit()

    def remove_source(self, path: str) -> None:
        """Close a file; the table goes with it where it came from there."""
        self.sources = [source for source in self.sources if source.path != path]
        if self.table is not None and self.table.path == path:
            self.set_table(None)
        self.sources_changed.emit()

    def set_table(self, table: LoadedTable | None) -> None:
        """Show another table: what belonged to the last one goes."""
        self._begin(table)
        for changed in (
            self.table_changed,
            self.layout_changed,
            self.positions_changed,
            self.colours_changed,
            self.look_changed,
            self.selection_changed,
            self.isolation_changed,
            self.filter_changed,
            self.regions_changed,
            self.undo_changed,
            self.answer_changed,
            self.trust_changed,
            self.pairs_changed,
            self.encoder_changed,
            self.retrieval_changed,
            self.query_pictures_changed,
        ):
            changed.emit()

    @property
    def pictures(self) -> Pictures | None:
        """What pictures the shown table's rows carry."""
        return None if self.table is None else self.table.pictures

    @property
    def layout_key(self) -> int | None:
        """Names what the map lays out: the table, or its isolated rows where they have a map of their own."""
        alone = None if self.isolation is None else self.isolation.key
        return alone if alone is not None or self.table is None else self.table.key

    # The map

    def set_positions(
        self,
        positions: NDArray[np.float32] | None,
        stage: LayoutStage,
        drawn: LayoutSettings | None = None,
        sampled: int | None = None,
    ) -> None:
        """Put the rows at new places.

        Parameters
        ----------
        positions : float32 array, shape (rows, 2 or 3), or None
            NaN is nowhere.
        stage : LayoutStage
        drawn : LayoutSettings, optional
            What they were made with, where that is not what it was before.
        sampled : int, optional
            How many rows were laid out, where the others were placed by these.
        """
        self.positions = positions
        self.sampled = sampled
        self.drawn = self.drawn if drawn is None else drawn
        self.stage = stage
        self.trust = None
        self.positions_changed.emit()
        self.layout_changed.emit()
        self.trust_changed.emit()

    def set_settings(self, settings: LayoutSettings) -> None:
        """Change the layout's parameters; the next start uses them."""
        if settings != self.settings:
            self._did("change the layout's settings", "settings", self.settings, settings, merge=True)

    def keep_layout(self, name: str) -> None:
        """Remember the present positions under a name."""
        if self.positions is not None:
            kept = tuple(self.kept)
            self._did(f"keep {name}", "kept", kept, (*kept, (name, self.positions.copy())))

    def set_clusters(self, clusters: Clusters | None) -> None:
        """Take in clusters to colour by."""
        self.clusters = clusters
        self.colours_changed.emit()

    def set_colouring(self, colouring: Colouring) -> None:
        """Colour the points another way."""
        if colouring != self.colouring:
            self._did(colouring_text(self.colouring, colouring), "colouring", self.colouring, colouring)

    def set_look(self, look: Look) -> None:
        """Look at the map another way."""
        if look != self.look:
            self.look = look
            self.look_changed.emit()

    def set_trust(self, trust: Trust | None) -> None:
        """Take in how far the layout can be trusted."""
        self.trust = trust
        self.trust_changed.emit()

    def set_pairs(self, pairs: PairHistogram | None) -> None:
        """Take in the table's histogram of pairwise similarities."""
        self.pairs = pairs
        self.pairs_changed.emit()

    def set_modality_gap(self, gap: float | None) -> None:
        """Take in how far apart pictures and captions lie."""
        self.modality_gap = gap
        self.modality_gap_changed.emit()

    # Which rows

    def set_selection(self, rows: NDArray[np.int64]) -> None:
        """Select other rows, ascending, each once."""
        if self.table is not None and not np.array_equal(rows, self.selection):
            total = self.table.listing.rows
            text = f"select {counted(len(rows), 'row')}" if len(rows) else "clear the selection"
            before, after = PackedRows.of(self.selection, total), PackedRows.of(rows, total)
            self._did(text, "selection", before, after)

    def set_isolation(self, isolation: Isolation | None) -> None:
        """Show some rows only; None shows all again."""
        if isolation is not self.isolation:
            text = (
                "show all rows" if isolation is None else f"show only {counted(len(isolation.rows), 'row')}"
            )
            self._did(text, "isolation", self.isolation, isolation)

    def set_filter(self, text: str, fitting: NDArray[np.bool_] | None, *, draft: bool = False) -> None:
        """Dim the rows that a condition does not hold for.

        Parameters
        ----------
        text : str
            The condition as typed; blank for none.
        fitting : bool array, shape (rows,), or None
            Where it holds. For the present condition, what has become of it meanwhile.
        draft : bool
            It is still being typed: what it grows into is one change with it.
        """
        self.filtered = fitting
        if text == self.filter:
            self.filter_changed.emit()
        else:
            words = f"filter {text}" if text else "clear the filter"
            self._did(words, "filter", self.filter, text, merge=self._filter_is_draft)
        self._filter_is_draft = draft

    def set_regions(self, regions: tuple[Region, ...]) -> None:
        """Take in the dense parts of the map as it is now; one found again keeps the name it was given."""
        self.regions = tuple(
            replace(region, name=self.given_names.get(region.found, region.name)) for region in regions
        )
        self.changes.forget("regions")
        self.undo_changed.emit()
        self.regions_changed.emit()

    def name_region(self, place: int, name: str) -> None:
        """Call a region something else."""
        region = self.regions[place]
        if name != region.name:
            renamed = (*self.regions[:place], replace(region, name=name), *self.regions[place + 1 :])
            self._did(f"rename {region.name}", "regions", self.regions, renamed)

    # Undo

    def undo(self) -> None:
        """Take back what was last done."""
        self.changes.undo(partial(set_part, self))
        self.undo_changed.emit()

    def redo(self) -> None:
        """Do again what was last taken back."""
        self.changes.redo(partial(set_part, self))
        self.undo_changed.emit()

    def _did(self, text: str, part: Part, before: object, after: object, *, merge: bool = False) -> None:
        self.changes.push(Change(text, part, before, after), merge=merge)
        set_part(self, part, after)
        self.undo_changed.emit()

    # Questions

    def set_answer(self, answer: Answer | None, *, in_place: bool = False) -> None:
        """Show an answer; None clears it.

        Parameters
        ----------
        answer : Answer or None
        in_place : bool
            The question takes the place of the present one in the history.
        """
        self.answer = answer
        self.similarities = None
        if answer is not None:
            self.questions.visit(answer.question, in_place=in_place)
        self.answer_changed.emit()

    def set_similarities(self, similarities: NDArray[np.float32] | None) -> None:
        """Take in every row's score under the question shown, shape (rows,); NaN where it has none."""
        self.similarities = similarities
        self.similarities_changed.emit()
        if self.colouring.by == SIMILARITY:
            self.colours_changed.emit()

    def set_asking(
        self,
        *,
        metric: Metric | None = None,
        k: int | None = None,
        all_rows: bool | None = None,
        include_query: bool | None = None,
    ) -> None:
        """Change how the next question is asked."""
        self.metric = self.metric if metric is None else metric
        self.k = self.k if k is None else k
        self.all_rows = self.all_rows if all_rows is None else all_rows
        self.include_query = self.include_query if include_query is None else include_query
        self.asking_changed.emit()

    # Encoders

    def set_encoder(self, encoder: EncoderInfo | None) -> None:
        """Have another encoder read what is asked of the shown table; None has none."""
        if encoder != self.encoder:
            self.encoder = encoder
            self.encoder_changed.emit()

    def set_query_pictures(self, pictures: tuple[PictureTerm, ...]) -> None:
        """Attach pictures to what is asked next, in place of those before."""
        if pictures != self.query_pictures:
            self.query_pictures = pictures
            self.query_pictures_changed.emit()

    def set_zero_shot(self, zero_shot: ZeroShot | None) -> None:
        """Take in which typed class each row is nearest to, to colour by."""
        self.zero_shot = zero_shot
        self.colours_changed.emit()

    def set_retrieval(self, retrieval: Retrieval | None) -> None:
        """Take in how well the shown index's captions and pictures find each other."""
        self.retrieval = retrieval
        self.retrieval_changed.emit()

    def set_index_run(self, run: IndexRun | None) -> None:
        """Tell how far a folder is indexed; None once that is over."""
        self.index_run = run
        self.index_run_changed.emit()

    # The model behind the table

    def set_model_view(self, view: ModelView) -> None:
        """Take in how far looking into the table's model has come."""
        self.model_view = view
        self.model_view_changed.emit()

    def set_token_paths(self, paths: tuple[TokenPath, ...]) -> None:
        """Show how tokens move over the map from stage to stage; none shows none."""
        self.token_paths = paths
        self.token_paths_changed.emit()
