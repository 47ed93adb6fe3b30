"""Mirror of src/anchored/report/_evidence.py: what is there is gathered, what is not is said."""

import json
import shutil

import pytest

from anchored import metrics
from anchored._errors import InputError
from anchored.report import gather
from anchored.runs import RunFolder


@pytest.fixture
def copy(digits_run, tmp_path):
    return shutil.copytree(digits_run.path, tmp_path / "copy")


def test_a_whole_run(digits):
    assert (digits.k, digits.part, digits.part_in_words, digits.noise_was_added) == (10, "test", "test", True)
    assert digits.missing == ()
    assert digits.measured.n == digits.scores["n"] == 360
    assert len(digits.history) == digits.result["epochs"]
    assert digits.seconds > 0
    assert len(digits.data) == 1437


def test_without_the_data_the_rest_is_there(hostile_run, hostile_table, tmp_path):
    path = shutil.copytree(hostile_run.path, tmp_path / "copy")
    moved = hostile_table.rename(hostile_table.with_suffix(".moved"))
    try:
        found = gather(path)
    finally:
        moved.rename(hostile_table)
    assert (found.measured, found.data) == (None, None)
    assert found.audited is not None
    assert found.scores["n"] == 24
    (said,) = found.missing
    assert said.startswith("the data is not at hand: ")


def test_without_the_weights_the_rest_is_there(copy):
    (copy / "model.safetensors").unlink()
    found = gather(copy)
    assert found.measured is None
    assert found.data is not None
    assert found.class_names == tuple("0123456789")
    assert "the model cannot be asked again" in found.missing[0]


def test_data_that_has_changed_is_not_measured(copy):
    (result := json.loads((copy / "result.json").read_text()))["test"]["n"] = 359
    (copy / "result.json").write_text(json.dumps(result))
    found = gather(copy)
    assert found.measured is None
    assert "the data has changed since training: 359 test samples are 360" in found.missing[0]


def test_a_broken_audit_is_left_out_and_said(copy):
    (copy / "audit").mkdir()
    (copy / "audit" / "audit.json").write_text("{")
    found = gather(copy)
    assert found.audited is None
    assert "the audit was left out" in found.missing[0]


def test_without_the_description_classes_have_numbers(copy):
    (copy / "model.json").unlink()
    assert gather(copy).class_names == tuple("0123456789")


def test_refusals(copy, tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        gather(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no run"):
        gather(copy, compare=tmp_path / "nowhere")
    (copy / "result.json").write_text("{")
    with pytest.raises(InputError, match=r"result\.json is damaged"):
        gather(copy)
    (copy / "result.json").unlink()
    with pytest.raises(InputError, match="anchored resume"):
        gather(copy)


def test_labels_in_doubt_are_judged_by_what_they_probably_are(doubted, doubted_run):
    assert (doubted.part, doubted.part_in_words, doubted.labels_in_doubt) == ("estimated", "held-out", False)
    measured = doubted.measured
    assert not measured.noisy
    # Made again from the look that is kept with the run, the numbers are those that training wrote down.
    assert metrics.accuracy(measured.logits, measured.target) == pytest.approx(doubted.scores["accuracy"], abs=1e-6)
    assert metrics.ece(measured.calibrated, measured.target) == pytest.approx(doubted.scores["ece"], abs=1e-6)
    assert doubted.scores["accuracy"] > doubted.result["held_out"]["accuracy"] + 0.2


def test_where_the_look_is_gone_the_labels_are_taken_as_they_are(doubted_run, tmp_path):
    path = shutil.copytree(doubted_run.path, tmp_path / "copy")
    shutil.rmtree(RunFolder.open(path).look_path)
    found = gather(path)
    assert found.part == "estimated"
    assert found.measured.posterior is None
    assert found.measured.noisy
