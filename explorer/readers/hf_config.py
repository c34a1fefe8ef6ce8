"""What a Hugging Face ``config.json`` says of weights that are shared, and so stored once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_LARGEST = 16 << 20
_CAUSAL = ("LMHeadModel", "ForCausalLM", "ForConditionalGeneration", "MTModel")
_MASKED = {
    "bert": "cls.predictions.decoder.weight",
    "roberta": "lm_head.decoder.weight",
    "xlm-roberta": "lm_head.decoder.weight",
    "camembert": "lm_head.decoder.weight",
    "distilbert": "vocab_projector.weight",
}


def read_json(path: Path) -> Any:
    """A JSON file's value; None where it is missing, too large or no JSON."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def tied_outputs(folder: Path) -> tuple[str, ...]:
    """Names under which a model in this folder would also know its token table, by its configuration.

    Parameters
    ----------
    folder : Path
        Where ``config.json`` lies.

    Returns
    -------
    tuple of str
        Empty where there is no configuration, or one that does not tie the output layer to the token table.
        Left to itself, transformers ties them in every model with a language-modelling head.
    """
    output = _tied_output(read_json(folder / "config.json"))
    for index in folder.glob("*.index.json"):  # a shard alone does not hold all that the model has
        listed = read_json(index)
        if isinstance(listed, dict) and output in (listed.get("weight_map") or ()):
            return ()
    return () if output is None else (output,)


def _tied_output(config: Any) -> str | None:
    if not isinstance(config, dict) or config.get("tie_word_embeddings") is False:
        return None
    architectures = config.get("architectures")
    if not architectures:
        return "lm_head.weight" if config.get("tie_word_embeddings") is True else None
    for name in architectures if isinstance(architectures, list) else []:
        if isinstance(name, str) and name.endswith(_CAUSAL):
            return "lm_head.weight"
        if isinstance(name, str) and name.endswith(("ForMaskedLM", "ForPreTraining")):
            return _MASKED.get(str(config.get("model_type")))
    return None  # no head; transformers writes tie_word_embeddings all the same
