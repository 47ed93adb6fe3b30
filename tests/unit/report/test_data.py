"""Mirror of src/anchored/report/_data.py: the same samples as in the run, found again from its configuration."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.report._data import run_data


def test_the_held_out_part_is_the_one_of_the_run(digits_run):
    config, result = digits_run.read_config(), digits_run.read_result()
    data = run_data(config)
    assert len(data.held_out) == result["held_out"]["n"]
    assert len(data.labelled) - len(data.held_out) == result["samples"]
    counts = data.labelled.counts - data.held_out.counts
    assert counts.tolist() == result["class_counts"]
    wrong = data.labelled.labels != data.labelled.clean_labels
    assert int(wrong.sum()) == result["corruption"]["noise"]["flipped"]


def test_open_data_is_used_as_it_is(digits_run):
    split = load_digits()
    data = run_data(digits_run.read_config(), split)
    assert data.test is split.test
    assert torch.equal(data.labelled.inputs.tensor, split.train.inputs.tensor)


def test_without_a_test_part_the_held_out_part_judges(hostile_run):
    part, dataset = run_data(hostile_run.read_config()).unseen
    assert (part, len(dataset)) == ("held_out", 24)


def test_data_that_is_gone_is_refused(hostile_run, tmp_path):
    config = hostile_run.read_config().change({"data": {"source": str(tmp_path / "gone.csv")}})
    with pytest.raises(InputError, match=r"gone\.csv"):
        run_data(config)
