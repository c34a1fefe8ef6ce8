"""The map: the canvas with what floats on it."""
