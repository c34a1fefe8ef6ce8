"""A small tokenizer of SigLIP's kind, as a ``tokenizer.json`` or as a SentencePiece model."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES = ("<pad>", "</s>", "<unk>", "▁", *_LETTERS, *(f"▁{c}" for c in _LETTERS), "▁cat", "▁dog", "▁photo")
_CONTROL, _UNKNOWN, _NORMAL = 3, 2, 1


def score(piece: str) -> float:
    return -1.0 if len(piece) > 2 else -9.0


def save_unigram(folder: Path, **config: str) -> None:
    tokenizer = Tokenizer(models.Unigram([(piece, score(piece)) for piece in PIECES], unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": "</s>", **config}))


def sentence_piece_model() -> bytes:
    """The same as a protocol-buffer message, as SentencePiece writes it."""
    data = b""
    for piece in PIECES:
        kind = {"<unk>": _UNKNOWN, "<pad>": _CONTROL, "</s>": _CONTROL}.get(piece, _NORMAL)
        text = piece.encode()
        inner = (
            b"\x0a"
            + bytes([len(text)])
            + text
            + b"\x15"
            + struct.pack("<f", score(piece))
            + b"\x18"
            + bytes([kind])
        )
        data += b"\x0a" + bytes([len(inner)]) + inner
    return data
