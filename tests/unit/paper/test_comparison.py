"""Mirror of src/anchored/paper/comparison.py: means, deviations and what is inside the uncertainty; nothing mixed."""

import math
import statistics

import pytest
from tests.unit.paper.tiny import TINY, record

from anchored._errors import InputError
from anchored.paper import Published, compare
from anchored.paper.comparison import Entry


def line(comparison, row, epochs=None):
    return next(each for each in comparison.lines if each.row == row and each.epochs == epochs)


def test_means_and_sample_deviations_are_those_of_statistics():
    records = [record(seed=seed, accuracy=value) for seed, value in enumerate((0.90, 0.92, 0.95))]
    entry = line(compare(TINY, records), "ce").entries["digits/0.0", "accuracy"]
    assert entry.mean == pytest.approx(statistics.mean([90, 92, 95]))
    assert entry.std == pytest.approx(statistics.stdev([90, 92, 95]))
    assert entry.difference == pytest.approx(statistics.mean([90, 92, 95]) - 90)


@pytest.mark.parametrize(
    ("values", "published", "inside"),
    [
        ((79.0, 80.0, 81.0), Published(80.0, 1.0), True),
        # two standard errors: 2 sqrt(1/3 + 1/3) = 1.633
        ((80.62, 81.62, 82.62), Published(80.0, 1.0), True),
        ((80.64, 81.64, 82.64), Published(80.0, 1.0), False),
        # one seed: its deviation is taken to be the published one, 2 sqrt(1 + 1/3) = 2.309
        ((82.3,), Published(80.0, 1.0), True),
        ((82.4,), Published(80.0, 1.0), False),
        # none printed: it is taken to be ours
        ((80.62, 81.62, 82.62), Published(80.0), True),
        ((82.0,), Published(80.0), None),
        ((82.0,), None, None),
        ((), Published(80.0, 1.0), None),
    ],
)
def test_inside_is_two_standard_errors_of_both_means(values, published, inside):
    assert Entry(values, (), published).inside is inside


def test_the_bound_is_the_formula():
    entry = Entry((70.0, 74.0), (), Published(75.0, 0.6))
    bound = 2 * math.sqrt(statistics.stdev((70.0, 74.0)) ** 2 / 2 + 0.36 / 3)
    assert entry.inside is (abs(72.0 - 75.0) <= bound)


def test_runs_scored_now_and_then_have_a_line_of_their_own_and_a_note():
    comparison = compare(TINY, [record(accuracy=0.9), record(accuracy=0.8, every=5), record(seed=1, every=5)])
    whole, rare = (each for each in comparison.lines if each.row == "ce")
    assert whole.entries["digits/0.0", "accuracy"].values == (90.0,)
    assert rare.entries["digits/0.0", "accuracy"].values == (80.0, 90.0)
    assert rare.entries["digits/0.0", "accuracy"].published is None
    assert rare.title == "CE, scored every 5 epochs"
    assert rare.variant == (0, "32", 5)
    assert any("best of the scored epochs" in note for note in comparison.notes)
    assert not any("scored epochs" in note for note in compare(TINY, [record()]).notes)
    assert [e["evaluate_every"] for e in comparison.as_dict()["entries"] if e["values"]] == [1, 5]


def test_shortened_runs_have_a_line_of_their_own_without_published_numbers():
    records = [record(accuracy=0.9), record(accuracy=0.1, epochs=1), record(accuracy=0.2, epochs=1, seed=1)]
    comparison = compare(TINY, records)
    full, short = line(comparison, "ce"), line(comparison, "ce", 1)
    assert full.entries["digits/0.0", "accuracy"].values == (90.0,)
    assert short.entries["digits/0.0", "accuracy"].values == (10.0, 20.0)
    assert short.entries["digits/0.0", "accuracy"].published is None
    assert short.title == "CE, 1 epoch"
    assert any("shortened" in note for note in comparison.notes)


