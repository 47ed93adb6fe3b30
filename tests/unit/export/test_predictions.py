"""Mirror of src/anchored/export/predictions.py: each column against the probabilities, one sample at a time."""

import math

import pytest
import torch

from anchored._errors import InputError
from anchored.data import Chunk
from anchored.export import predictions


def test_columns_agree_with_the_probabilities_whatever_the_chunks(make_model):
    model = make_model(temperature=0.2)
    x = torch.randn(11, 4, generator=torch.Generator().manual_seed(0)) * 3
    ids = [f"row {i}" for i in range(11)]
    parts = [Chunk(ids[i : i + 4], x[i : i + 4]) for i in range(0, 11, 4)]
    got = list(predictions(model, parts, min_confidence=0.9))
    assert [len(said.id) for said in got] == [4, 4, 3]
    rows = [(said, place) for said in got for place in range(len(said.id))]
    for i, (said, place) in enumerate(rows):
        likely = model.predict_proba(x[i : i + 1])[0].double()
        first, second = likely.sort(descending=True).values[:2].tolist()
        assert said.id[place] == f"row {i}"
        assert said.label[place] == model.class_names[int(likely.argmax())]
        assert said.probability[place] == pytest.approx(first, abs=1e-6)
        assert said.margin[place] == pytest.approx(math.log(first / second), abs=1e-3)
        assert said.abstain[place] == (first < 0.9)
        assert said.error[place] is None
    assert {said.abstain[place] for said, place in rows} == {True, False}


@pytest.mark.parametrize("bad", [{1}, {0, 2}, {0, 1, 2}])
def test_a_sample_that_could_not_be_read_is_named_in_its_place(make_model, bad):
    model = make_model()
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    good = [i for i in range(3) if i not in bad]
    (said,) = predictions(model, [Chunk(["a", "b", "c"], x[good], {i: f"{i}: damaged" for i in bad})])
    for i in range(3):
        alone = model.predict_proba(x[i : i + 1])[0]
        assert said.error[i] == (f"{i}: damaged" if i in bad else None)
        assert said.label[i] == (None if i in bad else model.class_names[int(alone.argmax())])
        assert said.abstain[i] == (i in bad)
        assert (said.probability[i] is None, said.margin[i] is None) == (i in bad, i in bad)


def test_an_answer_that_is_no_number_is_an_error_of_its_row(make_model):
    x = torch.tensor([[0.0, 0.0, 0.0, 0.0], [torch.inf, 0.0, 0.0, 0.0]])
    (said,) = predictions(make_model(), [Chunk(["row 2", "row 3"], x)])
    assert said.error[0] is None
    assert said.error[1].startswith("row 3: the model's answer is not a number")
    assert (said.label[1], said.probability[1], said.abstain[1]) == (None, None, True)


def test_refuses_a_confidence_that_is_no_probability(make_model):
    with pytest.raises(InputError, match=r"min_confidence must lie in \[0, 1\], got 1.5"):
        next(predictions(make_model(), [], min_confidence=1.5))


def test_refuses_a_model_whose_names_are_not_its_outputs(make_model):
    model = make_model()
    model.class_names = ("a", "b")
    with pytest.raises(InputError, match="2 class names but 5 outputs"):
        next(predictions(model, [Chunk(["a"], torch.zeros(1, 4))]))
