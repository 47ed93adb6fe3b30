"""Mirror of src/anchored/review/cases.py: what is left out of the list is not left out of the sum."""

from dataclasses import replace

import pytest
import torch
from tests.unit.review.audits import write_audit, write_rows
from tests.unit.review.conftest import NAMES

from anchored import InputError
from anchored.audit import Audit, trust_labels
from anchored.data import Dataset, TensorInputs
from anchored.review import Cases

ROWS = [(5, "p/5.png", NAMES[2], "cat", 0.9), (0, "p/0.png", "cat", "dog", 0.5), (3, "p/3.png", "cat", "cat", 0.125)]


def test_a_sample_whose_label_is_the_suggested_one_is_only_counted(tmp_path):
    found = Cases.of(Audit.load(write_rows(tmp_path / "audit", NAMES, ROWS)))
    assert found.class_names == NAMES
    assert [(row.index, row.given, row.suggested) for row in found.rows] == [(5, NAMES[2], "cat"), (0, "cat", "dog")]
    assert found.expected_elsewhere == 0.125


def test_suspects_and_unresolved_labels_are_all_that_training_doubts(tmp_path):
    g = torch.Generator().manual_seed(0)
    posterior = torch.rand(300, 3, generator=g, dtype=torch.float64)
    posterior /= posterior.sum(dim=1, keepdim=True)
    labels = torch.randint(3, (300,), generator=g)
    data = Dataset("toy", TensorInputs(torch.zeros(300, 2)), labels, NAMES)
    cases = Cases.of(Audit.load(write_audit(tmp_path / "audit", data, posterior)))
    assert cases.unresolved > 0
    assert len(cases) + cases.unresolved == trust_labels(data, posterior).doubted
    assert cases.top(5).unresolved == cases.unresolved


def test_the_top_keeps_the_expected_errors_whole(cases):
    for n in range(5):
        top = cases.top(n)
        assert len(top) == min(n, 3)
        assert sum(row.probability_wrong for row in top.rows) + top.expected_elsewhere == pytest.approx(3.4)


def test_cases_fit_the_data_they_are_of(tmp_path, images):
    probabilities = torch.rand(12, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    found = Cases.of(Audit.load(write_audit(tmp_path / "audit", images, probabilities)))
    assert len(found) > 0
    found.check(images, where="audit")


def test_a_row_may_be_named_by_its_number(images, cases):
    rows = tuple(replace(row, id=str(row.index)) for row in cases.rows)
    replace(cases, rows=rows).check(replace(images, ids=()), where="audit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": 99}, "pets has 12 samples and none at 99"),
        ({"id": "p/6.png"}, "sample 5 of pets is 'p/5.png' and not 'p/6.png'"),
        ({"given": "dog"}, "sample 'p/5.png' was labelled 'dog' in the audit and is labelled '<img"),
    ],
)
def test_refuses_cases_of_other_data(images, cases, change, message):
    other = replace(cases, rows=(replace(cases.rows[0], **change), *cases.rows[1:]))
    with pytest.raises(InputError) as refused:
        other.check(images, where="RUN/audit")
    assert message in str(refused.value)
    assert str(refused.value).endswith("remove RUN/audit and audit the run again")


def test_refuses_other_classes(tmp_path, images, cases):
    with pytest.raises(InputError, match="its classes are not those of pets"):
        replace(cases, class_names=("a", "b", "c")).check(images, where="audit")
    with pytest.raises(InputError, match="a suspect of 'fish', which is none of its classes"):
        Cases.of(Audit.load(write_rows(tmp_path / "audit", NAMES, [(5, "p", "fish", "cat", 0.5)])))


def test_by_value_puts_off_what_looks_like_a_case_on_the_list(cases):
    row = cases.rows[0]
    rows = tuple(replace(row, index=i, probability_wrong=p) for i, p in enumerate((0.9, 0.89, 0.88, 0.6)))
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.1], [1.0, 0.0], [0.0, 1.0]])
    crowd = replace(cases, rows=rows)
    assert [each.index for each in crowd.by_value(lambda index: vectors[index], first=2).rows] == [0, 3, 1, 2]
    assert replace(cases, rows=()).by_value(lambda index: vectors[index]).rows == ()
