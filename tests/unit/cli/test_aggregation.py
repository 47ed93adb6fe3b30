"""Mirror of src/anchored/cli/aggregation.py: experts weighted on the way to an evaluation, the run left as it is."""

import json

import pytest
import torch
from typer.testing import CliRunner

from anchored.cli import app
from anchored.cli.model import load_run
from anchored.data import Batches, PaddedCrop, load_digits
from anchored.methods.tade import aggregate
from anchored.runs import fit


def call(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


@pytest.fixture(scope="module")
def expert_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experts") / "run"
    settings = {
        "data": {"source": "digits", "corrupt": ["longtail=20"]},
        "method": {"name": "tade"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 2, "device": "cpu"},
    }
    fit(load_digits(), settings, folder=folder)
    return folder


def test_the_weights_are_those_of_shifted_views_and_change_the_scores(expert_run):
    plain = json.loads(call(expert_run, "digits", "--device", "cpu", "--json").stdout)
    found = json.loads(call(expert_run, "digits", "--device", "cpu", "--json", "--aggregate").stdout)
    assert "expert_weights" not in plain
    model = load_run(expert_run, device="cpu").model
    assert torch.equal(model.classifier.head.weights, torch.full((3,), 1 / 3))  # the run is as it was
    shifts = PaddedCrop(1)  # an eighth of eight pixels
    batches = Batches(load_digits().test, batch_size=128, augment=shifts, normalize=model.normalization)
    expected = aggregate(model.classifier, batches)
    assert found["expert_weights"] == pytest.approx(expected.tolist())
    assert found["nll"] != plain["nll"]


def test_the_table_shows_the_weights(expert_run):
    printed = call(expert_run, "digits", "--device", "cpu", "--aggregate").output
    assert "weights of the experts" in printed


def test_data_without_images_is_refused(table_run):
    answer = call(table_run.path, table_run.read_config().data.source, "--aggregate")
    assert answer.exit_code != 0
    assert "two views of each image" in str(answer.exception)
