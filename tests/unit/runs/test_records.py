"""Mirror of src/anchored/runs/records.py: a result of this or an earlier version passes, a damaged one does not."""

import pytest

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.runs import RunFolder, fit
from anchored.runs.records import check_result, check_speed

LEAST = {"method": "ce", "epochs": 1, "temperature": 1.5}


def test_a_result_of_a_run_passes_and_comes_back_as_written(tmp_path):
    fitted = fit(load_digits(), {"method": {"name": "ce"}, "train": {"epochs": 1}}, folder=tmp_path / "run")
    assert RunFolder.open(tmp_path / "run").read_result() == fitted.result


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"temperature": 0.0}, "'temperature'"),
        ({"temperature": "hot"}, "'temperature'"),
        ({"epochs": "x"}, "'epochs'"),
        ({"epochs": None}, "'epochs'"),
        ({"method": 3}, "'method'"),
        ({"held_out": {"accuracy": "high"}}, "'held_out.accuracy'"),
        ({"held_out": {"accuracy": 2.0}}, "'held_out.accuracy'"),
        ({"test": {"per_class": [0.5, "x"]}}, "'test.per_class.1'"),
        ({"test": []}, "'test'"),
        ({"class_counts": [1, -1]}, "'class_counts.1'"),
        ({"auto": {"interval": [0.1]}}, "'auto.interval'"),
        ({"corruption": {"noise": {"flipped": "many"}}}, "'corruption.noise.flipped'"),
        ({"versions": [1]}, "'versions'"),
        ({"history_best": {"epoch": "last"}}, "'history_best.epoch'"),
    ],
)
def test_a_damaged_field_is_named(changes, named):
    with pytest.raises(InputError, match=r"r\.json is damaged: ") as refusal:
        check_result(LEAST | changes, where="r.json")
    assert named in str(refusal.value)


@pytest.mark.parametrize("name", LEAST)
def test_what_every_result_has_must_be_there(name):
    with pytest.raises(InputError, match=f"'{name}' is missing; do it again"):
        check_result({key: value for key, value in LEAST.items() if key != name}, where="r.json", way_out="do it again")


def test_speed_may_have_gaps_but_no_text():
    check_speed([{"epoch": 1, "seconds": 0.0, "samples_per_second": None}, {"epoch": 3, "seconds": 2}], where="s")
    with pytest.raises(InputError, match="s, line 1 is damaged: 'seconds'"):
        check_speed([{"epoch": 1, "seconds": "slow"}], where="s")
