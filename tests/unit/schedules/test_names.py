"""Mirror of src/anchored/schedules/names.py: names, nesting, the references' tables epoch by epoch, the refusals."""

import math

import pytest

from anchored import InputError, schedules
from anchored.schedules import PUBLISHED, SCHEDULES, Constant, Cosine, MultiStep, WarmUp, get


def test_the_table_knows_each_class_by_its_own_name():
    assert {name: kind.name for name, kind in SCHEDULES.items()} == {name: name for name in SCHEDULES}


def test_builds_from_plain_values():
    assert get("cosine", epochs=50, lowest=0.1) == Cosine(epochs=50, lowest=0.1)
    assert get("constant") == Constant()
    assert get("multi-step", epochs=9, milestones=[3], factors=[0.1]) == MultiStep(
        epochs=9, milestones=(3,), factors=(0.1,)
    )


def test_puts_a_warm_up_in_front_of_any_schedule():
    assert get("cosine", epochs=50, warm_epochs=3, start=0.5) == WarmUp(
        schedule=Cosine(epochs=50), warm_epochs=3, start=0.5
    )


def test_a_warm_up_takes_a_dictionary_or_a_schedule():
    expected = WarmUp(schedule=Cosine(epochs=50), warm_epochs=3)
    assert get("warm-up", schedule={"name": "cosine", "epochs": 50}, warm_epochs=3) == expected
    assert get("warm-up", schedule={"name": "cosine"}, epochs=50, warm_epochs=3) == expected
    assert get("warm-up", schedule=Cosine(epochs=50), warm_epochs=3) == expected


def test_fits_a_published_schedule_to_the_run():
    assert get("ldam") is PUBLISHED["ldam"]
    assert get("ldam", epochs=20) == PUBLISHED["ldam"].for_epochs(20)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("cosin", {}, "unknown schedule 'cosin'; did you mean 'cosine'"),
        ("ldma", {}, "unknown schedule 'ldma'; did you mean 'ldam'"),
        ("cosine", {"epochs": 5, "eta_min": 0}, "schedule 'cosine' has no setting 'eta_min'"),
        ("cosine", {}, "schedule 'cosine' needs epochs; write get"),
        ("exponential", {"epochs": 5}, "schedule 'exponential' needs gamma"),
        ("warm-up", {}, "schedule 'warm-up' needs schedule"),
        ("warm-up", {"schedule": {"epochs": 5}}, "the schedule inside 'warm-up' needs a name"),
        ("warm-up", {"schedule": Cosine(epochs=5), "epochs": 9}, "takes its epochs from the schedule inside"),
        ("warm-up", {"schedule": {"name": "cosine", "epoch": 5}}, "has no setting 'epoch'; did you mean 'epochs'"),
        ("ldam", {"gamma": 0.1}, "published as it is, without gamma"),
    ],
)
def test_refuses_with_the_way_out(name, settings, message):
    with pytest.raises(InputError, match=message):
        schedules.get(name, **settings)


TABLES = {
    # e counts from 1, as the references print it
    "ldam": lambda e: e / 5 if e <= 5 else 1 if e <= 160 else 0.01 if e <= 180 else 0.0001,
    "mislas": lambda e: e / 5 if e <= 5 else 1 if e <= 160 else 0.1 if e <= 180 else 0.01,
    "tade": lambda e: e / 5 if e <= 5 else 1 if e <= 160 else 0.1 if e <= 180 else 0.01,
    "bbn": lambda e: (5 + 2 * (e - 1)) / 15 if e <= 5 else 1 if e <= 120 else 0.01 if e <= 160 else 0.0001,
    "lade": lambda e: (5 + 2 * (e - 1)) / 15 if e <= 5 else 1 if e <= 120 else 0.01 if e <= 160 else 0.0001,
    "mnist": lambda e: math.cos(math.pi * (e - 1) / 100) ** 2,
    "cifar10": lambda e: math.cos(math.pi * (e - 1) / 240) ** 2,
    "cifar100": lambda e: math.cos(math.pi * (e - 1) / 400) ** 2,
    "imagenet-lt": lambda e: math.cos(math.pi * (e - 1) / 360) ** 2,
    "kang": lambda e: math.cos(math.pi * (e - 1) / 180) ** 2,
    "webvision": lambda e: math.exp((e - 1) * math.log(0.97)),
    "oltr-1": lambda e: [1, 0.1, 0.01][(e - 1) // 10],
    "oltr-2": lambda e: [1, 0.1, 0.01][(e - 1) // 20],
}
EPOCHS = {"mnist": 50, "cifar10": 120, "webvision": 250, "imagenet-lt": 180, "kang": 90, "oltr-1": 30, "oltr-2": 60}


def test_every_published_schedule_has_its_table_here():
    assert sorted(PUBLISHED) == sorted(TABLES)


@pytest.mark.parametrize("name", PUBLISHED)
def test_agrees_with_the_table_in_every_epoch(name):
    schedule = PUBLISHED[name]
    assert schedule.epochs == EPOCHS.get(name, 200)
    ours = [schedule(epoch) for epoch in range(schedule.epochs)]
    assert ours == pytest.approx([TABLES[name](epoch + 1) for epoch in range(schedule.epochs)], rel=1e-9)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        PUBLISHED["mnist"] = None
