"""From where three dimensions are seen: turned about their middle, then seen from the front."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

STEEPEST = math.pi / 2


@dataclass(frozen=True)
class Camera:
    """How the points are turned; none of it is the plane of the first two components.

    Attributes
    ----------
    yaw : float
        Radians about the upright axis.
    pitch : float
        Radians towards the viewer, at most a quarter turn either way, so that up stays up.
    """

    yaw: float = 0.0
    pitch: float = 0.0

    def turned(self, right: float, down: float) -> Camera:
        """As when a ball is rolled by the mouse, by so many radians: what is in front follows it."""
        yaw = math.remainder(self.yaw + right, 2 * math.pi)
        return replace(self, yaw=yaw, pitch=min(max(self.pitch + down, -STEEPEST), STEEPEST))

    @property
    def axes(self) -> NDArray[np.float64]:
        """The directions right, up and towards the viewer, in the points' own axes; shape (3, 3)."""
        sin_yaw, cos_yaw = math.sin(self.yaw), math.cos(self.yaw)
        sin_pitch, cos_pitch = math.sin(self.pitch), math.cos(self.pitch)
        return np.array(
            [
                [cos_yaw, 0.0, sin_yaw],
                [sin_pitch * sin_yaw, cos_pitch, -sin_pitch * cos_yaw],
                [-cos_pitch * sin_yaw, sin_pitch, cos_pitch * cos_yaw],
            ]
        )
