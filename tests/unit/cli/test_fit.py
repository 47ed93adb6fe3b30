"""Mirror of src/anchored/cli/fit.py: flags reach the settings, the default folder is named by what is asked."""

import json

import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app
from anchored.runs import RunFolder


def call(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)])


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my table.csv"
    path.write_text("a,b,kind\n" + "".join(f"{i},{i % 2},{'no' if i % 2 else 'yes'}\n" for i in range(30)))
    return path


def test_every_flag_reaches_the_configuration(table, tmp_path):
    (tmp_path / "c.yaml").write_text("optimizer: {clip: 1.0}\ntrain: {epochs: 50}\n")
    done = call(
        table.name, "--out", "run", "--method", "CE+FNPAL", "--backbone", "tiny", "--epochs", 1, "--batch-size", 7,
        "--lr", 0.02, "--noise-rate", 0.3, "--seed", 5, "--config", "c.yaml", "--set", "optimizer.momentum=0.5",
        "--corrupt", "symmetric=0.1", "--label", "kind", "--test", table.name, "--precision", "64", "--device", "cpu",
        "--data-root", ".", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    config = RunFolder.open("run").read_config()
    assert config.data.source == config.data.test == str(table)
    assert (config.data.label, config.data.corrupt, config.data.root) == ("kind", ("symmetric=0.1",), str(tmp_path))
    assert (config.method.name, config.method.noise_rate, config.backbone.name) == ("ce+fnpal", 0.3, "tiny")
    assert (config.optimizer.lr, config.optimizer.clip, config.optimizer.momentum) == (0.02, 1.0, 0.5)
    assert (config.train.epochs, config.train.batch_size, config.train.seed) == (1, 7, 5)
    assert (config.train.precision, config.train.device) == ("64", "cpu")
    printed = json.loads(done.stdout)
    assert printed["run"] == "run"
    assert printed["test"]["n"] == 30


def test_the_default_folder_is_named_by_data_method_and_settings(table):
    asked = (table.name, "--label", "kind", "--epochs", 1, "--method", "ce", "--json")
    done = call(*asked)
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["run"] == f"runs/my_table-ce-{result['config_hash']}"
    error = call(*asked).exception
    assert isinstance(error, InputError)
    assert f"see its result with: anchored resume {result['run']}" in str(error)
    assert json.loads(call(*asked, "--seed", 1).stdout)["run"] != result["run"]


def test_a_name_that_cannot_be_is_refused_before_the_data_is_read(table):
    for flags, message in (
        (("--method", "cee"), "unknown word 'cee'"),
        (("--corrupt", "symetric=0.1"), "did you mean 'symmetric'"),
        (("--device", "abacus"), "device 'abacus' cannot be used"),
        (("--corrections", "none.csv"), "corrections none.csv cannot be read: No such file"),
        (("--out", table / "run"), "is a file; choose another folder"),
    ):
        error = call("no-such-data", *flags).exception
        assert isinstance(error, InputError)
        assert message in str(error)


def test_a_place_that_cannot_be_written_is_refused_before_the_data_is_read(table, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anchored.cli.fit.TemporaryFile", full)
    for flags, name in (((), "the folder runs for the runs"), (("--out", "there/run"), "--out there/run")):
        error = call("no-such-data", *flags).exception
        assert isinstance(error, InputError)
        rule = f"because {table.parent} cannot be written to (No space left on device); choose another folder"
        assert str(error) == f"{name} cannot be made, {rule}"


def test_trying_the_place_leaves_nothing_behind(table):
    before = sorted(table.parent.iterdir())
    assert isinstance(call("no-such-data", "--out", "there/run").exception, InputError)
    assert sorted(table.parent.iterdir()) == before


def test_the_default_folder_of_auto_is_named_after_what_was_decided(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("digits", "--epochs", 4, "--backbone", "tiny", "--no-report", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    run = RunFolder.open(result["run"])
    config = run.read_config()
    assert result["run"] == f"runs/digits-{config.method.name}-{config.content_hash}"
    assert (config.method.name, config.content_hash) == (result["method"], result["config_hash"])
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [run.path.name]
