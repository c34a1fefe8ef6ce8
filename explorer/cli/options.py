"""What every command takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """The options that all commands share.

    Attributes
    ----------
    table : str or None
        The table asked for by name; None takes the likeliest.
    labels, target_labels : Path or None
        Vocabularies chosen by hand: of the token table (a translator's source side), and of a
        translator's target side.
    header : bool or None
        Whether a label file's first line is a header; None where it was not said.
    scaled : bool
        Rows are multiplied by the square root of dim.
    device : {"auto", "cpu", "cuda", "mps"}
    all_rows : bool
        Special and padding rows may be neighbours.
    include_query : bool
        The query's own rows may be neighbours.
    json : bool
        Answers are JSON.
    """

    table: str | None = None
    labels: Path | None = None
    target_labels: Path | None = None
    header: bool | None = None
    scaled: bool = False
    device: str = "auto"
    all_rows: bool = False
    include_query: bool = False
    json: bool = False
