"""Mirror of src/anchored/training/loop.py: against a bare loop written out, and a stored curve."""

import json
import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from anchored import backbones, losses
from anchored._errors import InputError
from anchored.data import Batch, Batches, Dataset, TensorInputs, load_digits, mixup
from anchored.imbalance import epoch_order
from anchored.methods import Classifier
from anchored.runs import fit
from anchored.training import Plan, Runtime, State, train
from anchored.training.early_stop import Best
from anchored.training.loop import _clip, _Step, _Tally

GOLDEN = Path(__file__).with_name("golden.json")
N, K = 50, 3


def data(weights=None):
    g = torch.Generator().manual_seed(0)
    labels = torch.arange(K).repeat_interleave(torch.tensor([30, 15, 5]))
    x = torch.eye(K, 6)[labels] + torch.randn(N, 6, generator=g)
    return Dataset("toy", TensorInputs(x), labels, ("a", "b", "c"), weights=weights)


def classifier():
    backbone = backbones.get("tiny", (6,), generator=torch.Generator().manual_seed(1))
    head = torch.nn.Linear(32, K)
    with torch.no_grad():
        head.weight.copy_(torch.randn(K, 32, generator=torch.Generator().manual_seed(2)) / 6)
        head.bias.zero_()
    return Classifier(backbone, head).double()


def fresh():
    model = classifier()
    return State(model, torch.optim.SGD(model.parameters(), lr=9.9, momentum=0.9))


def trained(state=None, dataset=None, **changes):
    dataset = data() if dataset is None else dataset
    state = fresh() if state is None else state
    plan = Plan(
        **{"loss": losses.get("ce"), "epochs": 2, "batch_size": 16, "seed": 0, "learning_rate": lambda e: 0.1 / (e + 1)}
        | changes
    )
    batches = Batches(dataset, batch_size=16, dtype=torch.float64)
    return train(plan, state, batches, runtime=Runtime(torch.device("cpu"), "64"))


def by_hand(epochs=2, *, class_weights=None, sample_weights=None, sampling="instance", alpha=None, clip=None):
    """The same training without the library's loop: mean of weighted losses, one step per batch."""
    dataset, model = data(), classifier()
    x, y = dataset.inputs.take(torch.arange(N)).double(), dataset.labels
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    curve = []
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = 0.1 / (epoch + 1)
        order = epoch_order(y, sampling=sampling, seed=0, epoch=epoch)
        total = weight_of_all = 0.0
        for number, index in enumerate(order.split(16)):
            weight = torch.ones(len(index), dtype=torch.float64)
            if class_weights is not None and class_weights(epoch) is not None:
                weight = weight * class_weights(epoch)[y[index]]
            if sample_weights is not None:
                weight = weight * sample_weights[index]
            if alpha is None:
                values = F.cross_entropy(model(x[index]), y[index], reduction="none")
            else:
                batch = Batch(x[index], y[index], index)
                mixed = mixup(batch, alpha=alpha, seed=0, epoch=epoch, number=number)
                values = F.cross_entropy(model(mixed.inputs), mixed.soft_labels(K), reduction="none")
            loss = (values * weight).sum() / weight.sum()
            optimizer.zero_grad()
            loss.backward()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            total += float(loss.detach()) * float(weight.sum())
            weight_of_all += float(weight.sum())
        curve.append(total / weight_of_all)
    return model, curve


HEAVY = torch.tensor([0.5, 1.0, 4.0], dtype=torch.float64)
EACH = torch.linspace(0, 2, N, dtype=torch.float64)
CASES = {
    "plain": {},
    "balanced": {"sampling": "balanced"},
    "clipped": {"clip": 0.3},
    "weighted by class": {"class_weights": lambda epoch: HEAVY},
    "weighted late": {"class_weights": lambda epoch: HEAVY if epoch >= 1 else None},
    "weighted by sample": {"sample_weights": EACH},
    "blended": {"mixup_alpha": 1.0},
}


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_a_bare_loop(case):
    changes = dict(CASES[case])
    state = trained(**changes)
    if "mixup_alpha" in changes:
        changes["alpha"] = changes.pop("mixup_alpha")
    model, curve = by_hand(**changes)
    assert [record["train_loss"] for record in state.history] == pytest.approx(curve, rel=1e-9)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(state.model.state_dict()[name], value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kinds", [(torch.float32, torch.float32), (torch.float64, torch.float32)])
@pytest.mark.parametrize("longest", [0.3, 1e6])
def test_clipping_is_that_of_torch_bit_for_bit(kinds, longest):
    def parameters():
        g = torch.Generator().manual_seed(3)
        made = [torch.nn.Parameter(torch.randn(40, 9, generator=g).to(kind)) for kind in kinds]
        for each in made:
            each.grad = torch.randn(40, 9, generator=g).to(each)
        return [*made, torch.nn.Parameter(torch.zeros(2))]  # the last one has no gradient

    ours, theirs, before = parameters(), parameters(), parameters()
    _clip(ours, longest)
    torch.nn.utils.clip_grad_norm_(theirs, longest)
    assert all(torch.equal(one.grad, other.grad) for one, other in zip(ours[:2], theirs[:2], strict=True))
    assert torch.equal(ours[0].grad, before[0].grad) == (longest == 1e6)
    assert ours[2].grad is None


def test_without_gradients_there_is_nothing_to_clip():
    _clip([torch.nn.Parameter(torch.ones(2))], 1.0)


def test_a_record_says_what_was_done():
    state = trained()
    assert [record["epoch"] for record in state.history] == [1, 2]
    assert [record["lr"] for record in state.history] == [0.1, 0.05]
    assert all(record["samples"] == N for record in state.history)
    assert all(0 <= record["train_accuracy"] <= 1 for record in state.history)
    assert (state.epoch, state.batch, state.generator) == (2, 0, None)


def test_what_score_says_joins_the_record_and_ends_training_early():
    worse_to_come = iter([0, 0, 1, 0, 1, 2, 0])
    state, plan = fresh(), {"loss": losses.get("ce"), "epochs": 9, "batch_size": 16, "seed": 0}
    plan = Plan(**plan, learning_rate=lambda epoch: 0.1, early_stop=2)
    batches = Batches(data(), batch_size=16, dtype=torch.float64)
    best = Best.of(state.model, torch.zeros(4, dtype=torch.bool), 1)
    state.best = best
    train(
        plan,
        state,
        batches,
        runtime=Runtime(torch.device("cpu"), "64"),
        score=lambda: {"epochs_worse": next(worse_to_come)},
    )
    assert [record["epochs_worse"] for record in state.history] == [0, 0, 1, 0, 1, 2]
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, best.weights[name])


