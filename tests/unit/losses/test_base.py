"""Mirror of src/anchored/losses/_base.py: cross entropy is torch's in every setting, misfits are refused."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.builders import batch as make_batch

from anchored import InputError
from anchored.losses import CrossEntropy, Loss, MeanAbsoluteError, NegativeSampleLogit

WEIGHT = torch.tensor([0.2, 1.0, 3.0, 0.5])


class Squares(Loss):
    """The least a loss can be: one method."""

    def per_class(self, logits):
        return logits.square()


@pytest.fixture
def batch():
    return make_batch(20, 4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("ignore_index", [-100, 2, -1])
def test_cross_entropy_is_torchs_on_labels(batch, reduction, weight, ignore_index):
    logits, target = batch
    target[::4] = ignore_index
    settings = {"weight": weight, "reduction": reduction, "ignore_index": ignore_index}
    torch.testing.assert_close(CrossEntropy(**settings)(logits, target), F.cross_entropy(logits, target, **settings))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_cross_entropy_is_torchs_on_probabilities(batch, reduction, weight):
    logits, _ = batch
    soft = torch.rand(20, 4, generator=torch.Generator().manual_seed(1)).softmax(dim=1)
    settings = {"weight": weight, "reduction": reduction}
    torch.testing.assert_close(CrossEntropy(**settings)(logits, soft), F.cross_entropy(logits, soft, **settings))


def test_one_method_makes_a_loss(batch):
    logits, target = batch
    expected = torch.stack([row[y] ** 2 for row, y in zip(logits, target, strict=True)])
    torch.testing.assert_close(Squares(reduction="none")(logits, target), expected)
    torch.testing.assert_close((Squares() + 2 * Squares())(logits, target), 3 * expected.mean())


def test_the_weight_can_be_replaced_in_the_middle_of_training(batch):
    logits, target = batch
    loss = CrossEntropy()
    loss.weight = WEIGHT
    torch.testing.assert_close(loss(logits, target), F.cross_entropy(logits, target, weight=WEIGHT))


def test_the_weight_given_is_copied(batch):
    given = WEIGHT.clone()
    loss = CrossEntropy(weight=given)
    given.zero_()
    assert torch.equal(loss.weight, WEIGHT)


def test_a_copy_gives_the_same_loss(batch):
    loss = 2 * CrossEntropy(weight=WEIGHT) + MeanAbsoluteError(weight=WEIGHT)
    assert torch.equal(copy.deepcopy(loss)(*batch), loss(*batch))


def test_only_numbers_multiply_and_only_losses_add():
    for wrong in (lambda: CrossEntropy() + 1, lambda: CrossEntropy() * CrossEntropy(), lambda: "2" * CrossEntropy()):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    ("logits", "target", "message"),
    [
        (np.zeros((3, 4)), torch.zeros(3).long(), "logits must be a torch.Tensor, got ndarray; try torch.as_tensor"),
        (torch.zeros(3, 4), [0, 1, 2], "target must be a torch.Tensor, got list"),
        (torch.zeros(3), torch.zeros(3).long(), r"logits must be a floating point tensor \(n, k\)"),
        (torch.zeros(3, 4).long(), torch.zeros(3).long(), "logits must be a floating point tensor"),
        (torch.zeros(3, 4), torch.zeros(2).long(), r"one int64 label per row .* got target \(2,\)"),
        (torch.zeros(3, 4), torch.zeros(3).int(), "int64 .* torch.int32"),
        (torch.zeros(3, 4), torch.zeros(3, 4).long(), "one-hot rows need a floating point dtype"),
        (torch.zeros(3, 4), torch.zeros(3), "probabilities must have the shape of the logits"),
        (torch.zeros(3, 4), torch.zeros(3, 5), "probabilities must have the shape of the logits"),
    ],
)
def test_refuses_shapes_and_dtypes_that_do_not_fit(logits, target, message):
    with pytest.raises(InputError, match=message):
        CrossEntropy()(logits, target)


def test_refuses_to_ignore_a_label_among_probabilities():
    with pytest.raises(InputError, match="ignore_index=2 names a label"):
        CrossEntropy(ignore_index=2)(torch.zeros(3, 4), torch.full((3, 4), 0.25))


@pytest.mark.parametrize("weight", [[1.0, -1.0], [1.0, float("nan")], [[1.0, 2.0]], [-1.0] * 30])
def test_refuses_a_weight_that_is_none(weight):
    with pytest.raises(InputError, match="weight must be"):
        CrossEntropy(weight=weight)


def test_refuses_a_weight_for_another_number_of_classes():
    for target in (torch.zeros(3).long(), torch.full((3, 4), 0.25)):
        with pytest.raises(InputError, match=r"one factor per class: got \(2,\) for logits \(3, 4\)"):
            CrossEntropy(weight=[1.0, 2.0])(torch.zeros(3, 4), target)


def test_refuses_settings_it_does_not_know():
    with pytest.raises(InputError, match="unknown reduction 'meen'; did you mean 'mean'"):
        CrossEntropy(reduction="meen")
    with pytest.raises(InputError, match=r"ignore_index must be a whole number, got 1\.5"):
        NegativeSampleLogit(ignore_index=1.5)


def test_shows_what_differs_from_the_defaults():
    assert repr(CrossEntropy()) == "CrossEntropy()"
    assert repr(CrossEntropy(reduction="sum", ignore_index=7)) == "CrossEntropy(reduction='sum', ignore_index=7)"
