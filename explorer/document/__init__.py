"""The one truth of an open session: tables, layouts, selection, queries, settings. No Qt."""
