"""Mirror of src/anchored/data/batches.py: a batch depends on nothing but data, order, seed, epoch and its number."""

import dataclasses
import threading

import pytest
import torch

from anchored._errors import InputError
from anchored.data import (
    NORMALIZATIONS,
    Batch,
    Batches,
    ColourJitter,
    Compose,
    Dataset,
    HorizontalFlip,
    Normalization,
    PaddedCrop,
    RandomResizedCrop,
    Rotation,
    TensorInputs,
    TextInputs,
    occurrences,
    shuffled,
)

EVERYTHING = Compose(
    RandomResizedCrop(12), PaddedCrop(2), HorizontalFlip(), Rotation(20), ColourJitter(0.4, 0.4, 0.4, 0.2)
)


@pytest.fixture
def images():
    g = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (50, 3, 12, 12), generator=g, dtype=torch.uint8)
    return Dataset("images", TensorInputs(pixels), torch.arange(50) % 5, tuple("abcde"))


def by_sample(batches, order, **position):
    """What each sample looked like, by its number."""
    return {
        int(i): (x, int(y))
        for batch in batches.epoch(order, **position)
        for x, y, i in zip(batch.inputs, batch.labels, batch.index, strict=True)
    }


def test_the_length_of_a_batch_is_its_number_of_samples_and_it_cannot_be_changed():
    batch = Batch(torch.zeros(5, 2), torch.zeros(5, dtype=torch.int64), torch.arange(5))
    assert len(batch) == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.labels = torch.ones(5)


def test_inputs_labels_and_index_belong_together(images):
    order = shuffled(50, seed=3, epoch=0)
    batches = list(Batches(images, batch_size=16).epoch(order, seed=3, epoch=0))
    assert torch.equal(torch.cat([batch.index for batch in batches]), order)
    for batch in batches:
        for x, y, i in zip(batch.inputs, batch.labels, batch.index, strict=True):
            torch.testing.assert_close(x, images.inputs.tensor[i] / 255)
            assert y == images.labels[i]


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 50])
def test_a_samples_pixels_do_not_depend_on_order_batch_size_or_workers(images, batch_size, workers):
    reference = by_sample(Batches(images, batch_size=50, augment=EVERYTHING), torch.arange(50), seed=1, epoch=4)
    batches = Batches(images, batch_size=batch_size, augment=EVERYTHING, workers=workers)
    got = by_sample(batches, shuffled(50, seed=9, epoch=9), seed=1, epoch=4)
    assert got.keys() == reference.keys()
    assert all(torch.equal(got[i][0], reference[i][0]) for i in got)


def test_epochs_and_seeds_change_the_pixels(images):
    batches = Batches(images, batch_size=50, augment=PaddedCrop(4))
    first = by_sample(batches, torch.arange(50), seed=0, epoch=0)
    for position in ({"seed": 0, "epoch": 1}, {"seed": 1, "epoch": 0}):
        other = by_sample(batches, torch.arange(50), **position)
        assert sum(torch.equal(first[i][0], other[i][0]) for i in first) < 10


@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_taken_up_in_the_middle_goes_on_identically(images, workers):
    batches = Batches(images, batch_size=8, augment=EVERYTHING, workers=workers)
    order = torch.cat([shuffled(50, seed=0, epoch=0), torch.tensor([3, 3, 3, 7])])
    whole = list(batches.epoch(order, seed=0, epoch=0))
    for start in range(len(whole) + 1):
        rest = list(batches.epoch(order, seed=0, epoch=0, start=start))
        assert len(rest) == len(whole) - start
        for a, b in zip(rest, whole[start:], strict=True):
            assert torch.equal(a.inputs, b.inputs)
            assert torch.equal(a.index, b.index)


def test_a_sample_drawn_twice_is_augmented_anew(images):
    batches = Batches(images, batch_size=30, augment=PaddedCrop(4))
    (batch,) = batches.epoch(torch.tensor([7] * 20), seed=0, epoch=0)
    assert len(batch.inputs.flatten(1).unique(dim=0)) > 10


def test_a_part_of_an_order_can_be_told_what_came_before(images):
    batches = Batches(images, batch_size=4, augment=PaddedCrop(4))
    order = torch.tensor([7, 1, 7, 7, 1, 2, 7, 3])
    whole = torch.cat([batch.inputs for batch in batches.epoch(order, seed=0, epoch=0)])
    part = batches.epoch(order[1::2], seed=0, epoch=0, occurrence=occurrences(order)[1::2])
    assert torch.equal(torch.cat([batch.inputs for batch in part]), whole[1::2])


def test_occurrences_agree_with_a_count_by_hand():
    order = torch.randint(0, 10, (200,), generator=torch.Generator().manual_seed(0))
    seen = [0] * 10
    expected = []
    for value in order.tolist():
        expected.append(seen[value])
        seen[value] += 1
    assert occurrences(order).tolist() == expected
    assert len(occurrences(torch.empty(0, dtype=torch.int64))) == 0


