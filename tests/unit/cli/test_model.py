"""Mirror of src/anchored/cli/model.py: other data in the model's columns, shape and classes."""

import pytest

from anchored import InputError
from anchored.cli.model import load_run


@pytest.fixture(scope="module")
def loaded(table_run):
    return load_run(table_run.path, device="cpu")


def table(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_columns_are_found_by_name_and_the_label_by_that_of_training(loaded, tmp_path):
    heading = ",".join(["kind", "extra", *(f"f{i}" for i in reversed(range(8)))])
    data = loaded.open(table(tmp_path / "t.csv", f"{heading}\nyes,9,7,6,5,4,3,2,1,0\n"), labels="required")
    assert data.inputs.take(data.labels * 0).tolist() == [[0, 1, 2, 3, 4, 5, 6, 7]]
    assert data.class_names[int(data.labels[0])] == "yes"


def test_without_need_the_label_may_be_missing_or_unknown(loaded, tmp_path):
    heading = ",".join(f"f{i}" for i in range(8))
    assert not loaded.open(table(tmp_path / "t.csv", f"{heading}\n1,2,3,4,5,6,7,8\n"), labels="ignored").labelled
    unseen = table(tmp_path / "u.csv", f"{heading},kind\n1,2,3,4,5,6,7,8,perhaps\n")
    assert len(loaded.open(unseen, labels="ignored")) == 1
    with pytest.raises(InputError, match="label 'perhaps' was not seen in training"):
        loaded.open(unseen, labels="required")


def test_of_two_parts_the_test_part_is_taken_and_said(loaded, tmp_path, capsys):
    import numpy as np

    path = tmp_path / "a.npz"
    np.savez(path, X=np.zeros((3, 8)), y=["yes"] * 3, X_test=np.zeros((2, 8)), y_test=["no"] * 2)
    assert len(loaded.open(str(path), labels="required")) == 2
    assert "this is the test part" in capsys.readouterr().err
    assert len(loaded.open(str(path), labels="required", part="train")) == 3
    with pytest.raises(InputError, match="--part must be train or test, got 'dev'"):
        loaded.open(str(path), labels="required", part="dev")
    np.savez(path, X=np.zeros((3, 8)), y=["yes"] * 3)
    with pytest.raises(InputError, match="no test part; leave --part out"):
        loaded.open(str(path), labels="required", part="test")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        load_run(tmp_path)
