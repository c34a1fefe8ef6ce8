"""Points to pixels: viewport, raster kernels, hit-testing, label placement, palettes. No Qt.

Nothing here imports numba until a kernel is needed; ``explorer.render.warm`` compiles them all.
"""
