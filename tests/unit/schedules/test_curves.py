"""Mirror of src/anchored/schedules/curves.py: torch's schedulers, published formulas, other lengths, refusals."""

import math

import pytest
import torch

from anchored import InputError
from anchored.schedules import PUBLISHED, Constant, Cosine, Deferred, Exponential, MultiStep, Parabolic, WarmUp


@pytest.mark.parametrize("epoch", [0, 0.5, 1, 10_000])
def test_constant_is_one_everywhere(epoch):
    assert Constant(epochs=20)(epoch) == 1.0


def test_constant_takes_another_length():
    assert Constant().for_epochs(30) == Constant(epochs=30)


def rates_of_torch(epochs, base, lowest_rate):
    """The rate of each epoch when torch's recursive scheduler steps after each."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs, eta_min=lowest_rate)
    rates = []
    for _ in range(epochs):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize(("epochs", "base", "lowest_rate"), [(50, 0.01, 0.0), (50, 0.01, 1e-3), (200, 0.1, 0.0)])
def test_cosine_agrees_with_torch(epochs, base, lowest_rate):
    schedule = Cosine(epochs=epochs, lowest=lowest_rate / base)
    ours = [base * schedule(epoch) for epoch in range(epochs)]
    assert ours == pytest.approx(rates_of_torch(epochs, base, lowest_rate), rel=1e-9, abs=1e-15)


def test_starts_at_the_base_rate_is_half_way_in_the_middle_and_stays_at_the_lowest():
    schedule = Cosine(epochs=8, lowest=0.2)
    assert schedule(0) == 1.0
    assert schedule(4) == pytest.approx(0.6)
    assert schedule(8) == schedule(9.5) == schedule(1000) == 0.2


def test_the_same_wave_over_another_length():
    schedule = Cosine(epochs=200, lowest=0.1)
    shorter = schedule.for_epochs(20)
    assert [shorter(e) for e in range(20)] == pytest.approx([schedule(10 * e) for e in range(20)])


@pytest.mark.parametrize("lowest", [-0.1, 1.1, float("nan")])
def test_refuses_a_lowest_factor_that_is_no_share(lowest):
    with pytest.raises(InputError, match=r"lowest must lie in \[0, 1\].*divide eta_min by the rate"):
        Cosine(epochs=10, lowest=lowest)


def test_cannot_be_changed():
    with pytest.raises(AttributeError):
        Cosine(epochs=10).epochs = 5


def test_exponential_decay_agrees_with_torch():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    schedule = Exponential(epochs=250, gamma=0.97)
    for epoch in range(250):
        assert 0.4 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("epochs", [1, 10, 125, 1000])
def test_another_length_ends_at_the_same_rate(epochs):
    schedule = Exponential(epochs=250, gamma=0.97)
    assert schedule.for_epochs(epochs)(epochs) == pytest.approx(0.97**250, rel=1e-12)


@pytest.mark.parametrize("gamma", [0, -0.5, 1.01])
def test_refuses_a_factor_outside_the_interval(gamma):
    with pytest.raises(InputError, match=r"gamma must lie in \(0, 1\]"):
        Exponential(epochs=10, gamma=gamma)


def test_refuses_to_be_fitted_to_no_epochs():
    with pytest.raises(InputError, match="epochs must be at least 1, got 0"):
        Exponential(epochs=10, gamma=0.9).for_epochs(0)


@pytest.mark.parametrize(("milestones", "gamma"), [((10, 20), 0.1), ((3, 4, 25), 0.5), ((29,), 0.01)])
def test_powers_of_one_factor_agree_with_torch(milestones, gamma):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones, gamma)
    schedule = MultiStep.repeated(epochs=30, milestones=milestones, gamma=gamma)
    for epoch in range(30):
        assert 0.1 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


def test_factors_refer_to_the_base_rate_and_start_at_their_milestone():
    schedule = MultiStep(epochs=10, milestones=(4, 8), factors=(0.5, 2.0))
    assert [schedule(epoch) for epoch in (0, 3, 3.999, 4, 7.5, 8, 9, 100)] == [1, 1, 1, 0.5, 0.5, 2, 2, 2]


def test_without_milestones_it_is_constant():
    assert MultiStep(epochs=10, milestones=(), factors=())(9) == 1.0


@pytest.mark.parametrize("epochs", [1, 2, 5, 7, 10, 20, 37, 200, 1000])
def test_another_length_changes_at_the_first_whole_epoch_after_the_same_share(epochs):
    schedule = MultiStep(epochs=200, milestones=(160, 180), factors=(0.01, 0.0001)).for_epochs(epochs)
    first, second = math.ceil(160 * epochs / 200), math.ceil(180 * epochs / 200)
    expected = [1.0 if e < first else 0.01 if e < second else 0.0001 for e in range(epochs)]
    assert [schedule(e) for e in range(epochs)] == expected


def test_lists_become_tuples_so_that_equal_schedules_are_equal_and_hashable():
    from_lists = MultiStep(epochs=10, milestones=[4], factors=[0.1])
    assert from_lists == MultiStep(epochs=10, milestones=(4.0,), factors=(0.1,))
    assert hash(from_lists) == hash(MultiStep(epochs=10, milestones=(4,), factors=(0.1,)))


@pytest.mark.parametrize(
    ("milestones", "factors", "message"),
    [
        ((4, 8), (0.1,), "equally many, got 2 and 1"),
        ((8, 4), (0.1, 0.01), r"must rise within \(0, 10\), got \[8.0, 4.0\]"),
        ((4, 4), (0.1, 0.01), "must rise"),
        ((0, 4), (0.1, 0.01), "must rise"),
        ((4, 10), (0.1, 0.01), "must rise"),
        ((4,), (-0.1,), r"every entry of factors must lie in \[0, inf\)"),
        ((4,), ("x",), "every entry of factors must lie in"),
        ("48", (0.1,), "milestones must be a list of numbers, got '48'"),
        (4, (0.1,), "milestones must be a list of numbers, got 4"),
    ],
)
def test_refuses_steps_that_make_no_staircase(milestones, factors, message):
    with pytest.raises(InputError, match=message):
        MultiStep(epochs=10, milestones=milestones, factors=factors)


def test_parabola_agrees_with_the_published_formula():
    schedule = Parabolic(epochs=200)
    for counted_from_one in range(1, 201):
        published = 1 - ((counted_from_one - 1) / 200) ** 2
        assert schedule(counted_from_one - 1) == pytest.approx(published, rel=1e-15)


def test_parabola_stays_at_zero_after_the_end():
    assert Parabolic(epochs=10)(10) == Parabolic(epochs=10)(11) == 0.0


def test_the_same_curve_over_another_length():
    assert Parabolic(epochs=200).for_epochs(20)(5) == Parabolic(epochs=200)(50)


def test_the_first_custom_reaches_the_full_rate_in_the_last_warm_epoch():
    schedule = WarmUp(schedule=Constant(epochs=200), warm_epochs=5)
    assert [schedule(e) for e in range(7)] == pytest.approx([1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 1, 1])


def test_the_second_custom_agrees_with_torch():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.2)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 3, total_iters=5)
    schedule = WarmUp(schedule=Constant(epochs=200), warm_epochs=5, start=1 / 3)
    for epoch in range(10):
        assert 0.2 * schedule(epoch) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-12)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("start", [None, 0.0, 1 / 3])
def test_a_warm_up_multiplies_the_schedule_behind_it_without_shifting_it(start):
    cosine = Cosine(epochs=20)
    warm = WarmUp(schedule=cosine, warm_epochs=4, start=start)
    rise = WarmUp(schedule=Constant(epochs=20), warm_epochs=4, start=start)
    assert [warm(e) for e in range(20)] == pytest.approx([rise(e) * cosine(e) for e in range(20)])


def test_the_length_of_a_warm_up_is_that_of_the_schedule_behind_it():
    warm = WarmUp(schedule=Cosine(epochs=20), warm_epochs=4)
    assert warm.epochs == 20
    assert warm.for_epochs(10) == WarmUp(schedule=Cosine(epochs=10), warm_epochs=2.0)


def test_a_warm_up_of_less_than_an_epoch_is_gone():
    steps = MultiStep(epochs=200, milestones=(160,), factors=(0.01,))
    short = WarmUp(schedule=steps, warm_epochs=5).for_epochs(10)
    assert [short(e) for e in range(10)] == [1.0] * 8 + [0.01] * 2


@pytest.mark.parametrize("warm_epochs", [0, -1, 21])
def test_refuses_a_warm_up_longer_than_the_run(warm_epochs):
    with pytest.raises(InputError, match=r"warm_epochs must lie in \(0, 20\]"):
        WarmUp(schedule=Cosine(epochs=20), warm_epochs=warm_epochs)


@pytest.mark.parametrize("start", [-0.1, 1.5])
def test_refuses_a_start_that_is_no_share(start):
    with pytest.raises(InputError, match=r"start must lie in \[0, 1\]"):
        WarmUp(schedule=Cosine(epochs=20), start=start)


@pytest.mark.parametrize("inner", [{"name": "cosine"}, "cosine", None, 3])
def test_refuses_what_is_not_a_schedule(inner):
    with pytest.raises(InputError, match="schedule must be a Schedule"):
        WarmUp(schedule=inner)


def test_deferred_weights_agree_with_the_reference():
    # The reference picks beta from [0, 0.9999] by epoch // 160.
    assert [Deferred()(epoch) for epoch in range(200)] == [bool(epoch // 160) for epoch in range(200)]


@pytest.mark.parametrize("epochs", [2, 3, 7, 10, 30, 64, 199, 200, 500])
def test_deferred_weights_begin_with_the_first_drop_of_the_rate_at_every_length(epochs):
    drw, rate = Deferred().for_epochs(epochs), PUBLISHED["ldam"].schedule.for_epochs(epochs)
    assert [drw(e) for e in range(epochs)] == [rate(e) < 1 for e in range(epochs)]


def test_plain_values_of_deferred_weights_give_the_same_again():
    drw = Deferred(epochs=90, start=60)
    assert Deferred(**drw.as_dict()) == drw


def test_deferred_from_zero_means_from_the_beginning():
    assert Deferred(epochs=10, start=0)(0) is True


@pytest.mark.parametrize("start", [-1, 11])
def test_refuses_a_start_outside_the_run(start):
    with pytest.raises(InputError, match=r"start must lie in \[0, 10\]"):
        Deferred(epochs=10, start=start)


def test_refuses_a_negative_epoch():
    with pytest.raises(InputError, match="counted from 0"):
        Deferred()(-1)


@pytest.mark.parametrize("kind", [Constant, Cosine, Parabolic])
def test_refuses_no_epochs(kind):
    with pytest.raises(InputError, match="epochs must be at least 1, got 0"):
        kind(epochs=0)
