"""Mirror of src/anchored/paper/figures/webvision_labels.py: counted from a list alone, or as counted before."""

import pytest

from anchored._errors import InputError
from anchored.paper.figures.style import styled
from anchored.paper.figures.webvision_labels import FIGURE, draw, known_counts, label_counts

NAME = "webvision_mini_train.txt"


def write(folder, counts):
    lines = [f"google/q{label:04}/a b {i}.jpg {label}\n" for label, count in enumerate(counts) for i in range(count)]
    (folder / NAME).write_text("".join(lines))


def test_counts_are_those_of_the_list_and_no_image_is_needed(tmp_path):
    counts = [3 + (7 * label) % 11 for label in range(50)]
    write(tmp_path, [*counts, 4, 4])  # labels from 50 on belong to the whole of WebVision
    assert label_counts(tmp_path / NAME) == counts
    out = FIGURE.make(out=tmp_path / "labels.svg", store=tmp_path / "store", data_root=tmp_path)
    assert out.read_text().startswith("<?xml")
    assert not (tmp_path / "store").exists()


def test_the_title_says_how_unbalanced_it_is():
    with styled():
        axes = draw([462, *[1000] * 48, 3134]).axes[0]
    assert axes.get_title(loc="left") == "mini-WebVision: 51,596 images, largest to smallest 6.8"
    assert [bar.get_height() for bar in axes.patches] == [3134, *[1000] * 48, 462]


def test_the_counts_that_are_known_are_those_that_the_paper_reports(tmp_path):
    counts = known_counts()
    assert (len(counts), sum(counts)) == (50, 65_944)
    assert (max(counts), min(counts)) == (3134, 462)
    write(tmp_path, counts)
    assert label_counts(tmp_path / NAME) == counts
    known = FIGURE.make(out=tmp_path / "known.svg", store=tmp_path)
    counted = FIGURE.make(out=tmp_path / "counted.svg", store=tmp_path, data_root=tmp_path)
    assert known.read_bytes() == counted.read_bytes()


def test_a_folder_without_the_list_is_refused_with_the_way_to_it(tmp_path):
    with pytest.raises(InputError, match=r"awk .* info/train_filelist_google.txt > webvision_mini_train.txt"):
        FIGURE.make(out=tmp_path / "l.svg", store=tmp_path / "store", data_root=tmp_path)
    assert not (tmp_path / "l.svg").exists()


def test_refuses_a_line_without_a_label_and_a_list_without_a_class(tmp_path):
    (tmp_path / NAME).write_text("a.jpg 0\nb.jpg\n")
    with pytest.raises(InputError, match=r"row 2: a line must be `path label`"):
        label_counts(tmp_path / NAME)
    write(tmp_path, [2, 0, 2])
    with pytest.raises(InputError, match="no image of class 1; the list must hold all 3 classes"):
        label_counts(tmp_path / NAME, below=3)
