"""Widgets. They show the document and send commands; they hold no state of their own."""
