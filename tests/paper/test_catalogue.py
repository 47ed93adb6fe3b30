"""The catalogue as a whole: 623 published numbers, nothing left open, records that agree with it, docs that agree."""

import importlib
import re
from pathlib import Path

import pytest
import torch
from tests.builders import resolved as resolve

from anchored._errors import InputError
from anchored.data import Dataset, TensorInputs
from anchored.methods import parse
from anchored.paper import TABLES, Results, compare
from anchored.paper.docs import results_page
from anchored.paper.figures import FIGURES

ROOT = Path(__file__).parents[2]


BORROWING = {name: TABLES[name] for name in ("auto_mnist", "unstated")}
"""They show numbers of other tables beside their own."""
OTHERS = {name: table for name, table in TABLES.items() if name not in BORROWING}
DECIDED = {name: table for name, table in TABLES.items() if name not in ("auto_mnist", "human_noise")}
"""The others leave to ``auto`` what ``auto`` is there to decide."""


def known(method):
    try:
        parse(method)
    except InputError:
        return False
    return True


def test_all_published_numbers_are_there():
    assert sum(len(table.published) for table in OTHERS.values()) == 623


def test_a_borrowed_number_is_one_of_the_published():
    lent = {number.mean for table in OTHERS.values() for number in table.published.values()}
    assert BORROWING
    for table in BORROWING.values():
        assert {number.mean for number in table.published.values()} <= lent


@pytest.mark.parametrize("table", OTHERS.values(), ids=list(OTHERS))
def test_every_published_number_has_its_row_cell_and_measure(table):
    rows = {row.name for row in table.rows if not row.ours}
    cells = {cell.name for cell in table.cells}
    assert cells
    assert rows or not table.published
    for row, cell, measure in table.published:
        assert row in rows
        assert cell in cells
        assert measure in table.measures


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_job_has_settings_of_its_own(table):
    jobs = table.jobs(seeds=[0])
    assert len({job.key for job in jobs}) == len(jobs) == len(table.rows) * len(table.cells)


KEYS = [
    ("noise_symmetric", "ce", "mnist/0.0", "c279289d7041"),
    ("noise_symmetric", "sce+fnpal", "cifar10/0.4", "744dfceed689"),
    ("noise_symmetric", "nfl+rce+fnpal (aligned)", "cifar100/0.8", "f71ceb6bef8c"),
    ("noise_asymmetric", "ce", "mnist/0.1", "f57ce62924bd"),
    ("noise_asymmetric", "ce", "cifar10/0.3", "7809fff33c33"),
    ("noise_asymmetric", "nfl+rce+fnpal (aligned)", "cifar100/0.4", "6095a7c83c36"),
    ("longtail_cifar100", "ce", "cifar100/longtail-100", "7a650ab6a205"),
    ("longtail_cifar100", "ce+pal", "cifar100/longtail-50", "dfe8124082e0"),
    ("longtail_cifar100", "mislas (lr 0.15, wd 5e-4)", "cifar100/longtail-10", "612345a3894f"),
    ("longtail_imagenet", "ce", "imagenet-lt", "23cdd4dd3ba3"),
    ("longtail_imagenet", "crt+mixup", "imagenet-lt", "4893fff6ee21"),
    ("longtail_imagenet", "mislas+pal (aligned)", "imagenet-lt", "316765e6d771"),
    ("longtail_cifar", "ce", "cifar10/longtail-100", "ec69dde21b01"),
    ("longtail_cifar", "ce", "cifar100/longtail-100", "0b5bdcb62584"),
    ("longtail_cifar", "ldam+drw+pal (aligned)", "cifar100/step-10", "2c5152be9f03"),
    ("weight_decay", "ce", "0", "713aa67e3395"),
    ("weight_decay", "ce", "5e-4", "4793ee0c816e"),
    ("weight_decay", "balanced-softmax", "1e-2", "c8efcc6d6b51"),
    ("webvision_mini", "ce", "webvision-mini", "4b42eff7cd9d"),
    ("webvision_mini", "ce+fnpal", "webvision-mini", "4b271b66e781"),
    ("webvision_mini", "sce+fnpal (aligned)", "webvision-mini", "6fd3ea390161"),
    ("longtail_mnist", "ce", "mnist", "d08f65794c95"),
    ("longtail_mnist", "lws+pal", "mnist", "e5fce0f349ba"),
    ("longtail_mnist", "mislas+pal (random)", "mnist", "d59624084d8e"),
    ("orientation", "ce+fnpal (random)", "mnist-small/0.2", "972246338f2f"),
    ("orientation", "nsl (aligned)", "mnist/0.2", "ca2de28b1b09"),
    ("orientation", "ce+fnpal (aligned, lr/3)", "cifar10/0.8", "023119434dce"),
    ("unstated", "ce", "mnist/0.8", "54993bb05417"),
    ("unstated", "ce+fnpal (pixels)", "mnist/0.8", "5c69625b5473"),
    ("unstated", "gce+fnpal (iid)", "mnist/0.8", "c44cfca54c3f"),
    ("auto_mnist", "auto", "mnist/clean", "4eb4b75d862c"),
    ("auto_mnist", "auto", "mnist/symmetric-0.8", "5da589829e54"),
    ("auto_mnist", "ce", "mnist/asymmetric-0.4", "97e416c354f0"),
]
"""Keys of version 0.1.0: runs in people's stores and records are found by them."""


