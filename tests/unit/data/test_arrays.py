"""Mirror of src/anchored/data/arrays.py: shapes, types, labels of every kind, and files that cannot be trusted."""

import io
import zipfile

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import UNLABELLED, from_arrays
from anchored.data.arrays import as_inputs, as_label_names, load_npy, load_npz, read_arrays

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("array", "shape", "dtype"),
    [
        (np.zeros((5, 3)), (5, 3), torch.float32),
        (np.zeros((5, 3), dtype=np.int64), (5, 3), torch.float32),
        (np.zeros((5, 8, 9), dtype=np.uint8), (5, 1, 8, 9), torch.uint8),
        (np.zeros((5, 8, 9, 3), dtype=np.uint8), (5, 3, 8, 9), torch.uint8),
        (np.zeros((5, 3, 8, 9), dtype=np.int64), (5, 3, 8, 9), torch.uint8),
        (np.zeros((5, 3, 8, 9), dtype=np.float64), (5, 3, 8, 9), torch.float32),
    ],
)
def test_arrays_become_inputs(array, shape, dtype):
    inputs = as_inputs(array, where="X")
    assert (tuple(inputs.shape), inputs.dtype) == (shape, dtype)


def test_channels_last_images_are_transposed_not_reshaped():
    image = np.arange(24, dtype=np.uint8).reshape(1, 2, 4, 3)
    assert as_inputs(image, where="X")[0, 2, 1, 3] == image[0, 1, 3, 2]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (
            np.array([[1.0, 2.0], [3.0, np.nan]]),
            "X, row 1, column 1: features must be finite in single precision, got nan",
        ),
        (np.array([[1.0, -np.inf]]), "row 0, column 1: .* got -inf"),
        (np.array([[1e300]]), r"got 1e\+300"),
        (np.array([["a"]]), "must hold numbers"),
        (np.zeros(4), r"got shape \(4,\)"),
        (np.zeros((0, 3)), "X is empty"),
        (np.zeros((2, 5, 8, 8), dtype=np.uint8), "1 or 3 channels"),
        (np.full((2, 4, 4), 300), "pixels must lie in 0..255, got 300 to 300"),
    ],
)
def test_refuses_inputs_that_cannot_be_learned_from(array, words):
    with pytest.raises(InputError, match=words):
        as_inputs(array, where="X")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.array([2, 0]), ["2", "0"]),
        (np.array([2.0, 0.0]), ["2", "0"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array(["é", "<i>"]), ["é", "<i>"]),
        (np.array([b"x", b"y"]), ["x", "y"]),
        (np.array([[1], [2]]), ["1", "2"]),
        (torch.tensor([3, 4]), ["3", "4"]),
    ],
)
def test_labels_of_every_kind_become_text(labels, names):
    assert as_label_names(labels, where="y") == names


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array([0.0, 0.5]), "y, row 1: a label must be a whole number or text, got 0.5"),
        (np.array([0.0, np.nan]), "row 1"),
        (np.zeros((2, 2)), "one label per row"),
        (np.array([1j]), "whole numbers or text"),
    ],
)
def test_refuses_labels_that_name_no_class(labels, words):
    with pytest.raises(InputError, match=words):
        as_label_names(labels, where="y")


def test_labels_may_be_absent_for_prediction_only():
    data = from_arrays(X, None, class_names=("0", "1"), labels="optional")
    assert (data.labels == UNLABELLED).all()
    with pytest.raises(InputError, match="y is missing"):
        from_arrays(X, None)


def test_rows_and_labels_must_be_as_many():
    with pytest.raises(InputError, match="got 6 and 5"):
        from_arrays(X, Y[:5])


def test_an_archive_with_a_test_part(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, y=Y, X_test=X[:2], y_test=Y[:2])
    split = load_npz(tmp_path / "d.npz")
    assert (len(split.train), len(split.test), split.train.name) == (6, 2, "d")
    assert split.train.inputs.take(torch.tensor([5])).tolist() == [[10.0, 11.0]]


