"""Mirror of src/anchored/training/state.py: a state goes through a file and comes back whole."""

import pytest
import torch

from anchored._errors import InputError
from anchored.training import Average
from anchored.training.checkpoint import Checkpoint
from anchored.training.state import State


def state(*, steps=0, average=True, width=3):
    model = torch.nn.Sequential(torch.nn.Conv2d(width, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten())
    model = model.to(memory_format=torch.channels_last)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.1)
    made = State(
        model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), Average(model, 0.9) if average else None
    )
    for number in range(steps):
        step(made, number)
    return made


def step(made, number):
    x = torch.randn(8, 3, 5, 5, generator=torch.Generator().manual_seed(number))
    made.optimizer.zero_grad()
    made.model(x.to(memory_format=torch.channels_last)).pow(3).sum().backward()
    made.optimizer.step()
    if made.average is not None:
        made.average.update(made.model)
    made.batch += 1


def same(a, b):
    return all(torch.equal(a.state_dict()[name], value) for name, value in b.state_dict().items())


def test_a_restored_state_goes_on_as_if_nothing_had_happened(tmp_path):
    straight = state(steps=3)
    straight.epoch, straight.history, straight.sums = 2, [{"epoch": 1}, {"epoch": 2}], torch.arange(4).double()
    straight.generator = torch.get_rng_state()[None]
    straight.checkpoint().save(tmp_path / "c")

    back = state()
    back.restore(Checkpoint.load(tmp_path / "c"))
    assert (back.epoch, back.batch, back.history) == (2, 3, [{"epoch": 1}, {"epoch": 2}])
    assert torch.equal(back.sums, straight.sums)
    assert torch.equal(back.generator, straight.generator)
    for number in (7, 8):
        step(straight, number)
        step(back, number)
    assert same(back.model, straight.model)
    assert same(back.average.module, straight.average.module)


def test_momentum_comes_back_in_the_memory_order_of_its_parameter(tmp_path):
    # Arithmetic over other strides may round differently, and then resuming would not be exact.
    straight, back = state(steps=2), state()
    straight.checkpoint().save(tmp_path / "c")
    back.restore(Checkpoint.load(tmp_path / "c"))
    strides = [[s["momentum_buffer"].stride() for s in made.optimizer.state.values()] for made in (straight, back)]
    assert strides[0] == strides[1]
    assert back.model[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_the_average_is_what_is_scored():
    assert state(average=False).scored.__class__ is torch.nn.Sequential
    made = state()
    assert made.scored is made.average.module


def test_an_average_that_was_not_kept_begins_with_the_model():
    plain, averaged = state(steps=2, average=False), state()
    averaged.restore(plain.checkpoint())
    assert same(averaged.average.module, plain.model)
    assert averaged.average.steps == 0


def test_another_model_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"the checkpoint is of another model or optimiser .*size mismatch") as caught:
        state(width=1).restore(state(steps=1).checkpoint())
    assert "\n" not in str(caught.value)


def test_follows_the_recursion():
    model = torch.nn.BatchNorm1d(2)
    average = Average(model, decay=0.9)
    expected = model.weight.detach().clone()
    for step in range(40):
        with torch.no_grad():
            model.weight.copy_(torch.tensor([float(step), -1.0]))
        keep = min(0.9, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * model.weight.detach()
        average.update(model)
    torch.testing.assert_close(average.module.weight, expected)
    assert average.steps == 40


def test_counters_are_copied_and_nothing_is_trained():
    model = torch.nn.BatchNorm1d(2)
    average = Average(model, decay=0.5)
    model(torch.randn(4, 2, generator=torch.Generator().manual_seed(0)))
    average.update(model)
    assert int(average.module.num_batches_tracked) == 1
    assert not any(parameter.requires_grad for parameter in average.module.parameters())
    assert model.weight.requires_grad


def test_an_average_of_a_constant_is_that_constant():
    model = torch.nn.Linear(2, 2)
    average = Average(model, decay=0.99)
    for _ in range(5):
        average.update(model)
    torch.testing.assert_close(average.module.weight, model.weight.detach())


def test_the_copy_is_independent():
    model = torch.nn.Linear(1, 1)
    average = Average(model, decay=0.99)
    with torch.no_grad():
        model.weight.add_(1)
    assert average.module.weight.item() == pytest.approx(model.weight.item() - 1)


def test_a_state_that_trains_nothing_needs_no_optimiser():
    model = torch.nn.Linear(2, 2)
    kept = State(model, None).checkpoint()
    assert kept.facts["groups"] == []
    other = torch.nn.Linear(2, 2)
    State(other, None).restore(kept)
    assert torch.equal(other.weight, model.weight)
