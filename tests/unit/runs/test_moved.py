"""Mirror of src/anchored/runs/moved.py: data is found where it lies now, and nothing that decides a result changes."""

import pytest

from anchored._errors import InputError
from anchored.runs.moved import moved
from anchored.training import DataConfig


@pytest.fixture
def places(tmp_path):
    for name in ("photos/cat/1.png", "other/photos/cat/1.png", "other/t.csv", "other/test.csv", "t.npz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_nothing_moved_changes_nothing():
    config = DataConfig(source="/gone/photos", root="/gone")
    assert moved(config, None) is config


@pytest.mark.parametrize(
    ("source", "root", "found"),
    [
        ("/gone/photos", "photos", "photos"),
        ("/gone/photos", "other", "other/photos"),
        ("/gone/pictures", "photos", "photos"),
        ("/gone/t.csv", "other", "other/t.csv"),
        ("/gone/t.csv", "other/test.csv", "other/test.csv"),
        ("/gone/old.npz", "t.npz", "t.npz"),
    ],
)
def test_data_is_the_place_itself_or_lies_in_it(places, source, root, found):
    config = DataConfig(source=source, label="y")
    now = moved(config, str(places / root))
    assert now.source == str(places / found)
    assert now.label == "y"


def test_a_test_source_moves_along(places):
    now = moved(DataConfig(source="/gone/t.csv", test="/gone/test.csv", root="/gone/images"), places / "other")
    assert (now.test, now.root) == (str(places / "other/test.csv"), str(places / "other"))


def test_images_of_a_table_that_stayed_may_be_elsewhere(places):
    now = moved(DataConfig(source=str(places / "other/t.csv")), places / "photos")
    assert (now.source, now.root) == (str(places / "other/t.csv"), str(places / "photos"))


@pytest.mark.parametrize(
    ("source", "root", "message"),
    [
        ("digits", "photos", "is of no use for digits"),
        ("mnist", "nowhere", "there is no such file or folder"),
        ("/gone/photos", "t.npz", "is a file, but the data of the run was the folder"),
        ("/gone/t.csv", "t.npz", r"the data of the run was a \.csv file"),
        ("/gone/lost.csv", "other", r"lost\.csv, the data of the run, is not in it"),
    ],
)
def test_what_cannot_be_meant_is_refused(places, source, root, message):
    with pytest.raises(InputError, match=message):
        moved(DataConfig(source=source), str(places / root))
