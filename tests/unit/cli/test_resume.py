"""Mirror of src/anchored/cli/resume.py: a finished run shows its result, anything else but a run is refused."""

import json

from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app


def test_a_finished_run_says_so_and_shows_its_result(table_run):
    done = CliRunner().invoke(app, ["resume", str(table_run.path), "--json"])
    assert done.exit_code == 0
    finished, missing = done.stderr.splitlines()
    assert finished == f"anchored: {table_run.path} is finished; this is its result"
    assert missing == f"anchored: its report is missing; draw it with: anchored report {table_run.path}"
    assert json.loads(done.stdout)["config_hash"] == table_run.read_config().content_hash


def test_a_folder_that_holds_no_run_is_refused_and_not_touched(tmp_path):
    error = CliRunner().invoke(app, ["resume", str(tmp_path)]).exception
    assert isinstance(error, InputError)
    assert "holds no run" in str(error)
    assert not list(tmp_path.iterdir())
