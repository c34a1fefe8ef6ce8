"""Tokenizers from the files that models come with; none of them holds code."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordPiece

from explorer.compute.encoders import clip_vocabulary
from explorer.core.errors import ExplorerError
from explorer.readers.hf_config import read_json
from explorer.readers.local_models import local_models
from explorer.readers.sentencepiece import PieceType, fields, read_pieces

_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3  # fields of a SentencePiece model
_SCORE, _KIND, _CHARSMAP = 2, 3, 2  # of a piece, of the trainer, of the normalizer
_UNIGRAM = b"\x01"
_GPT2_END = "<|endoftext|>"


@dataclass(frozen=True, eq=False)
class FoundTokenizer:
    """A tokenizer and what its files say beside it.

    Attributes
    ----------
    tokenizer : tokenizers.Tokenizer
    config : dict
        Of ``tokenizer_config.json``.
    source : str
        Where it was found, in words.
    path : Path or None
        The file; None for the bundled one.
    """

    tokenizer: Tokenizer
    config: dict[str, Any]
    source: str
    path: Path | None = None

    @property
    def size(self) -> int:
        """Tokens, added ones included."""
        return int(self.tokenizer.get_vocab_size(with_added_tokens=True))

    def id_of(self, role: str, *fallbacks: str) -> int | None:
        """The id of a special token by its role in the configuration, e.g. ``"pad_token"``."""
        named = self.config.get(role)
        token = named.get("content") if isinstance(named, dict) else named
        for text in (token, *fallbacks):
            if isinstance(text, str) and (found := self.tokenizer.token_to_id(text)) is not None:
                return int(found)
        return None


def find_tokenizer(folders: Sequence[Path], *, unigram_first: bool = False) -> FoundTokenizer | None:
    """The first tokenizer in some folders.

    Parameters
    ----------
    folders : sequence of Path
        Where to look, the likeliest first.
    unigram_first : bool
        Whether a SentencePiece model is preferred to a ``tokenizer.json`` beside it.

    Raises
    ------
    ExplorerError
        A tokenizer's file is damaged.
    """
    for folder in dict.fromkeys(folders):
        if folder.is_dir() and (path := _file_in(folder, unigram_first)) is not None:
            try:
                tokenizer = _read(path)
            except OSError as error:
                raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
            except Exception as error:  # the library raises nothing narrower than Exception
                raise ExplorerError(
                    f"The tokenizer {path.name} cannot be read.", "Download it again.", str(error)
                ) from error
            config = {
                **_mapping(folder / "special_tokens_map.json"),
                **_mapping(folder / "tokenizer_config.json"),
            }
            _set_case(tokenizer, config)
            _set_ends(tokenizer, config)
            return FoundTokenizer(tokenizer, config, f"{path.name} in {folder.name}", path)
    return None


def find_cached(size: int, names: Sequence[str]) -> FoundTokenizer | None:
    """The tokenizer of a model in the local cache that has exactly as many tokens.

    Parameters
    ----------
    size : int
    names : sequence of str
        Of models whose tokenizer is known to fit, without their owners; no others are taken: another
        vocabulary of the same size would give wrong vectors without a sign of it.
    """
    for model in local_models():
        if model.name.split("/")[-1] in names:
            found = find_tokenizer([model.path])
            if found is not None and found.size == size:
                return FoundTokenizer(
                    found.tokenizer, found.config, f"the cached model {model.name}", found.path
                )
    return None


def published_clip() -> FoundTokenizer:
    """The bundled tokenizer of CLIP."""
    return FoundTokenizer(clip_vocabulary.published(), {}, "the published CLIP vocabulary")


def _mapping(path: Path) -> dict[str, Any]:
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def _file_in(folder: Path, unigram_first: bool) -> Path | None:
    names = ["tokenizer.json"]
    if _merges_in(folder) is not None:
        names += ["vocab.json", "encoder.json"]
    names += ["vocab.txt", "spiece.model", "tokenizer.model"]
    if unigram_first:
        names.insert(0, "spiece.model")
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _merges_in(folder: Path) -> Path | None:
    """The merges of a BPE vocabulary; GPT-2's were first published as ``vocab.bpe``."""
    return next((path for name in ("merges.txt", "vocab.bpe") if (path := folder / name).is_file()), None)


def _read(path: Path) -> Tokenizer:
    if path.name == "tokenizer.json":
        return Tokenizer.from_file(str(path))
    if path.suffix == ".model":
        return unigram_tokenizer(path.read_bytes())
    if path.name == "vocab.txt":
        lines = path.read_text("utf-8").split("\n")
        return word_piece_tokenizer([line.rstrip("\r") for line in lines[: len(lines) - (not lines[-1])]])
    vocabulary = json.loads(path.read_bytes())
    beside = _merges_in(path.parent)
    assert beside is not None  # else the vocabulary would not have been taken
    merges = clip_vocabulary.read_merges(beside.read_text("utf-8"))
    if clip_vocabulary.START in vocabulary:
        return clip_vocabulary.clip_tokenizer(vocabulary, merges)
    return byte_level_tokenizer(vocabulary, merges)


