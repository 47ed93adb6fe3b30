"""Mirror of src/anchored/data/cifar.py: both versions give the same data, and no pickle gets to run anything."""

import io
import os
import pickle
import struct

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import load_cifar10, load_cifar100
from anchored.data.cifar import CIFAR10_CLASSES, CIFAR100_CLASSES


def contents(seed, n, k):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n, 3072), dtype=np.uint8), rng.integers(0, k, n)


def write_cifar10_binary(folder, n=3):
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate([*(f"data_batch_{j}" for j in range(1, 6)), "test_batch"]):
        pixels, labels = contents(i, n, 10)
        (folder / f"{name}.bin").write_bytes(np.concatenate([labels[:, None].astype(np.uint8), pixels], 1).tobytes())


def write_cifar10_python(folder, n=3, protocol=4):
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate([*(f"data_batch_{j}" for j in range(1, 6)), "test_batch"]):
        pixels, labels = contents(i, n, 10)
        with (folder / name).open("wb") as file:
            pickle.dump({b"data": pixels, b"labels": labels.tolist(), b"batch_label": b"x"}, file, protocol=protocol)


def python_2_pickle(pixels, labels, key):
    """The opcodes that Python 2 and numpy of 2009 wrote, by hand: protocol 2, byte strings, the old module name."""

    def text(value):
        return b"T" + struct.pack("<i", len(value)) + value

    def number(value):
        return b"K" + bytes([value])

    shape = b"".join(b"J" + struct.pack("<i", v) for v in pixels.shape) + b"\x86"
    dtype = b"cnumpy\ndtype\n" + text(b"u1") + number(0) + number(1) + b"\x87R"
    dtype += b"(" + number(3) + text(b"|") + b"NNN" + b"J\xff\xff\xff\xff" * 2 + number(0) + b"tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + number(0) + b"\x85" + text(b"b") + b"\x87R"
    array += b"(" + number(1) + shape + dtype + b"\x89" + text(pixels.tobytes()) + b"tb"
    values = b"](" + b"".join(number(int(v)) for v in labels) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(key) + values + b"u."


def test_both_versions_of_cifar10_agree(tmp_path):
    write_cifar10_binary(tmp_path / "a" / "cifar-10-batches-bin")
    write_cifar10_python(tmp_path / "b" / "cifar-10-batches-py")
    binary, python = load_cifar10(tmp_path / "a"), load_cifar10(tmp_path / "b")
    assert (len(binary.train), len(binary.test), binary.train.inputs.shape) == (15, 3, (3, 32, 32))
    for one, two in ((binary.train, python.train), (binary.test, python.test)):
        assert torch.equal(one.inputs.tensor, two.inputs.tensor)
        assert torch.equal(one.labels, two.labels)
    pixels, labels = contents(1, 3, 10)
    assert np.array_equal(binary.train.inputs.tensor[3, 1].numpy(), pixels[0].reshape(3, 32, 32)[1])
    assert binary.train.labels[3:6].tolist() == labels.tolist()


def test_the_files_may_lie_in_the_root_itself(tmp_path):
    write_cifar10_python(tmp_path)
    assert len(load_cifar10(tmp_path).train) == 15


def test_cifar100_uses_the_fine_labels_in_both_versions(tmp_path):
    for split in ("train", "test"):
        pixels, fine = contents(7, 4, 100)
        coarse = np.full((4, 1), 19, dtype=np.uint8)
        binary = tmp_path / "a" / "cifar-100-binary"
        binary.mkdir(parents=True, exist_ok=True)
        (binary / f"{split}.bin").write_bytes(
            np.concatenate([coarse, fine[:, None].astype(np.uint8), pixels], 1).tobytes()
        )
        python = tmp_path / "b" / "cifar-100-python"
        python.mkdir(parents=True, exist_ok=True)
        (python / split).write_bytes(python_2_pickle(pixels, fine, b"fine_labels"))
    one, two = load_cifar100(tmp_path / "a").train, load_cifar100(tmp_path / "b").train
    assert one.labels.tolist() == fine.tolist()
    assert torch.equal(one.inputs.tensor, two.inputs.tensor)
    assert torch.equal(one.labels, two.labels)


def test_the_handmade_pickle_is_what_numpy_reads():
    # The writer above is itself checked, against the ordinary unpickler.
    pixels, labels = contents(0, 2, 10)
    content = pickle.load(io.BytesIO(python_2_pickle(pixels, labels, b"labels")), encoding="bytes")
    assert np.array_equal(content[b"data"], pixels)
    assert content[b"labels"] == labels.tolist()


def test_names():
    assert len(set(CIFAR10_CLASSES)) == 10
    assert len(set(CIFAR100_CLASSES)) == 100
    assert list(CIFAR100_CLASSES) == sorted(CIFAR100_CLASSES)


class Runs:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    "attack",
    [
        lambda trap: Runs(os.system, f"touch {trap}"),
        lambda trap: Runs(eval, f"open({str(trap)!r}, 'w')"),
        lambda trap: Runs(open, str(trap), "w"),
        lambda trap: {b"data": Runs(os.system, f"touch {trap}"), b"labels": [0]},
        lambda trap: {b"data": np.array([Runs(os.system, f"touch {trap}")], dtype=object), b"labels": [0]},
    ],
)
def test_a_malicious_pickle_is_refused_and_not_run(tmp_path, attack, protocol):
    trap = tmp_path / "trap"
    write_cifar10_python(tmp_path)
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(attack(trap), protocol=protocol))
    with pytest.raises(InputError, match=r"data_batch_1: .*(which no CIFAR file needs|download it again)"):
        load_cifar10(tmp_path)
    assert not trap.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        pickle.dumps([1, 2, 3]),
        pickle.dumps({b"data": 3, b"labels": [0]}),
        pickle.dumps({b"data": np.zeros((2, 3072), dtype=np.uint8), b"labels": [0]}),
        pickle.dumps({b"data": np.zeros((1, 3072)), b"labels": [0]}),
        pickle.dumps({b"data": np.zeros((1, 3072), dtype=np.uint8), b"labels": ["x"]}),
        pickle.dumps({b"data": np.zeros((1, 3072), dtype=np.uint8), b"labels": [10]}),
    ],
)
def test_other_pickles_are_refused_with_the_files_name(tmp_path, content):
    write_cifar10_python(tmp_path)
    (tmp_path / "data_batch_3").write_bytes(content)
    with pytest.raises(InputError, match="data_batch_3"):
        load_cifar10(tmp_path)


def test_a_cut_binary_file_is_refused(tmp_path):
    write_cifar10_binary(tmp_path)
    file = tmp_path / "data_batch_2.bin"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"data_batch_2\.bin: its length must be a multiple of 3073 bytes, got 9218"):
        load_cifar10(tmp_path)


def test_a_label_out_of_range_is_named_with_its_row(tmp_path):
    write_cifar10_binary(tmp_path)
    file = tmp_path / "test_batch.bin"
    data = bytearray(file.read_bytes())
    data[2 * 3073] = 10
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"test_batch\.bin, row 2: a label must lie in 0..9, got 10"):
        load_cifar10(tmp_path)


@pytest.mark.parametrize("load", [load_cifar10, load_cifar100])
def test_missing_files_say_how_to_get_them(tmp_path, load):
    with pytest.raises(InputError, match=r"anchored data cifar100? --root"):
        load(tmp_path)
    write_cifar10_binary(tmp_path)
    (tmp_path / "data_batch_4.bin").unlink()
    if load is load_cifar10:
        with pytest.raises(InputError, match=r"data_batch_4\.bin: cannot be read"):
            load(tmp_path)
