"""A small vocabulary with vectors."""

from __future__ import annotations

import numpy as np

WORDS = (
    "king",
    "queen",
    "man",
    "woman",
    "paris",
    "france",
    "bread",
    "fish",
    "Zion",
    "bank",
    "bank",
    "well-known",
)


def word_vectors() -> np.ndarray:
    """Twelve rows of eight numbers in which king - man + woman is about queen, and the banks differ."""
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8)).astype(np.float32)
    vectors[1] = vectors[0] - vectors[2] + vectors[3] + np.float32(0.01)
    return np.round(vectors, 4)
