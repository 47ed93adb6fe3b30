"""``python -m anchored`` is the command ``anchored``; ``torchrun -m anchored`` needs it."""

import signal
import sys

from anchored._signals import catch_signals, open_streams

__all__ = ["main"]

_OF_THE_APP = ("typer", "rich")


def main() -> None:
    """Run the command line, or say what must be installed for it."""
    catch_signals()
    open_streams()
    try:
        from anchored.cli import main as run
    except ModuleNotFoundError as error:
        if error.name not in _OF_THE_APP:
            raise
        print(
            f"anchored: the command line needs {error.name}, which is not installed; pip install 'anchored[app]'",
            file=sys.stderr,
        )
        sys.exit(2)
    try:
        run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said: a late Ctrl-C must not tear at the end


if __name__ == "__main__":
    main()