def test_a_test_label_unseen_in_training_is_named_with_file_and_row(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, y=Y, X_test=X[:2], y_test=np.array([0, 7]))
    with pytest.raises(InputError, match=r"d\.npz, array 'y_test', row 1: label '7' was not seen"):
        load_npz(tmp_path / "d.npz")


def test_a_pair_of_files(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "other.npy", Y[::-1])
    assert load_npy(tmp_path / "X.npy").train.labels.tolist() == Y.tolist()
    assert load_npy(tmp_path / "X.npy", tmp_path / "other.npy").train.labels.tolist() == Y[::-1].tolist()


def test_a_missing_label_file_is_named(tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"labels were looked for in .*y\.npy"):
        load_npy(tmp_path / "X.npy")
    assert not load_npy(tmp_path / "X.npy", class_names=("0", "1"), labels="optional").train.labelled


class Payload:
    """Unpickling it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_objects_are_refused_and_never_run(tmp_path):
    trap = tmp_path / "trap"
    np.savez(tmp_path / "d.npz", X=np.array([Payload(trap)], dtype=object), y=Y)
    np.save(tmp_path / "X.npy", np.array([Payload(trap)], dtype=object))
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(InputError, match="array 'X': it holds Python objects"):
        load_npz(tmp_path / "d.npz")
    with pytest.raises(InputError, match="it holds Python objects"):
        load_npy(tmp_path / "X.npy")
    assert not trap.exists()


@pytest.mark.parametrize("keep", [0, 10, 200])
def test_a_cut_archive_is_refused(tmp_path, keep):
    np.savez(tmp_path / "whole.npz", X=X, y=Y)
    (tmp_path / "d.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:keep])
    with pytest.raises(InputError, match=r"d\.npz"):
        load_npz(tmp_path / "d.npz")


def test_archives_without_the_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", features=X, y=Y)
    with pytest.raises(InputError, match="must hold an array called 'X', got features, y"):
        load_npz(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=X)
    with pytest.raises(InputError, match="must hold an array called 'y'"):
        load_npz(tmp_path / "b.npz")
    with pytest.raises(InputError, match="No such file"):
        load_npz(tmp_path / "none.npz")


def test_the_endings_are_taken_at_their_word(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    (tmp_path / "a.npz").rename(tmp_path / "X.npy")
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(InputError, match=r"call it \.npz"):
        load_npy(tmp_path / "X.npy")
    (tmp_path / "y.npy").rename(tmp_path / "b.npz")
    with pytest.raises(InputError, match=r"call it \.npy"):
        load_npz(tmp_path / "b.npz")


def packed(path, **members):
    """An archive whose members are the bytes given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def npy(shape, dtype="<f4", content=b""):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": dtype, "fortran_order": False, "shape": shape})
    return head.getvalue() + content


def test_a_head_that_promises_petabytes_takes_no_memory(tmp_path):
    packed(tmp_path / "d.npz", X=npy((10**9, 10**6)), y=npy((10**9,), "<i8"))
    with pytest.raises(
        InputError, match=r"array 'X': its head promises 4,000,000,000,000,000 bytes .*, and 0 are there"
    ):
        load_npz(tmp_path / "d.npz")
    (tmp_path / "X.npy").write_bytes(npy((10**9, 10**6)))
    with pytest.raises(InputError, match=r"X\.npy: its head promises"):
        read_arrays(tmp_path / "X.npy")


def test_lengths_are_compared_before_anything_is_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "d.npz", X=np.zeros((6, 2)), y=np.zeros(5, dtype=int))
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("the arrays were read"))
    with pytest.raises(InputError, match="arrays 'X' and 'y' must have as many rows, got 6 and 5"):
        load_npz(tmp_path / "d.npz")
    np.save(tmp_path / "X.npy", np.zeros((6, 2)))
    np.save(tmp_path / "y.npy", np.zeros(5))
    with pytest.raises(InputError, match=r"must have as many rows, got shapes \(6, 2\) and \(5,\)"):
        load_npy(tmp_path / "X.npy")