def test_the_order_of_an_epoch_is_a_function_of_seed_and_epoch():
    assert torch.equal(shuffled(100, seed=1, epoch=2), shuffled(100, seed=1, epoch=2))
    assert not torch.equal(shuffled(100, seed=1, epoch=2), shuffled(100, seed=1, epoch=3))


def test_normalisation_comes_after_augmentation(images):
    # A black border is black before normalisation: -mean/std after it, and not 0.
    black = Dataset(
        "black", TensorInputs(torch.zeros(1, 3, 8, 8, dtype=torch.uint8)), torch.zeros(1).long(), ("a", "b")
    )
    constants = NORMALIZATIONS["cifar10"]
    (batch,) = Batches(black, batch_size=1, augment=PaddedCrop(4), normalize=constants).epoch(
        torch.tensor([0]), seed=0, epoch=0
    )
    expected = (-torch.tensor(constants.mean) / torch.tensor(constants.std))[:, None, None].expand(3, 8, 8)
    torch.testing.assert_close(batch.inputs[0], expected)


@pytest.mark.parametrize("normalize", [None, NORMALIZATIONS["cifar10"]])
def test_images_are_laid_out_channels_last_unless_told(images, normalize):
    def first(**options):
        batches = Batches(images, batch_size=4, normalize=normalize, **options)
        return next(iter(batches.epoch(torch.arange(4), seed=0, epoch=0))).inputs

    assert first().is_contiguous(memory_format=torch.channels_last)
    assert first(channels_last=False).is_contiguous()
    assert first(dtype=torch.float64).dtype == torch.float64
    torch.testing.assert_close(first(), first(channels_last=False))


def test_vectors_pass_through_and_stay_untouched():
    rows = torch.randn(9, 4)
    data = Dataset("rows", TensorInputs(rows), torch.zeros(9).long(), ("a", "b"))
    batches = Batches(data, batch_size=4, normalize=Normalization((0.0,) * 4, (2.0,) * 4, divisor=1))
    out = torch.cat([batch.inputs for batch in batches.epoch(torch.arange(9), seed=0, epoch=0)])
    torch.testing.assert_close(out, rows / 2)


@pytest.mark.parametrize(("drop_last", "sizes"), [(False, [4, 4, 2]), (True, [4, 4])])
def test_the_last_batch_may_be_dropped(images, drop_last, sizes):
    batches = Batches(images, batch_size=4, drop_last=drop_last)
    assert [len(batch) for batch in batches.epoch(torch.arange(10), seed=0, epoch=0)] == sizes
    assert batches.count(10) == len(sizes)


class Counting:
    """Inputs that know how many batches were asked of them."""

    shape = (2,)

    def __init__(self, fail_at=None):
        self.asked, self.fail_at, self.lock = 0, fail_at, threading.Lock()

    def __len__(self):
        return 1000

    def take(self, index):
        with self.lock:
            self.asked += 1
        if self.fail_at is not None and int(index[0]) == self.fail_at:
            raise InputError("sample is broken")
        return torch.zeros(len(index), 2)

    def subset(self, index):
        return self


def counting(fail_at=None):
    return Dataset("count", Counting(fail_at), torch.zeros(1000).long(), ("a", "b"))


def test_workers_look_only_a_little_ahead_and_stop_when_left():
    data = counting()
    passes = Batches(data, batch_size=10, workers=2).epoch(torch.arange(1000), seed=0, epoch=0)
    next(passes)
    passes.close()
    assert data.inputs.asked <= 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_broken_sample_is_an_error_where_it_is_reached(workers):
    passes = Batches(counting(fail_at=20), batch_size=10, workers=workers).epoch(torch.arange(1000), seed=0, epoch=0)
    assert [int(next(passes).index[0]), int(next(passes).index[0])] == [0, 10]
    with pytest.raises(InputError, match="sample is broken"):
        next(passes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"batch_size": 4, "workers": -1}, "workers"),
        ({"batch_size": 4, "normalize": NORMALIZATIONS["mnist"]}, r"1 channels, the inputs are \(3, 12, 12\)"),
    ],
)
def test_refusals(images, options, words):
    with pytest.raises(InputError, match=words):
        Batches(images, **options)


def test_augmentation_of_vectors_is_refused():
    with pytest.raises(InputError, match=r"work on images \(c, h, w\), the inputs are \(2,\)"):
        Batches(counting(), batch_size=4, augment=HorizontalFlip())


def test_texts_must_be_encoded_first():
    data = Dataset("reviews", TextInputs(["a", "b"]), torch.tensor([0, 1]), ("no", "yes"))
    with pytest.raises(InputError, match=r"reviews: a text must be encoded before .*anchored\.features\.encode"):
        Batches(data, batch_size=2)
