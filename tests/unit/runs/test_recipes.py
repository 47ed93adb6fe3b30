"""Mirror of src/anchored/runs/recipes.py: every recipe is a valid configuration with the published numbers."""

import pytest

from anchored import backbones, schedules
from anchored._errors import InputError
from anchored.data.augment import compose
from anchored.runs import RECIPES, recipes
from anchored.runs.recipes import recipe_name
from anchored.training import validate

PUBLISHED = [
    # recipe          backbone    lr    momentum decay  epochs batch
    ("mnist", "cnn4", 0.01, 0.9, 1e-3, 50, 128),
    ("cifar10", "cnn8", 0.01, 0.9, 1e-4, 120, 128),
    ("cifar100", "resnet34", 0.1, 0.9, 1e-5, 200, 128),
    ("webvision", "resnet50", 0.4, 0.9, 3e-5, 250, 256),
    ("cifar-longtail", "resnet32", 0.1, 0.9, 2e-4, 200, 128),
]


@pytest.mark.parametrize(("name", "backbone", "lr", "momentum", "decay", "epochs", "batch"), PUBLISHED)
def test_the_published_numbers(name, backbone, lr, momentum, decay, epochs, batch):
    config = validate(recipes.get(name))
    assert config.backbone.name == backbone
    assert (config.optimizer.lr, config.optimizer.momentum, config.optimizer.weight_decay) == (lr, momentum, decay)
    assert (config.train.epochs, config.train.batch_size) == (epochs, batch)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_can_be_built(name):
    config = validate(recipes.get(name))
    schedule = schedules.get(config.schedule.name, epochs=config.train.epochs, **config.schedule.options)
    assert all(0 <= schedule(epoch) <= 1 for epoch in range(config.train.epochs))
    compose(config.data.augment)
    if config.backbone.name != "auto":
        assert config.backbone.name in backbones.BACKBONES


@pytest.mark.parametrize(
    ("source", "shape", "corrupt", "name"),
    [
        ("mnist", (1, 28, 28), (), "mnist"),
        ("fashion-mnist", (1, 28, 28), ("symmetric=0.4",), "mnist"),
        ("cifar100", (3, 32, 32), ("symmetric=0.4",), "cifar100"),
        ("cifar100", (3, 32, 32), ("step=10",), "cifar-longtail"),
        ("digits", (1, 8, 8), ("longtail=10",), "digits"),
        ("photos", (3, 64, 64), (), "images"),
        ("", (5,), (), "vectors"),
    ],
)
def test_the_recipe_is_chosen_by_the_source_and_else_by_the_shape(source, shape, corrupt, name):
    assert recipe_name(source, shape, corrupt) == name


def test_an_unknown_recipe_gets_the_nearest_ones():
    with pytest.raises(InputError, match="unknown recipe 'cifar'; did you mean"):
        recipes.get("cifar")
