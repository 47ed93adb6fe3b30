"""Mirror of src/anchored/paper/results.py: records say what was run, merge, and survive two writers."""

import json
import threading

import pytest
from tests.unit.paper.tiny import record

from anchored._errors import InputError
from anchored.paper import Results, record_of, run_job


def test_a_record_holds_what_the_run_folder_holds(tiny, store, place):
    job = tiny.job("ce+fnpal", "digits/0.4", seed=1, epochs=3)
    run_job(job, place)
    made = record_of(job, store)
    result = json.loads((store.run(job).path / "result.json").read_text())
    history = store.run(job).read_lines("history.jsonl")
    assert made["settings"] == job.settings
    assert (made["row"], made["cell"], made["seed"], made["epochs"], made["shortened"]) == (
        "ce+fnpal",
        "digits/0.4",
        1,
        3,
        True,
    )
    assert made["last"]["accuracy"] == pytest.approx(result["test"]["accuracy"], abs=1e-6)
    assert made["last"]["accuracy"] == made["history"]["test_accuracy"][-1]
    assert made["per_class"] == pytest.approx(result["test"]["per_class"], abs=1e-6)
    assert made["best"]["accuracy"] == max(made["history"]["test_accuracy"])
    assert made["history"]["train_loss"] == pytest.approx([line["train_loss"] for line in history], rel=1e-5)
    assert made["noise"]["rate"] == pytest.approx(0.4, abs=0.01)
    assert made["seconds"] >= 0
    assert set(made["versions"]) == {"anchored", "torch", "python"}
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_a_record_says_that_its_best_epoch_is_one_of_those_that_were_scored(tiny, store, place):
    each, rare = (tiny.job("ce", "digits/0.4", seed=1, epochs=5, evaluate_every=every) for every in (1, 2))
    for job in (each, rare):
        run_job(job, place)
    all_scored, some = record_of(each, store), record_of(rare, store)
    curve = all_scored["history"]["test_accuracy"]
    assert some["history"]["test_accuracy"] == [None, curve[1], None, curve[3], curve[4]]
    assert some["history"]["train_loss"] == all_scored["history"]["train_loss"]
    assert some["last"] == all_scored["last"]
    assert some["best"]["accuracy"] == max(curve[1], curve[3], curve[4])
    assert some["best"]["of"] == "every 2 epochs and the last"
    assert some["evaluate_every"] == 2
    assert "evaluate_every" not in all_scored
    assert set(all_scored["best"]) == {"epoch", "accuracy"}


def test_records_are_read_back_sorted(results):
    for seed, row in ((1, "ce"), (0, "ce+fnpal"), (0, "ce")):
        assert results.add(record(row=row, seed=seed))
    assert [(each["row"], each["seed"]) for each in results.read("tiny")] == [("ce", 0), ("ce", 1), ("ce+fnpal", 0)]
    assert results.read("other") == []


def test_the_same_run_is_kept_once_and_another_length_or_precision_beside_it(results):
    assert results.add(record(accuracy=0.5))
    assert not results.add(record(accuracy=0.5))
    assert results.add(record(accuracy=0.6))
    results.add(record(accuracy=0.1, epochs=1))
    results.add(record(accuracy=0.2, precision="bf16"))
    results.add(record(accuracy=0.3, every=2))
    assert [each["last"]["accuracy"] for each in results.read("tiny")] == [0.1, 0.6, 0.3, 0.2]


def test_many_are_kept_at_once_and_none_is_nothing(results):
    assert results.add() == 0
    assert not results.path.exists()
    assert results.add(record(), record(seed=1), record() | {"table": "other"}) == 3
    assert results.add(record(), record(seed=2)) == 1
    assert (len(results.read("tiny")), len(results.read("other"))) == (3, 1)


def test_runs_are_found_by_their_key_in_every_table(results):
    assert results.by_key() == {}
    first, second = record(), record(seed=1) | {"table": "other"}
    results.add(first, second)
    assert results.by_key() == {first["key"]: first, second["key"]: second}


def test_two_writers_lose_nothing(results):
    def write(row):
        for seed in range(10):
            Results(results.path).add(record(row=row, seed=seed))

    threads = [threading.Thread(target=write, args=(row,)) for row in ("ce", "ce+fnpal")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results.read("tiny")) == 20
    assert [path.name for path in results.path.iterdir()] == ["tiny.jsonl"]


def test_a_broken_line_is_named(results):
    results.add(record())
    path = results.path / "tiny.jsonl"
    path.write_text(path.read_text() + "<<<<<<< HEAD\n")
    with pytest.raises(InputError, match=r"tiny\.jsonl, row 2: not a record"):
        results.read("tiny")
    path.write_text('{"a": 1}\n')
    with pytest.raises(InputError, match=r"tiny\.jsonl, row 1: not a record"):
        results.by_key()


def test_results_that_cannot_be_kept_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot create"):
        Results(tmp_path / "file" / "results").add(record())
    with pytest.raises(InputError, match="is a file; --results takes the folder"):
        Results(tmp_path / "file").read("tiny")
