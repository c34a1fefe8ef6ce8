"""A model's stages, run from its tensors alone: what it makes of a row after the lookup."""

from explorer.compute.stages.opening import open_stage_model

__all__ = ["open_stage_model"]
