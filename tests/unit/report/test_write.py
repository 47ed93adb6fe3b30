"""Mirror of src/anchored/report/_write.py: one file with every section, for whatever run."""

import re
import shutil

import pytest

from anchored._errors import InputError
from anchored.report import write

ALL = ["trained", "accuracy", "mistakes", "confidence", "labels", "suspects", "comparison", "learning",
       "geometry", "again"]  # fmt: skip


def section_ids(seen):
    return [value for tag, name, value in seen.attributes if (tag, name) == ("section", "id")]


@pytest.fixture(scope="module")
def hostile_copy(hostile_run, tmp_path_factory):
    """The run with hostile names in a folder of its own, with its report."""
    path = shutil.copytree(hostile_run.path, tmp_path_factory.mktemp("copy") / "run")
    assert write(path) == path / "report.html"
    return path


def test_the_report_of_a_run_has_every_section(digits_run, hostile_run, parse, tmp_path):
    path = write(digits_run.path, tmp_path / "r.html", compare=hostile_run.path)
    seen = parse(path.read_text(encoding="utf-8"))
    assert section_ids(seen) == ALL
    assert seen.tags.count("svg") >= 7
    assert "A model trained on digits" in seen.text


def test_it_is_the_same_again(hostile_copy):
    first = (hostile_copy / "report.html").read_text(encoding="utf-8")
    assert write(hostile_copy).read_text(encoding="utf-8") == first


def test_hostile_names_add_no_tag_and_stand_as_they_are(hostile_copy, parse):
    text = (hostile_copy / "report.html").read_text(encoding="utf-8")
    seen = parse(text)
    assert "script" not in seen.tags
    assert "img" not in seen.tags  # rows of a table have no picture; the only one would be an injected one
    assert [name for _, name, _ in seen.attributes if name.startswith("on")] == []
    assert seen.text.count("<script>alert(1)</script>") > 10
    assert "<b>a</b>" in seen.text
    assert "$x^2$" in seen.text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_without_model_and_data_a_report_still_comes_out(hostile_run, hostile_table, parse, tmp_path):
    path = shutil.copytree(hostile_run.path, tmp_path / "run")
    for name in ("model.safetensors", "model.json", "history.jsonl", "speed.jsonl"):
        (path / name).unlink()
    moved = hostile_table.rename(hostile_table.with_suffix(".moved"))
    try:
        seen = parse(write(path).read_text(encoding="utf-8"))
    finally:
        moved.rename(hostile_table)
    assert section_ids(seen) == ["trained", "accuracy", "confidence", "labels", "suspects", "again"]
    assert "What this report does not have" in seen.text


def test_refusals_come_before_the_work_and_leave_nothing(digits_run, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        write(digits_run.path, tmp_path)
    with pytest.raises(InputError, match="does not exist; create it first"):
        write(digits_run.path, tmp_path / "no" / "r.html")
    with pytest.raises(InputError, match="holds no run"):
        write(tmp_path / "no")
    assert list(tmp_path.iterdir()) == []
