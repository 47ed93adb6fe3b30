"""Mirror of src/anchored/data/idx.py: tiny files in the real format, where torchvision puts them and elsewhere."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import load_fashion_mnist, load_mnist
from anchored.data.idx import read_idx


def idx(array):
    return (
        bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()
    )


def write(folder, *, zipped=False, n=4, labels=None):
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.arange(n * 28 * 28).reshape(n, 28, 28) % 251
    for prefix in ("train", "t10k"):
        given = np.arange(n) % 10 if labels is None else np.array(labels)
        for rest, array in (("images-idx3-ubyte", pixels), ("labels-idx1-ubyte", given)):
            data = idx(array)
            name = f"{prefix}-{rest}" + (".gz" if zipped else "")
            (folder / name).write_bytes(gzip.compress(data) if zipped else data)
    return pixels


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("place", ["MNIST/raw", "."])
def test_reads_plain_and_zipped_files_in_both_places(tmp_path, place, zipped):
    pixels = write(tmp_path / place, zipped=zipped)
    split = load_mnist(tmp_path)
    assert split.train.inputs.shape == (1, 28, 28)
    assert np.array_equal(split.test.inputs.tensor[:, 0].numpy(), pixels)
    assert split.train.labels.tolist() == [0, 1, 2, 3]
    assert split.train.class_names == tuple("0123456789")


def test_fashion_has_its_own_folder_and_names(tmp_path):
    write(tmp_path / "FashionMNIST/raw")
    assert load_fashion_mnist(tmp_path).train.class_names[9] == "Ankle boot"
    with pytest.raises(InputError, match="anchored data mnist --root"):
        load_mnist(tmp_path)


@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_any_number_of_axes(tmp_path, axes):
    array = np.arange(2**axes).reshape((2,) * axes)
    (tmp_path / "f").write_bytes(idx(array))
    assert torch.equal(read_idx(tmp_path / "f"), torch.from_numpy(array.astype(np.uint8)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an idx file"),
        (b"\x89PNG\r\n", "not an idx file"),
        (bytes([0, 0, 0x0D, 1, 0, 0, 0, 1, 0]), "not an idx file of bytes"),
        (idx(np.zeros((3, 4)))[:-1], "promises 3x4 bytes, got 11"),
        (idx(np.zeros((3, 4))) + b"x", "promises 3x4 bytes, got at least 13"),
        (bytes([0, 0, 8, 3, 0]), "promises"),
    ],
)
def test_damaged_files_are_named(tmp_path, data, words):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(InputError, match=f"f: .*{words}"):
        read_idx(tmp_path / "f")


@pytest.mark.parametrize("keep", [5, 40])
def test_a_cut_gzip_file_is_named(tmp_path, keep):
    rng = np.random.default_rng(0)
    (tmp_path / "f.gz").write_bytes(gzip.compress(idx(rng.integers(0, 256, (10, 10))))[:keep])
    with pytest.raises(InputError, match=r"f\.gz: the gzip file is damaged or cut short"):
        read_idx(tmp_path / "f.gz")


def test_images_and_labels_must_belong_together(tmp_path):
    write(tmp_path, labels=[0, 1, 2])
    with pytest.raises(InputError, match="do not belong together"):
        load_mnist(tmp_path)


def test_a_label_beyond_nine_is_named_with_its_row(tmp_path):
    write(tmp_path, labels=[0, 1, 77, 3])
    with pytest.raises(InputError, match=r"labels-idx1-ubyte, row 2: .* got 77"):
        load_mnist(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    write(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(InputError, match="t10k-labels-idx1-ubyte"):
        load_mnist(tmp_path)


def test_a_gzip_that_is_no_idx_is_not_unpacked(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(2**24)))  # 16 MB in 16 kB
    tracemalloc.start()
    with pytest.raises(InputError, match="not an idx file of bytes"):
        read_idx(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_head_that_promises_too_much_is_refused(tmp_path):
    head = b"\0\0\x08\x03" + b"\xff\xff\xff\xff" * 3
    for name, content in (("a", head), ("a.gz", gzip.compress(head))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="its head promises 4294967295x4294967295x4294967295 bytes, got 0"):
            read_idx(tmp_path / name)
