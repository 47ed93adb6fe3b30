"""Mirror of src/anchored/_names.py."""

import pytest

from anchored._errors import InputError
from anchored._names import benchmark, choose, suggest

TABLE = {"ce": 1, "gce": 2, "nsl": 3}


def test_a_known_name_gives_its_entry():
    assert [choose(name, TABLE, what="loss") for name in TABLE] == [1, 2, 3]


def test_an_unknown_name_gets_the_nearest_ones():
    with pytest.raises(InputError, match=r"^unknown loss 'gcee'; did you mean 'gce' or 'ce'\?$"):
        choose("gcee", TABLE, what="loss")


def test_a_name_near_nothing_gets_all_of_them():
    assert suggest("qqqq", TABLE) == "choose from ce, gce, nsl"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("cifar100", "cifar100"),
        ("ImageNet_LT_train.txt", "imagenet-lt"),
        ("/data/ilsvrc/ImageNet_LT_train.txt", "imagenet-lt"),
        ("lists/ImageNet_LT_test.txt", "imagenet-lt"),
        ("webvision_mini_train.txt", "webvision"),
        ("imagenet_lt_photos/", "imagenet_lt_photos/"),  # a folder may be called anything
        ("my_train.txt", "my_train.txt"),
        ("/data/cifar10", "/data/cifar10"),
        ("", ""),
    ],
)
def test_a_benchmark_is_known_by_its_name_or_by_that_of_its_list(source, name):
    assert benchmark(source) == name
