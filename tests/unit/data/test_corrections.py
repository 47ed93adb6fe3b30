"""Mirror of src/anchored/data/corrections.py: the last line counts, other data is refused, states are found again."""

import random

import pytest
import torch

from anchored import InputError
from anchored.data import Correction, Corrections, Dataset, RowIds, TensorInputs, correct, read_corrections

HEADER = "index,id,given,decision,label,time\n"
NAMES = ("cat", "dog", 'a "b", c')


@pytest.fixture
def data():
    ids = ["c/1.png", "c/2.png", "d/1.png", "q/1.png"]
    return Dataset("pets", TensorInputs(torch.zeros(4, 2)), torch.tensor([0, 0, 1, 2]), NAMES, ids=ids)


@pytest.fixture
def write(tmp_path):
    def written(*lines, header=HEADER):
        path = tmp_path / "corrections.csv"
        path.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return written


def labels_after(data, path):
    return [data.class_names[i] for i in correct(data, path).dataset.labels.tolist()]


def test_accepted_and_chosen_labels_replace_the_given_ones(data, write):
    path = write(
        "0,c/1.png,cat,accept,dog,t", "1,c/2.png,cat,keep,cat,t", '2,d/1.png,dog,relabel,"a ""b"", c",t',
        '3,q/1.png,"a ""b"", c",skip,,t',
    )  # fmt: skip
    done = correct(data, path)
    assert done.dataset.labels.tolist() == [1, 0, 2, 2]
    assert data.labels.tolist() == [0, 0, 1, 2]
    assert done.dataset.confirmed.tolist() == [True, True, True, False]
    receipt = done.receipt
    assert {name: receipt[name] for name in ("accept", "relabel", "keep", "skip", "decided", "changed")} == {
        "accept": 1, "relabel": 1, "keep": 1, "skip": 1, "decided": 3, "changed": 2,
    }  # fmt: skip
    assert receipt["pairs"] == [
        {"given": "cat", "label": "dog", "count": 1},
        {"given": "dog", "label": 'a "b", c', "count": 1},
    ]


def test_of_one_sample_the_last_line_counts_and_undo_takes_back(data, write):
    assert labels_after(data, write("0,c/1.png,cat,accept,dog,t", "0,c/1.png,cat,keep,cat,t"))[0] == "cat"
    assert labels_after(data, write("0,c/1.png,cat,keep,cat,t", "0,c/1.png,cat,accept,dog,t"))[0] == "dog"
    assert labels_after(data, write("0,c/1.png,cat,accept,dog,t", "0,c/1.png,cat,undo,,t"))[0] == "cat"


def test_what_was_taken_back_or_skipped_is_not_confirmed(data, write):
    done = correct(data, write("0,c/1.png,cat,accept,dog,t", "0,c/1.png,cat,undo,,t", "1,c/2.png,cat,skip,,t"))
    assert not done.dataset.confirmed.any()


def test_a_second_review_goes_on_in_the_same_file(data, write):
    """The second one saw the label that the first one gave."""
    first, second = "0,c/1.png,cat,accept,dog,t", '9,c/1.png,dog,relabel,"a ""b"", c",t'
    assert labels_after(data, write(first, second))[0] == 'a "b", c'
    assert labels_after(data, write(first, second, "9,c/1.png,dog,undo,,t"))[0] == "dog"
    with pytest.raises(InputError, match=r"line 2: sample 'c/1.png' was labelled 'dog' when it was reviewed and is"):
        correct(data, write(second))


def test_agrees_with_a_dictionary_filled_line_by_line(data, write):
    rng = random.Random(0)
    label = dict(zip(data.ids, ["cat", "cat", "dog"], strict=False))
    given, lines = dict(label), []
    for _ in range(60):
        name = rng.choice(list(label))
        decision, to = rng.choice(("accept", "relabel", "keep", "skip", "undo")), rng.choice(("cat", "dog"))
        lines.append(f"0,{name},{given[name]},{decision},{to},t")
        label[name] = to if decision in ("accept", "relabel") else given[name]
    assert labels_after(data, write(*lines))[:3] == list(label.values())


def test_the_id_decides_and_the_index_may_have_moved(data, write):
    path = write("3,c/2.png,cat,accept,dog,t")
    assert correct(data, path).dataset.labels.tolist() == [0, 1, 1, 2]
    assert correct(data.subset(torch.tensor([1, 3])), path).dataset.labels.tolist() == [1, 2]


def test_of_samples_that_share_an_id_the_index_decides(write):
    twice = Dataset("l", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 0, 1]), NAMES, ids=["a", "a", "b"])
    assert correct(twice, write("1,a,cat,accept,dog,t")).dataset.labels.tolist() == [0, 1, 1]
    with pytest.raises(InputError, match="has 2 samples called 'a', none of them at index 2"):
        correct(twice, write("2,a,cat,accept,dog,t"))


