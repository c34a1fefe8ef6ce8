"""A model's stages, run from its tensors alone: what it makes of a row after the lookup."""

from explorer.compute.stages.opening import open_stage_model
from explorer.compute.stages.outputs import compare_outputs
from explorer.compute.stages.parts import model_parts
from explorer.compute.stages.phrases import compare_word, encode_phrases
from explorer.compute.stages.positions import position_tables, similarity

__all__ = [
    "compare_outputs",
    "compare_word",
    "encode_phrases",
    "model_parts",
    "open_stage_model",
    "position_tables",
    "similarity",
]
