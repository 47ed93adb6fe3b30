"""Mirror of src/anchored/report/_audited.py: what an audit wrote is read, and what is broken is refused in one line."""

import pytest

from anchored._errors import InputError
from anchored.report._audited import read_audit


def test_everything_is_read_and_of_the_suspects_the_first(hostile_run, hostile):
    found = read_audit(hostile_run.path / "audit", top=5)
    assert (found.noise_rate, found.interval, found.samples, found.duplicates) == (0.3, (0.27, 0.33), 240, 1)
    assert [each.name for each in found.classes] == list(hostile.class_names)
    assert [each.index for each in found.suspects] == [0, 1, 2, 3, 4]
    assert found.suspects[0].probability_wrong == 0.99
    assert sum(found.transition[0]) == pytest.approx(1)


def test_without_an_audit_there_is_none(tmp_path):
    assert read_audit(tmp_path) is None


def test_suspects_alone_will_do(tmp_path):
    (tmp_path / "suspects.csv").write_text("index,id,given,suggested,probability_wrong\n3,3,a,b,0.5\n")
    assert read_audit(tmp_path).suspects[0].suggested == "b"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("audit.json", "{"),
        ("audit.json", '{"interval": 3}'),
        ("audit.json", '{"classes": [{}]}'),
        ("suspects.csv", "index,id\n"),
        ("suspects.csv", "index,id,given,suggested,probability_wrong\nx,3,a,b,0.5\n"),
    ],
)
def test_a_broken_audit_is_refused_with_the_way_out(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="run: anchored audit") as refused:
        read_audit(tmp_path)
    assert "\n" not in str(refused.value)


def test_not_a_number_is_no_number(tmp_path):
    (tmp_path / "audit.json").write_text('{"noise_rate": NaN}')
    assert read_audit(tmp_path).noise_rate is None
