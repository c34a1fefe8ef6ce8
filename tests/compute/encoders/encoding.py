"""What the encoders' tests share: texts, pixels, and how close is close."""

from __future__ import annotations

import numpy as np
import torch

TEXTS = (
    "a photo of a cat",
    "two dogs on the beach, it's raining",
    "",
    "a very long sentence " * 30,
    "Ünïcödé & symbols: 42 %!",
)


def unit(features: torch.Tensor) -> np.ndarray:
    return torch.nn.functional.normalize(features.detach().float(), dim=-1).numpy()


def random_pixels(count: int, size: int, seed: int = 3) -> np.ndarray:
    """Pictures of coarse patches, each about a colour of its own: noise alone looks all the same."""
    random = np.random.default_rng(seed)
    colour = random.integers(0, 256, (count, 3, 1, 1))
    patches = np.kron(random.integers(-60, 60, (count, 3, 4, 4)), np.ones((size // 4, size // 4), int))
    return np.clip(colour + patches + random.integers(-9, 9, (count, 3, size, size)), 0, 255).astype(np.uint8)


def assert_close(ours: np.ndarray, reference: torch.Tensor) -> None:
    """Equal to 1e-4, on vectors that are no two alike (else any output would do)."""
    expected = unit(reference)
    assert ours.dtype == np.float32
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4)
    apart = np.linalg.norm(expected[:, None] - expected[None], axis=-1)[np.triu_indices(len(expected), 1)]
    assert apart.min() > 1e-3
