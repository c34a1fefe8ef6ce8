"""Two thousand repaints in a process of its own end well, in constant memory."""

import os
import subprocess
import sys

from explorer.export.text import MOST_IMAGES

SOAK = """
import numpy as np
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, Legend, LegendEntry, Link
from explorer.export.labelling import with_labels
from explorer.export.painter import image_of, paint
from explorer.export.text import TextCache
from explorer.render.palette import DARK, LIGHT, category_palette
from explorer.render.raster import Raster, dots_for
from explorer.render.viewport import Viewport

application = QGuiApplication([])
rng = np.random.default_rng(0)
xy = rng.normal(size=(2000, 2)).astype(np.float32)
codes = (np.arange(2000) % 9).astype(np.uint8)
legend = Legend("legend", tuple(LegendEntry((9 * i, 0, 0), str(i)) for i in range(9)))
raster, cache = Raster(320, 240), TextCache()
points, image = image_of(raster), QImage(320, 240, QImage.Format.Format_RGB32)
view, placement = Viewport.fitted(xy, 320, 240), None
for turn in range(2000):
    view = view.zoomed_at(100 + turn % 90, 80, 1.1 if turn % 40 < 20 else 1 / 1.1).panned(1, -1)
    theme = DARK if turn % 100 > 50 else LIGHT
    figure = Figure(
        xy, codes, category_palette(9, theme), view, dots_for(2000, 320, 240), theme,
        results=np.arange(turn % 7), focus=turn % 2000, hover=(3 * turn) % 2000,
        stars=((0.0, 0.0),), links=(Link(0.0, 0.0, tuple(range(turn % 7))),), legend=legend,
        title=f"turn {turn}", density=turn % 10 == 0,
    )
    figure, placement = with_labels(figure, str, cache, previous=placement)
    draw_points(figure, raster, step=1 + turn % 3)
    painter = QPainter(image)
    paint(painter, figure, points=points, cache=cache)
    painter.end()
    raster.row_at(turn % 320, turn % 240)
print("done", cache.kept)
"""


def test_that_two_thousand_repaints_end_well():
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-X", "faulthandler", "-c", SOAK],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    word, kept = ended.stdout.split()
    assert word == "done"
    assert 0 < int(kept) <= MOST_IMAGES
    assert ended.stderr == ""