def word_piece_tokenizer(words: Sequence[str]) -> Tokenizer:
    """BERT's tokenizer over a ``vocab.txt``; lower case until ``tokenizer_config.json`` says otherwise.

    Raises
    ------
    ValueError
        The special tokens are missing.
    """
    vocabulary = {word: i for i, word in enumerate(words)}
    if not {"[CLS]", "[SEP]", "[UNK]"} <= vocabulary.keys():
        raise ValueError("[CLS], [SEP] or [UNK] is missing")
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokenizer.add_special_tokens([token for token in special if token in vocabulary])
    return tokenizer


def byte_level_tokenizer(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> Tokenizer:
    """RoBERTa's or GPT-2's tokenizer over ``vocab.json`` and ``merges.txt``; GPT-2's wraps a text in nothing.

    Raises
    ------
    ValueError
        The special tokens are missing.
    """
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if _GPT2_END in vocabulary and "<s>" not in vocabulary:
        tokenizer.add_special_tokens([_GPT2_END])
        return tokenizer
    if not {"<s>", "</s>"} <= vocabulary.keys():
        raise ValueError("<s> or </s> is missing")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", vocabulary["</s>"]), ("<s>", vocabulary["<s>"]), trim_offsets=True, add_prefix_space=False
    )
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.add_special_tokens([token for token in special if token in vocabulary])
    return tokenizer


def unigram_tokenizer(model: bytes) -> Tokenizer:
    """A SentencePiece unigram model, with ``</s>`` after each text.

    Raises
    ------
    ValueError
        The bytes are no such model.
    """
    if _inner(model, _TRAINER, _KIND) not in (b"", _UNIGRAM):
        raise ValueError("it is no unigram model")
    pieces, scores = read_pieces(model), _scores(model)
    unknown = next((i for i, piece in enumerate(pieces) if piece.type == PieceType.UNKNOWN), None)
    end = next((i for i, piece in enumerate(pieces) if piece.text == "</s>"), None)
    if end is None:
        raise ValueError("</s> is missing")
    vocabulary = [(piece.text, score) for piece, score in zip(pieces, scores, strict=True)]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=unknown))
    steps: list[Any] = (
        [normalizers.Precompiled(charsmap)] if (charsmap := _inner(model, _NORMALIZER, _CHARSMAP)) else []
    )
    steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", end)])
    return tokenizer


def _scores(model: bytes) -> list[float]:
    found = []
    for field, _, start, stop in fields(model, 0, len(model)):
        if field == _PIECE:
            inner = fields(model, start, stop)
            score = next(
                (model[first:last] for number, _, first, last in inner if number == _SCORE), bytes(4)
            )
            found.append(float(struct.unpack("<f", score)[0]))
    return found


def _inner(model: bytes, outer: int, wanted: int) -> bytes:
    """A field of a part of the model; empty where there is none."""
    for field, _, start, stop in fields(model, 0, len(model)):
        if field == outer:
            for number, _, first, last in fields(model, start, stop):
                if number == wanted:
                    return model[first:last]
    return b""


def _set_case(tokenizer: Tokenizer, config: dict[str, Any]) -> None:
    """``tokenizer_config.json`` decides on upper and lower case in BERT's tokenizers, as in transformers."""
    lower = config.get("do_lower_case")
    normalizer = tokenizer.normalizer
    if isinstance(lower, bool) and isinstance(normalizer, normalizers.BertNormalizer):
        normalizer.lowercase = lower
        tokenizer.normalizer = normalizer


def _set_ends(tokenizer: Tokenizer, config: dict[str, Any]) -> None:
    """``tokenizer_config.json`` decides on Gemma's begin and end of text, as in transformers."""
    if "Gemma" not in str(config.get("tokenizer_class")) or "add_eos_token" not in config:
        return
    start, end = (tokenizer.token_to_id(token) for token in ("<bos>", "<eos>"))
    parts = [
        *(["<bos>"] if config.get("add_bos_token", True) and start is not None else []),
        "$A",
        *(["<eos>"] if config["add_eos_token"] and end is not None else []),
    ]
    special = [(token, id_) for token, id_ in (("<bos>", start), ("<eos>", end)) if id_ is not None]
    tokenizer.post_processor = processors.TemplateProcessing(single=" ".join(parts), special_tokens=special)
