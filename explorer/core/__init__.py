"""Values and pure functions: tables, labels, row health, queries, layouts, errors.

No Qt, no torch, no reading of files.
"""
