"""``embedding-explorer index``: a folder of pictures to an index."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from explorer.cli.parser import PROGRAM
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.cli.progress import Progress
from explorer.compute.encoders.opening import open_encoder
from explorer.compute.indexing import update_index
from explorer.core.errors import ExplorerError
from explorer.core.index import IndexProgress, IndexReport
from explorer.core.pictures import Verdict
from explorer.core.wording import counted, has_have
from explorer.readers.picture_index import PictureIndex, open_index

_LISTED = 40


def run(call: argparse.Namespace) -> int:
    """Index the pictures in ``call.folder`` by ``call.encoder`` into ``call.output``."""
    if not call.folder.is_dir():
        raise ExplorerError(f"There is no folder {call.folder}.")
    with Progress() as progress:
        progress(-1.0, "Loading the encoder")
        encoder = open_encoder(call.encoder, device=call.options.device)
        try:
            report = update_index(
                call.folder,
                encoder,
                call.output,
                captions=call.captions,
                tell=lambda state: progress(*_told(state)),
            )
        except KeyboardInterrupt:
            progress.clear()
            print(f"{PROGRAM}: stopped; the same command goes on where it was.", file=sys.stderr)
            raise
    _print(call.output, open_index(call.output), report, (*encoder.notes, *report.notes), call.options.json)
    return 0


def _told(state: IndexProgress) -> tuple[float, str]:
    """Share and words of a progress."""
    if not state.total:
        return -1.0, f"{state.stage} {state.done:,}" if state.done else state.stage
    words = f"{state.stage}: {state.done:,} of {state.total:,}"
    if state.rate:
        words += f", {state.rate:,.1f} a second"
    left = state.seconds_left
    if left is not None and state.done < state.total:
        words += f", {duration(left)} left,"
    return state.done / state.total, words


def duration(seconds: float) -> str:
    """A time span in words, e.g. ``"2 min 5 s"``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _print(
    output: Path, index: PictureIndex, report: IndexReport, notes: tuple[str, ...], as_json: bool
) -> None:
    manifest, twins = index.manifest, index.first_twin
    verdicts = index.rows["verdict"].to_pylist()
    bad = [row for row, verdict in enumerate(verdicts) if verdict != Verdict.OK]
    repeats = np.flatnonzero(twins != np.arange(len(index))).tolist()
    if as_json:
        print_json(
            {
                "index": str(output.absolute()),
                "folder": str(index.folder),
                "encoder": manifest.encoder.name,
                "rows": report.rows,
                "vectors": report.vectors,
                "encoded": report.encoded,
                "unchanged": report.unchanged,
                "added": report.added,
                "changed": report.changed,
                "gone": report.gone,
                "captions": {
                    "count": report.captions,
                    "sources": list(manifest.caption_sources),
                    "unmatched": list(manifest.unmatched_captions),
                },
                "verdicts": [
                    {
                        "row": row,
                        "path": str(index.file(row)),
                        "verdict": verdicts[row],
                        "reason": index.reason(row),
                    }
                    for row in bad
                ],
                "duplicates": [
                    {"row": row, "path": str(index.file(row)), "same_as": int(twins[row])} for row in repeats
                ],
                "notes": list(notes),
            }
        )
        return
    vectors = f"{report.vectors:,} of {counted(report.rows, 'picture')} {has_have(report.vectors)} a vector"
    print(printable(f"{output}: {vectors} by {manifest.encoder.name}"))
    print(
        f"{report.encoded:,} encoded, {report.unchanged:,} unchanged; {report.added:,} added, "
        f"{report.changed:,} changed, {report.gone:,} gone; {report.captions:,} captions"
    )
    _list(
        ("ROW", "VERDICT", "PICTURE", "REASON"),
        [(row, verdicts[row], index.name(row), index.reason(row)) for row in bad],
    )
    _list(("ROW", "PICTURE", "SAME AS"), [(row, index.name(row), index.name(twins[row])) for row in repeats])
    _list(("CAPTIONS WITHOUT A PICTURE",), [(name,) for name in manifest.unmatched_captions])
    print_notes(notes)


def _list(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """A table where there is anything to list; long ones are cut short for people."""
    if rows:
        print()
        right = (0,) if header[0] == "ROW" else ()
        print_columns(header, [tuple(map(str, row)) for row in rows[:_LISTED]], right=right)
        if len(rows) > _LISTED:
            print(f"… and {len(rows) - _LISTED:,} more: --json lists all")
