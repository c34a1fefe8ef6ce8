"""Which tensors of a model are tables worth showing, and what each is for: names first, shapes second.

A shape alone misleads: an output layer has the vocabulary's shape, a position table can be longer than the
token table, a square patch projection looks like anything. So a tensor is judged by the words in the last
parts of its name, then by its neighbours (a lookup table has no bias beside it), then by its shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from explorer.core.table import Role
from explorer.readers.tensors import Tensor


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_EMBEDDING = _set("emb embs embed embeds embedded embedder embedding embeddings embd")
_POSITION = _set("pos position positions positional wpe pe abspos")
_POSITION_TABLE = _EMBEDDING | _set("wpe pe encoding encodings enc table w")
_RELATIVE = _set("rel relative rotary rope")
_TOKEN = _set("token tokens tok word words vocab subword char chars input src tgt trg source target text")
_TOKEN_NAMES = _set("wte lut shared word_vectors word_vecs encoder tok token tokens")
_LOOKUP_ONLY = _EMBEDDING | _set("lut table weight weights layer w e")
_KIND = _set(
    "type types segment seg time timestep timesteps label labels class lang language size query queries"
)
_ENTITY = _set(
    "user users item items entity entities node nodes relation relations movie movies codebook vq quantize"
)
_CLASS_TOKEN = re.compile(r"(cls|class|dist|distillation)_(tokens?|emb|embed|embedding)|cls")
_OUTPUT = re.compile(
    r"(^|\.)(lm_head(\.decoder)?|embed_out|output_projection|generator(\.proj)?|predictions\.decoder"
    r"|vocab_projector|output_layer|to_logits|unembed(ding)?)$"
)
_BLOCK_OUTPUTS = _set("output_projection output_layer to_logits")  # attention has them too
_HEAD = _set("fc fc_out head heads classifier mlp_head output out linear dense decoder final_layer")
_CLASSIFIER = _set("fc fc_out head heads classifier mlp_head")
_OUT = _set("out output outputs context")
_PROJECTION = re.compile(r"(^|\.)((text|visual|image|vision|audio)_projection(\.projection)?|visual\.proj)$")
_PATCH_INPUT = _set("fc_in proj_in conv1 conv_proj")
_MASK = _set("mask tril triu causal bias scale inv")
_WRAPPERS = _set("module model _orig_mod")
_VOCABULARY = 50  # rows from which equal counts are no coincidence
_TARGET = _set("tgt trg target")
_SOURCE = _set("src source")

# The order in which tables are offered.
_STRONG, _TOKENS, _IMAGES, _VECTORS, _POSITIONS, _PATCHES, _CLASSES, _OUTPUTS, _OTHERS, _REST = range(10)
RANKS = {
    Role.TOKEN: _TOKENS,
    Role.IMAGES: _IMAGES,
    Role.OTHER: _VECTORS,
    Role.POSITION: _POSITIONS,
    Role.PATCH: _PATCHES,
    Role.CLASS_TOKEN: _CLASSES,
    Role.OUTPUT: _OUTPUTS,
}


@dataclass(frozen=True)
class Found:
    """A tensor that is a table.

    Attributes
    ----------
    names : tuple of str
        The name to show, then the others over the same storage.
    role : Role
    rank : int
        Tables are offered in the order of their ranks.
    rows, dim : int
        The shape as a table: filters flattened, a lone vector as one row.
    """

    names: tuple[str, ...]
    role: Role
    rank: int
    rows: int
    dim: int


def find_tables(tensors: Mapping[str, Tensor]) -> list[Found]:
    """Pick the tables out of a model's tensors and say what each is for.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        By their names in the model, in the file's order.

    Returns
    -------
    list of Found
        The likeliest first. Where no name tells of a table, all matrices, tall ones first.
    """
    model = _Model(tensors)
    found = [table for name in tensors if (table := model.judge(name)) is not None]
    if not any(table.role is Role.TOKEN for table in found):
        found += model.like_outputs(found)
    if not any(table.rank <= _PATCHES for table in found):
        found += model.by_shape(found)
    found = _tied(found, tensors)
    sided = {side_of(table.names[0]) for table in found if table.role is Role.TOKEN} >= {"source", "target"}
    return sorted(found, key=lambda table: (table.rank, sided and side_of(table.names[0]) == "target"))


def side_of(name: str) -> str | None:
    """Which side of a translator a tensor belongs to: "source", "target" or None where its name does not say.

    Only the encoder and decoder of a model that has a token table in both are sides as well.
    """
    words = {word for part in _parts(name) for word in part.split("_")}
    if words & _SOURCE:
        return "source"
    if words & _TARGET:
        return "target"
    parts = set(_parts(name))
    if "encoder" in parts:
        return "source"
    return "target" if parts & {"decoder", "generator"} else None


def is_lookup_name(name: str) -> bool:
    """Whether a name alone says that the tensor is a lookup table."""
    parts = _parts(name)
    return bool(_words(parts) & _EMBEDDING) or parts[-1] in _TOKEN_NAMES


def _parts(name: str) -> list[str]:
    """A name's parts in lower snake case, without wrappers and the closing ``weight``."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    parts = re.split(r"[./]", snake)
    parts = parts[:-1] if parts[-1] == "weight" and len(parts) > 1 else parts
    start = 0
    while start < len(parts) - 1 and parts[start] in _WRAPPERS:
        start += 1
    return parts[start:]


