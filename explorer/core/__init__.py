"""Values and pure functions: tables, labels, row health, queries, layouts, errors. No I/O, no Qt, no torch."""
