"""Mirror of src/anchored/cli/resume.py: a finished run shows its result, anything else but a run is refused."""

import json
import shutil

from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app


def test_a_finished_run_says_so_shows_its_result_and_gets_the_report_that_it_lacks(table_run, tmp_path):
    run = shutil.copytree(table_run.path, tmp_path / "run")
    (run / "report.html").unlink(missing_ok=True)
    done = CliRunner().invoke(app, ["resume", str(run), "--json"])
    assert done.exit_code == 0, done.exception
    assert done.stderr.splitlines() == [f"anchored: {run} is finished; this is its result"]
    assert json.loads(done.stdout)["config_hash"] == table_run.read_config().content_hash
    assert json.loads(done.stdout)["report"] == str(run / "report.html")
    assert "How often it is right" in (run / "report.html").read_text(encoding="utf-8")


def test_a_folder_that_holds_no_run_is_refused_and_not_touched(tmp_path):
    error = CliRunner().invoke(app, ["resume", str(tmp_path)]).exception
    assert isinstance(error, InputError)
    assert "holds no run" in str(error)
    assert not list(tmp_path.iterdir())
