"""The table of commands, and how an error of the user ends: one line, exit code 2, no traceback."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from anchored import __version__
from anchored._errors import InputError
from anchored.cli.bench import bench
from anchored.cli.prototypes import prototypes

__all__ = ["app", "main"]

app = typer.Typer(
    name="anchored",
    help="Train classifiers that hold under noisy labels and unbalanced classes, by anchoring the class prototypes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"anchored {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options that belong to no command."""


app.command()(prototypes)
app.command()(bench)


def main() -> None:
    """Run the command line; what the user did wrong is said in one line, with exit code 2."""
    try:
        app()
    except InputError as error:
        print(f"anchored: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("anchored: interrupted", file=sys.stderr)
        sys.exit(130)
