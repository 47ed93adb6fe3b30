"""Mirror of src/anchored/paper/names.py: the tables by name."""

import pytest

from anchored._errors import InputError
from anchored.paper import TABLES, get


def test_names_agree_with_the_tables():
    assert all(name == table.name for name, table in TABLES.items())
    assert get("Noise-Symmetric") is TABLES["noise_symmetric"]


def test_an_unknown_table_is_refused_with_the_nearest_names():
    with pytest.raises(InputError, match="unknown table 'longtail_cifar1000'; did you mean 'longtail_cifar100'"):
        get("longtail_cifar1000")
