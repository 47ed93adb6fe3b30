"""Whatever the sizes: an epoch is shared out whole, and a run cut anywhere goes on to the very same weights."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cut import Cut

from anchored import losses
from anchored.data import Batches, Dataset, TensorInputs
from anchored.training import Average, Plan, Runtime, State, train
from anchored.training.checkpoint import Checkpoint
from anchored.training.loop import _shard

CPU = torch.device("cpu")


def data(n, k, seed, weighted):
    g = torch.Generator().manual_seed(seed)
    labels = torch.cat([torch.arange(k), torch.randint(k, (n - k,), generator=g)])
    weights = torch.rand(n, generator=g) if weighted else None
    return Dataset("toy", TensorInputs(torch.randn(n, 3, generator=g)), labels, tuple("abcdef"[:k]), weights=weights)


def fresh(k, optimizer, ema):
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(), torch.nn.Linear(4, k)
    )
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(number)))
    made = {"sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "adamw": torch.optim.AdamW}[optimizer]
    return State(model, made(model.parameters()), Average(model, 0.9) if ema else None)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(6, 40),
    batch_size=st.integers(2, 16),
    cut=st.integers(0, 30),
    optimizer=st.sampled_from(["sgd", "adamw"]),
    ema=st.booleans(),
    mixup=st.sampled_from([None, 0.5]),
    sampling=st.sampled_from(["instance", "balanced", "reversed"]),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_cut_anywhere_it_goes_on_to_the_very_same_state(
    tmp_path_factory, n, batch_size, cut, optimizer, ema, mixup, sampling, weighted, seed
):
    dataset = data(n, 3, seed, weighted)
    plan = Plan(
        loss=losses.get("ce"),
        epochs=2,
        batch_size=min(batch_size, n),
        seed=seed,
        learning_rate=lambda epoch: 0.1 / (1 + epoch),
        sampling=sampling,
        sample_weights=dataset.weights,
        mixup_alpha=mixup,
        clip=1.0,
        checkpoint_seconds=-1.0,
    )
    batches = Batches(dataset, batch_size=plan.batch_size)
    straight = train(plan, fresh(3, optimizer, ema), batches, runtime=Runtime(CPU))

    path = tmp_path_factory.mktemp("run") / "last"
    saved = 0

    def save(state):
        nonlocal saved
        if saved == cut:
            raise Cut
        state.checkpoint().save(path)
        saved += 1

    resumed = fresh(3, optimizer, ema)
    try:
        train(plan, resumed, batches, runtime=Runtime(CPU), save=save)
    except Cut:
        resumed = fresh(3, optimizer, ema)
        if path.exists():
            resumed.restore(Checkpoint.load(path))
        train(plan, resumed, batches, runtime=Runtime(CPU))
    assert resumed.history == straight.history
    expected, got = straight.checkpoint(), resumed.checkpoint()
    assert expected.tensors.keys() == got.tensors.keys()
    for name, tensor in expected.tensors.items():
        assert torch.equal(got.tensors[name], tensor), name


class OneOf(Runtime):
    def __init__(self, rank, world_size):
        super().__init__(CPU)
        self.rank, self.world_size = rank, world_size


@given(
    n=st.integers(8, 60),
    world_size=st.integers(1, 4),
    per_process=st.integers(2, 8),
    sampling=st.sampled_from(["instance", "balanced", "reversed"]),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_weights_of_a_batch_add_up_over_the_processes(n, world_size, per_process, sampling, weighted, seed):
    dataset = data(n, 3, seed, weighted)
    by_class = torch.tensor([0.5, 1.0, 3.0])
    plan = Plan(
        loss=losses.get("ce"),
        epochs=1,
        batch_size=world_size * per_process,
        seed=seed,
        learning_rate=lambda epoch: 0.1,
        sampling=sampling,
        class_weights=lambda epoch: by_class,
        sample_weights=dataset.weights,
    )
    model = torch.nn.Linear(1, 1)
    state = State(model, torch.optim.SGD(model.parameters(), lr=0.1))
    batches = Batches(dataset, batch_size=per_process)
    parts = [_shard(plan, batches, state, OneOf(rank, world_size)) for rank in range(world_size)]
    each = by_class[dataset.labels].double() * (1 if dataset.weights is None else dataset.weights.double())
    assert len(parts[0].totals)
    for number, total in enumerate(parts[0].totals.tolist()):
        by_hand = 0.0
        for part in parts:
            place = slice(number * per_process, (number + 1) * per_process)
            values = each[part.order[place]]
            by_hand += float((values if part.counts is None else values[part.counts[place]]).sum())
        assert by_hand == pytest.approx(total, rel=1e-9)