def test_rows_answer_to_their_number_with_and_without_the_word(write):
    rows = Dataset("t", TensorInputs(torch.zeros(2, 2)), torch.tensor([0, 0]), NAMES, ids=RowIds(torch.tensor([5, 17])))
    path = write("0,5,cat,accept,dog,t", "0,row 17,cat,accept,dog,t", "0,row 5,cat,keep,cat,t")
    assert correct(rows, path).dataset.labels.tolist() == [0, 1]


def test_where_the_truth_is_known_the_receipt_says_what_it_was_worth(data, write):
    known = data.with_labels(data.labels, clean_labels=torch.tensor([1, 0, 0, 2]))
    receipt = correct(known, write("0,c/1.png,cat,accept,dog,t", "1,c/2.png,cat,accept,dog,t")).receipt
    assert (receipt["wrong_before"], receipt["wrong_after"]) == (2, 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0,c/9.png,cat,accept,dog,t", "line 2: pets has no sample called 'c/9.png'"),
        ("0,c/1.png,dog,accept,cat,t", "was labelled 'dog' when it was reviewed and is labelled 'cat' now"),
        ("0,c/1.png,cat,accept,dgo,t", "line 2: 'dgo' is no class of pets; did you mean 'dog'?"),
        ("0,c/1.png,cat,acept,dog,t", "unknown decision 'acept'; did you mean 'accept'?"),
        ("0,c/1.png,cat,accept,,t", "accept needs the label it gives"),
        ("x,c/1.png,cat,accept,dog,t", "index must be a whole number, got 'x'"),
        ("0,c/1.png,cat,acc", "a correction has 6 values, got 4"),
        ('0,c/1.png,cat,accept,"do', "line 2: not CSV"),
    ],
)
def test_refuses_a_line_and_names_it(data, write, line, message):
    with pytest.raises(InputError) as refused:
        correct(data, write(line))
    assert message in str(refused.value)
    assert "corrections.csv, line 2" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_refuses_what_is_no_file_of_corrections(data, write, tmp_path):
    with pytest.raises(InputError, match="line 1: the columns must be index,id,given,decision,label,time, got 'id,l"):
        read_corrections(write(header="id,label\n"))
    with pytest.raises(InputError, match="the columns must be"):
        read_corrections(write(header=""))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_corrections(tmp_path / "nothing.csv")
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + b"0,\xe9,cat,keep,cat,t\n")
    with pytest.raises(InputError, match="must be text in UTF-8"):
        read_corrections(tmp_path / "latin.csv")
    unlabelled = data.with_labels(torch.full((4,), -1))
    with pytest.raises(InputError, match="only labels that are there can be corrected"):
        correct(unlabelled, write())


def test_a_spreadsheet_may_have_written_it(data, tmp_path):
    path = tmp_path / "corrections.csv"
    path.write_bytes("\ufeff".encode() + (HEADER + "0,c/1.png,cat,accept,dog,t").replace("\n", "\r\n").encode())
    assert labels_after(data, path)[0] == "dog"


def test_a_state_is_found_again_after_the_file_has_grown(data, write):
    path = write("0,c/1.png,cat,accept,dog,t")
    then = read_corrections(path)
    with path.open("a") as file:
        file.write("1,c/2.png,cat,accept,dog,t\n")
    again = read_corrections(path, digest=then.digest)
    assert [line.row() for line in again.lines] == [line.row() for line in then.lines]
    assert again.digest == then.digest != read_corrections(path).digest
    path.write_text(path.read_text().replace("accept", "relabel"))
    with pytest.raises(InputError, match="are not those that the run was started with"):
        read_corrections(path, digest=then.digest)
    with pytest.raises(InputError, match="must read sha256:HASH:BYTES"):
        read_corrections(path, digest="sha256")


def test_lines_may_be_given_without_a_file(data):
    line = Correction(0, "c/1.png", "cat", "accept", "dog")
    assert correct(data, Corrections("here", (line,), "")).dataset.labels.tolist() == [1, 0, 1, 2]


def test_the_labels_from_before_stay_with_the_data_through_every_round(data):
    first = correct(data, Corrections("here", (Correction(0, "c/1.png", "cat", "accept", "dog"),), "")).dataset
    second = correct(first, Corrections("here", (Correction(1, "c/2.png", "cat", "accept", "dog"),), "")).dataset
    assert second.original_labels.tolist() == data.labels.tolist()
    assert second.confirmed.tolist() == [True, True, False, False]
    assert second.subset(torch.tensor([1, 3])).original_labels.tolist() == data.labels[[1, 3]].tolist()
