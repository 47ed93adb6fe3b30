"""Mirror of src/anchored/audit/check_file.py: what a person writes is read back, and nothing that was not drawn."""

import pytest
import torch

from anchored import InputError
from anchored.audit import CHECK_COLUMNS, Check, read_check
from anchored.data import Dataset, TensorInputs

DATA = Dataset("toy", TensorInputs(torch.zeros(6, 2)), torch.tensor([0, 1, 1, 0, 1, 0]), ("no", "yes, really"))


@pytest.fixture
def file(tmp_path):
    Check(torch.tensor([1, 3, 4]), {}).save(tmp_path / "check.csv", DATA)
    return tmp_path / "check.csv"


def fill(file, row, label):
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[row] += label
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_new_check_has_no_answers(file):
    found = read_check(file, DATA)
    assert found.places.tolist() == [1, 3, 4]
    assert found.answers == {}
    assert file.read_text(encoding="utf-8").splitlines()[0] == ",".join(CHECK_COLUMNS)


def test_the_same_label_and_another_one_are_answers_and_an_empty_line_is_none(file):
    fill(file, 1, '"yes, really"')
    fill(file, 2, '"yes, really"')
    assert read_check(file, DATA).answers == {1: 1, 3: 1}


def test_answers_are_written_with_the_sample(file):
    Check(torch.tensor([1, 3]), {3: 1}).save(file, DATA)
    assert read_check(file, DATA).answers == {3: 1}


def test_decisions_of_the_page_count_only_for_what_was_drawn(file, tmp_path):
    page = tmp_path / "corrections.csv"
    page.write_text(
        "index,id,given,decision,label,time\n"
        '0,row 0,no,relabel,"yes, really",\n'  # not drawn
        '1,row 1,"yes, really",keep,,\n'
        "3,row 3,no,skip,,\n"
        '4,row 4,"yes, really",relabel,no,\n',
        encoding="utf-8",
    )
    found = read_check(file, DATA).answered_in(page, DATA)
    assert found.answers == {1: 1, 4: 0}
    assert found.places.tolist() == [1, 3, 4]


def test_samples_confirmed_before_are_no_answers(file):
    confirmed = Dataset(
        DATA.name, DATA.inputs, DATA.labels, DATA.class_names, confirmed=torch.ones(6, dtype=torch.bool)
    )
    assert read_check(file, confirmed).answers == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "line 1: the columns must be index,id,given,label"),
        ("index,id,given,label\n1,row 1,no,perhaps\n", "'perhaps' is no class"),
        ("index,id,given,label\nx,row 1,no,\n", "line 2"),
        ("index,id,given,label\n1,row 1\n", "line 2"),
        ("index,id,given,label\n", "no sample in it"),
        ("index,id,given,label\n1,row 1,no,no\n", "was labelled 'no' when it was reviewed"),
    ],
)
def test_refuses_what_does_not_fit(tmp_path, text, said):
    (tmp_path / "check.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_check(tmp_path / "check.csv", DATA)
