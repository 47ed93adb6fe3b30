"""What every source promises, whatever the data came from: checks run over one member of each kind."""

import gzip
import pickle
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import Batches, Dataset, Inputs, Normalization, open_source

NAMES = ["<b>猫</b>", "dog & co"]
RNG_SEED = 5


@dataclass
class Source:
    data: Any
    options: dict[str, Any]


def pixels(n, *shape):
    return np.random.default_rng(RNG_SEED).integers(0, 256, (n, *shape), dtype=np.uint8)


def digits(_path):
    return Source("digits", {})


def mnist(path):
    for prefix in ("train", "t10k"):
        for rest, array in (
            ("images-idx3-ubyte", pixels(8, 28, 28)),
            ("labels-idx1-ubyte", np.arange(8, dtype=np.uint8)),
        ):
            head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            (path / f"{prefix}-{rest}.gz").write_bytes(gzip.compress(head + array.tobytes()))
    return Source("mnist", {"root": path})


def cifar10(path):
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        (path / name).write_bytes(pickle.dumps({b"data": pixels(4, 3072), b"labels": [0, 1, 2, 9]}))
    return Source("cifar10", {"root": path})


def cifar100(path):
    for name in ("train", "test"):
        labels = np.array([[0, 3], [1, 99], [2, 4], [3, 5]], dtype=np.uint8)
        (path / f"{name}.bin").write_bytes(np.concatenate([labels, pixels(4, 3072)], axis=1).tobytes())
    return Source("cifar100", {"root": path})


def folder(path):
    for j, name in enumerate(["猫", "<b>dog"]):
        (path / name).mkdir()
        for i, image in enumerate(pixels(6, 9, 9, 3)[j::2]):
            Image.fromarray(image).save(path / name / f"{i}.png")
    return Source(path, {})


def streamed_folder(path):
    return Source(folder(path).data, {"memory_limit": 0})


def list_file(path):
    for i, image in enumerate(pixels(6, 9, 9, 3)):
        Image.fromarray(image).save(path / f"{i}.png")
    (path / "list.txt").write_text("".join(f"{i}.png {i % 2}\n" for i in range(6)))
    return Source(path / "list.txt", {})


def table(path):
    rows = "".join(f'{i},{i * i / 7},"{NAMES[i % 2]}"\n' for i in range(6))
    (path / "t.csv").write_text("u,v,label\n" + rows, encoding="utf-8")
    return Source(path / "t.csv", {})


def parquet(path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pa.table({"u": [0.5 * i for i in range(6)], "label": NAMES * 3}), path / "t.parquet")
    return Source(path / "t.parquet", {})


def archive(path):
    np.savez(path / "d.npz", X=pixels(6, 5), y=np.array(NAMES * 3))
    return Source(path / "d.npz", {})


def pair(path):
    np.save(path / "X.npy", pixels(6, 8, 8))
    np.save(path / "y.npy", np.arange(6) % 3)
    return Source(path / "X.npy", {})


def torch_dataset(_path):
    return Source([(torch.full((3,), float(i)), i % 2) for i in range(6)], {})


def cifar10n(path):
    clean = np.array([0, 1, 2, 9] * 5)
    (path / "cifar10n").mkdir()
    np.savez(path / "cifar10n" / "labels.npz", clean=clean, worse=clean[::-1])
    return Source("cifar10n-worse", cifar10(path).options)


def text_folder(path):
    for i, text in enumerate(["猫です", "a dog", "another dog", "<i>"]):
        (path / NAMES[i % 2].replace("/", "_")).mkdir(exist_ok=True)
        (path / NAMES[i % 2].replace("/", "_") / f"{i}.txt").write_text(text, encoding="utf-8")
    return Source(path, {})


def agnews(path):
    (path / "agnews").mkdir()
    for part in ("train", "test"):
        rows = ["text,label,truth", *(f'"{name}, {i}",{i % 2},{i % 2}' for i, name in enumerate("abcd"))]
        (path / "agnews" / f"{part}.csv").write_text("\n".join(rows))
    return Source("agnews", {"root": path})


