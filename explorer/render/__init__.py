"""Points to pixels: raster kernels, hit-testing, label placement. No Qt."""
