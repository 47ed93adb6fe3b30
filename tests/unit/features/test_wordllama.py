"""Mirror of src/anchored/features/wordllama.py: a plain loop over tokens is the judge; any text is taken."""

import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.features.standins import Texts, some_texts

from anchored import InputError
from anchored.features.wordllama import WordLlama

pytest.importorskip("wordllama", reason="pip install 'anchored[text]'")


@pytest.fixture(scope="module")
def encoder():
    return WordLlama()


def test_agrees_with_a_loop_over_tokens(encoder):
    texts = some_texts(12)
    for row, text in zip(encoder.transform(texts), texts.texts, strict=True):
        tokens = encoder._tokenizer.encode(text, add_special_tokens=False).ids if text else []
        total = torch.zeros(256, dtype=torch.float64)
        for token in tokens:
            total += encoder._stored[token].double()
        torch.testing.assert_close(row.double(), total / max(len(tokens), 1), rtol=1e-5, atol=1e-5)


def test_similar_texts_are_nearer_than_others(encoder):
    vectors = encoder.transform(Texts(["the striker scored a goal", "the team won the match", "shares fell on Monday"]))
    similar = torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:])
    assert similar[0] > similar[1]


@pytest.mark.parametrize(
    "text", ["", " ", "word", "😀👍🏽", "日本語のテキスト", "مرحبا", "\x00", "\ud800", "a\n\tb", "word " * 50_000]
)
def test_any_text_has_a_finite_vector(encoder, text):
    vector = encoder.transform(Texts([text, "other"]))
    assert vector.shape == (2, 256)
    assert torch.isfinite(vector).all()
    assert torch.equal(encoder.transform(Texts([text]))[0], vector[0])
    assert bool(vector[0].any()) == (text != "")


@given(text=st.text(max_size=80))
@settings(max_examples=30)
def test_repeating_a_batch_gives_the_same_bits(text):
    encoder = test_repeating_a_batch_gives_the_same_bits.__dict__.setdefault("encoder", WordLlama())
    found = encoder.transform(Texts([text] * 3))
    assert torch.isfinite(found).all()
    assert torch.equal(found[0], found[2])


def test_no_texts_give_no_rows(encoder):
    assert encoder.transform(Texts([])).shape == (0, 256)


def test_the_package_is_not_needed_to_make_it_again(encoder, monkeypatch):
    about, tensors = encoder.state()
    monkeypatch.setattr("anchored.features.wordllama.find_spec", lambda _name: None)
    again = WordLlama.from_state(about, tensors)
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(some_texts(5)), encoder.transform(some_texts(5)))
    with pytest.raises(InputError, match=r"not installed; pip install 'anchored\[text\]'"):
        WordLlama()


def test_damaged_parts_are_refused(encoder, monkeypatch):
    about, tensors = encoder.state()
    with pytest.raises(InputError, match="matrix or tokenizer is missing"):
        WordLlama.from_state(about, {"matrix": tensors["matrix"]})
    with pytest.raises(InputError, match="tokenizer of wordllama is damaged"):
        WordLlama.from_state(about, {**tensors, "tokenizer": torch.zeros(5, dtype=torch.uint8)})
    with pytest.raises(InputError, match="must be finite"):
        WordLlama.from_state(about, {**tensors, "matrix": torch.full((3, 2), float("nan"))})
    with pytest.raises(InputError, match=r"must be floats \(tokens, d\)"):
        WordLlama.from_state(about, {**tensors, "matrix": torch.zeros(3)})
    with pytest.raises(InputError, match="matrix and tokenizer together"):
        WordLlama(tensors["matrix"])
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match="needs tokenizers, which is not installed"):
        WordLlama.from_state(about, tensors)
