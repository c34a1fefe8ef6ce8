"""Files that are recognised, but hold no table that can be read here: each says what it is."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers.vocabulary_files import read_vocabulary
from explorer.readers.zip_entries import AGAIN

_NOT_YET = "This version does not read that format."
_EXPORT = f"{_NOT_YET} Save its table as .npy, .safetensors or a PyTorch checkpoint."
_LEAST_NAMES = 4
_OLD_TORCH = frozenset(["sys_info", "pickle", "storages", "tensors"])

_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (
        b"version https://git-lfs.github.com/spec/",
        "is a Git LFS pointer, not the file itself",
        "Run “git lfs pull”.",
    ),
    (b"GGUF", "is a GGUF model", _EXPORT),
    (b"tjgg", "is a GGML model", _EXPORT),
    (b"lmgg", "is a GGML model", _EXPORT),
    (b"\x89HDF\r\n\x1a\n", "is an HDF5 file (AnnData, Keras)", _EXPORT),
    (
        b"\xba\x16\x4f\x2f",
        "is a fastText model (.bin)",
        f"{_NOT_YET} Open the .vec file that fastText saves beside it.",
    ),
    (b"\x89PNG", "is a picture", "Open the file of vectors that belongs to it."),
    (b"\xff\xd8\xff", "is a picture", "Open the file of vectors that belongs to it."),
    (b"%PDF", "is a PDF document", ""),
    (b"\x1f\x8b", "is packed (gzip)", "Unpack it first."),
    (b"BZh", "is packed (bzip2)", "Unpack it first."),
    (b"\xfd7zXZ", "is packed (xz)", "Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "is packed (zstd)", "Unpack it first."),
    (b"7z\xbc\xaf\x27\x1c", "is packed (7z)", "Unpack it first."),
    (b"Rar!", "is packed (RAR)", "Unpack it first."),
)


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file is surely of a kind that is not read here."""
    return not path.is_dir() and _what(path, head) is not None


def read(path: Path) -> OpenedFile:
    """Say what the file is.

    Raises
    ------
    ExplorerError
        Always.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    what, hint = _what(path, head) or ("is of an unknown kind", "")
    raise ExplorerError(f"{path.name} {what}.", hint)


def only_names(path: Path) -> ExplorerError:
    """What to say of a vocabulary that is opened as if it were a table."""
    return ExplorerError(
        f"{path.name} holds names but no vectors.",
        "It looks like a vocabulary: open the table it belongs to and choose it as that table's labels.",
    )


def refuse_unknown(path: Path, head: bytes) -> ExplorerError:
    """What to say of a file or folder that no reader knows."""
    if path.is_dir():
        return _unknown_folder(path)
    if head.startswith(b"PK"):
        return _unknown_zip(path)
    if not head.strip(b"\0"):
        return ExplorerError(
            f"{path.name} starts with nothing but zeros: it was not written to its end.", AGAIN
        )
    if _is_vocabulary(path):
        return only_names(path)
    if head.startswith(b"{") and b"\0" not in head:
        return ExplorerError(f"{path.name} is JSON, but holds no vectors that are known here.")
    return ExplorerError(
        f"{path.name} is of no kind that is known here.",
        "Known are PyTorch checkpoints, safetensors, NumPy arrays, word vectors, and tables of numbers.",
    )


def _what(path: Path, head: bytes) -> tuple[str, str] | None:
    if not head:
        return "is empty", AGAIN
    for mark, what, hint in _MARKS:
        if head.startswith(mark):
            return what, hint
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        return "is a web page, not a model", "Download the file itself."
    if head[257:262] == b"ustar" or head[:9] == b"sys_info\0":
        return _what_tar(path)
    if head[4:8] == b"TFL3":
        return "is a TensorFlow Lite model", _EXPORT
    if head[:1] == b"\x08" and head[2:3] in (b"\x12", b"\x1a", b"\x3a", b"\x42"):
        if b"saved_model" in head or path.name == "saved_model.pb":
            return "is a TensorFlow model", _EXPORT
        if b"pytorch" in head[:64] or b"onnx" in head or b"main_graph" in head:
            return "is an ONNX model", _EXPORT
    if _ends_as_leveldb(path):
        return "is a TensorFlow checkpoint's index", _EXPORT
    if ".data-" in path.name and path.with_name(path.name.split(".data-")[0] + ".index").exists():
        return "is a TensorFlow checkpoint", _EXPORT
    return None


def _what_tar(path: Path) -> tuple[str, str]:
    if len(_tar_names(path) & _OLD_TORCH) >= 3:
        return (
            "was written by a PyTorch of before 2017, in a form that is not read here",
            "Load it with PyTorch and save it again.",
        )
    return "is a tar archive", "Unpack it first."


def _tar_names(path: Path) -> set[str]:
    """The first few members' names, read by hand: only their headers, whatever else they claim."""
    names = set()
    with path.open("rb") as file:
        for _ in range(16):
            header = file.read(512)
            size = header[124:136].strip(b" \0")
            if len(header) < 512 or not re.fullmatch(rb"[0-7]{1,11}", size):
                break
            names.add(header[:100].rstrip(b"\0").decode("latin1"))
            file.seek(-(-int(size, 8) // 512) * 512, 1)
    return names


def _ends_as_leveldb(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        return file.read(8) == b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"


def _is_vocabulary(path: Path) -> bool:
    """Whether the file says of itself what ids are called: any text may be labels, so that is no sign."""
    try:
        found = read_vocabulary(path)
    except ExplorerError:
        return False
    # Settings may hold a short list of names, too.
    return isinstance(found, tuple) and any(
        sum(text is not None for text in each.texts) >= _LEAST_NAMES for each in found
    )


def _unknown_zip(path: Path) -> ExplorerError:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        return ExplorerError(
            f"{path.name} is cut off or damaged: its zip directory cannot be read.", AGAIN, str(error)
        )
    if any(
        name.endswith(("/model.json", "serialized_exported_program.json", "archive_format")) for name in names
    ):
        return ExplorerError(f"{path.name} is a PyTorch program of a form that is not read here.", _NOT_YET)
    if "[Content_Types].xml" in names:
        return ExplorerError(f"{path.name} is an office document.", "Save the table as CSV.")
    shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return ExplorerError(
        f"{path.name} is a zip archive, but no checkpoint.",
        "Unpack it, and open what is inside.",
        f"It holds {shown}",
    )


def _unknown_folder(path: Path) -> ExplorerError:
    names = sorted(entry.name for entry in path.iterdir())
    name = path.name or path.resolve().name or str(path)  # "." has no name of its own
    if not names:
        return ExplorerError(f"The folder {name} is empty.")
    if "saved_model.pb" in names:
        return ExplorerError(f"{name} is a TensorFlow model.", _EXPORT)
    if "flax_model.msgpack" in names or "tf_model.h5" in names:
        return ExplorerError(f"{name} holds weights for Flax or TensorFlow only.", _EXPORT)
    if any(name.endswith(".gguf") for name in names):
        return ExplorerError(f"{name} holds GGUF models only.", _EXPORT)
    # Imports Pillow, which is seldom needed where tables are read.
    from explorer.readers.picture_folder import count_by_name

    if count_by_name(path):
        return ExplorerError(
            f"The folder {name} holds pictures, but no checkpoint.",
            "Index its pictures: embedding-explorer index FOLDER --encoder MODEL -o INDEX.",
        )
    return ExplorerError(
        f"The folder {name} holds neither a checkpoint nor pictures.",
        detail="It holds " + ", ".join(names[:10]),
    )
