"""Heavy work, run in child processes: search, neighbour graphs, layouts.

The only package that imports torch or umap.
"""
