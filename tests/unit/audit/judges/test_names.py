"""Mirror of src/anchored/audit/judges/names.py: who is asked if nobody says."""

import pytest
import torch

from anchored import InputError
from anchored.audit.judges import JUDGES, Opinion, Vectors, choose_judges, get
from anchored.audit.judges.names import adds_nothing


def vectors(n, d, counts=None, k=3):
    labels = (
        torch.arange(n) % k if counts is None else torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    )
    return Vectors.check(torch.randn(len(labels), d), labels, k)


def test_an_unknown_judge_gets_the_nearest_names():
    with pytest.raises(InputError, match="did you mean 'ridge'"):
        get("rigde")
    with pytest.raises(InputError, match="unknown judge"):
        choose_judges(["ridge", "jury"], vectors(30, 2))


def test_cheap_judges_are_always_asked_and_slow_ones_of_small_data_only():
    small, large = choose_judges("auto", vectors(200, 5)), choose_judges("auto", vectors(10_000, 300, k=30))
    assert {"ridge", "neighbours"} <= set(small) & set(large)
    assert {"boosted", "kernel-ridge"} <= set(small)
    assert not {"boosted", "kernel-ridge", "probe"} & set(large)


def test_unequal_classes_are_also_judged_with_equal_weights():
    assert "ridge-balanced" in choose_judges("auto", vectors(0, 5, (100, 50, 10)))
    assert "ridge-balanced" not in choose_judges("auto", vectors(0, 5, (100, 50, 40)))


def test_names_are_taken_as_given_once_each():
    assert choose_judges("probe", vectors(30, 2)) == ("probe",)
    assert choose_judges(["probe", "ridge", "probe"], vectors(30, 2)) == ("probe", "ridge")
    assert all(get(name) is JUDGES[name] for name in JUDGES)


def test_a_second_linear_judge_is_asked_only_if_the_first_keeps_up():
    close, far = (
        [Opinion("ridge", torch.zeros(1, 2), value, 0.5), Opinion("neighbours", torch.zeros(1, 2), -1.0, 0.5)]
        for value in (-1.04, -1.06)
    )
    assert not adds_nothing("probe", close)
    assert adds_nothing("probe", far)
    assert not adds_nothing("boosted", far)
    assert not adds_nothing("probe", far[1:])
