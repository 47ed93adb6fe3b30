"""Mirror of src/anchored/audit/judges/network.py: the two halves' answer as an opinion among others."""

import pytest
import torch
from tests.builders import blobs, resolved

from anchored.audit import combine, cross_fit
from anchored.audit.judges import network


def test_the_opinion_is_the_cross_fit_calibrated():
    data = blobs(240, distance=5.0)
    config = resolved({"train": {"epochs": 3}}, data)
    opinion = network(data, config)
    crossed = cross_fit(data, config).logits
    assert torch.equal(opinion.logits.argmax(dim=1), crossed.argmax(dim=1))
    assert opinion.accuracy == pytest.approx((crossed.argmax(1) == data.labels).double().mean().item())
    assert opinion.seconds > 0
    assert combine([opinion], data.labels)[1][0].weight == 1.0
