"""Train the demo CLIP: a small ``transformers`` CLIPModel on scenes that ``draw_scenes.py`` draws.

    python resources/demo/train_clip.py              # write the model into clip/ beside this script

Needs torch, transformers, numpy and Pillow. Training is the plain CLIP objective (Radford et al., 2021): the
pictures and captions of a batch against each other, cross-entropy both ways, a learnt temperature. A run that
was ended goes on from its last checkpoint in ``--work``. Nothing here is used by the application itself.

What makes it learn within minutes on one CPU core:

- Patches of 21 pixels, a third of the side, so that most things lie within one patch. After 300 steps of
  naming (see below) the right shape was named for 75 % of the things; with patches of 16, which they
  straddle, for 44 %.
- The image tower's first steps: it names the colour, shape and texture of what lies in each patch, which
  the script knows. Without them, 500 steps of the CLIP objective learnt colours and places, but a linear
  probe read the right shape off 31 % of the vectors only; with them, after 600 steps, off 82 %.
- Three of four scenes in a batch are almost like another one. Colours, places and backgrounds alone tell
  256 random scenes apart, so that shapes and textures would hardly count.
- A tokenizer of whole words: about 130 are all that the captions have.
- Two captions in five name only a part of the scene, as "a red heart": that is what people type.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from draw_scenes import Spot, lay_out, paint
from measure_clip import FOLDER, SIDE, as_input, measure, measure_short_queries, shrink, tokens_of, vectors
from PIL import Image
from scenes import COLOURS, SEED, SHAPES, TEXTURES, Scene, captions_of, families, part_caption, scenes
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import (
    BatchEncoding,
    CLIPConfig,
    CLIPImageProcessorPil,
    CLIPModel,
    PreTrainedTokenizerFast,
)
from transformers.utils.logging import disable_progress_bar

WORK = Path(tempfile.gettempdir()) / "demo-clip-training"

PATCH = 21
PICTURES = 60_000  # different pictures in training; their captions are worded anew each time
FAMILY = 4  # scenes of which three are almost like the first
BATCH = 256  # scenes, of whole families
NAMING_STEPS = 800  # in which the image tower names what lies in each patch; then come
CLIP_STEPS = 600
NAMING_RATE = 2e-3  # the learning rate at its peak
CLIP_RATE = 1e-3
WARM_UP = 100  # steps until the peak; from there a half cosine down to 0
WEIGHT_DECAY = 0.05
SAVE_EVERY = 100  # steps
PART = 0.4  # share of captions that name only a part of the scene
FORGOTTEN = 0.01  # share of words replaced by the unknown one, so that such a word is no harm in a query
MAX_LENGTH = 48
NAMED = (len(COLOURS), len(SHAPES), len(TEXTURES))
PROJECTED = 128  # numbers in a vector
WORD = re.compile(r"\w+|[^\w\s]")  # or a mark of punctuation
PAD, UNKNOWN, BEGIN, END = "<pad>", "<unk>", "<s>", "</s>"


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of the words in the training captions; any other word is the unknown one."""
    words: set[str] = set()
    for scene, rng in islice(scenes("training"), 4000):
        words.update(WORD.findall(captions_of(scene, rng, 1)[0]), WORD.findall(part_caption(scene, rng)))
    vocabulary = {word: i for i, word in enumerate([PAD, UNKNOWN, BEGIN, END, *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORD.pattern), "removed", invert=True)
    ends = [(BEGIN, vocabulary[BEGIN]), (END, vocabulary[END])]
    tokenizer.post_processor = processors.TemplateProcessing(f"{BEGIN} $A {END}", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_LENGTH,
        pad_token=PAD,
        unk_token=UNKNOWN,
        bos_token=BEGIN,
        eos_token=END,
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> CLIPModel:
    """The model at its random start."""
    text = {
        "hidden_size": 128,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": MAX_LENGTH,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "projection_dim": PROJECTED,
    }
    vision = {
        "hidden_size": 192,
        "intermediate_size": 768,
        "num_hidden_layers": 4,
        "num_attention_heads": 6,
        "image_size": SIDE,
        "patch_size": PATCH,
        "projection_dim": PROJECTED,
    }
    return CLIPModel(CLIPConfig(projection_dim=PROJECTED, text_config=text, vision_config=vision))


def make_processor() -> CLIPImageProcessorPil:
    """Pictures of any size squashed to SIDE x SIDE, values from -1 to 1."""
    return CLIPImageProcessorPil(
        size={"height": SIDE, "width": SIDE},
        do_center_crop=False,
        crop_size={"height": SIDE, "width": SIDE},
        resample=Image.Resampling.BICUBIC,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )


@dataclass(frozen=True)
class Lessons:
    """What there is to learn from, family by family.

    Attributes
    ----------
    scenes : list of Scene
    pictures : uint8 array, shape (n, SIDE, SIDE, 3)
    names : int8 array, shape (n, patches, 3)
        Which colour, shape and texture has its middle in each patch; -1 where nothing has.
    """

    scenes: list[Scene]
    pictures: np.ndarray
    names: np.ndarray


def prepare_lessons(folder: Path, count: int) -> Lessons:
    """Draw the training pictures once, into files that are mapped from there."""
    found = list(islice(families(FAMILY), count))
    drawn, named = folder / f"pictures-{count}.npy", folder / f"names-{count}.npy"
    if not drawn.exists():
        unfinished = drawn.with_suffix(".part")
        pictures = np.lib.format.open_memmap(unfinished, "w+", np.uint8, (count, SIDE, SIDE, 3))
        names = np.empty((count, (SIDE // PATCH) ** 2, 3), np.int8)
        for i, (scene, rng) in enumerate(found):
            spots = lay_out(scene, rng)
            pictures[i] = shrink(paint(scene.background, spots, rng))
            names[i] = names_of(spots)
        pictures.flush()
        np.save(named, names)
        unfinished.rename(drawn)
    return Lessons([scene for scene, _ in found], np.load(drawn, mmap_mode="r"), np.load(named))


def names_of(spots: list[Spot]) -> np.ndarray:
    """What has its middle in each patch, as numbers, shape (patches, 3); -1 where nothing has."""
    across = SIDE // PATCH
    names = np.full((across**2, 3), -1, np.int8)
    for spot in spots:
        column, row = (min(int(mark * SIDE / PATCH), across - 1) for mark in (spot.x, spot.y))
        thing = spot.thing
        names[row * across + column] = [
            list(known).index(name)
            for known, name in ((COLOURS, thing.colour), (SHAPES, thing.shape), (TEXTURES, thing.texture))
        ]
    return names


def learning_rate(step: int) -> float:
    """Up in a line, down along a half cosine; once for each objective."""
    peak, steps = NAMING_RATE, NAMING_STEPS
    if step >= NAMING_STEPS:
        step, peak, steps = step - NAMING_STEPS, CLIP_RATE, CLIP_STEPS
    return peak * min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2


def naming_loss(learner: torch.nn.ModuleDict, rows: np.ndarray, lessons: Lessons) -> Tensor:
    """Cross-entropy of the names of what lies in each patch, read off the patch's last hidden state."""
    hidden = learner["clip"].vision_model(pixel_values=as_input(lessons.pictures[rows])).last_hidden_state
    names = torch.from_numpy(lessons.names[rows].astype(np.int64))
    there = names[:, :, 0] >= 0
    scores = learner["names"](hidden[:, 1:][there]).float().split(NAMED, dim=1)
    return sum(cross_entropy(score, name) for score, name in zip(scores, names[there].T, strict=True))


def clip_loss(model: CLIPModel, pictures: Tensor, tokens: BatchEncoding) -> Tensor:
    """Cross-entropy of each caption's picture among all, and of each picture's caption."""
    seen, read = vectors(model, pictures, tokens)
    scores = model.logit_scale.exp() * read @ seen.T
    own = torch.arange(len(scores))
    return (cross_entropy(scores, own) + cross_entropy(scores.T, own)) / 2


def word_anew(found: list[Scene], rng: np.random.Generator, tokenizer) -> BatchEncoding:
    """New captions of the scenes."""
    captions = [
        part_caption(scene, rng) if rng.random() < PART else captions_of(scene, rng, 1)[0] for scene in found
    ]
    tokens = tokens_of(captions, tokenizer)
    forgotten = torch.from_numpy(rng.random(tokens["input_ids"].shape) < FORGOTTEN)
    forgotten &= tokens["input_ids"] > tokenizer.eos_token_id
    tokens["input_ids"][forgotten] = tokenizer.unk_token_id
    return tokens


def loss_of(step: int, learner: torch.nn.ModuleDict, lessons: Lessons, tokenizer) -> Tensor:
    """The loss of one step, on a batch and in words that are the same for the same step."""
    rng = np.random.default_rng([SEED, step])
    first = FAMILY * np.sort(rng.choice(len(lessons.scenes) // FAMILY, BATCH // FAMILY, replace=False))
    rows = (first[:, None] + np.arange(FAMILY)).ravel()
    # bfloat16 products, where the processor has them: a third of the time saved.
    with torch.autocast("cpu", torch.bfloat16):
        if step < NAMING_STEPS:
            return naming_loss(learner, rows, lessons)
        tokens = word_anew([lessons.scenes[row] for row in rows], rng, tokenizer)
        return clip_loss(learner["clip"], as_input(lessons.pictures[rows]), tokens)


def learn(step: int, learner: torch.nn.ModuleDict, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step)
    optimizer.step()
    with torch.no_grad():
        learner["clip"].logit_scale.clamp_(0, math.log(100))


def make_optimizer(learner: torch.nn.ModuleDict) -> torch.optim.Optimizer:
    """AdamW, without decay for biases, norms and the temperature."""
    grown = [p for p in learner.parameters() if p.ndim > 1]
    plain = [p for p in learner.parameters() if p.ndim <= 1]
    groups = [{"params": grown, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True)


def train(out: Path, work: Path) -> None:
    """Train, print how it goes, and write the model's folder."""
    torch.manual_seed(SEED)
    work.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    names = torch.nn.Linear(model.config.vision_config.hidden_size, sum(NAMED))
    learner = torch.nn.ModuleDict({"clip": model, "names": names})
    optimizer = make_optimizer(learner)
    lessons = prepare_lessons(work, PICTURES)
    start, spent = resume(work / "checkpoint.pt", learner, optimizer)
    started = time.monotonic() - spent
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} words")
    print("\n| step | loss | recall@1 | recall@10 | precision@5, short queries | minutes |")
    print("|--:|--:|--:|--:|--:|--:|")
    losses: list[float] = []
    for step in range(start, NAMING_STEPS + CLIP_STEPS):
        loss = loss_of(step, learner, lessons, tokenizer)
        learn(step, learner, optimizer, loss)
        losses.append(loss.item())
        if (step + 1) % SAVE_EVERY == 0:
            spent = time.monotonic() - started
            state = (learner.state_dict(), optimizer.state_dict(), step + 1, spent)
            torch.save(state, work / "checkpoint.part")
            (work / "checkpoint.part").rename(work / "checkpoint.pt")
            found = measure(model, tokenizer, captions_each=1)["text → image"]
            row = [np.mean(losses), found["recall@1"], found["recall@10"]]
            row += [measure_short_queries(model, tokenizer)[0], spent / 60]
            print(f"| {step + 1} |", " | ".join(f"{figure:.3f}" for figure in row), "|", flush=True)
            losses.clear()
    save(out, model, tokenizer)


def resume(path: Path, learner: torch.nn.ModuleDict, optimizer: torch.optim.Optimizer) -> tuple[int, float]:
    """Take up a checkpoint where there is one; the step to go on with and the seconds spent before it."""
    if not path.exists():
        return 0, 0.0
    state, optimizer_state, step, spent = torch.load(path, weights_only=True)
    learner.load_state_dict(state)
    optimizer.load_state_dict(optimizer_state)
    return step, spent


def save(out: Path, model: CLIPModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Write the model's folder: weights in half precision, tokenizer, preprocessing."""
    model.half().save_pretrained(out)
    make_processor().save_pretrained(out)
    tokenizer.save_pretrained(out)
    # By the class's older name, which transformers 4 knows and 5 takes as well.
    path = out / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FOLDER, help="where the model is, or goes")
    parser.add_argument("--work", type=Path, default=WORK, help="where drawn pictures and checkpoints go")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    disable_progress_bar()
    os.nice(15)  # whoever else uses the machine goes first
    torch.set_num_threads(args.threads)
    train(args.out, args.work)


if __name__ == "__main__":
    main()
