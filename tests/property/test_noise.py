"""Noise for any labels: exact counts, no label flipped to itself, nothing but the asked transitions."""

import math
from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored import noise

seeds = st.integers(0, 2**32)
percents = st.integers(0, 99)


@st.composite
def labels_and_k(draw):
    k = draw(st.integers(2, 12))
    return torch.tensor(draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=80))), k


@settings(deadline=None, max_examples=50)
@given(data=labels_and_k(), percent=percents, seed=seeds)
def test_exact_symmetric_noise_flips_the_floor_of_every_class(data, percent, seed):
    labels, k = data
    percent = min(percent, math.ceil(100 * (k - 1) / k) - 1)
    receipt = noise.symmetric(labels, percent / 100, k, generator=torch.Generator().manual_seed(seed))
    for c in range(k):
        n = int((labels == c).sum())
        assert int(receipt.flipped[labels == c].sum()) == math.floor(Fraction(percent, 100) * n)
        if n:
            assert percent / 100 - receipt.per_class[c] + 1e-12 >= 0
            assert percent / 100 - receipt.per_class[c] < 1 / n + 1e-12
        else:
            assert receipt.per_class[c] is None


@settings(deadline=None, max_examples=50)
@given(data=labels_and_k(), percent=st.integers(0, 49), seed=seeds, mode=st.sampled_from(["exact", "iid"]))
def test_asymmetric_noise_makes_only_the_transitions_of_its_mapping(data, percent, seed, mode):
    labels, k = data
    mapping = {c: c + 1 for c in range(0, k - 1, 2)}
    receipt = noise.asymmetric(
        labels, percent / 100, mapping, k=k, mode=mode, generator=torch.Generator().manual_seed(seed)
    )
    changes = zip(labels[receipt.flipped].tolist(), receipt.labels[receipt.flipped].tolist(), strict=True)
    assert set(changes) <= set(mapping.items())


@settings(deadline=None, max_examples=50)
@given(data=labels_and_k(), seed=seeds)
def test_transitions_of_probability_zero_do_not_happen(data, seed):
    labels, k = data
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.rand(k, k, generator=generator).double() * (torch.rand(k, k, generator=generator) < 0.4)
    matrix.diagonal().add_(0.1)
    matrix = matrix / matrix.sum(dim=1, keepdim=True)
    receipt = noise.transition(labels, matrix, generator=generator)
    assert (matrix[labels, receipt.labels] > 0).all()


@settings(deadline=None, max_examples=50)
@given(data=labels_and_k(), percent=st.integers(0, 45), seed=seeds)
def test_shifting_the_names_of_the_classes_shifts_the_result(data, percent, seed):
    # Symmetric noise adds a random step to a label, so it does not know the classes' names; iid draws ignore them.
    labels, k = data
    one = noise.symmetric(labels, percent / 100, k, mode="iid", generator=torch.Generator().manual_seed(seed))
    other = noise.symmetric(
        (labels + 1) % k, percent / 100, k, mode="iid", generator=torch.Generator().manual_seed(seed)
    )
    assert torch.equal((one.labels + 1) % k, other.labels)
