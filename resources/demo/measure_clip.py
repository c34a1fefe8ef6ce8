"""Measure the demo CLIP: how well it finds held-out scenes of ``draw_scenes.py`` by their captions.

    python resources/demo/measure_clip.py            # the model beside this script, as Markdown

Needs torch, transformers, numpy and Pillow. Nothing here is used by the application itself.
"""

from __future__ import annotations

import argparse
import math
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from draw_scenes import CAPTIONS_EACH, illustrated
from PIL import Image
from scenes import COLOURS, SEED, SHAPES
from torch import Tensor
from torch.nn.functional import normalize
from transformers import AutoTokenizer, BatchEncoding, CLIPModel, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

FOLDER = Path(__file__).resolve().parent / "clip"
SIDE = 64  # pixels of a picture, as the model sees it
HELD_OUT = 500


def shrink(picture: np.ndarray) -> np.ndarray:
    """A picture in the model's size, as its processor does it."""
    return np.array(Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.BICUBIC))


def as_input(pictures: np.ndarray) -> Tensor:
    """Pictures, shape (n, SIDE, SIDE, 3), uint8, as the model takes them: (n, 3, SIDE, SIDE), -1 to 1."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(127.5).sub_(1).contiguous()


def tokens_of(captions: list[str], tokenizer: PreTrainedTokenizerFast) -> BatchEncoding:
    return tokenizer(captions, padding=True, return_tensors="pt", return_token_type_ids=False)


def vectors(model: CLIPModel, pictures: Tensor, tokens: BatchEncoding) -> tuple[Tensor, Tensor]:
    """Unit vectors of pictures and of captions."""
    seen = model.get_image_features(pixel_values=pictures).pooler_output
    read = model.get_text_features(**tokens).pooler_output
    return normalize(seen.float()), normalize(read.float())


def ranks(scores: Tensor, own: Tensor) -> Tensor:
    """The best place, from 1, that one of its own columns takes in each row.

    Parameters
    ----------
    scores : Tensor
        Shape (rows, columns).
    own : Tensor
        The same shape, bool.
    """
    best = scores.masked_fill(~own, -math.inf).max(dim=1, keepdim=True).values
    return (scores > best).sum(dim=1) + 1


@torch.no_grad()
def measure(
    model: CLIPModel, tokenizer, captions_each: int = CAPTIONS_EACH, seed: int = SEED
) -> dict[str, dict[str, float]]:
    """Recall@k and median rank on the held-out pictures, both ways, by the protocol usual for captions.

    Each caption asks for its one picture among all; each picture asks for any of its captions among all.
    """
    found = list(islice(illustrated("held-out", seed), HELD_OUT))
    pictures = np.stack([shrink(picture) for _, picture, _ in found])
    captions = [caption for _, _, captions in found for caption in captions[:captions_each]]
    seen, read = vectors(model, as_input(pictures), tokens_of(captions, tokenizer))
    scores = read @ seen.T
    own = torch.arange(len(captions))[:, None] // captions_each == torch.arange(len(pictures))
    places = {"text → image": ranks(scores, own), "image → text": ranks(scores.T, own.T)}
    return {
        way: {
            **{f"recall@{k}": (place <= k).float().mean().item() for k in (1, 5, 10)},
            "median rank": place.float().median().item(),
        }
        for way, place in places.items()
    }


@torch.no_grad()
def measure_short_queries(model: CLIPModel, tokenizer, k: int = 5, seed: int = SEED) -> tuple[float, int]:
    """What share of the first k pictures shows what a query as "a red heart" names; and how many queries.

    The queries are all pairs of a colour and a shape that at least k of the pictures show.
    """
    found = list(islice(illustrated("held-out", seed), HELD_OUT))
    pictures = np.stack([shrink(picture) for _, picture, _ in found])
    shown = [{(thing.colour, thing.shape) for thing in scene.things} for scene, _, _ in found]
    pairs = [(c, s) for c in COLOURS for s in SHAPES if sum((c, s) in pair for pair in shown) >= k]
    queries = [f"{'an' if colour[0] in 'aeiou' else 'a'} {colour} {shape}" for colour, shape in pairs]
    seen, read = vectors(model, as_input(pictures), tokens_of(queries, tokenizer))
    right = [
        pair in shown[row]
        for pair, rows in zip(pairs, (read @ seen.T).topk(k).indices.tolist(), strict=True)
        for row in rows
    ]
    return sum(right) / len(right), len(pairs)


def load(folder: Path) -> tuple[CLIPModel, PreTrainedTokenizerFast]:
    """The model in a folder, in single precision, and its tokenizer."""
    model = CLIPModel.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    return model.eval(), AutoTokenizer.from_pretrained(folder, local_files_only=True)


def report(folder: Path, seed: int) -> None:
    """Print what the model in the folder is worth."""
    model, tokenizer = load(folder)
    found = measure(model, tokenizer, seed=seed)
    names = list(found["text → image"])
    print(f"| {HELD_OUT} held-out pictures | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for way, figures in found.items():
        print(f"| {way} | {' | '.join(f'{figures[name]:.3f}' for name in names)} |")
    precision, queries = measure_short_queries(model, tokenizer, seed=seed)
    print(f"\nPrecision@5 of {queries} short queries (a colour and a shape): {precision:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="where the model is")
    parser.add_argument("--seed", type=int, default=SEED, help="another one draws other held-out scenes")
    args = parser.parse_args()
    disable_progress_bar()
    report(args.folder, args.seed)


if __name__ == "__main__":
    main()
