"""The command ``anchored``: one file per command, each importing torch only when it runs."""

from anchored.cli.commands import app, main

__all__ = ["app", "main"]
