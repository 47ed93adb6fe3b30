"""Mirror of src/anchored/losses/published.py: the published numbers, and that each of them builds a loss."""

import pytest

from anchored import InputError, losses


@pytest.mark.parametrize(
    ("dataset", "name"), [(data, name) for data in losses.SETTINGS for name in losses.SETTINGS[data]]
)
def test_every_entry_builds_its_loss(dataset, name):
    assert isinstance(losses.get(name, **losses.settings_for(name, dataset)), losses.Loss)


@pytest.mark.parametrize(
    ("name", "dataset", "expected"),
    [
        ("fl", "mnist", {"gamma": 0.5}),
        ("gce", "webvision", {"q": 0.7}),
        ("sce", "mnist", {"alpha": 0.01, "beta": 1.0}),
        ("SCE", "CIFAR100", {"alpha": 6.0, "beta": 0.1}),
        ("nce+mae", "cifar100", {"alpha": 10.0, "beta": 1.0}),
        ("nce+rce", "webvision", {"alpha": 50.0, "beta": 0.1}),
        ("nfl+rce", "cifar10", {"alpha": 1.0, "beta": 1.0, "gamma": 0.5}),
        ("nce", "mnist", {"alpha": 10.0}),
        ("ce", "cifar10", {}),
    ],
)
def test_the_numbers_are_the_published_ones(name, dataset, expected):
    assert losses.settings_for(name, dataset) == expected


def test_the_answer_can_be_changed_without_changing_the_table():
    losses.settings_for("gce", "mnist")["q"] = 0.1
    assert losses.settings_for("gce", "mnist") == {"q": 0.7}


def test_refuses_what_was_never_published():
    with pytest.raises(InputError, match="unknown dataset 'cifar-10'; did you mean 'cifar10'"):
        losses.settings_for("ce", "cifar-10")
    with pytest.raises(InputError, match="no settings of loss 'ldam' are published for 'mnist'; there are some for ce"):
        losses.settings_for("ldam", "mnist")
    with pytest.raises(InputError, match="unknown loss 'nxe'"):
        losses.settings_for("nxe", "mnist")


@pytest.mark.parametrize(
    ("source", "counts", "expected"),
    [
        ("cifar100", [500, 5], {}),
        ("cifar100", [500, 10], {}),  # 50 is closer to 100 than to 10
        ("cifar100", [500, 0, 50], {"penalty": 0.1}),
        ("/lists/ImageNet_LT_train.txt", [1280, 5], {"alpha": 0.05, "penalty": 0.5}),
        ("cifar10", [5000, 50], {}),
        ("photos", [5000, 50], {}),
    ],
)
def test_lade_has_the_settings_of_its_reference(source, counts, expected):
    assert losses.published_settings("lade", source, counts) == expected


def test_settings_by_ratio_are_settings_of_the_loss():
    entries = [
        (name, settings)
        for of_data in losses.LONG_TAIL_SETTINGS.values()
        for name, by_ratio in of_data.items()
        for settings in by_ratio.values()
    ]
    assert entries
    for name, settings in entries:
        assert isinstance(losses.get(name, counts=[3, 1], **settings), losses.Loss)


@pytest.mark.parametrize(("count", "closest"), [(500, 1), (160, 1), (150, 10), (51, 10), (16, 10), (15, 100), (1, 100)])
def test_the_closest_ratio_is_the_closest_by_a_factor(count, closest):
    # Between 1 and 10 the border is at sqrt(10), between 10 and 100 at sqrt(1000).
    assert losses.closest_ratio({1: 1, 10: 10, 100: 100}, [500, count, 0]) == closest
