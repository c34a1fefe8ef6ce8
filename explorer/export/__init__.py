"""One painter for the screen and for every picture that leaves it; tables to files."""
