"""Mirror of src/anchored/report/sections/again.py: the command makes the same run again."""

import shlex
from pathlib import Path

from anchored.report.sections.again import again, command
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


def test_data_from_python_has_no_command(digits, changed):
    assert command(changed(digits, config=digits.config.change({"data": {"source": ""}}))).startswith("#")
