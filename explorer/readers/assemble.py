"""From what a checkpoint holds to the tables that are offered, the likeliest first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.contents import Contents
from explorer.readers.hf_config import tied_outputs
from explorer.readers.named_vectors import labels_of
from explorer.readers.other_kinds import only_names
from explorer.readers.roles import RANKS, Found, find_tables, is_lookup_name, side_of
from explorer.readers.tensors import Tensor, reshaped

SHARD = re.compile(r"(.+)-(?:\d{3,})-of-(\d{3,})\.\w+")
_SHOWN = 3  # names in a note


def assemble(path: Path, file_format: str, contents: Contents) -> OpenedFile:
    """List the tables of a checkpoint.

    Parameters
    ----------
    path : Path
    file_format : str
        What the file is, in words.
    contents : Contents

    Raises
    ------
    ExplorerError
        Nothing in it is a table; says what is there instead.
    """
    ranked: list[tuple[int, EmbeddingTable]] = []
    for found in find_tables(contents.tensors):
        tensor = contents.tensors[found.names[0]]
        ranked.append((found.rank, _table(found, tensor, contents)))
    ranked += [(RANKS[vectors.role], vectors.table()) for vectors in contents.tables]
    ranked.sort(key=lambda pair: pair[0])
    tables = _unique([_with_ties(table, contents.tied) for _, table in ranked if table.rows and table.dim])
    tables = _with_config(tables, path if path.is_dir() else path.parent)
    if not tables:
        raise _nothing(path, contents)
    return OpenedFile(path, file_format, tables, _notes(path, contents))


def _table(found: Found, tensor: Tensor, contents: Contents) -> EmbeddingTable:
    labels = _labels(found, contents) if found.role in (Role.TOKEN, Role.OUTPUT) else None
    return EmbeddingTable(
        name=found.names[0],
        rows=found.rows,
        dim=found.dim,
        dtype=tensor.dtype,
        role=found.role,
        read=reshaped(tensor, (found.rows, found.dim)).read,
        labels=labels,
        aliases=found.names[1:],
    )


def _labels(found: Found, contents: Contents) -> Labels | None:
    """Names out of a vocabulary in the same file, where just one fits."""
    side = side_of(found.names[0])
    fitting = [
        texts
        for place, texts in contents.vocabularies
        if len(texts) == found.rows and (side is None or side_of(place) in (None, side))
    ]
    if not fitting or any(texts != fitting[0] for texts in fitting):
        return None
    return labels_of(fitting[0])


def _with_ties(table: EmbeddingTable, tied: Mapping[str, str]) -> EmbeddingTable:
    absent = tuple(name for name, stored in tied.items() if stored == table.name)
    if not absent:
        return table
    role = Role.TOKEN if table.role is Role.OUTPUT else table.role
    return replace(table, role=role, aliases=(*table.aliases, *absent))


def _with_config(tables: tuple[EmbeddingTable, ...], folder: Path) -> tuple[EmbeddingTable, ...]:
    """The token table with the output layer's name too, where the configuration ties an absent one."""
    roles = [table.role for table in tables]
    if Role.TOKEN not in roles or Role.OUTPUT in roles:
        return tables
    place = roles.index(Role.TOKEN)
    names = tuple(name for name in tied_outputs(folder) if name not in tables[place].aliases)
    return (
        *tables[:place],
        replace(tables[place], aliases=tables[place].aliases + names),
        *tables[place + 1 :],
    )


def _unique(tables: list[EmbeddingTable]) -> tuple[EmbeddingTable, ...]:
    """Tables with names told apart where two structures of a file use the same."""
    count: dict[str, int] = defaultdict(int)
    unique = []
    for table in tables:
        count[table.name] += 1
        if count[table.name] > 1:
            table = replace(table, name=f"{table.name} ({count[table.name]})")
        unique.append(table)
    return tuple(unique)


def _notes(path: Path, contents: Contents) -> tuple[str, ...]:
    notes = []
    if (shard := SHARD.fullmatch(path.name)) and int(shard[2]) > 1:
        notes.append(f"This is one of {int(shard[2])} shards: open the folder for the whole model.")
    by_kind: dict[str, list[str]] = defaultdict(list)
    for name, kind in contents.unreadable.items():
        by_kind[kind].append(name)
    for name, tensor in contents.tensors.items():
        if tensor.dtype.startswith("complex"):
            by_kind["complex"].append(name)
        elif tensor.dtype in ("int8", "uint8") and is_lookup_name(name):
            by_kind["quantised"].append(name)
    for kind, names in by_kind.items():
        rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        plural = "tensors that are" if len(names) > 1 else "a tensor that is"
        notes.append(f"Not shown: {plural} {kind} ({', '.join(names[:_SHOWN])}{rest}).")
    return tuple(notes)


def _nothing(path: Path, contents: Contents) -> ExplorerError:
    count = len(contents.tensors) + len(contents.unreadable)
    if contents.vocabularies and not count:
        return only_names(path)
    if not count:
        return ExplorerError(f"{path.name} holds no tensors.")
    largest = sorted(contents.tensors.items(), key=lambda item: item[1].shape, reverse=True)[:_SHOWN]
    shapes = ", ".join(f"{name} {' × '.join(map(str, tensor.shape)) or 'scalar'}" for name, tensor in largest)
    notes = " ".join(_notes(path, contents))
    tensors = (
        "1 tensor, but it is no table." if count == 1 else f"{count:,} tensors, but none of them is a table."
    )
    return ExplorerError(
        f"{path.name} holds {tensors} {notes}".strip(),
        detail=f"For example: {shapes}" if shapes else "",
    )
