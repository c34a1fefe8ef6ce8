"""Which vocabulary names the rows of which table: found beside the checkpoint, or chosen by hand.

Nothing is shifted to make it fit. Ids name rows by themselves, and rows past the last id are padding; a
plain list must have exactly as many entries as there are rows. What does not fit is not used, and a note
(for a file found) or an error (for a file chosen) says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.label_text import HeaderUnknownError, LabelText, read_label_text
from explorer.readers.roles import side_of
from explorer.readers.vocabulary_files import Vocabulary, read_vocabulary
from explorer.readers.vocabulary_search import Candidate, candidates

_Found: TypeAlias = tuple[Vocabulary, ...] | LabelText
_Read: TypeAlias = tuple[Candidate, _Found]

_MOST_NOTES = 3
_SECOND_LOOK = 1 << 19  # bytes up to which further files are read, only to say that they fit as well
_LAYER = re.compile(r"\.\d+\.[^.]+.*\.weight$")  # one of many, such as transformer.h.0.mlp.c_proj.weight
_MUSIC_ROWS, _MUSIC_POSITIONS = 390, 2048


def attach(
    opened: OpenedFile,
    *,
    labels: Path | None = None,
    target_labels: Path | None = None,
    header: bool | None = None,
) -> OpenedFile:
    """Name the rows of an opened file's tables.

    Token tables get a vocabulary, output layers of the same rows their token table's, position tables none.
    In a file without a token table it is the first other one that gets it.

    Parameters
    ----------
    opened : OpenedFile
    labels : Path, optional
        Chosen by hand, for the token table: a translator's source side. Replaces what was found elsewhere.
    target_labels : Path, optional
        The same for a translator's target side.
    header : bool, optional
        Whether the first line of a text of labels is a header; None where nobody has said.

    Raises
    ------
    ExplorerError
        A chosen file is no vocabulary, or does not fit the table.
    """
    naming = _Naming([_by_own_file(table, header, told=labels is None) for table in opened.tables])
    if labels is not None:
        _choose(naming, labels, header, target=False, other_side=target_labels is None)
    if target_labels is not None:
        _choose(naming, target_labels, header, target=True, other_side=False)
    _name_music(naming)
    notes = _search(naming, opened.path, header)
    told = {note for table in naming.tables for note in table.notes}
    notes = [note for note in notes if note not in told]
    return replace(opened, tables=naming.finished(), notes=(*opened.notes, *notes))


@dataclass(frozen=True, eq=False)
class _Names:
    """Names for one table, and what else their file says of its rows."""

    labels: Labels
    metadata: Mapping[str, NDArray] = field(default_factory=dict)


@dataclass(eq=False)
class _Slot:
    """Tables that one vocabulary names: of one side, with as many rows.

    Attributes
    ----------
    side : str or None
        "source" or "target" in a translator, None in any other model.
    """

    side: str | None
    rows: int
    tables: list[EmbeddingTable]
    names: _Names | None = None

    @property
    def is_open(self) -> bool:
        """Whether a file found beside the checkpoint may name the rows; never those of a layer's weights."""
        table = self.tables[0]
        if table.role is not Role.TOKEN and _LAYER.search(table.name):
            return False
        return self.names is None and any(table.labels is None for table in self.tables)


class _Naming:
    """The tables of a file, and the names they get."""

    def __init__(self, tables: Sequence[EmbeddingTable]) -> None:
        self.tables = tables
        tokens = [table for table in tables if table.role is Role.TOKEN]
        sides = {side_of(table.name) for table in tokens}
        self.is_translator = {"source", "target"} <= sides
        self.slots: list[_Slot] = []
        for table in tokens or _instead_of_tokens(tables):
            self._slot(self._side(table), table.rows).tables.append(table)

    def _side(self, table: EmbeddingTable) -> str | None:
        return side_of(table.name) if self.is_translator else None

    def _slot(self, side: str | None, rows: int) -> _Slot:
        found = next((slot for slot in self.slots if (slot.side, slot.rows) == (side, rows)), None)
        if found is None:
            found = _Slot(side, rows, [])
            self.slots.append(found)
        return found

    def of_side(self, side: str | None) -> _Slot | None:
        """The slot of a side; in a model without sides, the first."""
        return next((slot for slot in self.slots if not self.is_translator or slot.side == side), None)

    def finished(self) -> tuple[EmbeddingTable, ...]:
        """All tables, in their order, with their names."""
        named = {id(table): slot.names for slot in self.slots for table in slot.tables if slot.names}
        return tuple(self._named(table, named.get(id(table))) for table in self.tables)

    def _named(self, table: EmbeddingTable, names: _Names | None) -> EmbeddingTable:
        if names is not None:
            return replace(table, labels=names.labels, metadata={**table.metadata, **names.metadata})
        if table.role is Role.OUTPUT:
            for slot in self._by_likeness(table):
                labels = slot.names.labels if slot.names else slot.tables[0].labels
                if labels is not None and (slot.names or table.labels is None):
                    return replace(table, labels=labels)
        return table

    def _by_likeness(self, table: EmbeddingTable) -> list[_Slot]:
        """Slots of a row a token, those of the output layer's own side only, where it has one."""
        side = self._side(table)
        same = [slot for slot in self.slots if slot.rows == table.rows and table not in slot.tables]
        return [slot for slot in same if side is None or slot.side == side]


