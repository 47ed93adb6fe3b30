"""Mirror of src/anchored/bench/score_file.py: what is kept is found again, also after a kill within a line."""

import pytest

from anchored._errors import InputError
from anchored.bench.score_file import ScoreFile

_KEY = {"set": "iris", "seed": 0}


def test_scores_are_found_again_in_any_order_of_the_key(tmp_path):
    path = tmp_path / "new" / "scores.jsonl"
    ScoreFile(path).add(_KEY, {"accuracy": 0.5})
    ScoreFile(path).add({"set": "iris", "seed": 1}, {"accuracy": 0.75})
    found = ScoreFile(path)
    assert found.get({"seed": 0, "set": "iris"}) == {"accuracy": 0.5}
    assert found.get({"seed": 1, "set": "iris"}) == {"accuracy": 0.75}
    assert found.get({"seed": 2, "set": "iris"}) is None


def test_the_last_score_under_a_key_counts(tmp_path):
    scores = ScoreFile(tmp_path / "scores.jsonl")
    scores.add(_KEY, {"accuracy": 0.5})
    scores.add(_KEY, {"accuracy": 0.6})
    assert scores.get(_KEY) == ScoreFile(scores.path).get(_KEY) == {"accuracy": 0.6}


def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    path = tmp_path / "scores.jsonl"
    scores = ScoreFile(path)
    scores.add(_KEY, {"accuracy": 0.5})
    scores.add({"set": "wine"}, {"accuracy": 0.7})
    path.write_text(path.read_text()[:-9])
    again = ScoreFile(path)
    assert again.get(_KEY) == {"accuracy": 0.5}
    assert again.get({"set": "wine"}) is None
    again.add({"set": "wine"}, {"accuracy": 0.8})
    assert ScoreFile(path).get({"set": "wine"}) == {"accuracy": 0.8}


def test_without_a_file_scores_stay_in_memory():
    scores = ScoreFile()
    scores.add(_KEY, {"accuracy": 0.5})
    assert scores.get(_KEY) == {"accuracy": 0.5}


@pytest.mark.parametrize("line", ["a,b,c", "[1]", '{"key": 3, "score": {}}', '{"key": {}, "score": {"a": "b"}}'])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, line):
    path = tmp_path / "scores.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match="line 1: not a score; give --store a file of its own"):
        ScoreFile(path)
    assert path.read_text() == line + "\n"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="Is a directory; choose another --store"):
        ScoreFile(tmp_path)
