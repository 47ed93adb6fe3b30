"""Mirror of src/anchored/cli/commands.py: the commands, and how each kind of error ends."""

import errno
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from safetensors import SafetensorError

import anchored
import anchored.cli
from anchored import InputError
from anchored._signals import Terminated
from anchored.cli import app, commands, main
from anchored.cli.processes import Ended


@pytest.fixture
def run(monkeypatch, capsys):
    """Call ``main`` as the shell would; gives exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["anchored", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture
def failing(monkeypatch):
    """Let the command line meet an error of our choice."""

    def arrange(error):
        def broken(*_, **__):
            raise error

        monkeypatch.setattr(commands, "app", broken)

    return arrange


def test_the_help_names_every_command_and_loads_neither_torch_nor_numpy():
    code = (
        "import sys; from typer.testing import CliRunner; from anchored.cli import app; "
        "print(CliRunner().invoke(app, ['--help']).output); "
        "print([m for m in ('torch', 'numpy', 'sklearn', 'pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("fit", "resume", "predict", "evaluate", "corrupt", "data", "prototypes", "bench"):
        assert f"│ {name} " in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_the_door_shows_the_app_and_hides_no_module():
    assert app is commands.app
    for path in Path(commands.__file__).parent.glob("[a-z]*.py"):
        module = import_module(f"anchored.cli.{path.stem}")
        assert getattr(anchored.cli, path.stem) is module, f"anchored.cli.{path.stem} is not the module of that name"


def every_command():
    """Every command with its words: ``(["paper", "run"], command)``."""
    for name, command in typer.main.get_command(app).commands.items():
        for below, inner in getattr(command, "commands", {"": command}).items():
            yield [word for word in (name, below) if word], inner


@pytest.mark.parametrize(("words", "command"), [pytest.param(w, c, id=" ".join(w)) for w, c in every_command()])
def test_the_docstring_of_a_function_is_the_help_of_its_command(words, command, run):
    assert command.help.endswith(".")
    assert "Args:" not in command.help
    for option in command.params:
        if option.name != "help":
            assert option.help, f"{option.name} has no help"
            assert option.help[0].isupper()
            assert not option.help.startswith("Of ")
    code, out, _ = run(*words, "--help")
    assert code == 0
    assert command.help.split(";")[0].split(",")[0] in " ".join(out.split())


@pytest.mark.parametrize(("words", "command"), [pytest.param(w, c, id=" ".join(w)) for w, c in every_command()])
def test_no_two_options_of_a_command_share_a_help_text(words, command):
    helps = [option.help for option in command.params if option.name != "help"]
    assert helps
    assert len(set(helps)) == len(helps)


def test_commands_that_share_a_kind_of_option_keep_their_own_help():
    helps = {" ".join(words): {o.name: o.help for o in command.params} for words, command in every_command()}
    assert helps["paper run"]["epochs"].endswith("the records are marked as shortened.")
    assert helps["paper figure"]["epochs"].endswith("the picture says so.")
    assert helps["paper run"]["jobs"].startswith("Number of cells at a time")


def test_what_is_off_needs_no_second_flag_to_switch_it_off():
    flags = {" ".join(words): {f for o in command.params for f in (*o.opts, *o.secondary_opts)}
             for words, command in every_command()}  # fmt: skip
    assert {"--quick", "--duplicates", "--no-duplicates", "--format", "--json"} <= flags["audit"]
    assert not {"--no-quick", "--no-json"} & flags["audit"]
    assert {"--set", "--no-report", "--data-root"} <= flags["fit"]


def test_no_argument_shows_the_help(run):
    code, out, _ = run()
    assert code == 0
    assert "Usage: anchored" in out


def test_the_version_is_one_line(run):
    assert run("--version") == (0, f"anchored {anchored.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said", "way_out"),
    [
        (["frob"], "No such command 'frob'", "see anchored --help"),
        (["fit", "--epochs", "many"], "--epochs", "see anchored fit --help"),
    ],
)
def test_a_slip_of_the_command_line_is_one_line_too(run, arguments, said, way_out):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert err.endswith(f"; {way_out}\n")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("k must be\n  at least 2"), 2, "anchored: k must be at least 2\n"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/full/x"),
            2,
            "anchored: No space left on device: /full/x; make room or choose another place, then try again\n",
        ),
        (
            SafetensorError("I/O error: No space left on device (os error 28)"),
            2,
            "anchored: the weights cannot be written or read (I/O error: No space left on device (os error 28)); "
            "make room or choose another place, then try again\n",
        ),
        (KeyboardInterrupt(), 130, "anchored: interrupted\n"),
        (Terminated(), 143, "anchored: told to stop (SIGTERM)\n"),
        (Ended(7), 7, ""),
    ],
)
def test_every_expected_end_is_one_line_and_its_code(run, failing, error, code, line):
    failing(error)
    assert run("x") == (code, "", line)


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch, failing):
    failing(ZeroDivisionError("a bug"))
    monkeypatch.setattr(sys, "argv", ["anchored", "x"])
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main()


def test_of_several_processes_on_a_machine_one_tells_of_a_refusal(run, failing, monkeypatch):
    failing(InputError("bad"))
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert run("x") == (2, "", "")
