"""What the shown file's model makes of a sentence or picture, stage by stage."""

from explorer.views.panels.stages.stages_panel import StagesPanel

__all__ = ["StagesPanel"]
