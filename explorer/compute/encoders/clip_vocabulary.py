"""CLIP's tokenizer: the published merges table, or that of a folder, in the ``tokenizers`` library."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from explorer.core.resources import resource_path

START, END = "<|startoftext|>", "<|endoftext|>"
SIZE = 49_408  # tokens of the published table
_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def published() -> Tokenizer:
    """The tokenizer of OpenAI's CLIP, OpenCLIP and Stable Diffusion, from the bundled merges table.

    Ids: the 256 bytes, the 256 bytes at a word's end, one for each merge, start and end of text.
    """
    merges = read_merges(resource_path("clip", "merges.txt").read_text("utf-8"))
    letters = _byte_letters()
    tokens = [
        *letters,
        *(f"{letter}</w>" for letter in letters),
        *("".join(pair) for pair in merges),
        START,
        END,
    ]
    return clip_tokenizer({token: i for i, token in enumerate(tokens)}, merges)


def clip_tokenizer(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> Tokenizer:
    """A tokenizer that splits, lower-cases and merges as CLIP's does.

    Parameters
    ----------
    vocabulary : dict of str to int
    merges : list of (str, str)
        The most frequent first.

    Raises
    ------
    ValueError
        The special tokens are missing, or the merges do not belong to the vocabulary.
    """
    start, end = vocabulary.get(START), vocabulary.get(END)
    if start is None or end is None:
        raise ValueError(f"{START} or {END} is missing")
    try:
        model = BPE(vocab=vocabulary, merges=merges, end_of_word_suffix="</w>", unk_token=END)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(str(error)) from error
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}", special_tokens=[(START, start), (END, end)]
    )
    tokenizer.add_special_tokens([START, END])
    return tokenizer


def read_merges(text: str) -> list[tuple[str, str]]:
    """The pairs of a ``merges.txt``; its first line may name a version."""
    lines: Iterable[str] = text.split("\n")
    pairs = []
    for line in lines:
        parts = line.split()
        if len(parts) == 2 and not line.startswith("#version"):
            pairs.append((parts[0], parts[1]))
    return pairs


def _byte_letters() -> list[str]:
    """A visible letter for each byte: printable ones stand for themselves, the others follow from 256 on.

    In the order of GPT-2's byte-level alphabet, which is also that of the ids.
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) for byte in visible] + [chr(256 + i) for i in range(len(hidden))]
