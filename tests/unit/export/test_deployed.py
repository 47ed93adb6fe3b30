"""Mirror of src/anchored/export/deployed.py: the graph's parts against the model, and what is said beside it."""

import json

import pytest
import torch

from anchored import AnchoredHead, backbones
from anchored._errors import InputError
from anchored.data import Normalization, as_columns
from anchored.export.deployed import Deployed, about, input_dtype, probe
from anchored.features import TableEncoder
from anchored.methods import Classifier
from anchored.runs import TrainedModel


def test_logits_and_probabilities_are_the_models_own(make_model, head):
    model = make_model("tiny", (1, 8, 8), head)
    x = probe(model, 4, dtype=torch.uint8)
    logits, probabilities = Deployed(model)(x)
    torch.testing.assert_close(logits, model(x))
    torch.testing.assert_close(probabilities, model.predict_proba(x))


def test_a_model_in_double_is_deployed_in_single_and_stays_as_it_was(make_model):
    model = make_model(dtype=torch.float64)
    x = probe(model, 4, dtype=torch.float32)
    logits, _ = Deployed(model)(x)
    assert logits.dtype == torch.float32
    assert model(x).dtype == torch.float64
    torch.testing.assert_close(logits, model(x).float())


def test_bytes_go_in_where_the_model_knows_bytes(make_model):
    pixels, vectors = make_model("tiny", (1, 8, 8)), make_model()
    assert input_dtype(pixels) == torch.uint8
    assert input_dtype(vectors) == torch.float32
    assert input_dtype(pixels, "float32") == torch.float32
    with pytest.raises(InputError, match="trained on floats, got input uint8"):
        input_dtype(vectors, "uint8")
    with pytest.raises(InputError, match="must be auto, uint8 or float32, got 'int8'"):
        input_dtype(vectors, "int8")


def test_made_up_inputs_are_such_as_the_model_knows(make_model):
    pixels = probe(make_model("tiny", (1, 8, 8)), 50, dtype=torch.uint8)
    assert pixels.shape == (50, 1, 8, 8)
    assert (pixels.min(), pixels.max()) == (0, 255)
    vectors = probe(make_model(), 4000, dtype=torch.float32)
    torch.testing.assert_close(vectors.mean(dim=0), torch.tensor([0.3, 0.4, 0.5, 0.6]), atol=0.03, rtol=0)
    torch.testing.assert_close(vectors.std(dim=0), torch.full((4,), 0.4), atol=0.03, rtol=0)
    assert torch.equal(vectors, probe(make_model(), 4000, dtype=torch.float32))


def test_the_facts_are_text_that_reads_back(make_model):
    model = make_model(description={"columns": ["x", "y"], "method": "ce", "backbone": {"name": "tiny"}})
    facts = about(model)
    assert all(isinstance(value, str) for value in facts.values())
    assert tuple(json.loads(facts["class_names"])) == model.class_names
    assert json.loads(facts["columns"]) == ["x", "y"]
    assert json.loads(facts["temperature"]) == 0.25
    assert json.loads(facts["normalization"]) == model.normalization.to_dict()
    assert facts["method"] == "ce"
    assert "columns" not in about(make_model())


def test_a_model_of_a_table_says_which_columns_its_inputs_come_from():
    rows = as_columns({"age": [31, 45, 52, 28], "town": ["Lima", "Rome", "Rome", "Lima"]})
    encoder = TableEncoder().fit(rows)
    network = Classifier(backbones.get("tiny", (encoder.dim,)), AnchoredHead(32, 2))
    plain = Normalization((0.0,) * encoder.dim, (1.0,) * encoder.dim, 1.0)
    facts = about(TrainedModel(network, plain, ("no", "yes"), encoder=encoder))
    assert facts["encoder"] == "table"
    assert json.loads(facts["encoded"]) == ["age: value", "town: Lima", "town: Rome"]
    assert "encoded" not in about(TrainedModel(network, plain, ("no", "yes")))
