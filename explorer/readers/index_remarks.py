"""What there is to say of single pictures of an index: why one has no vector, or which one it repeats.

And of captions: which were given for no picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.pictures import Verdict
from explorer.readers.picture_index import PictureIndex

TWIN = "same as an earlier one"
NO_PICTURE = "caption without a picture"


@dataclass(frozen=True)
class Remark:
    """One picture that is not simply indexed.

    Attributes
    ----------
    row : int or None
        Of the index; None for a caption without a picture.
    picture : str
        Its path in the folder; for such a caption, the name that its list gives.
    verdict : str
        A ``Verdict``, ``TWIN`` or ``NO_PICTURE``.
    reason : str
        In words, without a full stop; for a twin, the picture whose content it has.
    """

    row: int | None
    picture: str
    verdict: str
    reason: str


def remarks_of(index: PictureIndex) -> tuple[Remark, ...]:
    """Pictures without a vector and those that repeat an earlier one, by row; captions without a picture."""
    found: list[tuple[int, Remark]] = []
    verdicts = index.rows["verdict"].to_pylist()
    for row, verdict in enumerate(verdicts):
        if verdict != Verdict.OK:
            found.append((row, Remark(row, index.name(row), verdict, index.reason(row))))
    for row in index.duplicates.tolist():
        twin = index.name(int(index.first_twin[row]))
        found.append((row, Remark(row, index.name(row), TWIN, twin)))
    pictures = [remark for _, remark in sorted(found, key=lambda each: each[0])]
    sources = ", ".join(index.manifest.caption_sources)
    names = index.manifest.unmatched_captions
    return (*pictures, *(Remark(None, name, NO_PICTURE, f"named in {sources}") for name in names))
