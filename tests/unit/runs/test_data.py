"""Mirror of src/anchored/runs/data.py: corruption first, corrections second, both as the run saw them; then parts."""

import pytest
import torch

from anchored import InputError
from anchored.data import corrupt, load_digits
from anchored.runs import RunData, decide, fit
from anchored.training import RunConfig, validate

CORRUPT = ["symmetric=0.4"]


@pytest.fixture
def noisy():
    return corrupt(load_digits().train, CORRUPT, seed=0).dataset


@pytest.fixture
def corrections(noisy, tmp_path):
    """The true labels of the first ten wrong ones."""
    path = tmp_path / "corrections.csv"
    wrong = (noisy.labels != noisy.clean_labels).nonzero()[:10, 0].tolist()
    lines = [f"{i},{noisy.ids[i]},{noisy.labels[i]},accept,{noisy.clean_labels[i]},t\n" for i in wrong]
    path.write_text("index,id,given,decision,label,time\n" + "".join(lines))
    return path


def opened(config):
    return RunData.open(load_digits(), config)


def pinned(config):
    """The configuration of a run, which names the state of its corrections."""
    named = config.change({"method": {"name": "ce"}})
    return decide(named, opened(named), None).config


def test_without_a_wish_the_data_stays_as_it_is():
    split = load_digits()
    data = RunData.open(split, RunConfig())
    assert data.labelled is data.uncorrected is split.train
    assert data.test is split.test
    assert pinned(RunConfig()).data.corrections_digest is None


def test_corrections_come_after_the_corruption(noisy, corrections):
    data = opened(validate({"data": {"corrupt": CORRUPT, "corrections": str(corrections)}}))
    assert torch.equal(data.uncorrected.labels, noisy.labels)
    assert int((data.labelled.labels != noisy.labels).sum()) == 10
    assert data.corrections["wrong_after"] == data.corrections["wrong_before"] - 10
    assert data.corruption["noise"]["flipped"] == data.corrections["wrong_before"]


def test_a_run_keeps_to_the_decisions_it_was_started_with(corrections):
    config = validate({"data": {"corrupt": CORRUPT, "corrections": str(corrections)}})
    kept = pinned(config)
    last = corrections.read_text().splitlines()[-1]
    with corrections.open("a") as file:
        file.write(last.replace("accept", "undo") + "\n")
    assert opened(kept).corrections["changed"] == 10
    assert opened(config).corrections["changed"] == 9


def test_the_hash_of_a_run_goes_by_the_content_of_its_corrections(corrections, tmp_path):
    def hash_of(path):
        return pinned(validate({"data": {"corrupt": CORRUPT, "corrections": str(path)}})).content_hash

    copy = tmp_path / "copy.csv"
    copy.write_text(corrections.read_text())
    assert hash_of(copy) == hash_of(corrections) != pinned(validate({"data": {"corrupt": CORRUPT}})).content_hash
    before = hash_of(corrections)
    with corrections.open("a") as file:
        file.write(corrections.read_text().splitlines()[-1].replace("accept", "keep") + "\n")
    assert hash_of(corrections) != before


def test_parts_make_up_the_whole_and_what_is_held_out_keeps_the_labels_given():
    config = pinned(validate({"data": {"hold_out": 0.2}}))
    data = opened(config)
    targets = data.labelled.with_labels(9 - data.labelled.labels)
    parts = data.parts(config, targets)
    held = data.held_index(config)
    assert len(parts.train) + len(parts.held_out) == 1437
    assert len(held) == len(parts.held_out) == 287
    assert torch.equal(parts.held_out.labels, data.labelled.labels[held])
    kept = [i for i in range(1437) if i not in set(held.tolist())]
    assert torch.equal(parts.train.labels, 9 - data.labelled.labels[kept])


def test_the_test_part_judges_if_there_is_one_and_what_is_held_out_if_not():
    config = pinned(validate({"data": {"hold_out": 0.1}}))
    data = opened(config)
    assert data.unseen(config)[0] == "test"
    alone = RunData(data.labelled, data.labelled)
    part, dataset = alone.unseen(config)
    assert (part, len(dataset)) == ("held_out", 144)
    assert alone.unseen(config.change({"data": {"hold_out": 0.0}})) is None


def test_a_digest_alone_is_refused():
    with pytest.raises(InputError, match="give both or none"):
        opened(validate({"data": {"corrections_digest": "sha256:00:1"}}))


def test_the_result_of_a_run_says_what_was_corrected(corrections):
    settings = {
        "data": {"corrupt": CORRUPT, "corrections": str(corrections)},
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 1},
    }
    fitted = fit(load_digits(), settings)
    assert fitted.result["corrections"]["changed"] == 10
    assert fitted.config.data.corrections_digest == fitted.result["corrections"]["digest"]
