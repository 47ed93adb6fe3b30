"""Mirror of src/anchored/report/_samples.py: what is shown of a suspect that is no picture."""

import numpy as np
import torch

from anchored.audit import Suspect
from anchored.data import Dataset, Split, TensorInputs, TextInputs, as_columns
from anchored.report._samples import describe_sample, describe_samples
from anchored.runs import RunData, fit, speaking_words
from anchored.training import validate


def suspect(index, given="sport", suggested="money"):
    return Suspect(1, index, f"row {index}", given, suggested, 0.9, -1.0, 0.1, 0.9, "many")


def test_a_text_with_the_words_that_count():
    rng = np.random.default_rng(0)
    words = ("goal", "match", "team", "season", "coach"), ("bank", "shares", "profit", "market", "loan")
    texts = [" ".join(rng.choice(words[i % 2], 4)) for i in range(60)]
    texts[1] = "bank coach"
    data = Dataset("news", TextInputs(texts), torch.arange(60) % 2, ("sport", "money"))
    model = fit(Split(data), {"features": {"encoder": "tfidf"}, "method": {"name": "ridge"}}).model
    shown = describe_samples(model, RunData(data, data), [suspect(1), suspect(99)])
    assert list(shown) == [1], "a sample that is gone is not described"
    assert shown[1][0] == ("text", "bank coach")
    words = [", ".join(found) or "no single word" for found in speaking_words(model, texts[1], 0, 1)]
    assert shown[1][1:] == (("speaks for money", words[0]), ("speaks for sport", words[1]))
    assert "bank" in words[0]
    assert describe_sample(None, data, suspect(1)) == (("text", "bank coach"),)


def test_a_long_text_is_cut():
    data = Dataset("news", TextInputs(["word " * 200]), torch.tensor([0]), ("sport", "money"))
    ((_, text),) = describe_sample(None, data, suspect(0))
    assert len(text) == 402
    assert text.endswith(" …")


def test_cells_of_a_row():
    rows = as_columns({"age": [31.5, 40.0], "town": ["Rome", None]})
    data = Dataset("t", rows, torch.tensor([0, 1]), ("sport", "money"))
    assert describe_sample(None, data, suspect(1)) == (("age", "40"), ("town", ""))


def test_numbers_by_their_columns_and_nothing_for_pictures():
    data = Dataset("t", TensorInputs(torch.tensor([[1.23456, 2.0]])), torch.tensor([0]), ("a", "b"), columns=("x", "y"))
    assert describe_sample(None, data, suspect(0)) == (("x", "1.235"), ("y", "2"))
    pictures = Dataset("p", TensorInputs(torch.zeros(1, 3, 2, 2)), torch.tensor([0]), ("a", "b"))
    assert describe_samples(None, RunData(pictures, pictures), [suspect(0)]) == {}


def test_of_a_table_the_cells_that_speak_against_the_label():
    towns = ["Lima", "Rome"] * 30
    rows = as_columns({"noise": [i % 7 for i in range(60)], "size": [i % 5 for i in range(60)], "town": towns})
    data = Dataset("t", rows, torch.tensor([0, 1] * 30), ("sport", "money"))
    run = RunData.open(Split(data), validate({}))
    shown = describe_samples(None, run, [suspect(1), suspect(0, "money", "sport"), suspect(2, "gone", "sport")])
    assert shown[1][0] == ("town", "Rome")
    assert shown[0][0] == ("town", "Lima")
    assert 2 not in shown, "a class that is gone"