def _instead_of_tokens(tables: Sequence[EmbeddingTable]) -> list[EmbeddingTable]:
    """The table that labels are for where none is a token table."""
    for roles in ((Role.OTHER, Role.IMAGES), (Role.OUTPUT,)):
        for table in tables:
            if table.role in roles:
                return [table]
    return []


# Said by the file itself


def _by_own_file(table: EmbeddingTable, header: bool | None, *, told: bool) -> EmbeddingTable:
    """A table with the names that its file says are its own; where they do not fit, with a note."""
    if table.named_by is None:
        return table
    try:
        named = read_label_text(table.named_by).for_rows(table.rows, header)
    except ExplorerError as error:
        note = _unused(table.named_by, error)
        return replace(table, notes=(*table.notes, note)) if told else table
    return replace(table, labels=named.labels, metadata={**table.metadata, **named.metadata})


# Chosen by hand


def _choose(naming: _Naming, path: Path, header: bool | None, *, target: bool, other_side: bool) -> None:
    """Name one side's table by a file; a file with both sides names both, unless the other has its own."""
    side = "target" if target else "source"
    if target and not naming.is_translator:
        raise ExplorerError("This file has no target side to name.", "Choose its labels with --labels.")
    slot = naming.of_side(side)
    if slot is None:
        raise ExplorerError(f"There is no table here that {path.name} could name.")
    path = _file_of(path)
    found = read_vocabulary(path)
    if isinstance(found, LabelText) or len(found) == 1:
        slot.names = _fitted(found if isinstance(found, LabelText) else found[0], slot, header, chosen=True)
    elif not naming.is_translator:
        slot.names = _either(found, slot, header)
    else:
        slot.names = _fitted(found[target], slot, header, chosen=True)
        other = naming.of_side("target")
        if other_side and other is not None:
            other.names = _fitted(found[1], other, header, chosen=True)


def _file_of(path: Path) -> Path:
    """The vocabulary in a chosen folder; a chosen file itself."""
    if not path.is_dir():
        return path
    inside = candidates(path)
    if not inside:
        raise ExplorerError(f"The folder {path.name} holds no vocabulary.")
    return inside[0].path


def _either(found: Sequence[Vocabulary], slot: _Slot, header: bool | None) -> _Names:
    """Whichever of a translator's two vocabularies fits a lone table."""
    exact = [each for each in found if len(each.texts) == slot.rows]
    return _fitted((exact or found)[0], slot, header, chosen=True)


def _fitted(found: Vocabulary | LabelText, slot: _Slot, header: bool | None, *, chosen: bool) -> _Names:
    """Names for exactly the slot's rows.

    Raises
    ------
    ExplorerError
        The counts do not allow it.
    """
    if isinstance(found, LabelText):
        named = found.for_rows(slot.rows, header)
        return _Names(named.labels, named.metadata)
    spare = slot.rows - len(found.texts)
    # A model's table is padded to a round number; one chosen by hand may be padded further.
    padding = slot.rows // 2 if chosen else min(slot.rows // 2, max(128, slot.rows * 3 // 100))
    if not 0 <= spare <= (padding if found.keyed else 0):
        raise _mismatch(found, slot)
    return _Names(Labels.from_texts(found.texts, found.source, special=found.special, rows=slot.rows))


def _mismatch(found: Vocabulary, slot: _Slot) -> ExplorerError:
    named = [(row, text) for row, text in enumerate(found.texts) if text is not None]
    (first, first_text), (last, last_text) = named[0], named[-1]
    return ExplorerError(
        f"{found.source} has {len(named):,} labels for the {slot.rows:,} rows of {slot.tables[0].name}: row "
        f"{first:,} would be “{first_text[:60]}”, and “{last_text[:60]}” row {last:,}.",
        "Choose the vocabulary that belongs to this table.",
    )


# Found beside the checkpoint


