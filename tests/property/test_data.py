"""Properties of data that hold whatever the numbers: independence of company, round trips, exact splits."""

import csv
import io

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored._random import per_index_uniform
from anchored.data import (
    Batches,
    ColourJitter,
    Compose,
    CorruptionPlan,
    Dataset,
    HorizontalFlip,
    PaddedCrop,
    RandomResizedCrop,
    Rotation,
    TensorInputs,
    corrupt,
    from_arrays,
    hold_out,
    load_table,
    occurrences,
)

PIXELS = torch.randint(0, 256, (24, 3, 9, 9), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
IMAGES = Dataset("images", TensorInputs(PIXELS), torch.arange(24) % 3, ("a", "b", "c"))
AUGMENTATIONS = st.lists(
    st.sampled_from(
        [
            PaddedCrop(3),
            HorizontalFlip(),
            Rotation(30),
            Rotation(30, "bilinear"),
            RandomResizedCrop(9),
            ColourJitter(0.5, 0.5, 0.5, 0.3),
        ]
    ),
    max_size=4,
)


@settings(deadline=None, max_examples=40)
@given(
    parts=AUGMENTATIONS,
    order=st.lists(st.integers(0, 23), min_size=1, max_size=30),
    size=st.integers(1, 30),
    other=st.integers(1, 30),
    workers=st.integers(0, 2),
    seed=st.integers(0, 2**40),
    data=st.data(),
)
def test_pixels_depend_on_the_sample_and_not_on_its_company(parts, order, size, other, workers, seed, data):
    augment, places = Compose(*parts), torch.tensor(order)
    one = torch.cat(
        [b.inputs for b in Batches(IMAGES, batch_size=size, augment=augment).epoch(places, seed=seed, epoch=1)]
    )
    # The same samples in another order; each keeps the number of its occurrence.
    turn = torch.tensor(data.draw(st.permutations(range(len(order)))))
    batches = Batches(IMAGES, batch_size=other, augment=augment, workers=workers)
    passes = batches.epoch(places[turn], seed=seed, epoch=1, occurrence=occurrences(places)[turn])
    assert torch.equal(torch.cat([b.inputs for b in passes]), one[turn])


@settings(deadline=None, max_examples=40)
@given(order=st.lists(st.integers(0, 23), max_size=40), size=st.integers(1, 9), start=st.integers(0, 12))
def test_taking_up_an_epoch_is_leaving_out_its_beginning(order, size, start):
    batches = Batches(IMAGES, batch_size=size, augment=PaddedCrop(2))
    places = torch.tensor(order, dtype=torch.int64)
    whole = list(batches.epoch(places, seed=0, epoch=0))
    rest = list(batches.epoch(places, seed=0, epoch=0, start=start))
    assert len(whole) == batches.count(len(order))
    assert len(rest) == max(0, len(whole) - start)
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(rest, whole[start:], strict=True))


@given(
    seed=st.integers(-(2**70), 2**70),
    index=st.lists(st.integers(0, 2**62), min_size=1, max_size=20),
    draws=st.integers(1, 9),
)
def test_numbers_per_index_lie_in_the_unit_interval_and_grow_by_appending(seed, index, draws):
    u = per_index_uniform(seed, torch.tensor(index), draws, "x")
    assert ((u >= 0) & (u < 1)).all()
    assert torch.equal(per_index_uniform(seed, torch.tensor(index), draws + 3, "x")[:, :draws], u)


@given(
    counts=st.lists(st.integers(1, 40), min_size=2, max_size=8),
    fraction=st.floats(0.05, 0.95),
    seed=st.integers(0, 1000),
)
def test_a_held_out_part_is_fair_and_loses_nothing(counts, fraction, seed):
    labels = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    data = from_arrays(torch.arange(len(labels))[:, None].float(), labels)
    try:
        train, held = hold_out(data, fraction, seed)
    except ValueError:
        assert round(fraction * len(labels)) == 0 or max(counts) == 1
        return
    together = torch.cat([train.inputs.tensor, held.inputs.tensor]).flatten().sort().values
    assert torch.equal(together, torch.arange(len(labels)).float())
    assert train.counts.min() >= 1
    assert ((held.counts - torch.tensor(counts) * fraction).abs() < 1 + 1e-9).logical_or(train.counts == 1).all()


@given(
    rho=st.floats(1, 20),
    eta=st.floats(0, 0.45),
    kind=st.sampled_from(["longtail", "step"]),
    how=st.sampled_from(["symmetric", "asymmetric"]),
    counts=st.lists(st.integers(20, 60), min_size=3, max_size=6),
    seed=st.integers(0, 100),
)
def test_a_receipt_is_true(rho, eta, kind, how, counts, seed):
    labels = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    data = from_arrays(torch.arange(len(labels))[:, None].float(), labels)
    result = corrupt(data, CorruptionPlan(imbalance=kind, rho=rho, noise=how, eta=eta), seed=seed)
    noisy = result.dataset
    assert noisy.clean_labels.bincount(minlength=len(counts)).tolist() == result.receipt["imbalance"]["counts"]
    assert torch.equal(noisy.clean_labels, labels[result.kept])
    assert result.receipt["noise"]["flipped"] == int((noisy.labels != noisy.clean_labels).sum())
    # Whole samples are flipped, in each class, so the rate can be short by less than one sample per class.
    assert eta - len(counts) / len(noisy) <= result.receipt["noise"]["rate"] <= eta + 1e-9


NAME = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85"), min_size=1, max_size=12
)


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(-(2.0**100), 2.0**100, width=32), st.floats(-1, 1, width=32), NAME), min_size=1, max_size=15
    ),
    delimiter=st.sampled_from(",;\t|"),
    bom=st.booleans(),
)
def test_a_written_table_reads_back(tmp_path_factory, rows, delimiter, bom):
    rows = [(u, v, name.strip() or "x") for u, v, name in rows]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["first", "second", "label"])
    writer.writerows([repr(u), repr(v), name] for u, v, name in rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text(("\ufeff" if bom else "") + text.getvalue(), encoding="utf-8", newline="")
    names = tuple(sorted({name for _, _, name in rows}))
    data = load_table(path, label="label", class_names=names, columns=("first", "second")).train
    assert [names[c] for c in data.labels.tolist()] == [name for _, _, name in rows]
    expected = np.array([[u, v] for u, v, _ in rows], dtype=np.float32)
    np.testing.assert_array_equal(data.inputs.take(torch.arange(len(rows))).numpy(), expected)
