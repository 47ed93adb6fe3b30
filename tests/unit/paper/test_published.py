"""Mirror of src/anchored/paper/published.py: every printed number once, with its slips."""

import csv
from importlib.resources import files

import pytest

from anchored.paper import published_numbers
from anchored.paper.published import key_of

TABLES = {
    "noise_symmetric": 220,
    "noise_asymmetric": 172,
    "longtail_cifar100": 51,
    "longtail_cifar": 96,
    "longtail_imagenet": 44,
    "weight_decay": 30,
    "webvision_mini": 10,
}


@pytest.mark.parametrize(("table", "count"), TABLES.items())
def test_every_number_of_the_file_is_there_once(table, count):
    text = files("anchored.paper").joinpath("numbers", f"{table}.csv").read_text()
    printed = []
    for line in csv.DictReader(text.splitlines()):
        if "accuracy_mean" in line:
            printed.append(float(line["accuracy_mean"]))
        else:
            printed += [float(value) for name, value in line.items() if name != "method"]
    numbers = published_numbers(table)
    assert len(numbers) == count
    assert sorted(number.mean for number in numbers.values()) == sorted(printed)


def test_well_known_cells():
    assert published_numbers("noise_symmetric")["ce", "mnist/0.8", "accuracy"].mean == 22.32
    assert published_numbers("noise_asymmetric")["nce+rce", "mnist/0.4", "accuracy"].std == 4.27
    assert published_numbers("longtail_imagenet")["mislas+pal", "imagenet-lt", "few"].mean == 32.4
    assert published_numbers("longtail_imagenet")["causal-norm", "imagenet-lt", "accuracy"].mean == 52.0
    assert published_numbers("longtail_cifar")["ldam+drw+pal", "cifar10/step-100", "accuracy"].mean == 75.54
    assert published_numbers("longtail_cifar100")["pc-softmax", "cifar100/longtail-50", "accuracy"].mean == 49.5
    assert published_numbers("weight_decay")["balanced-softmax", "1e-3", "accuracy"].mean == 47.21
    assert published_numbers("webvision_mini")["sce+fnpal", "webvision-mini", "accuracy"].mean == 69.92


def test_slips_are_noted_and_change_no_number():
    slip = published_numbers("noise_symmetric")["nfl+rce+fnpal", "cifar100/0.2", "accuracy"]
    assert "NFL+MAE+FNPAL" in slip.note
    assert published_numbers("noise_symmetric")["nfl+rce+fnpal", "cifar10/0.2", "accuracy"].note is None
    assert "BNN" in published_numbers("longtail_cifar100")["bbn", "cifar100/longtail-10", "accuracy"].note


@pytest.mark.parametrize("loss", ["fl", "sce"])
def test_a_note_that_the_loss_alone_is_better_stands_where_it_is(loss):
    numbers = published_numbers("noise_asymmetric")
    for eta in ("0.1", "0.2", "0.3", "0.4"):
        anchored, alone = (numbers[row, f"cifar100/{eta}", "accuracy"] for row in (f"{loss}+fnpal", loss))
        assert (anchored.note is not None) == (anchored.mean < alone.mean)
        assert anchored.note is None or str(alone.mean) in anchored.note


def test_every_slip_is_of_a_cell_that_exists():
    from anchored.paper.published import _SLIPS

    noted = {(table, key[0]) for table in TABLES for key, number in published_numbers(table).items() if number.note}
    assert {(table, row) for table, row, _ in _SLIPS} == noted


def test_a_table_of_ours_has_no_published_numbers():
    assert published_numbers("orientation") == {}


def test_row_names_are_those_that_methods_have():
    assert key_of(" BBN ") == "bbn"
    assert key_of("PCSoftmax") == "pc-softmax"
    assert key_of("Balanced Softmax") == "balanced-softmax"
    assert key_of("Norm-DRW-PAL") == "norm+drw+pal"
