"""Mirror of src/anchored/features/columns/hashed_texts.py: near spellings lie near, and the state is two arrays."""

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfTransformer

from anchored._errors import InputError
from anchored.features.columns.hashed_texts import BUCKETS, HashedTexts, _counted, _scaled

TITLES = [
    f"{rank} {job}" for rank in ("junior", "senior", "chief") for job in ("engineer", "nurse", "teacher", "driver")
]
COUNTS = np.arange(1, len(TITLES) + 1)


def fitted(units="letters", dim=5):
    return HashedTexts.fit(TITLES, COUNTS, units, dim)


@pytest.mark.parametrize("units", ["letters", "words"])
def test_a_text_never_seen_lies_near_its_like(units):
    texts = fitted(units)
    seen = texts.transform(["senior nurse", "junior engineer"])
    new = texts.transform(["nurse senior", "engineer"])
    assert np.linalg.norm(new[0] - seen[0]) < np.linalg.norm(new[0] - seen[1])
    assert np.linalg.norm(new[1] - seen[1]) < np.linalg.norm(new[1] - seen[0])


def test_features_have_mean_zero_and_the_first_variance_one():
    rows = np.repeat(fitted().transform(TITLES), COUNTS, axis=0)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-5)
    assert rows.var(axis=0).max() == pytest.approx(1.0, rel=1e-3)


def test_the_weights_are_those_of_scikit_learn():
    raw = _counted(TITLES, "letters")
    reference = TfidfTransformer(smooth_idf=True).fit(raw)
    texts = HashedTexts.fit(TITLES, np.ones(len(TITLES), dtype=np.int64), "letters", 3)
    np.testing.assert_allclose(texts.rarity, reference.idf_, rtol=1e-5)
    np.testing.assert_allclose(_scaled(raw, texts.rarity).toarray(), reference.transform(raw).toarray(), atol=1e-6)


def test_repeated_rows_and_counts_are_the_same():
    """A text with count c weighs as c rows: the directions explain the same variance."""
    few = HashedTexts.fit(TITLES[:3], np.array([4, 2, 1]), "words", 2)
    rows = np.repeat(few.transform(TITLES[:3]), [4, 2, 1], axis=0)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-5)


def test_empty_texts_and_no_texts():
    texts = fitted()
    assert np.isfinite(texts.transform(["", "!!", "日本語テキスト"])).all()
    assert texts.transform([]).shape == (0, 5)
    assert HashedTexts.fit(["a"], np.array([3]), "letters", 5).transform(["a"]).shape == (1, 1)


def test_the_same_texts_give_the_same_vectors_twice():
    np.testing.assert_array_equal(fitted().transform(TITLES), fitted().transform(TITLES))


def test_the_state_makes_the_same_vectors_and_is_checked():
    texts = fitted()
    tensors = texts.tensors()
    np.testing.assert_array_equal(HashedTexts.restore("letters", tensors).transform(TITLES), texts.transform(TITLES))
    for bad in (
        {"rarity": torch.zeros(3)},
        {"directions": torch.zeros(BUCKETS, 4)},
        {"mean": torch.full((5,), torch.nan)},
        {"rarity": tensors["rarity"].double()},
    ):
        with pytest.raises(InputError, match="damaged"):
            HashedTexts.restore("letters", tensors | bad)
    with pytest.raises(InputError, match="damaged"):
        HashedTexts.restore("letters", {})
