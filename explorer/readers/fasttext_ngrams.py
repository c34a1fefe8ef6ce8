"""fastText's vectors of words: a word is the mean of its own row and those of its character n-grams.

Bojanowski et al., *Enriching Word Vectors with Subword Information*, 2017. N-grams are not stored by name:
each falls into a bucket by the 32-bit FNV-1a hash of its UTF-8 bytes, taken as signed ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import NDArray

_OFFSET = 2166136261
_PRIME = 16777619
_MASK = 0xFFFFFFFF


def buckets(word: str, shortest: int, longest: int, count: int, compatible: bool = True) -> list[int]:
    """The buckets of a word's n-grams, in order.

    Parameters
    ----------
    word : str
    shortest, longest : int
        Characters in an n-gram; the word is wrapped in ``<`` and ``>`` before.
    count : int
        Buckets; 0 where the model has none.
    compatible : bool
        False for models of gensim 3.6 and before, which hashed characters instead of bytes.
    """
    if not count:
        return []
    marked = f"<{word}>"
    units = [_units(char, compatible) for char in marked]
    found = []
    for start in range(len(units)):
        code = _OFFSET
        for stop in range(start + 1, min(start + longest, len(units)) + 1):
            for unit in units[stop - 1]:
                code = ((code ^ unit) * _PRIME) & _MASK
            size = stop - start
            if size >= shortest and not (size == 1 and (start == 0 or stop == len(units))):
                found.append(code % count)
    return found


def _units(char: str, compatible: bool) -> list[int]:
    if not compatible:
        return [ord(char)]
    return [byte if byte < 128 else byte | 0xFFFFFF00 for byte in char.encode("utf-8", "surrogatepass")]


def with_ngrams(words: NDArray, ngrams: NDArray, hashes: Iterable[list[int]]) -> NDArray:
    """The words' vectors, shape ``(words, dim)``.

    Parameters
    ----------
    words : array, shape (words, dim)
        Each word's own row.
    ngrams : array, shape (buckets, dim)
    hashes : iterable of list of int
        Each word's buckets.
    """
    vectors = words.copy()
    for vector, found in zip(vectors, hashes, strict=True):
        vector += ngrams[found].sum(axis=0)
        vector /= len(found) + 1
    return vectors
