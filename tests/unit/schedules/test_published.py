"""Mirror of src/anchored/schedules/published.py: the references' tables, written out epoch by epoch."""

import math

import pytest

from anchored.schedules import PUBLISHED

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
