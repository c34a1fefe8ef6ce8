"""What there is to say of single pictures of an index: why one has no vector, or which one it repeats."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.pictures import Verdict
from explorer.readers.picture_index import PictureIndex

TWIN = "same as an earlier one"


@dataclass(frozen=True)
class Remark:
    """One picture that is not simply indexed.

    Attributes
    ----------
    row : int
        Of the index.
    picture : str
        Its path in the folder.
    verdict : str
        A ``Verdict``, or ``TWIN``.
    reason : str
        In words, without a full stop; for a twin, the picture whose content it has.
    """

    row: int
    picture: str
    verdict: str
    reason: str


def remarks_of(index: PictureIndex) -> tuple[Remark, ...]:
    """All pictures without a vector and all that repeat an earlier one, in the order of their rows."""
    found = []
    verdicts = index.rows["verdict"].to_pylist()
    for row, verdict in enumerate(verdicts):
        if verdict != Verdict.OK:
            found.append(Remark(row, index.name(row), verdict, index.reason(row)))
    for row in index.duplicates.tolist():
        found.append(Remark(row, index.name(row), TWIN, index.name(int(index.first_twin[row]))))
    return tuple(sorted(found, key=lambda remark: remark.row))