@pytest.mark.parametrize(("table", "row", "cell", "key"), KEYS)
def test_keys_are_those_of_the_first_version(table, row, cell, key):
    assert TABLES[table].job(row, cell, seed=0).key == key


def test_the_key_of_a_run_in_mixed_precision_is_that_of_the_first_version():
    job = TABLES["longtail_cifar100"].job("ce", "cifar100/longtail-100", seed=0, precision="bf16")
    assert job.key == "4f1f2255f721"


FILES = {f"tables.{name}": f"anchored paper run {name}" for name in TABLES} | {
    f"figures.{name}": f"anchored paper figure {name}" for name in FIGURES
}
TRAINING = [f"tables.{name}" for name in TABLES] + [
    f"figures.{name}" for name, figure in FIGURES.items() if figure.table is not None
]
"""Of a picture for which nothing is trained, nobody asks what it costs on a GPU."""


def parts(file):
    """What stands under each heading of a file's docstring; a heading is a word or two alone, over indented lines."""
    text = importlib.import_module(f"anchored.paper.{file}").__doc__
    pieces = re.split(r"^([A-Z][a-z ]+):?\n(?= )", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@pytest.mark.parametrize("file", FILES)
def test_every_file_states_claim_command_cost_and_expected_numbers(file):
    said = parts(file)
    assert {"Claim", "Command", "Cost", "Expected"} <= set(said)
    assert all(text.strip() for text in said.values())
    assert FILES[file] in said["Command"]
    assert re.search(r"\bcores?\b", said["Cost"])
    assert re.search(r"\d", said["Expected"])


@pytest.mark.parametrize("file", TRAINING)
def test_every_file_states_the_hours_on_two_cores_and_on_a_gpu(file):
    cost = " ".join(parts(file)["Cost"].split())
    assert re.search(r"\btwo cores\b", cost)
    assert re.search(r"\bGPU\b", cost)


SHAPES = {"mnist": ((1, 28, 28), 10), "cifar10": ((3, 32, 32), 10), "cifar100": ((3, 32, 32), 100)}


@pytest.mark.parametrize("table", DECIDED.values(), ids=list(DECIDED))
def test_nothing_is_left_to_be_decided_when_the_data_is_known(table):
    # So the settings alone name the run, before any data is read.
    jobs = [job for job in table.jobs(seeds=[0]) if known(job.settings["method"]["name"])]
    assert jobs
    for job in jobs:
        shape, k = SHAPES.get(job.settings["data"]["source"], ((3, 8, 8), 10))
        data = Dataset("data", TensorInputs(torch.zeros(2 * k, *shape, dtype=torch.uint8)), torch.arange(k).repeat(2),
                       tuple(map(str, range(k))))  # fmt: skip
        config = resolve(job.settings, data).as_dict()
        for part, values in job.settings.items():
            for name, value in values.items():
                assert config[part][name] == value, (job.title, part, name)
        asked = {part: set(values) for part, values in job.settings.items()}
        left = {"data": {"augment", "hold_out", "normalize"}, "method": {"noise_rate"}, "backbone": {"name"}}
        assert all(names <= asked[part] for part, names in left.items()), job.title


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_kept_records_were_made_with_the_settings_of_the_catalogue(table):
    records = Results(ROOT / "results").read(table.name)
    assert len(compare(table, records).records) == len(records)


def test_the_page_of_results_is_the_one_that_the_records_make():
    page = (ROOT / "docs" / "paper" / "results.md").read_text(encoding="utf-8")
    assert page == results_page(Results(ROOT / "results")), "write it again with: anchored paper docs"
