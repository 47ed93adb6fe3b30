"""Mirror of src/anchored/paper/figures/names.py: the figures by name."""

import pytest

from anchored._errors import InputError
from anchored.paper.figures import FIGURES, get


def test_a_name_may_be_written_in_any_case_and_with_hyphens():
    assert get("MNIST-features") is FIGURES["mnist_features"]


def test_an_unknown_figure_is_refused_with_the_nearest_names():
    with pytest.raises(InputError, match="unknown figure 'norm'; did you mean 'norms'"):
        get("norm")
