"""The command line: the window's start, and the commands that need no window.

One module a command; each is imported only when it is asked for.
"""
