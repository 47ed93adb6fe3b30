"""Mirror of src/anchored/noise/_mappings.py: against CIFAR-100's published table of superclasses."""

import pytest

from anchored.noise import MAPPINGS
from anchored.noise._mappings import CIFAR100_SUPERCLASS, cycle_within

SUPERCLASSES = [
    "beaver dolphin otter seal whale",
    "aquarium_fish flatfish ray shark trout",
    "orchid poppy rose sunflower tulip",
    "bottle bowl can cup plate",
    "apple mushroom orange pear sweet_pepper",
    "clock keyboard lamp telephone television",
    "bed chair couch table wardrobe",
    "bee beetle butterfly caterpillar cockroach",
    "bear leopard lion tiger wolf",
    "bridge castle house road skyscraper",
    "cloud forest mountain plain sea",
    "camel cattle chimpanzee elephant kangaroo",
    "fox porcupine possum raccoon skunk",
    "crab lobster snail spider worm",
    "baby boy girl man woman",
    "crocodile dinosaur lizard snake turtle",
    "hamster mouse rabbit shrew squirrel",
    "maple_tree oak_tree palm_tree pine_tree willow_tree",
    "bicycle bus motorcycle pickup_truck train",
    "lawn_mower rocket streetcar tank tractor",
]
FINE = sorted(name for names in SUPERCLASSES for name in names.split())  # the data set numbers them by the alphabet


def test_superclasses_are_those_of_the_data_set():
    for coarse, names in enumerate(SUPERCLASSES):
        assert {CIFAR100_SUPERCLASS[FINE.index(name)] for name in names.split()} == {coarse}


def test_cifar100_turns_each_class_into_the_next_of_its_superclass():
    targets = MAPPINGS["cifar100"].targets
    assert FINE[targets[FINE.index("beaver")]] == "dolphin"
    assert FINE[targets[FINE.index("whale")]] == "beaver"
    assert all(CIFAR100_SUPERCLASS[a] == CIFAR100_SUPERCLASS[b] for a, b in targets.items())


def test_index_blocks_turn_five_i_plus_j_into_the_next_of_the_block():
    targets = MAPPINGS["cifar100_index_blocks"].targets
    assert all(targets[5 * b + i] == 5 * b + (i + 1) % 5 for b in range(20) for i in range(5))
    assert sum(CIFAR100_SUPERCLASS[a] != CIFAR100_SUPERCLASS[b] for a, b in targets.items()) > 80


def test_small_data_sets_follow_the_published_pairs():
    assert dict(MAPPINGS["mnist"].targets) == {7: 1, 2: 7, 5: 6, 6: 5, 3: 8}
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    assert [(names[a], names[b]) for a, b in MAPPINGS["cifar10"].targets.items()] == [
        ("truck", "automobile"),
        ("bird", "airplane"),
        ("cat", "dog"),
        ("dog", "cat"),
        ("deer", "horse"),
    ]


@pytest.mark.parametrize("name", ["cifar100", "cifar100_index_blocks"])
def test_a_cycle_is_a_permutation_without_fixed_points(name):
    k, targets = MAPPINGS[name]
    assert sorted(targets) == sorted(targets.values()) == list(range(k))
    assert all(a != b for a, b in targets.items())


def test_a_cycle_returns_after_the_size_of_its_group():
    targets = cycle_within((0, 1, 1, 0, 1))
    assert targets[targets[targets[1]]] == 1
    assert targets[targets[0]] == 0


def test_published_mappings_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        MAPPINGS["mnist"].targets[0] = 1
