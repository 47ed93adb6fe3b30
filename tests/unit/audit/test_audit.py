"""Mirror of src/anchored/audit/_audit.py: the findings against loops, the folder against what was found."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from anchored import noise
from anchored.audit import SYSTEMATIC, Audit, CheckedLabels, audit, check_sample, fit_label_noise
from anchored.data import Correction, Corrections, Dataset, Split, TensorInputs, correct
from anchored.runs import fit

NAMES = ("a", "b", "ä <b>")


def corrupted(n=600, eta=0.3, seed=0):
    """Blobs with known flips, and logits that know the blobs."""
    g = torch.Generator().manual_seed(seed)
    truth = torch.arange(n) % 3
    rows = 4.0 * torch.eye(3, 5)[truth] + torch.randn(n, 5, generator=g)
    given = noise.symmetric(truth, eta, 3, generator=g).labels
    data = Dataset("blobs", TensorInputs(rows), given, NAMES, clean_labels=truth)
    return data, F.one_hot(truth, 3) + 0.2 * torch.randn(n, 3, generator=g)


@pytest.fixture(scope="module")
def found():
    data, logits = corrupted()
    return data, logits, audit(None, data, logits=logits)


def test_the_flipped_labels_come_first(found):
    data, _, report = found
    flipped = set((data.labels != data.clean_labels).nonzero()[:, 0].tolist())
    first = set(report.suspects.column("index")[: len(flipped)])
    assert len(first & flipped) > 0.97 * len(flipped)
    truth = {NAMES.index(s.suggested) == int(data.clean_labels[s.index]) for s in report.suspects[:100]}
    assert truth == {True}


def test_what_a_person_confirmed_is_not_suspected_again(found):
    data, logits, report = found
    top = torch.tensor(report.suspects.column("index")[:50])
    confirmed = torch.zeros(len(data), dtype=torch.bool).index_fill_(0, top, True)
    again = audit(None, replace(data, confirmed=confirmed), logits=logits).suspects
    assert set(again.column("index")[-50:]) == set(top.tolist())
    assert all(s.probability_wrong == 0 and s.suggested == s.given for s in again[-50:])


def test_the_numbers_agree_with_each_other(found):
    data, logits, report = found
    law = fit_label_noise(logits, data.labels)
    assert report.noise_rate == law.rate
    assert report.samples == len(data)
    assert report.expected_errors == pytest.approx(law.rate * len(data), abs=1.0)
    q = law.posterior(logits, data.labels)
    for j, each in enumerate(report.classes):
        own = [i for i in range(len(data)) if data.labels[i] == j]
        assert each.name == NAMES[j]
        assert each.count == len(own)
        assert each.noise_rate == pytest.approx(sum(1 - q[i, j].item() for i in own) / len(own), abs=1e-6)
    pair = report.pairs[0]
    given, true = NAMES.index(pair.given), NAMES.index(pair.suggested)
    counts = {
        (y, t): sum(q[i, t].item() for i in range(len(data)) if data.labels[i] == y)
        for y in range(3)
        for t in range(3)
        if y != t
    }
    assert counts[given, true] == pytest.approx(max(counts.values()))
    assert pair.count == pytest.approx(counts[given, true], abs=0.01)
    assert pair.share == pytest.approx(counts[given, true] / report.classes[given].count)


def test_the_folder_gives_back_what_was_found(found, tmp_path):
    report = found[-1]
    report.save(tmp_path / "deep" / "audit", formats=("parquet", "json"))
    assert {file.name for file in (tmp_path / "deep" / "audit").iterdir()} == {
        "audit.json", "suspects.csv", "suspects.parquet", "suspects.json",
    }  # fmt: skip
    read = Audit.load(tmp_path / "deep" / "audit")
    assert read.as_dict() == report.as_dict()
    assert list(read.suspects) == list(report.suspects)
    assert read.describe() == report.describe()


def test_the_file_has_the_fields_that_others_read(found):
    about = json.loads(json.dumps(found[-1].as_dict()))
    assert list(about) == [
        "noise_rate", "interval", "transition", "class_names", "samples", "expected_errors", "classes", "pairs",
        "duplicates", "nothing_known", "checked",
    ]  # fmt: skip
    assert set(about["classes"][0]) == {"name", "count", "noise_rate"}
    assert set(about["pairs"][0]) == {"given", "suggested", "count", "share"}


def test_near_duplicates_are_named():
    data, logits = corrupted(90, 0.0)
    data.inputs.tensor[4] = data.inputs.tensor[8]
    [group] = audit(None, data, logits=logits).duplicates
    assert group.indices == (4, 8)
    assert group.ids == ("row 4", "row 8")
    assert group.labels == ("b", "ä <b>")
    assert audit(None, data, logits=logits, duplicates=False).duplicates == ()


def test_a_model_judges_data_it_was_not_trained_on():
    trained_on, _ = corrupted(400, 0.0)
    settings = {"method": {"name": "ce+fnpal"}, "backbone": {"name": "tiny"}, "train": {"epochs": 8, "batch_size": 32}}
    model = fit(Split(trained_on), settings).model
    other, _ = corrupted(400, 0.3, seed=1)
    report = audit(model, other, duplicates=False)
    assert report.noise_rate == pytest.approx(0.3, abs=0.05)


def test_samples_without_a_label_are_left_out():
    data, logits = corrupted(90, 0.2)
    labels = data.labels.clone()
    labels[::3] = -1
    report = audit(None, data.with_labels(labels), logits=logits)
    assert report.samples == 60
    assert not set(report.suspects.column("index")) & set(range(0, 90, 3))
    assert report.classes[0].count + report.classes[1].count + report.classes[2].count == 60


def test_a_class_that_nobody_is_labelled_as_has_no_noise_rate():
    data, logits = corrupted(90, 0.0)
    report = audit(None, data.with_labels(data.labels.clamp(max=1)), logits=logits)
    assert report.classes[2].count == 0
    assert report.classes[2].noise_rate is None


def test_the_description_says_how_many(found):
    data, _, report = found
    text = report.describe()
    assert f"of the {len(data)} labels are wrong" in text
    assert "The worst class is" in text


def test_refuses_logits_of_something_else():
    data, logits = corrupted(30)
    with pytest.raises(ValueError, match=r"logits must be \(30, 3\).*got \(29, 3\)"):
        audit(None, data, logits=logits[1:])
    with pytest.raises(ValueError, match="a model or its logits"):
        audit(None, data)


def test_refuses_data_in_which_nothing_is_labelled():
    data, logits = corrupted(30)
    with pytest.raises(ValueError, match="no sample has a label"):
        audit(None, data.with_labels(torch.full((30,), -1)), logits=logits)


def test_of_a_large_audit_only_the_top_may_be_read(found, tmp_path):
    _, _, report = found
    report.save(tmp_path)
    top = Audit.load(tmp_path, top=5)
    assert [s.index for s in top.suspects] == report.suspects.column("index")[:5]
    assert (top.samples, top.expected_errors) == (report.samples, report.expected_errors)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("audit.json", "{", "["),
        ("audit.json", '"noise_rate": 0', '"noise_rate": NaN, "x": 0'),
        ("audit.json", '"interval": [', '"interval": 3, "x": ['),
        ("audit.json", '"count"', '"number"'),
        ("suspects.csv", "index", "place"),
        ("suspects.csv", "1,", "one,"),
    ],
)
def test_a_broken_audit_is_refused_in_one_line(found, tmp_path, name, old, new):
    found[2].save(tmp_path)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"again|first line must be") as refused:
        Audit.load(tmp_path)
    assert "\n" not in str(refused.value)


def test_refuses_a_folder_without_an_audit(tmp_path):
    with pytest.raises(ValueError, match=r"holds no audit \(audit.json is missing\)"):
        Audit.load(tmp_path)
    (tmp_path / "audit.json").write_text("{}")
    (tmp_path / "suspects.csv").write_text("")
    with pytest.raises(ValueError, match="cannot be read"):
        Audit.load(tmp_path)


def blobs(n=300, rate=0.2, seed=0):
    """Three clouds of which a share carries the next label; logits that know the cloud."""
    g = torch.Generator().manual_seed(seed)
    truth = torch.arange(n) % 3
    given = torch.where(torch.rand(n, generator=g) < rate, (truth + 1) % 3, truth)
    logits = 4.0 * torch.nn.functional.one_hot(truth, 3) + torch.randn(n, 3, generator=g)
    return Dataset("blobs", TensorInputs(torch.zeros(n, 2)), given, ("a", "b", "c")), logits, truth


def test_answers_about_a_random_sample_correct_rate_interval_and_ranking(tmp_path):
    data, logits, truth = blobs()
    places = check_sample(300, 60).tolist()
    plain = audit(None, data, logits=logits, duplicates=False)
    found = audit(None, data, logits=logits, duplicates=False, answers={i: int(truth[i]) for i in places})
    wrong = sum(int(truth[i] != data.labels[i]) for i in places)
    assert found.checked == CheckedLabels(60, wrong)
    assert found.noise_rate == pytest.approx((wrong + 0.5) / 61)
    assert plain.checked is None
    assert SYSTEMATIC in plain.describe()
    assert f"60 labels that a person checked at random, {wrong} of them wrong" in found.describe()
    rows = {row.index: row for row in found.suspects}
    for place in places:
        assert rows[place].suggested == data.class_names[int(truth[place])]
        assert rows[place].probability_wrong == float(truth[place] != data.labels[place])
    found.save(tmp_path)
    assert Audit.load(tmp_path).checked == found.checked


def test_of_random_labels_nothing_is_said_and_nothing_flagged(tmp_path):
    data, _, _ = blobs()
    logits = torch.randn(300, 3, generator=torch.Generator().manual_seed(9))
    found = audit(None, data, logits=logits, duplicates=False)
    assert found.noise_rate is None
    assert found.interval == (0.0, 1.0)
    assert found.describe().startswith("Nothing can be said about these labels")
    assert set(found.suspects.column("probability_wrong")) == {0.0}
    found.save(tmp_path)
    assert Audit.load(tmp_path).describe() == found.describe()


def test_a_person_can_find_the_rate_of_labels_that_no_judge_can_judge():
    data, _, truth = blobs()
    logits = torch.randn(300, 3, generator=torch.Generator().manual_seed(9))
    answers = {i: int(truth[i]) for i in check_sample(300, 100).tolist()}
    found = audit(None, data, logits=logits, duplicates=False, answers=answers)
    assert found.noise_rate == pytest.approx(0.2, abs=0.1)


def test_corrected_data_is_judged_by_the_law_of_the_labels_before():
    """The most suspect are corrected; what is left is still found, as the rate of all mistakes is known."""
    data, logits, truth = blobs(1500, 0.3)
    first = audit(None, data, logits=logits, duplicates=False)
    lines = tuple(
        Correction(row.index, row.id, row.given, "relabel", data.class_names[int(truth[row.index])])
        for row in first.suspects[:200]
        if int(truth[row.index]) != data.class_names.index(row.given)
    )
    corrected = correct(data, Corrections(Path("c.csv"), lines, "")).dataset
    second = audit(None, corrected, logits=logits, duplicates=False)
    left = float((corrected.labels != truth).double().mean())
    assert second.noise_rate == pytest.approx(left, abs=0.04)
    forgotten = audit(None, replace(corrected, original_labels=None), logits=logits, duplicates=False)
    assert forgotten.noise_rate < second.noise_rate
