"""Mirror of src/anchored/integrations/hf.py; with transformers itself it runs in tests/e2e/test_frameworks.py."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from anchored import InputError, losses
from anchored.integrations import hf

GENERATOR = torch.Generator().manual_seed(0)
LOGITS, LABELS = torch.randn(12, 5, generator=GENERATOR), torch.randint(5, (12,), generator=GENERATOR)


@pytest.mark.parametrize(
    "outputs",
    [SimpleNamespace(logits=LOGITS), {"logits": LOGITS}, (LOGITS, None), LOGITS],
    ids=["object", "dict", "tuple", "tensor"],
)
def test_finds_the_logits_in_every_answer(outputs):
    assert torch.equal(hf.loss("gce", q=0.5)(outputs, LABELS), losses.get("gce", q=0.5)(LOGITS, LABELS))


@pytest.mark.parametrize("name", ["ce", "gce", "nce+rce"])
@pytest.mark.parametrize("count", [int, torch.tensor], ids=["int", "tensor"])
def test_accumulated_batches_of_unequal_size_add_up_to_the_mean_over_all(name, count):
    loss, labels = hf.loss(name), LABELS.clone()
    labels[3] = -100
    parts = [slice(0, 2), slice(2, 9), slice(9, 12)]
    total = sum(loss({"logits": LOGITS[part]}, labels[part], num_items_in_batch=count(11)) for part in parts)
    torch.testing.assert_close(total, losses.get(name)(LOGITS, labels))
    assert loss.loss.reduction == "mean"


def test_tokens_and_pixels_are_samples():
    tokens, labels = LOGITS.reshape(3, 4, 5), LABELS.reshape(3, 4)
    expected = losses.get("gce")(LOGITS, LABELS)
    torch.testing.assert_close(hf.loss("gce")({"logits": tokens}, labels), expected)
    maps = LOGITS.reshape(3, 2, 2, 5).movedim(-1, 1)
    torch.testing.assert_close(hf.loss("gce")({"logits": maps}, LABELS.reshape(3, 2, 2)), expected)


def test_takes_a_loss_of_ones_own_and_says_if_labels_are_missing():
    own = losses.CrossEntropy() + losses.MeanAbsoluteError()
    assert torch.equal(hf.loss(own)(LOGITS, LABELS), own(LOGITS, LABELS))
    with pytest.raises(InputError, match="the batch has no labels"):
        hf.loss("ce")(LOGITS, None)


def test_metrics_of_an_evaluation_have_flat_names():
    many = torch.randn(200, 3, generator=GENERATOR)
    found = hf.compute_metrics(SimpleNamespace(predictions=(many.numpy(), None), label_ids=many.argmax(dim=1).numpy()))
    assert found["accuracy"] == 1.0
    assert found["noise_low"] <= found["noise_rate"] <= found["noise_high"] < 0.1
    tokens = hf.compute_metrics(SimpleNamespace(predictions=np.eye(3)[None], label_ids=np.array([[0, 1, -100]])))
    assert tokens["accuracy"] == 1.0


def test_says_how_to_install_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match="pip install transformers"):
        hf.from_pretrained(object, "folder")
