"""Mirror of src/anchored/report/sections/learning.py: the verdict on curves whose shape is known."""

import pytest

from anchored.report.sections.learning import learning, verdict


def history(values, part="test"):
    return [{"epoch": i + 1, "train_loss": 1.0, f"{part}_accuracy": v} for i, v in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "n", "words"),
    [
        ([0.5, 0.9, 0.8], 10_000, "was best after epoch 2, at 90.0 %, and ended at 80.0 %"),
        ([0.5, 0.9, 0.8], 20, "Training settled"),  # of twenty samples, two more wrong ones say nothing
        ([0.2, 0.4, 0.5, 0.6, 0.7, 0.8], 1000, "still rising at the end, at 80.0 %"),
        ([0.5, 0.8, 0.8, 0.8, 0.8, 0.8], 1000, "Training settled: accuracy on test data ended at 80.0 %"),
        ([0.0, 0.0], 10, "no right answer"),
    ],
)
def test_the_verdict_follows_the_curve(values, n, words):
    assert words in verdict(history(values), n)


def test_held_out_data_speaks_where_there_is_no_test():
    assert "held-out data" in verdict(history([0.5, 0.5], "held_out"))
    assert "nothing unseen was scored" in verdict([{"epoch": 1, "train_loss": 1.0}])


def test_stages_are_marked(digits, changed):
    lines = [{**record, "stage": 1 + (record["epoch"] > 2)} for record in history([0.5, 0.6, 0.7])]
    picture = learning(changed(digits, history=lines)).blocks[0]
    assert "stage 2" in picture.svg
    assert "stage 1" not in picture.svg


def test_an_earlier_epoch_that_was_kept_is_said_and_marked(digits, changed):
    section = learning(changed(digits, history=history([0.5, 0.9, 0.8, 0.7]), result={"kept_epoch": 2}))
    assert section.lead == (
        "Training stopped after epoch 4, because held-out labels had been predicted better before: "
        "the model is that of epoch 2."
    )
    assert "kept" in section.blocks[0].svg


def test_the_curves_of_a_run(digits):
    section = learning(digits)
    assert all(word in section.blocks[0].svg for word in ("Loss", "Right answers", "training", "held-out", "test"))


def test_without_history_there_is_no_section(digits, changed):
    assert learning(changed(digits, history=[])) is None
