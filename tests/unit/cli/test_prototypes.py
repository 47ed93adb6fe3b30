"""Mirror of src/anchored/cli/prototypes.py: the file, the table, the JSON object, the refusals."""

import functools
import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from anchored import InputError
from anchored._random import stream
from anchored.cli import app
from anchored.cli.prototypes import _write
from anchored.prototypes import make, paper


def run(*arguments):
    return CliRunner().invoke(app, ["prototypes", *map(str, arguments)])


def test_writes_the_prototypes_that_make_gives(tmp_path):
    out = tmp_path / "w.npy"
    result = run(6, 4, "--out", out, "--seed", 3)
    assert result.exit_code == 0
    written = np.load(out, allow_pickle=False)
    assert written.dtype == np.float32
    assert np.array_equal(written, make(6, 4, generator=stream(3, "prototypes")).numpy())
    assert [path.name for path in tmp_path.iterdir()] == ["w.npy"]


def test_prints_the_quality_as_a_small_table():
    result = run(4, 3)
    assert result.exit_code == 0
    assert "4 prototypes in 3 dimensions" in result.output
    assert "-0.333333" in result.output
    assert "109.4712" in result.output


def test_prints_one_json_object_and_nothing_else(tmp_path):
    out = tmp_path / "w.npy"
    printed = json.loads(run(4, 9, "--nonnegative", "--json", "--out", out).stdout)
    assert printed["features"] == "nonnegative"
    assert printed["max_cosine"] == pytest.approx(-1 / 3, abs=1e-6)
    assert printed["min_margin"] == pytest.approx((4 / 3) ** 0.5, abs=1e-4)
    assert printed["out"] == str(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 5), "k must be at least 2, got 1"),
        ((5, 0), "d must be at least 1, got 0"),
        ((5, 5, "--out", "w.txt"), r"--out must end in .npy, got 'w.txt'; use 'w.npy'"),
        ((5, 5, "--out", "no/such/w.npy"), r"existing folder, got 'no/such/w.npy'; create 'no/such' first"),
    ],
)
def test_refuses_what_it_cannot_do_and_writes_nothing(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert isinstance(result.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise result.exception
    assert not list(tmp_path.iterdir())


def test_refuses_a_folder_in_place_of_the_file(tmp_path):
    (tmp_path / "w.npy").mkdir()
    assert "must be a file, got the folder" in str(run(5, 5, "--out", tmp_path / "w.npy").exception)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    out = tmp_path / "w.npy"
    out.write_bytes(b"old")

    def broken(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np, "save", broken)
    with pytest.raises(OSError, match="disk full"):
        _write(torch.eye(2).numpy(), out)
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["w.npy"]


@pytest.mark.parametrize("options", [(), ("--use-relu",)])
def test_the_papers_generator_is_asked_for_by_name(options, tmp_path, monkeypatch):
    quick = functools.partial(paper, steps=50)
    monkeypatch.setattr("anchored.prototypes.paper", quick)
    out = tmp_path / "w.npy"
    printed = json.loads(run(5, 4, "--paper", *options, "--seed", 2, "--json", "--out", out).stdout)
    assert np.array_equal(np.load(out, allow_pickle=False), quick(5, 4, use_relu=bool(options), seed=2).numpy())
    assert (printed["paper"], printed["features"]) == (True, "nonnegative" if options else "signed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((5, 4, "--use-relu"), "add --paper"), ((5, 4, "--paper", "--nonnegative"), "with --paper say --use-relu")],
)
def test_the_two_ways_to_say_nonnegative_are_not_mixed(arguments, message):
    assert message in str(run(*arguments).exception)
