"""Mirror of src/anchored/report/sections/accuracy.py: the sentence and the table are the numbers of the run."""

from anchored.report._words import percent
from anchored.report.sections.accuracy import accuracy, samples_per_class, weakest


def test_the_lead_names_the_share_and_the_weakest_class(digits, changed):
    scores = {**digits.result["test"], "accuracy": 0.9, "per_class": [0.95] * 9 + [0.5]}
    section = accuracy(changed(digits, result={"test": scores}))
    assert "90.0 % of 360 samples" in section.lead
    assert "“9”, with 50.0 %" in section.lead
    table = section.blocks[-1]
    assert table.rows[0][:2] == ("9", "50.0 %")
    assert len(table.rows) == 10


def test_where_no_class_falls_behind_it_says_so(digits, changed):
    scores = {**digits.result["test"], "accuracy": 0.9, "per_class": [0.9] * 10}
    assert accuracy(changed(digits, result={"test": scores})).lead.endswith("No class falls behind.")


def test_groups_are_shown_only_where_there_are_several(digits, changed):
    scores = {**digits.result["test"], "many": 0.9, "medium": None, "few": 0.4}
    table = accuracy(changed(digits, result={"test": scores})).blocks[0]
    assert [row[1] for row in table.rows] == ["90.0 %", "40.0 %"]
    single = {**scores, "few": None}
    assert accuracy(changed(digits, result={"test": single})).blocks[0].kind == "picture"


def test_of_a_hundred_classes_the_weakest_are_drawn_and_all_listed(digits, changed):
    scores = {**digits.result["test"], "per_class": [j / 100 for j in range(99)] + [None]}
    names = tuple(f"class {j:02}" for j in range(100))
    many = changed(digits, result={"test": scores, "class_counts": [5] * 100}, class_names=names, measured=None)
    picture, table = accuracy(many).blocks
    assert "class 00" in picture.svg
    assert "class 20" not in picture.svg
    assert len(table.rows) == 100
    assert table.rows[-1][1] == "–"


def test_class_sizes_are_counted_from_what_was_measured(digits):
    assert sum(samples_per_class(digits)) == 360
    assert weakest(digits)[1] == min(digits.result["test"]["per_class"])


def test_held_out_labels_are_said_to_be_imperfect(hostile):
    assert "imperfect" in accuracy(hostile).blocks[-1].text


def test_without_unseen_data_nothing_is_claimed(digits, changed):
    section = accuracy(changed(digits, result={"test": None, "held_out": None}))
    assert section.lead.startswith("This was not measured")
    assert "anchored evaluate" in section.lead


def test_no_tested_class_is_no_weakest_class(digits, changed):
    scores = {**digits.result["test"], "per_class": [None] * 10}
    assert weakest(changed(digits, result={"test": scores})) is None


def test_labels_in_doubt_are_not_taken_at_their_word(doubted):
    section = accuracy(doubted)
    assert section.lead.startswith("If wrong labels are allowed for, the model gives the right answer for ")
    assert percent(doubted.scores["accuracy"]) in section.lead
    assert f"it would be {percent(doubted.result['held_out']['accuracy'])}" in section.blocks[-1].text
    assert sum(samples_per_class(doubted)) == doubted.scores["n"]


def test_without_a_look_agreement_is_not_called_right(hostile):
    assert accuracy(hostile).lead.startswith("The model agrees with ")
