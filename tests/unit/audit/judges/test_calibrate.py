"""Mirror of src/anchored/audit/judges/calibrate.py: one temperature, found by another road."""

import pytest
import torch

from anchored.audit.judges import Vectors, calibrated, opinion_of


def said(n=1500, k=4, sharp=3.0):
    g = torch.Generator().manual_seed(0)
    logits = torch.randn(n, k, generator=g, dtype=torch.float64)
    return logits, torch.multinomial((sharp * logits).softmax(1), 1, generator=g)[:, 0]


def test_the_temperature_is_the_best_of_a_fine_grid():
    logits, labels = said()
    best = max(
        float((s * logits).log_softmax(1).gather(1, labels[:, None]).mean()) for s in torch.linspace(1.0, 6.0, 200)
    )
    found = float(calibrated(logits, labels).gather(1, labels[:, None]).mean())
    assert found == pytest.approx(best, abs=1e-4)


def test_logits_that_say_nothing_become_equal_probabilities():
    g = torch.Generator().manual_seed(1)
    found = calibrated(torch.randn(4000, 3, generator=g), torch.randint(3, (4000,), generator=g)).exp()
    torch.testing.assert_close(found, torch.full_like(found, 1 / 3), atol=0.1, rtol=0)


def test_an_opinion_is_scored_by_the_given_labels():
    logits, labels = said()
    vectors = Vectors.check(torch.randn(1500, 2), labels, 4)
    opinion = opinion_of("some", logits, vectors, seconds=2.0)
    assert opinion.accuracy == pytest.approx((logits.argmax(1) == labels).double().mean().item())
    assert opinion.log_likelihood == pytest.approx(opinion.logits.gather(1, labels[:, None]).mean().item())
    assert (opinion.name, opinion.seconds, opinion.weight) == ("some", 2.0, None)
