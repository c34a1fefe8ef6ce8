"""``embedding-explorer stages``: what a model makes of a text or picture, stage by stage."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.cli.writing import require_writable
from explorer.compute.stages import open_stage_model
from explorer.core.errors import ExplorerError
from explorer.core.stages import Stage, Stages, StageToken
from explorer.export.matrices import write_stages
from explorer.readers.pictures import read_picture

_FIRST = 4  # values of a stage that are printed
_MOST_NAMED = 24  # tokens


def run(call: argparse.Namespace) -> int:
    """Run ``call.file`` on a text, ids or a picture."""
    options = call.options
    text = " ".join(call.text)
    if text.strip() and call.ids is not None:
        raise ExplorerError("There are both a text and ids.", "Give one of them.")
    if call.output is not None:
        require_writable(call.output)
    if call.image is not None and not call.image.exists():
        raise ExplorerError(f"There is no file {call.image}.")
    picture = None if call.image is None else read_picture(call.image).image
    model = open_stage_model(
        call.file,
        labels=options.labels,
        target_labels=options.target_labels,
        side=call.side,
        header=options.header,
        heads=call.heads,
    )
    stages = model.run(
        text,
        ids=call.ids,
        picture=picture,
        side=call.side,
        special=call.special_tokens or None,
        source=call.source,
    )
    if call.output is not None:
        write_stages(call.output, stages)
    if options.json:
        print_json(_as_json(stages))
    else:
        _print(stages)
        if call.output is not None:
            print(printable(f"written to {call.output}"))
    return 0


def _as_json(stages: Stages) -> dict[str, object]:
    return {
        "model": stages.model,
        "tokens": _tokens(stages.tokens),
        **({"source": _tokens(stages.source)} if stages.source else {}),
        "stages": [
            {"name": each.name, "shape": list(each.shape), "values": _values(each)} for each in stages.stages
        ],
        "notes": list(stages.notes),
    }


def _tokens(tokens: Sequence[StageToken]) -> list[dict[str, object]]:
    return [{"id": token.id, "label": token.label} for token in tokens]


def _values(stage: Stage) -> object:
    """Nested lists of numbers, each with its float32's shortest digits; None for what is never built."""
    if stage.values is None:
        return None
    if stage.values.dtype.kind == "i":
        return stage.values.tolist()
    flat = [float(text) for text in stage.values.ravel().astype(np.str_)]
    width = stage.shape[-1]
    if len(stage.shape) == 1:
        return flat
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _print(stages: Stages) -> None:
    print(printable(f"{stages.model}: {_words(stages.tokens)}"))
    if stages.source:
        print(printable(f"source: {_words(stages.source)}"))
    print()
    print_columns(
        ("STAGE", "SHAPE", "FIRST VALUES", "HOW"),
        [(each.name, " × ".join(map(str, each.shape)), _beginning(each), each.how) for each in stages.stages],
        right=(1,),
    )
    print_notes(stages.notes)


def _words(tokens: Sequence[StageToken]) -> str:
    words = " ".join(token.label if token.known else f"{token.label}?" for token in tokens[:_MOST_NAMED])
    return f"{words} …" if len(tokens) > _MOST_NAMED else words


def _beginning(stage: Stage) -> str:
    if stage.values is None:
        return ""
    first = stage.values.ravel()[:_FIRST]
    shown = [str(value) if stage.values.dtype.kind == "i" else f"{value: .4f}" for value in first]
    return " ".join(shown) + (" …" if stage.values.size > len(first) else "")
