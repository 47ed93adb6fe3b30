"""Mirror of src/anchored/report/sections/again.py: the command makes the same run again."""

import shlex
from pathlib import Path

import pytest
from tests.builders import blobs

from anchored import backbones
from anchored.data import Split
from anchored.report import gather
from anchored.report.sections.again import again, command
from anchored.runs import fit
from anchored.training import validate


def test_the_command_is_one_the_shell_can_take(digits, changed):
    words = shlex.split(command(changed(digits, path=Path("my runs/a;b"))))
    assert words == ["anchored", "fit", "--config", "my runs/a;b/config.yaml", "--out", "my runs/a;b-again"]


def test_the_configuration_is_there_whole(digits):
    import yaml

    section = again(digits)
    assert validate(yaml.safe_load(section.blocks[1].text)) == digits.config
    assert "seed 0" in section.lead
    assert "torch" in section.blocks[-1].text


@pytest.mark.parametrize("own_module", [False, True])
def test_a_run_made_in_python_is_made_again_by_the_lines_of_python(tmp_path, own_module):
    split = Split(blobs(n=60))
    module = backbones.get("tiny", split.train.inputs.shape) if own_module else None
    settings = {"method": {"name": "ce"}, "train": {"epochs": 1, "device": "cpu"}}
    fit(split, settings, folder=tmp_path / "it's", module=module)
    evidence = gather(tmp_path / "it's")
    assert "these lines of Python" in again(evidence).lead
    exec(command(evidence), {"split": split, "module": module})
    first, second = (tmp_path / name / "model.safetensors" for name in ("it's", "it's-again"))
    assert first.read_bytes() == second.read_bytes()


def test_a_source_that_the_shell_cannot_open_needs_python(digits, changed):
    for source, in_python in (("digits", False), ("/gone/table.csv", False), ("", True), ("my array", True)):
        line = command(changed(digits, config=digits.config.change({"data": {"source": source}})))
        assert ("anchored.runs import fit" in line) == in_python
    assert "module=module" in command(changed(digits, own_module=True))
