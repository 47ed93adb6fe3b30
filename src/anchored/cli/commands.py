"""The table of commands, and how an error of the user ends: one line, exit code 2, no traceback."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from anchored import __version__
from anchored._errors import InputError
from anchored._memory import keep_freed_memory
from anchored.cli.audit import audit
from anchored.cli.bench import bench
from anchored.cli.corrupt import corrupt
from anchored.cli.data import data
from anchored.cli.evaluate import evaluate
from anchored.cli.export import export
from anchored.cli.fit import fit
from anchored.cli.paper import paper
from anchored.cli.predict import predict
from anchored.cli.processes import Ended, Terminated, about_the_disk, is_first_here, leave, say, terminable
from anchored.cli.prototypes import prototypes
from anchored.cli.report import report
from anchored.cli.resume import resume
from anchored.cli.review import review

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


for command in (fit, resume, predict, evaluate, audit, export, corrupt, data, prototypes, bench, review, report):
    app.command()(command)
app.add_typer(paper)

# Typer brings its own copy of click or uses the installed one; this is the class either way.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line; what the user did wrong is said in one line, with exit code 2."""
    keep_freed_memory()
    with terminable():
        code = _run(sys.argv[1:] or ["--help"])
    leave(code)


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments, prog_name="anchored", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except Ended as ended:
        return ended.code
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except Terminated:
        say("told to stop (SIGTERM)")
        return 143
    except typer.Abort:
        return 1
    except Exception as error:
        line = _line(error)
        if line is None:
            raise
        if is_first_here():
            say(line)
        return 2


def _line(error: Exception) -> str | None:
    """What a user can act on, as one line; None for a mistake of ours, whose traceback is wanted."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, _UsageError):
        context = getattr(error, "ctx", None)
        command = "anchored" if context is None else context.command_path
        said = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        return f"{said}; see {command} --help"
    refused = about_the_disk(error)
    return None if refused is None else f"{refused}; make room or choose another place, then try again"
