"""What holds for every schedule: pure, within [0, 1], falling, the same shape at every length, JSON and back."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anchored.schedules import Constant, Cosine, Exponential, MultiStep, Parabolic, WarmUp, get

LENGTHS = st.integers(1, 300)
SHARES = st.floats(0, 1)


@st.composite
def staircases(draw):
    epochs = draw(st.integers(4, 300))
    milestones = sorted(draw(st.sets(st.integers(1, epochs - 1), max_size=3)))
    factors = sorted(draw(st.lists(SHARES, min_size=len(milestones), max_size=len(milestones))), reverse=True)
    return MultiStep(epochs=epochs, milestones=milestones, factors=factors)


FALLING = st.one_of(
    st.builds(Constant, epochs=LENGTHS),
    st.builds(Cosine, epochs=LENGTHS, lowest=SHARES),
    st.builds(Exponential, epochs=LENGTHS, gamma=st.floats(0.5, 1)),
    st.builds(Parabolic, epochs=LENGTHS),
    staircases(),
)


@st.composite
def warmed(draw):
    schedule = draw(FALLING)
    warm_epochs = draw(st.floats(0.1, 1)) * schedule.epochs
    return WarmUp(schedule=schedule, warm_epochs=warm_epochs, start=draw(st.none() | SHARES))


ANY = FALLING | warmed()


@given(schedule=ANY, epoch=st.floats(0, 1000))
def test_the_factor_is_a_share_of_the_base_rate_and_a_function_of_the_epoch(schedule, epoch):
    value = schedule(epoch)
    assert 0 <= value <= 1
    assert schedule(epoch) == value


@given(schedule=FALLING, epochs=st.tuples(st.floats(0, 400), st.floats(0, 400)))
def test_without_a_warm_up_it_never_rises(schedule, epochs):
    earlier, later = sorted(epochs)
    assert schedule(later) <= schedule(earlier)


@given(schedule=FALLING)
def test_without_a_warm_up_it_starts_at_the_base_rate(schedule):
    assert schedule(0) == 1.0


@given(schedule=ANY)
def test_json_gives_the_same_schedule_again(schedule):
    again = get(**json.loads(json.dumps(schedule.as_dict())))
    assert again == schedule
    assert [again(e) for e in range(schedule.epochs)] == [schedule(e) for e in range(schedule.epochs)]


@given(schedule=FALLING, epochs=LENGTHS, share=SHARES)
def test_another_length_has_the_same_value_at_the_same_share(schedule, epochs, share):
    fitted = schedule.for_epochs(epochs)
    assert fitted.epochs == epochs
    position = share * schedule.epochs
    # A staircase jumps: stay away from its edges by more than rounding.
    assume(all(abs(position - edge) > 1e-6 for edge in getattr(schedule, "milestones", ())))
    assert fitted(share * epochs) == pytest.approx(schedule(position), rel=1e-6, abs=1e-9)


@given(schedule=ANY)
def test_its_own_length_changes_nothing(schedule):
    fitted = schedule.for_epochs(schedule.epochs)
    for epoch in range(schedule.epochs):
        assert fitted(epoch) == pytest.approx(schedule(epoch), rel=1e-7)
