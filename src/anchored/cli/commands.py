"""The table of commands, and how they end.

The docstring of a function is the help of its command, and its ``Args`` are the help of the command's options. Exit
codes: 0 if all is done, 1 if a part failed, 2 if something that the user gave cannot be used (said in one line, without
a traceback), 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP, 141 if all is done but nobody read stdout.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from anchored import __version__
from anchored._errors import InputError
from anchored._memory import keep_freed_memory
from anchored._signals import Terminated, reader_is_gone
from anchored.cli.audit import audit
from anchored.cli.bench import bench
from anchored.cli.cache import cache
from anchored.cli.corrupt import corrupt
from anchored.cli.data import data
from anchored.cli.embed import embed
from anchored.cli.evaluate import evaluate
from anchored.cli.export import export
from anchored.cli.fit import fit
from anchored.cli.paper import COMMANDS
from anchored.cli.predict import predict
from anchored.cli.processes import Ended, about_the_disk, is_first_here, leave, say
from anchored.cli.prototypes import prototypes
from anchored.cli.report import report
from anchored.cli.resume import resume
from anchored.cli.review import review

__all__ = ["app", "main"]

app = typer.Typer(
    name="anchored",
    help="Train classifiers that hold if labels are wrong or classes unbalanced, and find the labels that are wrong.",
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
    """Take the options that belong to no command."""


def _add(group: typer.Typer, function: Callable[..., None], name: str | None = None) -> None:
    """Make ``function`` a command: its docstring is the help, an entry of ``Args`` the help of an option."""
    about, _, listed = inspect.cleandoc(function.__doc__ or "").partition("\n\nArgs:\n")
    entries = dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", listed, flags=re.MULTILINE))
    hints = get_type_hints(function, include_extras=True)
    for each, parameter in inspect.signature(function).parameters.items():
        hint, *given = get_args(hints[each]) if get_origin(hints[each]) is Annotated else (hints[each],)
        # A copy: options that share an annotation, such as a number from 1 on, each have their own help.
        info: Any = (
            copy(given[0]) if given else typer.Argument() if parameter.default is parameter.empty else typer.Option()
        )
        if not given and parameter.default is False:
            info = typer.Option(f"--{each.replace('_', '-')}")  # and no --no-... for what is off anyway
        if each in entries:
            info.help = " ".join(entries[each].split())
        function.__annotations__[each] = Annotated[hint, info]
    group.command(name, help=about)(function)


for _function in (
    fit,
    resume,
    predict,
    evaluate,
    audit,
    export,
    corrupt,
    data,
    embed,
    cache,
    prototypes,
    bench,
    review,
    report,
):
    _add(app, _function)
_paper = typer.Typer(
    name="paper",
    help="Run the paper's tables and figures, and show the numbers beside the published ones.",
    no_args_is_help=True,
)
for _name, _command in COMMANDS.items():
    _add(_paper, _command, _name)
app.add_typer(_paper)

_INTERRUPTED, _BROKEN_PIPE = 130, 141
_OUT_OF_MEMORY = "you tried to allocate"
"""What torch says if the system gives it no more."""

# Typer brings its own copy of click or uses the installed one; this is the class either way.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line; what the user did wrong is said in one line, with exit code 2."""
    keep_freed_memory()
    leave(_run(sys.argv[1:] or ["--help"]))


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments, prog_name="anchored", standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:  # typer turns Ctrl-C into its exit code, without a word
            say("interrupted")
        return code if isinstance(code, int) and code else _BROKEN_PIPE if reader_is_gone() else 0
    except Ended as ended:
        return ended.code
    except KeyboardInterrupt:
        say("interrupted")
        return _INTERRUPTED
    except Terminated as stopped:
        say(str(stopped))
        return stopped.code
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
    """Write one line that a user can act on; None for a mistake of ours, whose traceback is wanted."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, _UsageError):
        context = getattr(error, "ctx", None)
        command = "anchored" if context is None else context.command_path
        said = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        return f"{said}; see {command} --help"
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY in str(error):
        return "there is not enough memory for this; give less data, fewer classes or a smaller model"
    return about_the_disk(error)
