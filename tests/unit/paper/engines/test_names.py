"""Mirror of src/anchored/paper/engines/names.py: engines by name, and options that belong to them."""

import builtins

import pytest

from anchored._errors import InputError
from anchored.paper import Placement
from anchored.paper.engines import LocalEngine, get

PLACE = Placement("store")


def test_local_is_made_with_its_limit():
    engine = get("local", PLACE, jobs=3)
    assert isinstance(engine, LocalEngine)
    assert engine.free == 3


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("locl", {}, "unknown engine 'locl'; did you mean 'local'"),
        ("local", {"gpus": 0.5}, "--gpus is for --on ray and slurm"),
        ("local", {"parameters": {"a": 1}}, "--on is 'local'; use --on slurm"),
        ("ray", {"parameters": {"a": 1}}, "--on is 'ray'; use --on slurm"),
        ("local", {"jobs": 0}, "jobs must be at least 1"),
    ],
)
def test_refuses_what_does_not_belong_together(name, options, words):
    with pytest.raises(InputError, match=words):
        get(name, PLACE, **options)


@pytest.mark.parametrize(("name", "module"), [("ray", "ray"), ("slurm", "submitit")])
def test_what_is_not_installed_is_named_with_its_command(name, module, monkeypatch):
    usual = builtins.__import__

    def without(wanted, *args, **kwargs):
        if wanted == module:
            raise ImportError
        return usual(wanted, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=rf"pip install 'anchored\[{name}\]'"):
        get(name, PLACE)
