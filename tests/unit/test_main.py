"""The entry point: the command line, or what must be installed for it."""

import sys

import pytest

from anchored.__main__ import main


def test_it_runs_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anchored", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("anchored ")


def test_without_the_app_it_says_what_to_install(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.split(".")[:2] == ["anchored", "cli"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "pip install 'anchored[app]'" in capsys.readouterr().err


def test_another_missing_module_is_a_defect_and_shown_as_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "anchored.cli", None)
    with pytest.raises(ModuleNotFoundError, match=r"anchored\.cli"):
        main()