def _spelt(parts: list[str]) -> list[str]:
    """The parts that are no numbers; at least one."""
    return [part for part in parts if not part.isdigit()] or [""]


def _words(parts: list[str]) -> set[str]:
    """The words of the last part, and of those before it while they only say that it is a lookup."""
    last, *before = reversed(_spelt(parts))
    words = set(last.split("_"))
    for part in before:
        own = set(part.split("_"))
        if not words <= _LOOKUP_ONLY or not (len(own) == 1 or own & (_EMBEDDING | _POSITION)):
            break
        words |= own
    return words


class _Model:
    """A model's tensors, and what has to be known of all of them to judge one."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = {name: t for name, t in tensors.items() if t.is_float and prod(t.shape) > 0}
        self.parts = {name: _parts(name) for name in tensors}
        self.spelt = {name: _spelt(parts) for name, parts in self.parts.items()}
        self.words = {name: _words(parts) for name, parts in self.parts.items()}
        self.lookups = Counter(t.shape for name, t in self.tensors.items() if self._is_lookup(name, t))
        self.tokens = {
            t.shape
            for name, t in self.tensors.items()
            if self._is_token(name, t) and not self._is_output(name)
        }
        self.with_positions = {
            tuple(self.parts[name][:-1]) for name, t in self.tensors.items() if self._is_position(name, t)
        }
        self.has_class_token = any(self._is_class_token(name, t) for name, t in self.tensors.items())

    def judge(self, name: str) -> Found | None:
        """What the tensor is for, or None where it is no table."""
        tensor = self.tensors.get(name)
        if tensor is None:
            return None
        shape = tensor.shape
        if self._is_position(name, tensor):
            rows, dim = _position_shape(shape) or shape[-2:]
            return Found((name,), Role.POSITION, _POSITIONS, rows, dim)
        if self._is_class_token(name, tensor):
            return Found((name,), Role.CLASS_TOKEN, _CLASSES, 1, shape[-1])
        if self._is_patch(name, tensor):
            return Found((name,), Role.PATCH, _PATCHES, shape[0], prod(shape[1:]))
        if len(shape) != 2:
            return None
        if self._is_output(name) or self._is_head(name, tensor):
            return Found((name,), Role.OUTPUT, _OUTPUTS, *shape)
        if self._is_token(name, tensor):
            return Found((name,), Role.TOKEN, _STRONG if self.words[name] & _TOKEN else _TOKENS, *shape)
        if _PROJECTION.search(".".join(self.parts[name])) or self._is_lookup(name, tensor):
            vectors = bool(self.words[name] & _ENTITY)
            return Found((name,), Role.OTHER, _VECTORS if vectors else _OTHERS, *shape)
        return None

    def like_outputs(self, found: list[Found]) -> list[Found]:
        """Unnamed lookups: matrices without a bias that have a row for each row of an output layer."""
        outputs = {table.rows for table in found if table.role is Role.OUTPUT and table.rows >= _VOCABULARY}
        return [
            Found((name,), Role.TOKEN, _TOKENS, *tensor.shape)
            for name, tensor in self._unnamed(found)
            if tensor.shape[0] in outputs and not self._has_bias(name)
        ]

    def by_shape(self, found: list[Found]) -> list[Found]:
        """All other matrices, tall ones first, then by size."""
        rest = [Found((name,), Role.OTHER, _REST, *tensor.shape) for name, tensor in self._unnamed(found)]
        return sorted(rest, key=lambda table: (table.rows < 2 * table.dim, -table.rows * table.dim))

    def _unnamed(self, found: list[Found]) -> Iterator[tuple[str, Tensor]]:
        known = {name for table in found for name in table.names}
        for name, tensor in self.tensors.items():
            if name not in known and len(tensor.shape) == 2 and not self.words[name] & _MASK:
                yield name, tensor

    # One question each, about one tensor.

    def _last(self, name: str) -> str:
        """The last part that is no number, e.g. ``embed`` of ``src.embed.0``."""
        return self.spelt[name][-1]

    def _has_bias(self, name: str) -> bool:
        return re.sub(r"weight$", "bias", name) in self.tensors if name.endswith("weight") else False

    def _in_block(self, name: str) -> bool:
        """Whether the tensor is one layer's of many: a number before its own name."""
        return any(part.isdigit() for part in self.parts[name][:-1])

    def _is_lookup(self, name: str, tensor: Tensor) -> bool:
        words = self.words[name]
        named = bool(words & _EMBEDDING) or self._last(name) in _TOKEN_NAMES
        return named and len(tensor.shape) == 2 and not words & _RELATIVE and not self._has_bias(name)

    def _is_token(self, name: str, tensor: Tensor) -> bool:
        words = self.words[name]
        if self.parts[name] == ["weight"]:  # nn.Embedding, saved by itself
            return len(tensor.shape) == 2 and not self._has_bias(name)
        excluded = words & (_KIND | _ENTITY | _POSITION) or "patch" in words
        return self._is_lookup(name, tensor) and not excluded

    def _is_position(self, name: str, tensor: Tensor) -> bool:
        words = self.words[name]
        named = words & _POSITION and (words & _POSITION_TABLE or self._last(name) in _POSITION)
        if not named or words & _RELATIVE or self._has_bias(name):
            return False
        return _position_shape(tensor.shape) is not None

    def _is_class_token(self, name: str, tensor: Tensor) -> bool:
        return (
            _CLASS_TOKEN.fullmatch(self._last(name)) is not None
            and len(tensor.shape) > 0
            and prod(tensor.shape[:-1]) == 1
            and tensor.shape[-1] > 1
            and not self._has_bias(name)
        )

    def _is_patch(self, name: str, tensor: Tensor) -> bool:
        if len(tensor.shape) not in (2, 4, 5):
            return False
        parts = self.spelt[name]
        if any("patch" in part.split("_") for part in parts[-2:]):
            return parts[-1] not in ("norm", "reduction")
        if parts[-1] not in _PATCH_INPUT or self._in_block(name):
            return False
        beside = tuple(self.parts[name][:-1]) in self.with_positions
        return beside or (parts[-1] == "conv_proj" and self.has_class_token)

    def _is_output(self, name: str) -> bool:
        if self._in_block(name) and self._last(name) in _BLOCK_OUTPUTS:
            return False
        return _OUTPUT.search(".".join(self.parts[name])) is not None

    def _is_head(self, name: str, tensor: Tensor) -> bool:
        """Whether an unspecific name is an output layer: a row a token, or a row a class."""
        words = self.words[name]
        if self._in_block(name) or len(tensor.shape) != 2:
            return False
        if words & _EMBEDDING:
            return bool(words & _OUT) and self.lookups[tensor.shape] > 1
        if self._is_token(name, tensor):
            return False
        if tensor.shape in self.tokens:
            return True
        if self._last(name) in _HEAD and tensor.shape[0] in {rows for rows, _ in self.tokens}:
            return True
        parts = self.spelt[name]
        projected = any("projection" in part for part in parts)
        square = tensor.shape[0] == tensor.shape[1]  # a projection, not a row a class
        classes = parts[-1] in _CLASSIFIER and len(parts) <= 3 and self._has_bias(name)
        return classes and not projected and not square


def _position_shape(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """A position table's rows and dim, whichever of its axes is the batch."""
    match shape:
        case (rows, dim) if dim > 1:
            return rows, dim
        case (1, rows, dim) | (rows, 1, dim):
            return rows, dim
        case (1, height, width, dim) if dim >= max(height, width):
            return height * width, dim
    return None


def _tied(found: list[Found], tensors: Mapping[str, Tensor]) -> list[Found]:
    """One table for all names over the same storage, under the name of its likeliest role."""
    groups: dict[Hashable, list[Found]] = {}
    for table in found:
        groups.setdefault(tensors[table.names[0]].identity, []).append(table)
    merged = []
    for group in groups.values():
        first = min(group, key=lambda table: table.rank)
        names = (first.names[0], *(name for t in group for name in t.names if name != first.names[0]))
        merged.append(Found(names, first.role, first.rank, first.rows, first.dim))
    return merged
