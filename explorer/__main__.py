"""The entry point of the window and of the commands; also what a spawned worker starts from."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import warnings

INTERRUPTED = 130


def main() -> int:
    """Run the command line; returns the exit status."""
    multiprocessing.freeze_support()
    if sys.stderr is not None:
        faulthandler.enable()
    _keep_libraries_quiet()
    try:
        from explorer.cli.run import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _keep_libraries_quiet() -> None:
    """Standard error is for what the person should read; ``python -W`` brings warnings back."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    for name, value in (("TORCH_CPP_LOG_LEVEL", "ERROR"), ("QT_LOGGING_RULES", "qt.text.font.db=false")):
        os.environ.setdefault(name, value)


if __name__ == "__main__":
    sys.exit(main())
