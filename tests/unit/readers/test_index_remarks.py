"""What is listed of an index's pictures: read from an index as a run leaves it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.core.index import EncoderIdentity, Manifest
from explorer.core.pictures import Verdict, digest
from explorer.readers.index_columns import ROW_COLUMNS
from explorer.readers.index_files import ROWS
from explorer.readers.index_remarks import TWIN, Remark, remarks_of
from explorer.readers.picture_index import PictureIndex


def index_of(path: Path, *pictures: tuple[bytes, bytes, Verdict, str]) -> PictureIndex:
    """An index of (path, content, verdict, reason)."""
    columns = {name: [None] * len(pictures) for name in ROW_COLUMNS.names}
    columns["path"] = [name for name, _, _, _ in pictures]
    columns["hash"] = [digest(content) for _, content, _, _ in pictures]
    columns["verdict"] = [str(verdict) for _, _, verdict, _ in pictures]
    columns["reason"] = [reason for _, _, _, reason in pictures]
    table = pa.table(columns, schema=ROW_COLUMNS)
    pq.write_table(table, path / ROWS)
    manifest = Manifest(str(path), ".", EncoderIdentity("made", "CLIP", "/made", "0", 4), {}, (0, 0, 0))
    return PictureIndex(path, path, manifest, pq.read_table(path / ROWS).cast(ROW_COLUMNS))


def test_that_bad_and_repeated_pictures_are_listed_in_the_order_of_their_rows(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        (b"a.png", b"one", Verdict.OK, ""),
        (b"b.png", b"two", Verdict.CUT_OFF, "it ends after 300 bytes"),
        (b"c.png", b"one", Verdict.OK, ""),
        (b"d.png", b"three", Verdict.OK, ""),
        (b"sub/e.png", b"one", Verdict.OK, ""),
    )
    assert remarks_of(index) == (
        Remark(1, "b.png", "cut off", "it ends after 300 bytes"),
        Remark(2, "c.png", TWIN, "a.png"),
        Remark(4, "sub/e.png", TWIN, "a.png"),
    )


def test_that_an_index_without_faults_has_no_remarks(tmp_path: Path) -> None:
    index = index_of(tmp_path, (b"a.png", b"one", Verdict.OK, ""), (b"b.png", b"two", Verdict.OK, ""))
    assert remarks_of(index) == ()
