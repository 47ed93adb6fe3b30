"""Mirror of src/anchored/features/tfidf.py: the formula by hand, the exact decomposition, and plain fitted data."""

import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from tests.unit.features.standins import Texts, some_texts

from anchored import InputError
from anchored.features.tfidf import TfIdf

TEXTS = Texts(["good film good", "bad film", "good book", "a bad book indeed"])


def weights_by_hand(texts):
    """Rows of length one from counts of words and pairs, in plain Python."""
    terms = []
    for text in texts:
        words = text.split()
        terms.append(Counter([*words, *(" ".join(pair) for pair in pairwise(words))]))
    names = sorted(set().union(*terms))
    df = {name: sum(name in row for row in terms) for name in names}
    rows = np.zeros((len(texts), len(names)))
    for i, row in enumerate(terms):
        for j, name in enumerate(names):
            if row[name]:
                rows[i, j] = (1 + math.log(row[name])) * (math.log((1 + len(texts)) / (1 + df[name])) + 1)
        rows[i] /= np.linalg.norm(rows[i])
    return rows


def test_distances_are_those_of_the_formula_if_all_directions_are_kept():
    rows = weights_by_hand(TEXTS.texts)
    found = TfIdf(dim=4).fit(TEXTS).transform(TEXTS)
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=2e-3)


def test_directions_are_those_of_the_exact_decomposition():
    texts = some_texts(60)
    rows = weights_by_hand(TEXTS.texts)
    exact = np.linalg.svd(rows)[1][:2]
    found = TfIdf(dim=2).fit(TEXTS).transform(TEXTS).double()
    np.testing.assert_allclose(np.linalg.svd(found.numpy())[1][:2], exact, atol=2e-3)
    assert TfIdf(dim=8).fit(texts).dim == 8


def test_fitting_twice_gives_the_same_encoder_and_changes_nothing_given():
    texts, encoder = some_texts(150), TfIdf(dim=16)
    first, second = encoder.fit(texts), encoder.fit(texts)
    assert first.digest == second.digest
    assert not encoder.fitted
    assert torch.equal(first.transform(texts), second.transform(texts))


def test_what_was_learnt_is_plain_data():
    texts = some_texts(150)
    fitted = TfIdf(dim=16).fit(texts)
    about, tensors = fitted.state()
    again = TfIdf.from_state(json.loads(json.dumps(about)), tensors)
    assert again.digest == fitted.digest
    assert torch.equal(again.transform(texts), fitted.transform(texts))


def test_empty_and_unknown_texts_are_zero_and_others_are_not():
    fitted = TfIdf(dim=3).fit(TEXTS)
    out = fitted.transform(Texts(["", "unheard words", "film", "good " * 50_000]))
    assert out[:2].abs().sum() == 0
    assert (out[2:].abs().sum(dim=1) > 0).all()
    assert fitted.transform(Texts([])).shape == (0, 3)


def test_scripts_without_spaces_are_cut_into_characters():
    texts = Texts(["今日は良い映画", "悪い映画です", "良い本です", "選挙の結果"])
    fitted = TfIdf(dim=4).fit(texts)
    assert fitted.state()[0]["analyzer"] == "char"
    found = fitted.transform(texts)
    assert float(found[0] @ found[1]) > float(found[0] @ found[3]) + 0.01
    assert TfIdf(dim=4).fit(TEXTS).state()[0]["analyzer"] == "word"


def test_of_very_many_texts_some_are_learnt_from(monkeypatch):
    monkeypatch.setattr("anchored.features.tfidf._TEXTS_TO_LEARN_FROM", 10)
    texts = Texts([f"word{i} common" for i in range(30)])
    assert "word0" in TfIdf(dim=2).fit(texts).state()[0]["terms"]
    assert "word1" not in TfIdf(dim=2).fit(texts).state()[0]["terms"]


@pytest.mark.parametrize("texts", [["", "  "], ["!!", "?"]])
def test_texts_without_words_are_refused(texts):
    with pytest.raises(InputError, match="found no word that it could learn from"):
        TfIdf().fit(Texts(texts))


def test_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="must learn its terms first"):
        TfIdf().transform(TEXTS)
    about, tensors = TfIdf(dim=3).fit(TEXTS).state()
    for wrong in (
        ({**about, "terms": about["terms"][1:]}, tensors),
        ({**about, "terms": [*about["terms"][1:], about["terms"][1]]}, tensors),
        ({**about, "analyzer": "eval"}, tensors),
        (about, {"idf": tensors["idf"]}),
        (about, {**tensors, "directions": tensors["directions"] * float("nan")}),
    ):
        with pytest.raises(InputError, match="do not fit"):
            TfIdf.from_state(*wrong)


def test_no_column_is_next_to_nothing_and_new_texts_stay_in_range():
    """Boilerplate makes singular vectors of length zero; standardised, they would blow up every new text."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["goal", "match", "bank", "loan"], 3)) + " of the day" for _ in range(80)]
    fitted = TfIdf().fit(Texts(texts))
    features = fitted.transform(Texts(texts))
    spread = features.std(dim=0)
    assert float(spread.max() / spread.min()) < 10
    new = (fitted.transform(Texts(["a match without it", "bank"])) - features.mean(dim=0)) / spread
    assert float(new.abs().max()) < 50


def test_distances_are_those_of_the_terms():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["a goal in the match", "the bank and the loan", "a match at the bank", "goal goal goal"]
    exact = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2)).fit_transform(texts)
    ours = TfIdf().fit(Texts(texts)).transform(Texts(texts)).double()
    np.testing.assert_allclose((ours @ ours.T).numpy(), (exact @ exact.T).toarray(), atol=2e-3)
