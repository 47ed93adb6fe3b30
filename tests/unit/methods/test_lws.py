"""Mirror of src/anchored/methods/lws.py: only the factors learn, and they undo the lengths that imbalance left."""

import pytest
import torch
from tests.builders import build_context

from anchored.data import load_digits
from anchored.heads import AnchoredHead, LinearHead, ScaledHead
from anchored.methods import make_procedure
from anchored.methods.lws import LearnableScaling
from anchored.runs import fit


def made(name, *, backbone="tiny", shape=(6,)):
    return make_procedure(build_context(name, backbone, shape, counts=(90, 30, 10)))


@pytest.mark.parametrize(("name", "kind"), [("lws", LinearHead), ("lws+pal", AnchoredHead), ("LWS+mixup", LinearHead)])
def test_the_second_stage_begins_with_the_same_logits_and_trains_the_factors_alone(name, kind):
    lws = made(name)
    assert isinstance(lws, LearnableScaling)
    network, second = lws.network().eval(), lws.stages()[1]
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    before = network(x)
    second.enter(network)
    torch.testing.assert_close(network.eval()(x), before)
    assert isinstance(network.head, ScaledHead)
    assert isinstance(network.head.head, kind)
    assert [key for key, p in network.named_parameters() if p.requires_grad] == ["head.factors"]
    assert (second.sampling, second.settings, second.mixup) == ("balanced", "second", False)


def test_mixup_belongs_to_the_first_stage():
    first, second = made("lws+mixup").stages()
    assert first.mixup
    assert not second.mixup


def test_batch_statistics_go_on_while_the_weights_rest():
    lws = made("lws", backbone="cnn4", shape=(1, 28, 28))
    network, second = lws.network(), lws.stages()[1]
    second.enter(network)
    network.train()
    second.begin_epoch(network, 0.0)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    network(torch.randn(8, 1, 28, 28, generator=torch.Generator().manual_seed(1)))
    moved = {key for key, value in network.state_dict().items() if not torch.equal(value, before[key])}
    assert moved
    assert all("running_" in key or "num_batches" in key for key in moved)


def test_rows_keep_their_directions_and_rare_classes_get_louder():
    run = fit(
        load_digits(),
        {
            "method": {"name": "lws"},
            "backbone": {"name": "tiny"},
            "data": {"corrupt": ["longtail=50"], "hold_out": 0.0},
            "train": {"epochs": 6},
        },
    )
    head = run.model.classifier.head
    cosines = torch.cosine_similarity(head.rows(), head.head.rows(), dim=1)
    torch.testing.assert_close(cosines, torch.ones(10))
    factors = head.factors.tolist()
    assert sum(factors[-3:]) > sum(factors[:3]), "classes come in the order of their counts"
