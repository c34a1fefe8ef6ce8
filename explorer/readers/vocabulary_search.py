"""Where a checkpoint's vocabulary may lie: beside it, or in a tokenizer's folder, by its name."""

from __future__ import annotations

import re
from pathlib import Path

# What a vocabulary is called, the most telling name first.
_KNOWN = (
    "tokenizer.json",
    "vocab.json",
    "encoder.json",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "word_to_int.p",
    "dict.p",
    "metadata.tsv",
    "labels.txt",
    "labels.tsv",
    "vocabulary.txt",
    "words.txt",
    "tokens.txt",
)
_LIKELY = re.compile(r"vocab|dict|word|token|label|itos|stoi|idx|index|char|class|names?\b", re.IGNORECASE)
_NEVER = re.compile(
    r"merges|config|added_tokens|special_tokens|preprocessor|readme|license|requirements|safetensors\.index"
    r"|sentencepiece\.bpe|pytorch_model|\.index\.json",
    re.IGNORECASE,
)
_SUFFIXES = frozenset([".json", ".txt", ".tsv", ".csv", ".p", ".pkl", ".pickle", ".vocab", ".model"])
_TORCH = frozenset([".pt", ".pth", ".bin"])
_VOCABULARY = re.compile(r"vocab|itos|stoi", re.IGNORECASE)
_TOKENIZER_FOLDER = re.compile(r"tokenizer(_\d+)?|\d+_Transformer")
_MOST_ENTRIES = 5000
_LARGEST = 1 << 26
_LARGEST_PICKLE = 1 << 24


def candidates(path: Path) -> list[Path]:
    """Files that may hold the vocabulary of a checkpoint, the most specific first.

    A file named like the checkpoint comes before one with a usual name, that before any other whose name
    speaks of words; the checkpoint's own folder before a tokenizer's.
    """
    stem = _stem(path)
    ranked: list[tuple[int, int, int, str, Path]] = []
    for place, folder in enumerate(_folders(path)):
        for entry in _entries(folder):
            # gensim puts the vectors of words.kv into words.kv.vectors.npy.
            owns = not path.is_dir() and path.name.startswith(f"{entry.name}.") and _fits_in(entry)
            rank = (0, 0) if owns else _rank(entry, stem)
            if rank is not None and entry != path:
                ranked.append((rank[0], place, rank[1], entry.name, entry))
    return [entry for *_, entry in sorted(ranked)]


def is_known_name(path: Path) -> bool:
    """Whether a file is called as vocabularies usually are."""
    return path.name.lower() in _KNOWN


def _stem(path: Path) -> str:
    return "" if path.is_dir() else path.name.split(".")[0].lower()


def _rank(entry: Path, stem: str) -> tuple[int, int] | None:
    name = entry.name.lower()
    torch = entry.suffix.lower() in _TORCH and _VOCABULARY.search(name)
    if (entry.suffix.lower() not in _SUFFIXES and not torch) or _NEVER.search(name) or not _fits_in(entry):
        return None
    own = len(stem) > 2 and name.startswith(stem)
    if own and (entry.stem.lower() == stem or _LIKELY.search(name[len(stem) :])):
        return 0, 0
    if name in _KNOWN:
        return 1, _KNOWN.index(name)
    return (2, 0) if _LIKELY.search(entry.stem) or entry.suffix == ".vocab" else None


def _fits_in(entry: Path) -> bool:
    try:
        size = entry.stat().st_size
    except OSError:
        return False
    pickled = entry.suffix.lower() in (".p", ".pkl", ".pickle") or entry.suffix.lower() in _TORCH
    return 0 < size <= (_LARGEST_PICKLE if pickled else _LARGEST)


def _folders(path: Path) -> list[Path]:
    """The checkpoint's own folder, the cached snapshot in it, and those of tokenizers near it."""
    folder = path if path.is_dir() else path.parent
    found = [folder]
    if path.is_dir() and (folder / "snapshots").is_dir():
        found += sorted(_subfolders(folder / "snapshots"), key=lambda each: -each.stat().st_mtime)
    near = [*found, folder.parent] if re.match(r"text_encoder", folder.name) else list(found)
    second = folder.name.endswith("_2")
    for each in near:
        tokenizers = [
            sub for sub in _subfolders(each) if re.fullmatch(r"tokenizer(_\d+)?|\d+_Transformer", sub.name)
        ]
        found += sorted(tokenizers, key=lambda sub: (sub.name.endswith("_2") != second, sub.name))
    return found


def _subfolders(folder: Path) -> list[Path]:
    try:
        return [entry for entry in sorted(folder.iterdir())[:_MOST_ENTRIES] if entry.is_dir()]
    except OSError:
        return []


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in sorted(folder.iterdir())[:_MOST_ENTRIES] if entry.is_file()]
    except OSError:
        return []
