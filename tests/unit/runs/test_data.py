"""Mirror of src/anchored/training/prepare.py: corruption first, corrections second, both as the run saw them."""

import pytest
import torch

from anchored import InputError
from anchored.data import corrupt, load_digits
from anchored.runs import fit, prepare
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


def test_without_a_wish_the_data_stays_as_it_is():
    data = load_digits().train
    prepared = prepare(data, RunConfig())
    assert prepared.dataset is prepared.uncorrected is data
    assert prepared.pin(RunConfig()) == RunConfig()


def test_corrections_come_after_the_corruption(noisy, corrections):
    config = validate({"data": {"corrupt": CORRUPT, "corrections": str(corrections)}})
    prepared = prepare(load_digits().train, config)
    assert torch.equal(prepared.uncorrected.labels, noisy.labels)
    assert int((prepared.dataset.labels != noisy.labels).sum()) == 10
    assert prepared.corrections["wrong_after"] == prepared.corrections["wrong_before"] - 10
    assert prepared.corruption["noise"]["flipped"] == prepared.corrections["wrong_before"]


def test_a_run_keeps_to_the_decisions_it_was_started_with(corrections):
    config = validate({"data": {"corrupt": CORRUPT, "corrections": str(corrections)}})
    data = load_digits().train
    pinned = prepare(data, config).pin(config)
    last = corrections.read_text().splitlines()[-1]
    with corrections.open("a") as file:
        file.write(last.replace("accept", "undo") + "\n")
    assert prepare(data, pinned).corrections["changed"] == 10
    assert prepare(data, config).corrections["changed"] == 9


def test_the_hash_of_a_run_goes_by_the_content_of_its_corrections(corrections, tmp_path):
    data = load_digits().train

    def hash_of(path):
        config = validate({"data": {"corrupt": CORRUPT, "corrections": str(path)}})
        return prepare(data, config).pin(config).content_hash

    copy = tmp_path / "copy.csv"
    copy.write_text(corrections.read_text())
    assert hash_of(copy) == hash_of(corrections) != validate({"data": {"corrupt": CORRUPT}}).content_hash
    before = hash_of(corrections)
    with corrections.open("a") as file:
        file.write(corrections.read_text().splitlines()[-1].replace("accept", "keep") + "\n")
    assert hash_of(corrections) != before


def test_a_digest_alone_is_refused():
    with pytest.raises(InputError, match="give both or none"):
        prepare(load_digits().train, validate({"data": {"corrections_digest": "sha256:00:1"}}))


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