def test_a_small_file_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("anchored.data.arrays._FREE_MEMORY", 1000)
    np.savez_compressed(tmp_path / "d.npz", X=np.zeros((4_000, 1_000)), y=np.arange(4_000) % 2)
    with pytest.raises(InputError, match=r"would take 32,0.* bytes of memory, more than 250 times as many"):
        load_npz(tmp_path / "d.npz")
    np.savez(tmp_path / "d.npz", X=np.zeros((400, 10)), y=np.arange(400) % 2)
    assert len(load_npz(tmp_path / "d.npz").train) == 400


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04garbage", b"\x93NUMPY", b"\x93NUMPY\x09\x00\x00\x00"])
def test_garbage_is_called_unreadable_and_not_pickled(tmp_path, content):
    (tmp_path / "d.npz").write_bytes(content)
    with pytest.raises(InputError, match="it is not a readable numpy file, or is cut short"):
        load_npz(tmp_path / "d.npz")


def test_two_arrays_of_one_name_are_refused(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, x=X, y=Y)
    with pytest.raises(InputError, match="holds the array 'x' twice"):
        load_npz(tmp_path / "d.npz")


def test_ids_are_no_labels(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.eye(20), y=np.arange(20))
    with pytest.raises(InputError, match=r"20 different labels in 20 rows .* look like a count or an amount"):
        load_npz(tmp_path / "d.npz")


@pytest.mark.parametrize(("value", "message"), [
    (None, "y, row 1: the label is missing"),
    (float("nan"), "y, row 1: the label is missing"),
    (0.5, "y, row 1: a label must be a whole number or text, got 0.5"),
    (["c"], "y, row 1: a label must be a whole number or text, got list"),
])  # fmt: skip
def test_an_odd_object_is_no_label(value, message):
    labels = np.empty(3, dtype=object)
    labels[:] = ["a", "b", "a"]
    labels[1] = value
    with pytest.raises(InputError, match=message):
        as_label_names(labels, where="y")


def test_whole_numbers_among_objects_keep_their_name():
    assert as_label_names(np.array([1, 2.0, "b", np.int64(3)], dtype=object), where="y") == ["1", "2", "b", "3"]


def shifted(tmp_path, offset, **more):
    path = tmp_path / "d.npz"
    np.savez(path, X=np.random.default_rng(0).normal(size=(40, 2)) + offset, y=np.arange(40) % 2, **more)
    return path


def test_what_single_precision_would_lose_is_read_as_a_table(tmp_path):
    path = shifted(tmp_path, 1e8, X_test=np.full((3, 2), 5.0), y_test=[0, 1, 0])
    split = load_npz(path)
    assert (split.train.kind, split.train.columns, split.test.kind) == ("table", ("x0", "x1"), "table")
    with np.load(path) as archive:
        assert (split.train.inputs.columns["x1"].values == archive["X"][:, 1]).all()
    assert load_npz(path, form="numbers").train.kind == "vectors"
    np.save(tmp_path / "X.npy", np.arange(40.0).reshape(20, 2) + 1e9)
    np.save(tmp_path / "y.npy", np.arange(20) % 2)
    assert load_npy(tmp_path / "X.npy").train.kind == "table"


@pytest.mark.parametrize(
    "x",
    [
        np.arange(40.0).reshape(20, 2),
        (np.arange(40.0).reshape(20, 2) + 1e8).astype(np.float32),  # nothing is left to lose
        np.arange(1001 * 3).reshape(3, 1001) + 2**60,  # too wide for a table
    ],
)
def test_other_vectors_stay_vectors_unless_a_table_is_asked_for(x):
    y = np.arange(len(x)) % 2
    assert from_arrays(x, y, form="auto").kind == "vectors"
    assert from_arrays(x, y).kind == "vectors"
    assert from_arrays(x, y, form="table").kind == "table"
