"""Where a checkpoint's vocabulary may lie: beside it, or in a tokenizer's folder, by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
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
_PLAIN = re.compile(
    r"vocab(ulary)?|dict(ionary)?|words?|tokens?|labels?|itos|stoi|idx|ind(ex)?|ids?|ints?|to|chars?|class(es)?"
    r"|names?|map(ping)?|list|my|src|source|tgt|trg|target|[a-z]{2}",
    re.IGNORECASE,
)
_NO_COINCIDENCE = 500
_MOST_ENTRIES = 5000
_LARGEST = 1 << 26
_LARGEST_PICKLE = 1 << 24


class Kin(IntEnum):
    """How a file's name ties it to a checkpoint, the closest first."""

    OWN = 0  # named like the checkpoint
    KNOWN = 1  # named as vocabularies usually are
    PLAIN = 2  # named for words and ids, and for nothing else
    FOREIGN = 3  # named for words of something else


@dataclass(frozen=True)
class Candidate:
    """A file that may hold a checkpoint's vocabulary."""

    path: Path
    kin: Kin

    @property
    def is_expected(self) -> bool:
        """Whether it has to be said why the file was not used."""
        return self.kin in (Kin.OWN, Kin.KNOWN)

    def may_name(self, rows: int, *, exact: bool) -> bool:
        """Whether a fitting count is enough to believe that the file names so many rows.

        What is named for something else must agree in a count that is no coincidence.
        """
        return self.kin is not Kin.FOREIGN or (exact and rows >= _NO_COINCIDENCE)


def candidates(path: Path) -> list[Candidate]:
    """Files that may hold the vocabulary of a checkpoint, the most specific first.

    Of two that are equally specific, one in the checkpoint's own folder goes before one in a tokenizer's.
    """
    stem = _stem(path)
    ranked: list[tuple[Kin, int, int, str, Path]] = []
    for place, folder in enumerate(_folders(path)):
        for entry in _entries(folder):
            # gensim puts the vectors of words.kv into words.kv.vectors.npy.
            owns = not path.is_dir() and path.name.startswith(f"{entry.name}.") and _fits_in(entry)
            kin = Kin.OWN if owns else _kin(entry, stem)
            if kin is not None and entry != path:
                order = _KNOWN.index(entry.name.lower()) if kin is Kin.KNOWN else 0
                ranked.append((kin, place, order, entry.name, entry))
    return [Candidate(entry, kin) for kin, *_, entry in sorted(ranked)]


def _stem(path: Path) -> str:
    return "" if path.is_dir() else path.name.split(".")[0].lower()


def _kin(entry: Path, stem: str) -> Kin | None:
    """None for a file that is no vocabulary by its name."""
    name = entry.name.lower()
    torch = entry.suffix.lower() in _TORCH and _VOCABULARY.search(name)
    if (entry.suffix.lower() not in _SUFFIXES and not torch) or _NEVER.search(name) or not _fits_in(entry):
        return None
    own = len(stem) > 2 and name.startswith(stem)
    if own and (entry.stem.lower() == stem or _LIKELY.search(name[len(stem) :])):
        return Kin.OWN
    if name in _KNOWN:
        return Kin.KNOWN
    if not _LIKELY.search(entry.stem) and entry.suffix != ".vocab":
        return None
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", entry.stem))
    return Kin.PLAIN if all(_PLAIN.fullmatch(word) for word in words) else Kin.FOREIGN


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