SOURCES = [
    digits,
    mnist,
    cifar10,
    cifar100,
    folder,
    streamed_folder,
    list_file,
    table,
    parquet,
    archive,
    pair,
    torch_dataset,
    cifar10n,
    text_folder,
    agnews,
]
ENCODED_FIRST = (text_folder, agnews)
WITH_TRUTH = (cifar10n, agnews)


def rows(dataset, index):
    """What the samples at ``index`` are, to be compared."""
    if dataset.kind == "texts":
        return [dataset.inputs.texts[i] for i in index.tolist()]
    return dataset.inputs.take(index).tolist()


@pytest.fixture(params=SOURCES, ids=lambda make: make.__name__)
def source(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture
def dataset(source) -> Dataset:
    return open_source(source.data, **source.options).train


def test_everything_is_there_once_per_sample(dataset):
    assert len(dataset) == len(dataset.inputs) == len(dataset.labels) == len(dataset.ids)
    assert len(set(dataset.ids)) == len(dataset)
    assert all(isinstance(name, str) for name in [*dataset.ids, *dataset.class_names])


def test_labels_point_at_names_and_none_is_missing(dataset):
    assert dataset.labels.dtype == torch.int64
    assert dataset.labelled
    assert int(dataset.labels.max()) < dataset.k
    assert int(dataset.counts.sum()) == len(dataset)


def test_the_truth_stands_beside_only_if_the_source_has_it(request, dataset):
    has_it = request.node.callspec.params["source"] in WITH_TRUTH
    assert (dataset.clean_labels is not None) == has_it


def test_inputs_are_bytes_for_images_and_finite_floats_for_vectors_and_texts_wait(request, dataset):
    assert isinstance(dataset.inputs, Inputs)
    if request.node.callspec.params["source"] in ENCODED_FIRST:
        assert (dataset.kind, dataset.inputs.shape, dataset.inputs.in_memory) == ("texts", (), True)
        with pytest.raises(InputError, match="must be encoded"):
            dataset.inputs.take(torch.arange(1))
        return
    given = dataset.inputs.take(torch.arange(len(dataset)))
    assert tuple(given.shape) == (len(dataset), *dataset.inputs.shape)
    assert given.dtype == (torch.uint8 if dataset.kind == "images" else torch.float32)
    assert torch.isfinite(given.float()).all()


def test_a_subset_is_what_taking_gives(dataset):
    index = torch.tensor([len(dataset) - 1, 0, 2])
    part = dataset.subset(index)
    assert rows(part, torch.arange(3)) == rows(dataset, index)
    assert torch.equal(part.labels, dataset.labels[index])
    assert list(part.ids) == [dataset.ids[i] for i in index.tolist()]


def test_opening_twice_gives_the_same(source, dataset):
    again = open_source(source.data, **source.options, split="train")
    index = torch.arange(len(dataset))
    assert rows(again, index) == rows(dataset, index)
    assert torch.equal(again.labels, dataset.labels)
    assert (list(again.ids), again.class_names, again.name) == (list(dataset.ids), dataset.class_names, dataset.name)


def test_data_fits_the_model_it_trained(source, dataset):
    again = open_source(
        source.data,
        **source.options,
        class_names=dataset.class_names,
        shape=dataset.inputs.shape,
        columns=dataset.columns,
    ).train
    assert again.class_names == dataset.class_names
    assert torch.equal(again.labels, dataset.labels)


def test_batches_come_out_normalised(request, dataset):
    if request.node.callspec.params["source"] in ENCODED_FIRST:
        with pytest.raises(InputError, match="must be encoded"):
            Batches(dataset, batch_size=4)
        return
    batches = Batches(dataset, batch_size=4, normalize=Normalization.fit(dataset.inputs), workers=1)
    out = torch.cat([batch.inputs for batch in batches.epoch(torch.arange(len(dataset)), seed=0, epoch=0)])
    assert out.dtype == torch.float32
    dims = (0, 2, 3) if dataset.is_image else (0,)
    assert out.mean(dim=dims).abs().max() < 1e-3