def _search(naming: _Naming, path: Path, header: bool | None) -> list[str]:
    """Fill open slots from the files beside a checkpoint; returns what to say of it."""
    if not any(slot.is_open for slot in naming.slots):
        return []
    read: list[_Read] = []
    refused: list[str] = []
    for candidate in candidates(path):
        filled = not any(slot.is_open for slot in naming.slots)
        if filled and candidate.path.stat().st_size > _SECOND_LOOK:
            continue
        try:
            found = read_vocabulary(candidate.path)
        except ExplorerError as error:
            if candidate.is_expected:
                refused.append(f"{candidate.path.name} was not used. {error.message}")
            continue
        read.append((candidate, found))
        _fill(naming, candidate, found, header, exact=True)
    for candidate, found in read:
        _fill(naming, candidate, found, header, exact=False)
    return _notes(naming, read, refused, header)


def _fill(naming: _Naming, candidate: Candidate, found: _Found, header: bool | None, *, exact: bool) -> None:
    """Name the open slots that a file fits."""
    if isinstance(found, tuple) and len(found) == 2 and naming.is_translator:
        pairs = [(each, naming.of_side(each.side)) for each in found]
        names = [_tried(each, slot, header, exact) for each, slot in pairs if slot is not None]
        if len(names) == 2 and all(name is not None for name in names):
            for name, (_, slot) in zip(names, pairs, strict=True):
                if slot is not None and slot.is_open:
                    slot.names = name
        return
    for each in found if isinstance(found, tuple) else (found,):
        for slot in naming.slots:
            if slot.is_open and candidate.may_name(slot.rows, exact=exact) and _may_name(each, slot):
                slot.names = _tried(each, slot, header, exact)


def _may_name(found: Vocabulary | LabelText, slot: _Slot) -> bool:
    """Whether a file says nothing of another side than the slot's."""
    name = found.name if isinstance(found, LabelText) else found.source
    told = side_of(name.rsplit(".", 1)[0].replace("-", "_"))
    return slot.side is None or told in (None, slot.side)


def _tried(found: Vocabulary | LabelText, slot: _Slot, header: bool | None, exact: bool) -> _Names | None:
    if exact and isinstance(found, Vocabulary) and len(found.texts) != slot.rows:
        return None
    try:
        return _fitted(found, slot, header, chosen=False)
    except ExplorerError:
        return None


def _notes(
    naming: _Naming,
    read: Sequence[_Read],
    refused: list[str],
    header: bool | None,
) -> list[str]:
    """Which file was used where several fit, and why others were not where none does."""
    notes = []
    for slot in naming.slots:
        if slot.names is not None:
            notes += _rivals(slot, read, header)
        elif slot.is_open:
            notes += refused
            for candidate, found in read:
                reason = _reason(candidate.path, found, slot, header) if candidate.is_expected else None
                notes += [reason] if reason else []
    return list(dict.fromkeys(notes))[:_MOST_NOTES]


def _rivals(slot: _Slot, read: Sequence[_Read], header: bool | None) -> list[str]:
    used = slot.names.labels if slot.names else None
    others = []
    for candidate, found in read:
        if not candidate.may_name(slot.rows, exact=True):
            continue
        for each in found if isinstance(found, tuple) else (found,):
            names = _tried(each, slot, header, exact=True)
            if used is not None and names is not None and names.labels.blob.tobytes() != used.blob.tobytes():
                others.append(candidate.path.name)
    if used is None or not others:
        return []
    return [f"Rows are named by {used.source}; {', '.join(dict.fromkeys(others))} would fit as well."]


def _reason(path: Path, found: _Found, slot: _Slot, header: bool | None) -> str | None:
    for each in found if isinstance(found, tuple) else (found,):
        try:
            _fitted(each, slot, header, chosen=False)
        except ExplorerError as error:
            return _unused(path, error)
    return None


def _unused(path: Path, error: ExplorerError) -> str:
    """Why a file found does not name rows; and how to say what is unknown of it."""
    return f"{path.name} was not used. {error if isinstance(error, HeaderUnknownError) else error.message}"


# Events that name themselves


def _name_music(naming: _Naming) -> None:
    """A music transformer's events are numbered by a fixed plan (Huang et al., *Music Transformer*, 2018)."""
    positions = any(
        table.role is Role.POSITION and table.rows == _MUSIC_POSITIONS and "wpe" in table.name
        for table in naming.tables
    )
    for slot in naming.slots:
        if positions and slot.is_open and slot.rows == _MUSIC_ROWS and "wte" in slot.tables[0].name:
            slot.names = _Names(Labels.from_texts(music_events(), "music events", special=(388, 389)))


def music_events() -> list[str]:
    """The 390 events: notes on and off, time shifts in milliseconds, velocities, end and padding."""
    return [
        *(f"note_on_{pitch}" for pitch in range(128)),
        *(f"note_off_{pitch}" for pitch in range(128)),
        *(f"time_shift_{10 * step}" for step in range(1, 101)),
        *(f"velocity_{level}" for level in range(32)),
        "end",
        "pad",
    ]
