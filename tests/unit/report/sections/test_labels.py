"""Mirror of src/anchored/report/sections/labels.py: where the share of wrong labels comes from is always said."""

from anchored.report.sections.labels import labels, noise


def test_noise_that_the_run_made_is_known(digits):
    found = noise(digits)
    assert found.rate == digits.result["corruption"]["noise"]["rate"]
    assert found.known
    assert "29.6 % of the training labels are wrong, because the run was asked to corrupt them" in labels(digits).lead


def test_corrections_are_taken_off_it(digits, changed):
    corrected = changed(digits, result={"corrections": {"wrong_after": 0}})
    assert noise(corrected).rate == 0.0


def test_an_audit_comes_with_its_interval(hostile):
    assert labels(hostile).lead.startswith(
        "About 30 % of the labels look wrong (between 27 % and 33 %), some 72 of 240."
    )
    kinds = [block.kind for block in labels(hostile).blocks]
    assert kinds == ["picture", "picture", "table", "paragraph", "paragraph"]


def test_beside_an_audit_the_truth_is_told_where_it_is_known(hostile, changed):
    added = {"noise": {"rate": 0.25, "n": 240}}
    assert "in truth it is 25.0 %" in labels(changed(hostile, result={"corruption": added})).lead


def test_the_runs_own_look_at_the_labels_comes_before_the_receipt(digits, changed):
    looked = changed(digits, result={"auto": {"noise_rate": 0.28, "interval": [0.25, 0.31]}})
    assert labels(looked).lead.startswith("About 28 % of the labels look wrong (between 25 % and 31 %); in truth")
    assert not noise(looked).known


def test_an_estimate_of_a_model_that_knows_nothing_is_not_shown(digits, changed):
    guess = {"n": 100, "noise_rate": 0.5, "on": "held-out data"}
    poor = changed(digits, result={"corruption": {}, "calibration": guess, "held_out": {"accuracy": 0.1}})
    assert noise(poor).rate is None
    assert "right too seldom" in noise(poor).source
    fair = changed(digits, result={"corruption": {}, "calibration": guess, "held_out": {"accuracy": 0.45}})
    assert noise(fair).rate == 0.5
    assert "anchored audit" in noise(fair).source


def test_no_sign_of_noise_and_no_estimate(digits, changed):
    clean = {"n": 100, "noise_rate": 0.0, "on": "held-out data"}
    result = {"corruption": {}, "calibration": clean, "held_out": {"accuracy": 0.99}}
    assert "no sign of wrong labels" in labels(changed(digits, result=result)).lead
    assert "was not estimated" in labels(changed(digits, result={"corruption": {}, "calibration": {}})).lead


def test_unbalanced_classes_are_named(digits, changed):
    section = labels(changed(digits, result={"class_counts": [500, *[100] * 8, 5]}))
    assert "“0”, has 100 times as many samples as the smallest, “9”: 500 against 5" in section.lead
    assert "balanced, with" in labels(digits).lead


def test_class_sizes_by_the_labels_and_with_wrong_labels_allowed_for_are_told_apart(digits, changed):
    result = {"class_counts": [500, *[100] * 8, 20], "auto": {"noise_rate": 0.3, "imbalance": 556.0}}
    lead = labels(changed(digits, result=result)).lead
    assert "By the labels as given, the largest class, “0”, has 25 times" in lead
    assert "If wrong labels are allowed for, it is some 556 times" in lead
    result["auto"] = {"noise_rate": 0.3, "imbalance": 27.0}
    assert "allowed for" not in labels(changed(digits, result=result)).lead


def test_of_a_hundred_classes_both_ends_are_drawn_and_all_listed(digits, changed):
    names = tuple(f"class {j:02}" for j in range(100))
    many = changed(digits, result={"class_counts": list(range(200, 100, -1))}, class_names=names)
    picture, table, _ = labels(many).blocks
    assert "class 00" in picture.svg
    assert "class 99" in picture.svg
    assert "class 50" not in picture.svg
    assert len(table.rows) == 100
