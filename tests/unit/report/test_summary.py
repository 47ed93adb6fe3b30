"""Mirror of src/anchored/report/_summary.py: the numbers at the head of the page are those of the run."""

from anchored.report._summary import headline, tiles
from anchored.report._words import percent


def test_the_head_says_what_the_result_says(digits):
    accuracy = digits.result["test"]["accuracy"]
    assert percent(accuracy) in headline(digits)
    by_title = {tile.title: tile for tile in tiles(digits)}
    assert by_title["right answers"].value == percent(accuracy)
    assert by_title["in the weakest class"].value == percent(min(digits.result["test"]["per_class"]))
    assert by_title["wrong labels"].value == percent(digits.result["corruption"]["noise"]["rate"])
    assert by_title["wrong labels"].note == "corrupted on purpose"


def test_an_audit_is_an_estimate(hostile):
    by_title = {tile.title: tile for tile in tiles(hostile)}
    assert by_title["wrong labels"].value == "30.0 %"
    assert by_title["wrong labels"].note == "in training, estimated"


def test_a_run_that_was_never_tested_says_so(digits, changed):
    untested = changed(digits, result={"test": None, "held_out": None})
    assert "not tested" in headline(untested)
    assert [tile.title for tile in tiles(untested)] == ["wrong labels"]


def test_the_head_says_what_the_labels_are_worth(doubted, hostile):
    assert "gives the right answer for" in headline(doubted)
    assert headline(doubted).endswith("held-out samples, labels that are probably wrong allowed for.")
    assert "agrees with" in headline(hostile)
    assert tiles(hostile)[0].title == "of the labels agreed with"
