"""Mirror of src/anchored/audit/suspects.py: the order against a plain sort, the files against what went in."""

import json
import sys
from dataclasses import asdict

import pytest
import torch

from anchored._errors import InputError
from anchored.audit.suspects import COLUMNS, Suspect, Suspects, rank
from anchored.data import Dataset, TensorInputs

NAMES = ("cat", 'a "dog", big', "ä <b>")


@pytest.fixture
def ranked():
    g = torch.Generator().manual_seed(0)
    n = 30
    labels = torch.randint(3, (n,), generator=g)
    data = Dataset("toy", TensorInputs(torch.zeros(n, 2)), labels, NAMES)
    logits, look, posterior = (torch.randn(n, 3, generator=g, dtype=torch.float64) for _ in range(3))
    look, posterior = look.softmax(1), posterior.softmax(1)
    return data, logits, look, posterior, rank(data, torch.arange(n), logits, look, posterior)


def test_the_most_probably_wrong_come_first(ranked):
    data, logits, look, posterior, suspects = ranked
    wrong = [1 - posterior[i, data.labels[i]].item() for i in range(30)]
    assert suspects.column("index") == sorted(range(30), key=lambda i: -wrong[i])
    assert suspects.column("rank") == list(range(1, 31))
    for suspect in suspects:
        i, y = suspect.index, int(data.labels[suspect.index])
        best = max(range(3), key=lambda j: posterior[i, j])
        others = [logits[i, j].item() for j in range(3) if j != y]
        assert suspect.id == f"row {i}"
        assert (suspect.given, suspect.suggested) == (NAMES[y], NAMES[best])
        assert suspect.probability_wrong == pytest.approx(wrong[i], abs=1e-6)
        assert suspect.margin == pytest.approx(logits[i, y].item() - max(others), abs=1e-6)
        assert suspect.given_probability == pytest.approx(look[i, y].item(), abs=1e-6)
        assert suspect.suggested_probability == pytest.approx(look[i, best].item(), abs=1e-6)


def test_equally_suspicious_samples_go_by_margin_then_by_place():
    data = Dataset("toy", TensorInputs(torch.zeros(4, 2)), torch.zeros(4, dtype=torch.long), ("a", "b"))
    logits = torch.tensor([[0.0, 1.0], [0.0, 5.0], [0.0, 1.0], [0.0, 3.0]])
    even = torch.full((4, 2), 0.5)
    assert rank(data, torch.arange(4), logits, even, even).column("index") == [1, 3, 0, 2]


def test_the_group_is_that_of_the_size_the_class_really_has():
    labels = torch.zeros(150, dtype=torch.long)
    data = Dataset("toy", TensorInputs(torch.zeros(150, 2)), labels, ("a", "b"))
    posterior = torch.tensor([[0.1, 0.9]]).repeat(150, 1)  # labelled a 150 times, but really 15
    found = rank(data, torch.arange(150), torch.zeros(150, 2), posterior, posterior)
    assert set(found.column("group")) == {"few"}


def test_samples_that_were_not_judged_keep_the_others_places():
    data = Dataset("toy", TensorInputs(torch.zeros(5, 2)), torch.tensor([0, -1, 1, -1, 0]), ("a", "b"))
    even = torch.full((3, 2), 0.5)
    found = rank(data, torch.tensor([0, 2, 4]), torch.zeros(3, 2), even, even)
    assert sorted(found.column("index")) == [0, 2, 4]
    assert sorted(found.column("id")) == ["row 0", "row 2", "row 4"]


def test_csv_comes_back_as_it_went(ranked, tmp_path):
    suspects = ranked[-1]
    suspects.save(tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)
    assert list(Suspects.load(tmp_path / "s.csv")) == list(suspects)


def test_json_is_one_object_per_line(ranked, tmp_path):
    suspects = ranked[-1]
    suspects.save(tmp_path / "s.json")
    lines = (tmp_path / "s.json").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [asdict(suspect) for suspect in suspects]


def test_parquet_holds_the_same(ranked, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    suspects = ranked[-1]
    suspects.save(tmp_path / "s.parquet")
    assert parquet.read_table(tmp_path / "s.parquet").to_pydict() == suspects.as_dict()


def test_a_slice_is_a_table_again(ranked):
    suspects = ranked[-1]
    assert isinstance(suspects[:5], Suspects)
    assert suspects[:5][4] == suspects[4]
    assert isinstance(suspects[-1], Suspect)
    assert len(suspects[:5]) == 5


def test_refuses_another_ending(ranked, tmp_path):
    with pytest.raises(ValueError, match=r"\.csv, \.parquet, \.json"):
        ranked[-1].save(tmp_path / "s.xlsx")


def test_refuses_a_file_of_something_else(tmp_path):
    (tmp_path / "s.csv").write_text("index,label\n1,2\n")
    with pytest.raises(ValueError, match="no table of suspects"):
        Suspects.load(tmp_path / "s.csv")
    (tmp_path / "s.csv").write_text(",".join(COLUMNS) + "\n" + "x," * 9 + "few\n")
    with pytest.raises(ValueError, match="cannot be read"):
        Suspects.load(tmp_path / "s.csv")


def test_refuses_columns_that_are_missing_or_unequal():
    with pytest.raises(ValueError, match="needs a column 'rank'"):
        Suspects({})
    columns = {name: [1] for name in COLUMNS}
    with pytest.raises(ValueError, match="same length"):
        Suspects({**columns, "id": ["a", "b"]})
    with pytest.raises(ValueError, match="unknown column 'x'"):
        Suspects(columns).column("x")


def test_the_table_shows_its_head_with_and_without_pandas(ranked, monkeypatch):
    suspects = ranked[-1]
    with_pandas = repr(suspects)
    first = suspects[0]
    for text in (with_pandas, _without_pandas(suspects, monkeypatch)):
        lines = text.splitlines()
        assert lines[0] == "30 labels, the most suspicious first"
        assert lines[1].split() == ["rank", "id", "given", "suggested", "probability_wrong"]
        assert lines[2].split()[:3] == ["1", *first.id.split()]
        assert lines[-1] == "... and 20 more"
        assert len(lines) == 13
    assert repr(suspects[:0]) == "0 labels, the most suspicious first"


def _without_pandas(suspects, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="needs pandas"):
        suspects.to_pandas()
    assert suspects._repr_html_() is None
    shown = repr(suspects)
    monkeypatch.undo()
    return shown


def test_a_data_frame_has_every_column_and_escapes_names(ranked):
    suspects = ranked[-1]
    assert list(suspects.to_pandas().columns) == list(COLUMNS)
    assert suspects.to_pandas()["index"].tolist() == suspects.column("index")
    assert "&lt;b&gt;" in suspects._repr_html_()
    assert "<b>" not in suspects._repr_html_()


def test_formulas_are_marked_if_asked_for(tmp_path):
    row = (1, 7, "=1+1.png", "+a", "b", 0.9, -0.4, 0.1, 0.8, "many")
    table = Suspects({name: [value] for name, value in zip(COLUMNS, row, strict=True)})
    table.save(tmp_path / "s.csv", spreadsheet_safe=True)
    assert (tmp_path / "s.csv").read_text().splitlines()[1] == "1,7,'=1+1.png,'+a,b,0.9,-0.4,0.1,0.8,many"
    table.save(tmp_path / "s.csv")
    assert Suspects.load(tmp_path / "s.csv").as_dict() == table.as_dict()