def test_runs_in_mixed_precision_have_lines_of_their_own_without_published_numbers():
    records = [
        record(accuracy=0.9),
        record(accuracy=0.3, precision="bf16"),
        record(accuracy=0.1, epochs=1, precision="bf16"),
    ]
    comparison = compare(TINY, records)
    lines = {each.title: each.entries["digits/0.0", "accuracy"] for each in comparison.lines if each.row == "ce"}
    assert {title: entry.values for title, entry in lines.items()} == {
        "CE": (90.0,),
        "CE, bf16": (30.0,),
        "CE, 1 epoch, bf16": (10.0,),
    }
    assert [title for title, entry in lines.items() if entry.published is not None] == ["CE"]
    assert any("mixed precision" in note for note in comparison.notes)


def test_a_record_from_before_precisions_were_told_is_of_the_recipe():
    old = record()
    del old["precision"]
    assert line(compare(TINY, [old]), "ce").entries["digits/0.0", "accuracy"].values == (90.0,)


def test_missing_cells_are_not_there_and_published_ones_are():
    comparison = compare(TINY, [])
    assert ("digits/0.0", "accuracy") not in line(comparison, "ce+fnpal").entries
    assert line(comparison, "ce+fnpal").entries["digits/0.4", "accuracy"].published.mean == 80.0
    assert not any(each.row == "ce+fnpal (aligned)" for each in comparison.lines)


def test_only_what_was_run_on_request():
    comparison = compare(TINY, [record(row="ce+fnpal", cell="digits/0.4")], only_run=True)
    assert comparison.columns == (("digits/0.4", "accuracy"),)
    assert [each.row for each in comparison.lines] == ["ce+fnpal"]


def test_records_with_other_settings_are_left_out_and_counted():
    records = [record(), record(seed=1, key="0" * 12), record(seed=2) | {"row": "gone"}]
    comparison = compare(TINY, records)
    assert len(comparison.records) == 1
    assert "2 records made with other settings left out" in comparison.notes


def test_the_best_epoch_counts_where_the_literature_prints_it():
    from dataclasses import replace

    records = [record(accuracy=0.8, best=0.9)]
    last = line(compare(TINY, records), "ce").entries["digits/0.0", "accuracy"]
    best = line(compare(replace(TINY, epoch="best"), records), "ce").entries["digits/0.0", "accuracy"]
    assert (last.values, last.other) == ((80.0,), (90.0,))
    assert (best.values, best.other) == ((90.0,), (80.0,))


def test_a_table_may_print_the_last_and_the_best_epoch():
    from dataclasses import replace

    both = compare(replace(TINY, measures=("accuracy", "best")), [record(accuracy=0.8, best=0.9)], cells=["digits/0.0"])
    entries = line(both, "ce").entries
    assert entries["digits/0.0", "accuracy"].values == (80.0,)
    assert entries["digits/0.0", "best"].values == (90.0,)
    assert entries["digits/0.0", "best"].published is None
    assert [both.heading(column) for column in both.columns] == ["accuracy", "best epoch"]


def test_cells_can_be_chosen_and_unknown_ones_are_refused():
    assert compare(TINY, [], cells=["*/0.4"]).columns == (("digits/0.4", "accuracy"),)
    with pytest.raises(InputError, match="unknown cell of table tiny: 'digits/9'"):
        compare(TINY, [], cells=["digits/9"])


def test_headings_name_measures_only_where_there_are_several():
    from dataclasses import replace

    several = replace(TINY, measures=("accuracy", "many"))
    one_cell = compare(several, [], cells=["digits/0.0"])
    assert [one_cell.heading(column) for column in one_cell.columns] == ["accuracy", "many"]
    both = compare(several, [])
    assert both.heading(both.columns[0]) == "digits 0.0, accuracy"
    assert compare(TINY, []).heading(("digits/0.0", "accuracy")) == "digits 0.0"


def test_as_plain_values_it_holds_every_entry():
    made = compare(TINY, [record()]).as_dict()
    assert [(entry["method"], entry["cell"]) for entry in made["entries"]] == [
        ("ce", "digits/0.0"),
        ("ce", "digits/0.4"),
        ("ce+fnpal", "digits/0.4"),
    ]
    assert made["entries"][0]["difference"] == pytest.approx(0.0)
