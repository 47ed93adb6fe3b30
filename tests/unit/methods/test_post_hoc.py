"""Mirror of src/anchored/methods/post_hoc.py: the correction sample by sample, and its limits."""

import math

import pytest
import torch
from tests.builders import build_context

from anchored import backbones
from anchored._errors import InputError
from anchored.methods import BuildContext, make_procedure, parse

COUNTS = [900, 90, 10]


def network_after(name, **options):
    """The network before and after the correction, and an input."""
    method = make_procedure(build_context(name, counts=COUNTS, options=options))
    network = method.network().eval()
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(1))
    before = network(x).detach()
    _, correction = method.stages()
    assert not correction.trained
    correction.enter(network)
    return before, network(x).detach()


@pytest.mark.parametrize("name", ["post-hoc", "post-hoc+pal", "la-post-hoc"])
@pytest.mark.parametrize("tau", [0.25, 1.0, 2])
def test_a_multiple_of_the_log_prior_is_taken_off(name, tau):
    before, after = network_after(name, tau=tau)
    for row, found in zip(before.tolist(), after.tolist(), strict=True):
        expected = [value - tau * math.log(n / 1000) for value, n in zip(row, COUNTS, strict=True)]
        assert found == pytest.approx(expected, abs=1e-5)


def test_tau_zero_changes_nothing():
    before, after = network_after("post-hoc", tau=0.0)
    assert torch.equal(before, after)


def test_with_the_prior_as_its_only_knowledge_a_classifier_becomes_undecided():
    """A classifier that has learnt nothing but the frequencies gives every class the same score."""
    given = BuildContext(
        method=parse("post-hoc"),
        backbone=lambda *_: backbones.get("tiny", (6,)),
        counts=torch.tensor(COUNTS),
    )
    method = make_procedure(given)
    network = method.network().eval()
    with torch.no_grad():
        network.head.weight.zero_()
        network.head.bias.copy_(torch.tensor(COUNTS).log())
    method.stages()[1].enter(network)
    logits = network(torch.ones(1, 6))
    torch.testing.assert_close(logits, logits[:, :1].expand(1, 3))


@pytest.mark.parametrize("tau", [-0.5, "1", math.inf])
def test_a_negative_multiple_is_refused(tau):
    with pytest.raises(InputError, match=r"method.options.tau must lie in \[0, inf\)"):
        network_after("post-hoc", tau=tau)
