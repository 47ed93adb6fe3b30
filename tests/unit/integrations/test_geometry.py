"""Mirror of src/anchored/integrations/geometry.py: numbers by hand, noise that was put in, bounded memory."""

import math

import pytest
import torch
from torch import nn

from anchored import AnchoredHead, InputError, LinearHead
from anchored.integrations import Geometry


def noisy_answers(n=2000, k=4, rate=0.3):
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(k, (n,), generator=generator)
    logits = 4.0 * nn.functional.one_hot(truth, k) + torch.randn(n, k, generator=generator)
    wrong = torch.rand(n, generator=generator) < rate
    return logits, torch.where(wrong, (truth + 1) % k, truth)


def test_margins_and_angles_are_those_of_a_plain_loop():
    head = LinearHead(3, 2, bias=False)
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(7) % 2
    gathered = Geometry(head)
    for part in (slice(0, 4), slice(4, 7)):
        gathered.add(head(features[part]), labels[part], features[part])
    found = gathered.summary()
    margins, own = [], []
    for z, y in zip(features.tolist(), labels.tolist(), strict=True):
        rows = head.weight.tolist()
        scores = [sum(a * b for a, b in zip(z, row, strict=True)) for row in rows]
        margins.append(scores[y] - scores[1 - y])
        own.append(math.degrees(math.acos(scores[y] / (math.dist(z, [0] * 3) * math.dist(rows[y], [0] * 3)))))
    assert found["margin/mean"] == pytest.approx(sum(margins) / 7, rel=1e-5)
    assert found["margin/min"] == pytest.approx(min(margins), rel=1e-5)
    assert found["angle/own"] == pytest.approx(sum(own) / 7, rel=1e-4)
    assert found["accuracy"] == pytest.approx(sum(m > 0 for m in margins) / 7)
    assert "noise/rate" not in found, "too few labels for a law"


def test_the_noise_that_was_put_in_is_found():
    logits, labels = noisy_answers()
    gathered = Geometry()
    gathered.add(logits, labels)
    found = gathered.summary()
    assert found["noise/low"] <= found["noise/rate"] <= found["noise/high"]
    assert found["noise/rate"] == pytest.approx(0.3, abs=0.04)


def test_recalls_have_names_and_absent_classes_are_left_out():
    gathered = Geometry(class_names=["cat", "dog", "emu"])
    gathered.add(torch.eye(3)[[0, 1, 0]], torch.tensor([0, 0, 1]))
    found = gathered.summary()
    assert (found["recall/cat"], found["recall/dog"]) == (0.5, 0.0)
    assert "recall/emu" not in found


def test_ignored_labels_and_those_beyond_the_limit_are_left_out():
    gathered = Geometry(most=3)
    gathered.add(torch.tensor([[1.0, 0.0]] * 2), torch.tensor([0, -100]))
    gathered.add(torch.tensor([[1.0, 0.0]] * 5), torch.tensor([1, 0, 0, 0, 0]))
    assert gathered.summary()["accuracy"] == 0.5, "one of the first batch, one of the second"
    gathered.clear()
    assert gathered.summary() == {}


def test_soft_labels_count_as_their_largest():
    gathered = Geometry()
    gathered.add(torch.eye(2), torch.tensor([[0.6, 0.4], [0.9, 0.1]]))
    assert gathered.summary()["accuracy"] == 0.5


def test_a_watched_model_needs_labels_only_and_is_left_alone_afterwards():
    model = nn.Sequential(nn.Linear(4, 6), AnchoredHead(6, 3, scale=5.0))
    gathered = Geometry.of(model)
    handle = gathered.watch()
    x, y = torch.randn(8, 4, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 3
    logits = model(x)
    gathered.add_labels(y)
    gathered.add_labels(y)  # nothing new was seen
    handle.remove()
    assert gathered.summary()["margin/mean"] == pytest.approx(
        (logits.gather(1, y[:, None])[:, 0] - logits.scatter(1, y[:, None], -9.0).amax(dim=1)).mean().item(), abs=1e-5
    )
    assert gathered.summary()["angle/rows"] == pytest.approx(120, abs=1e-3), "three anchors on a simplex"
    assert not model[1]._forward_hooks


def test_refuses_a_model_without_a_head():
    with pytest.raises(InputError, match=r"Linear has no head of anchored\.heads to watch"):
        Geometry.of(nn.Linear(2, 2))
    with pytest.raises(InputError, match="no head to watch"):
        Geometry().watch()
