"""Mirror of src/anchored/runs/untrusted.py: odd fields are refused by name, and size is bounded by the weights."""

import json

import pytest
import torch

from anchored._errors import InputError
from anchored.runs.untrusted import Allowance, check_description, read_description

GOOD = {
    "format": 2,
    "class_names": ["a", "../../etc/passwd", "T-shirt/top"],
    "temperature": 0.5,
    "input_shape": [3, 8, 8],
    "normalization": {"mean": [0.1, -0.2, 0.3], "std": [1.0, 2, 0.5], "divisor": 255.0},
    "training_counts": [5, 0, 2],
    "backbone": {"name": "tiny", "last_relu": True, "options": {}},
    "anything": "else",
}
ODD = [
    ({"class_names": None}, "class_names must list at least two names, got None"),
    ({"class_names": "abc"}, "class_names must list"),
    ({"class_names": ["a"]}, "class_names must list"),
    ({"class_names": ["a", 3]}, "class_names must list"),
    ({"class_names": ["a", "b", "a"]}, "class_names must differ, got 'a' twice"),
    ({"temperature": 0}, r"temperature must lie in \(0, inf\), got 0"),
    ({"temperature": float("nan")}, "temperature must lie"),
    ({"temperature": "1"}, "temperature must lie"),
    ({"temperature": True}, "temperature must lie"),
    ({"temperature": [1.0]}, "temperature must lie"),
    ({"input_shape": None}, "input_shape must be"),
    ({"input_shape": "333"}, "input_shape must be"),
    ({"input_shape": [3, 8]}, "input_shape must be"),
    ({"input_shape": [3, 8, -8]}, "every entry of input_shape must be at least 1"),
    ({"input_shape": [3, 8, 8.0]}, "every entry of input_shape must be a whole number"),
    ({"input_shape": [3, 10**6, 10**6]}, "input_shape must have at most 67108864 values"),
    ({"input_shape": [10**30]}, "input_shape must have at most"),
    ({"normalization": [1, 2]}, "normalization must be an object"),
    ({"normalization": {"mean": [0.1], "std": [1.0], "divisor": 1}}, "normalization.mean must list 3 numbers"),
    ({"normalization": {"mean": [0, 0, 0], "std": [1, 1, 0], "divisor": 1}}, "normalization.std must lie"),
    ({"normalization": {"mean": [0, 0, "0"], "std": [1, 1, 1], "divisor": 1}}, "normalization.mean must lie"),
    ({"normalization": {"mean": [0, 0, 1e999], "std": [1, 1, 1], "divisor": 1}}, "normalization.mean must lie"),
    ({"normalization": {"mean": [0, 0, 0], "std": [1, 1, 1]}}, "normalization.divisor must lie"),
    ({"training_counts": [5, 2]}, "one count for each of the 3 class_names"),
    ({"training_counts": [5, 2, -1]}, "training_counts must be between 0"),
    ({"training_counts": [5, 2, 1e3]}, "training_counts must be a whole number"),
    ({"backbone": "tiny"}, "backbone must be an object with a name"),
    ({"backbone": {"name": ["tiny"]}}, "backbone must be an object with a name"),
    ({"backbone": {"name": "tiny", "options": [1]}}, "backbone.options must be an object"),
    ({"backbone": {"name": "timm:x", "options": {"checkpoint_path": "/tmp/x"}}}, "may not read other files"),
]


def test_an_honest_description_passes_unchanged_whatever_its_names():
    assert check_description(GOOD, where="m") == GOOD


@pytest.mark.parametrize(("odd", "message"), ODD, ids=[next(iter(odd)) + str(i) for i, (odd, _) in enumerate(ODD)])
def test_an_odd_field_is_refused_by_name_in_one_line(odd, message):
    with pytest.raises(InputError, match=message) as caught:
        check_description(GOOD | odd, where="here/model.json")
    text = str(caught.value)
    assert text.startswith("here/model.json: ")
    assert "\n" not in text
    assert len(text) < 400


@pytest.mark.parametrize("about", [None, 3, [], "text"])
def test_a_description_is_an_object(about):
    with pytest.raises(InputError, match="it must hold an object"):
        check_description(about, where="m")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 200_000, b""])
def test_a_file_that_is_no_json_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged|is not a text") as caught:
        read_description(path)
    assert "\n" not in str(caught.value)


def test_a_description_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(2**30)  # takes no room on the disk, and would take a gigabyte in memory
    with pytest.raises(InputError, match="at most 67,108,864 are read"):
        read_description(path)


def test_a_file_is_read_as_it_is(tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(GOOD))
    assert read_description(tmp_path / "model.json") == GOOD


def test_a_network_within_its_allowance_is_built():
    with Allowance(entries=4 * 3 + 3, tensors=2) as left:
        layer = torch.nn.Linear(4, 3)
    assert layer.weight.shape == (3, 4)
    assert (left.entries, left.tensors) == (0, 0)


@pytest.mark.parametrize(("entries", "tensors"), [(14, 2), (15, 1)])
def test_one_entry_or_one_tensor_more_is_refused(entries, tensors):
    with pytest.raises(InputError, match="larger than its weights"), Allowance(entries=entries, tensors=tensors):
        torch.nn.Linear(4, 3)


def test_a_network_on_meta_takes_no_entries_but_its_tensors_count():
    with Allowance(entries=0, tensors=2), torch.device("meta"):
        torch.nn.Linear(10**6, 10**6)
    with pytest.raises(InputError), Allowance(entries=0, tensors=1), torch.device("meta"):
        torch.nn.Linear(10**6, 10**6)


def test_copies_of_a_shape_count_as_well():
    like = torch.empty(100, device="meta")
    with pytest.raises(InputError), Allowance(entries=99, tensors=9):
        torch.empty_like(like, device="cpu")
