"""Mirror of src/anchored/heads/_watch.py: what proves a sign, when watching ends, and who must not be disturbed."""

import copy
import math
import pickle

import pytest
import torch
from torch import nn

from anchored.heads import AnchoredHead, anchor_
from anchored.heads._watch import BATCHES, sign_of


class Body(nn.Module):
    """A forward method written by hand, whose features end in whatever ``act`` is."""

    def __init__(self, act):
        super().__init__()
        self.act, self.fc = act, nn.Linear(16, 4)

    def forward(self, x):
        return self.fc(self.act(x))


def model(act=torch.relu, **options):
    return anchor_(Body(act), 4, **options)


BATCH = torch.randn(32, 16, generator=torch.Generator().manual_seed(0))


def test_one_negative_entry_is_a_proof_and_many_positive_ones_are_needed():
    assert sign_of(torch.tensor([0.0, -1e-30])) == "signed"
    assert sign_of(torch.ones(16)) == "nonnegative"
    assert sign_of(torch.ones(15)) is None
    assert sign_of(torch.ones(1000, 8)) is None, "the same eight signs a thousand times"
    assert sign_of(torch.eye(16, 8)) is None, "eight positive entries"
    assert sign_of(torch.eye(8).repeat(2, 1)) == "nonnegative", "as many zeros as only a ReLU makes"
    assert sign_of(torch.zeros(1000, 30)) is None, "a network that gives zeros has shown nothing"
    assert sign_of(torch.zeros(0, 16)) is None
    assert sign_of(torch.full((100, 30), math.nan)) is None


def test_features_whose_signs_do_not_change_from_sample_to_sample_are_rarely_mistaken():
    """As in a fresh network: its biases decide most signs, and they are the same for all samples."""
    generator = torch.Generator().manual_seed(0)
    wrong = sum(
        sign_of(torch.randn(1, 12, generator=generator) + 0.01 * torch.randn(64, 12, generator=generator)) != "signed"
        for _ in range(500)
    )
    assert wrong <= 2


def test_watching_ends_after_a_few_batches():
    net = model()
    for _ in range(BATCHES):
        assert net.fc.watch is not None
        net(BATCH)
    assert net.fc.watch is None


def test_small_batches_are_not_enough_until_one_is():
    net = model()
    net(BATCH[:1])  # half of sixteen entries are zero
    assert net.fc.features == "signed"
    net(BATCH)
    assert net.fc.features == "nonnegative"


def test_a_negative_entry_after_the_change_warns():
    net = model(lambda x: x.clamp_min(-3.5))
    net(BATCH.abs())
    assert net.fc.features == "nonnegative"
    with pytest.warns(
        UserWarning, match="the features have negative entries, but its prototypes are those for nonnegative"
    ):
        net(BATCH)
    net(BATCH)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_nothing_is_changed_while_the_model_is_recorded():
    before = model().fc.prototypes
    for record in (
        torch.fx.symbolic_trace,
        lambda net: torch.compile(net, fullgraph=True, backend="eager")(BATCH),
        lambda net: torch.export.export(net, (BATCH,)),
        lambda net: torch.jit.trace(net, BATCH, check_trace=False),
        lambda net: torch.vmap(net)(BATCH),
        lambda net: net.to("meta")(BATCH.to("meta")),
    ):
        net = model()
        record(net)
        assert net.fc.features == "signed"
        assert net.fc.prototypes.is_meta or torch.equal(net.fc.prototypes, before)


def test_processes_that_might_disagree_are_warned_instead(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    net = model()
    with pytest.warns(UserWarning, match="never negative"):
        net(BATCH)
    assert net.fc.features == "signed"


def test_a_copy_goes_on_watching_by_itself():
    one = model(nn.ReLU())
    twin, sent = copy.deepcopy(one), pickle.loads(pickle.dumps(one))
    one(BATCH)
    assert twin.fc.features == sent.fc.features == "signed"
    twin(BATCH)
    sent(BATCH)
    assert torch.equal(twin.fc.prototypes, one.fc.prototypes)
    assert torch.equal(sent.fc.prototypes, one.fc.prototypes)


def test_the_change_reaches_the_gradient_of_the_first_batch():
    net = model(nn.ReLU())
    x = BATCH.clone().requires_grad_()
    net(x).square().sum().backward()
    direct = AnchoredHead(16, 4, features="nonnegative")
    y = BATCH.clone().requires_grad_()
    direct(y.relu()).square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
