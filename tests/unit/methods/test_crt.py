"""Mirror of src/anchored/methods/crt.py: a fresh classifier on frozen features, small and as on ImageNet."""

import pytest
import torch
from tests.builders import build_context

from anchored.data import load_digits
from anchored.heads import LinearHead
from anchored.methods import make_procedure
from anchored.methods.crt import ClassifierRetraining
from anchored.runs import fit


def made(name="crt", *, backbone="tiny", shape=(6,), k=3, seed=0):
    return make_procedure(build_context(name, backbone, shape, counts=[30] * k, seed=seed))


@pytest.mark.parametrize("name", ["crt", "crt+pal", "cRT+mixup"])
def test_the_classifier_is_drawn_afresh_and_alone_trained(name):
    crt = made(name)
    assert isinstance(crt, ClassifierRetraining)
    network, second = crt.network(), crt.stages()[1]
    before = network.head.rows().clone()
    second.enter(network)
    assert isinstance(network.head, LinearHead)
    assert not torch.equal(network.head.weight, before)
    assert {key for key, p in network.named_parameters() if p.requires_grad} == {"head.weight", "head.bias"}
    assert (second.sampling, second.mixup, second.settings) == ("balanced", False, "second")


def test_the_fresh_classifier_is_a_function_of_the_seed():
    def second_head(seed):
        crt = made(seed=seed)
        network = crt.network()
        crt.stages()[1].enter(network)
        return network.head.weight

    assert torch.equal(second_head(0), second_head(0))
    assert not torch.equal(second_head(0), second_head(1))


@pytest.mark.slow
def test_it_works_as_on_imagenet():
    """ResNet-50 and a thousand classes: only the 2048 x 1000 classifier learns, only statistics move besides."""
    crt = made(backbone="resnet50", shape=(3, 32, 32), k=1000)
    network, second = crt.network(), crt.stages()[1]
    second.enter(network)
    network.train()
    second.begin_epoch(network, 0.0)
    assert network.head.weight.shape == (1000, 2048)
    before = {key: value.clone() for key, value in network.backbone.state_dict().items()}
    optimizer = torch.optim.SGD([p for group in second.groups(network) for p in group.parameters], lr=0.2)
    x = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    first_loss = second.loss.pointwise(network(x), torch.arange(4)).mean()
    first_loss.backward()
    assert {key for key, p in network.named_parameters() if p.grad is not None} == {"head.weight", "head.bias"}
    optimizer.step()
    moved = {key for key, value in network.backbone.state_dict().items() if not torch.equal(value, before[key])}
    assert moved
    assert all("running_" in key or "num_batches" in key for key in moved)
    assert second.loss.pointwise(network(x), torch.arange(4)).mean() < first_loss


def test_the_first_stage_is_plain_training():
    settings = {
        "backbone": {"name": "tiny"},
        "data": {"corrupt": ["longtail=20"]},
        "train": {"epochs": 2},
    }
    plain = fit(load_digits(), {**settings, "method": {"name": "ce"}})
    crt = fit(load_digits(), {**settings, "method": {"name": "crt"}, "second": {"epochs": 1}})
    assert crt.history[:2] == plain.history
    mine, theirs = (run.model.classifier.backbone.state_dict() for run in (crt, plain))
    same = [key for key in mine if "running_" not in key and "num_batches" not in key]
    assert same
    assert all(torch.equal(mine[key], theirs[key]) for key in same)
    assert [record.get("stage") for record in crt.history] == [None, None, 2]
