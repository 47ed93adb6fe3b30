"""Mirror of src/anchored/runs/words.py: words are left out in turn, and what changes is what they say."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import Dataset, Normalization, Split, TensorInputs, TextInputs
from anchored.methods import Classifier
from anchored.runs import TrainedModel, fit, speaking_words

SPORT, MONEY = ("goal", "match", "team", "season", "coach"), ("bank", "shares", "profit", "market", "loan")
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice((SPORT, MONEY)[i % 2], 4)) for i in range(60)]
LABELS = torch.arange(60) % 2


@pytest.fixture(scope="module")
def model():
    data = Dataset("news", TextInputs(TEXTS), LABELS, ("sport", "money"))
    return fit(Split(data), {"features": {"encoder": "tfidf"}, "method": {"name": "ridge"}}).model


def test_words_of_either_class_speak_for_it(model):
    for_money, for_sport = speaking_words(model, "the bank and its loan against the coach and the team", 0, 1)
    assert set(for_money[:2]) == {"bank", "loan"}
    assert set(for_sport[:2]) == {"coach", "team"}
    assert not set(for_money) & set(for_sport)


def test_the_two_labels_exchanged_exchange_the_words(model):
    text = "the bank paid for the match"
    assert speaking_words(model, text, 0, 1) == speaking_words(model, text, 1, 0)[::-1]


def test_each_word_is_left_out_by_hand(model):
    text = "bank match"
    logits = model(model.vectors(TextInputs([text, " match", "bank "])))
    lead = logits[:, 1] - logits[:, 0]
    assert float(lead[0] - lead[1]) > 0 > float(lead[0] - lead[2])
    assert speaking_words(model, text, 0, 1) == (("bank",), ("match",))


def test_a_text_without_words_says_nothing(model):
    assert speaking_words(model, " … !", 0, 1) == ((), ())


def test_a_word_is_not_cut_out_of_a_longer_one(model):
    for_money, for_sport = speaking_words(model, "banking on goals", 0, 1)
    assert for_money == for_sport == (), "neither word is known, and their parts are not words"


def test_a_model_of_other_inputs_is_refused():
    from anchored import AnchoredHead, backbones

    classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
    other = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
    assert other.vectors(TensorInputs(torch.zeros(2, 4))).shape == (2, 4)
    with pytest.raises(InputError, match="words speak to a model of texts"):
        speaking_words(other, "a text", 0, 1)