def test_saved_after_each_epoch_and_within_one_when_time_is_up():
    kept = []
    plan = {"loss": losses.get("ce"), "epochs": 2, "batch_size": 16, "seed": 0, "learning_rate": lambda epoch: 0.1}
    batches = Batches(data(), batch_size=16, dtype=torch.float64)
    for seconds in (60.0, 0.0):
        train(
            Plan(**plan, checkpoint_seconds=seconds),
            fresh(),
            batches,
            runtime=Runtime(torch.device("cpu"), "64"),
            save=lambda state: kept.append((state.epoch, state.batch)),
        )
    assert kept == [(1, 0), (2, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0)]


def test_the_generator_of_the_caller_is_given_back():
    state, before = fresh(), torch.get_rng_state()
    trained(state)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_batch_in_which_no_sample_counts_teaches_nothing():
    weights = torch.zeros(N, dtype=torch.float64)
    state = trained(sample_weights=weights)
    assert [record["train_loss"] for record in state.history] == [None, None]
    for name, value in classifier().state_dict().items():
        assert torch.equal(state.model.state_dict()[name], value), name


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_what_is_not_finite_is_never_saved(where):
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * math.inf if where == "loss" else x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad * math.inf

    state, kept = fresh(), []
    inner = state.model.head
    state.model.head = torch.nn.Sequential(inner)
    state.model.head.forward = lambda x: Broken.apply(inner(x)) if state.batch == 3 else inner(x)
    plan = Plan(loss=losses.get("ce"), epochs=2, batch_size=16, seed=0, learning_rate=lambda epoch: 0.1)
    batches = Batches(data(), batch_size=16, dtype=torch.float64)
    what = "the loss became nan in epoch 1, batch 4" if where == "loss" else "are no longer finite in epoch 1, batch 4"
    with pytest.raises(InputError, match=f"{what}; lower optimizer.lr.*the last checkpoint is kept"):
        train(plan, state, batches, runtime=Runtime(torch.device("cpu"), "64"), save=kept.append)
    assert kept == []


def test_an_accelerator_is_looked_at_every_fifty_steps_and_a_cpu_at_each():
    steps = [_Step(torch.tensor(i / 7), torch.tensor(i % 5), 2.0, 5) for i in range(60)]
    sums = {}
    for device in ("cpu", "meta"):  # only what the device is called matters here
        state = fresh()
        tally, looked = _Tally(state, Runtime(torch.device(device))), []
        for step in steps:
            state.batch += 1
            looked.append(tally.add(step, state.optimizer))
        distinct = len({loss for loss in looked if not math.isnan(loss)})
        assert distinct == (60 if device == "cpu" else 1)
        tally.read(state.optimizer)
        sums[device] = state.sums
    assert torch.equal(sums["cpu"], sums["meta"])


def test_a_loss_that_was_looked_at_late_is_still_told_by_its_batch():
    state = fresh()
    tally = _Tally(state, Runtime(torch.device("meta")))
    for i in range(20):
        state.batch += 1
        tally.add(_Step(torch.tensor(math.nan if i == 6 else 1.0), torch.tensor(1), 1.0, 1), state.optimizer)
    with pytest.raises(InputError, match="the loss became nan in epoch 1, batch 7"):
        tally.read(state.optimizer)


@pytest.mark.parametrize("name", ["ce", "nce+rce+fnpal", "ldam+drw+pal"])
def test_the_curve_is_the_stored_one(name):
    # Rewrite the file only where a change is meant to move numbers: python tests/unit/training/test_loop.py
    expected = json.loads(GOLDEN.read_text())[name]
    assert curve_of(name) == pytest.approx(expected, rel=1e-5)


def curve_of(name):
    settings = {
        "data": {"source": "digits", "corrupt": ["longtail=10", "symmetric=0.2"], "augment": ["crop=1"]},
        "method": {"name": name},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 3, "batch_size": 64, "drw_start": 0.5},
    }
    return [record["train_loss"] for record in fit(load_digits(), settings).history]


if __name__ == "__main__":
    curves = {name: curve_of(name) for name in ("ce", "nce+rce+fnpal", "ldam+drw+pal")}
    GOLDEN.write_text(json.dumps(curves, indent=2) + "\n")
