"""Mirror of src/anchored/data/duplicates.py: equal bytes are found, equal lengths alone are not."""

import torch

from anchored.data.duplicates import find_duplicates, note_duplicates


def write(folder, *contents):
    paths = [folder / str(i) for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def test_groups_are_files_with_the_same_bytes(tmp_path):
    paths = write(tmp_path, b"aa", b"bb", b"aa", b"c", b"bb", b"aa", b"dd")
    assert find_duplicates(paths) == [[0, 2, 5], [1, 4]]


def test_copies_under_different_labels_are_noted_apart(tmp_path):
    paths = write(tmp_path, b"aa", b"aa", b"bb", b"bb")
    torn, same = note_duplicates(paths, ["w", "x", "y", "z"], torch.tensor([0, 0, 0, 1]))
    assert torn == "the same image under different labels: 1 group, e.g. y = z"
    assert same == "the same image more than once: 1 group, e.g. w = x"


def test_no_copies_no_notes(tmp_path):
    assert note_duplicates(write(tmp_path, b"a", b"b"), ["x", "y"], torch.tensor([0, 1])) == ()
