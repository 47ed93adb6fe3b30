"""Mirror of src/anchored/report/sections/choice.py: every method and loss has words, and the facts are the run's."""

import pytest

from anchored.data import load_digits
from anchored.losses import NAMES
from anchored.report._evidence import gather
from anchored.report.sections.choice import LOSSES, choice, method_in_words, reasons
from anchored.runs import fit


def facts(section):
    (table,) = [block for block in section.blocks if block.kind == "table" and not block.folded]
    return dict(table.rows)


def test_the_facts_are_those_of_the_run(digits):
    section = choice(digits)
    assert "on 1,293 labelled samples of 10 classes, in 3 passes" in section.lead
    assert "called ce+fnpal" in section.lead
    found = facts(section)
    assert found["trained on"] == "1,293 samples"
    assert found["tested on"] == "360 samples"
    assert "corrupted (symmetric), 426 in all" in found["corrupted on purpose"]


@pytest.mark.parametrize("name", ["ce", "gce+pal", "nce+rce+fnpal", "ldam+drw+pal", "ce+mixup"])
def test_a_method_is_told_in_sentences(name):
    sentences = method_in_words(name)
    assert len(sentences) >= 2
    assert all(each.endswith(".") for each in sentences)


def test_anchors_are_explained_where_there_are_some():
    assert "never move" in method_in_words("ce+pal")[0]
    assert "never move" not in method_in_words("ce")[0]
    assert any("rare classes" in each for each in method_in_words("ldam+drw+pal"))


def test_a_loss_believes_every_label_only_if_no_label_was_doubted(doubted, digits):
    believes = "believes every label"
    assert any(believes in each for each in method_in_words("ce+fnpal"))
    assert not any(believes in each for each in method_in_words("nce+rce"))
    assert digits.config.train.labels == "given"
    assert believes in " ".join(block.text for block in choice(digits).blocks if block.kind == "paragraph")
    assert doubted.config.train.labels == "cleaned"
    said = " ".join(block.text for block in choice(doubted).blocks if block.kind == "paragraph")
    assert believes not in said
    assert "counted as far as it can be trusted" in said


def test_every_loss_has_words():
    assert set(LOSSES) == set(NAMES)


def test_an_unknown_method_is_passed_over():
    assert method_in_words("something new") == []


def test_reasons_in_whatever_form_they_were_kept():
    assert reasons({}) == []
    assert reasons({"auto": "one paragraph"}) == ["one paragraph"]
    assert reasons({"auto": {"text": "one paragraph"}}) == ["one paragraph"]
    assert reasons({"auto": {"something": "else"}}) == []
    (said,) = reasons({"auto": {"noise_rate": 0.25, "imbalance": 40.0}})
    assert "about 25.0 % of them look wrong, and the largest class has some 40.0 times" in said


def test_what_corrections_changed_is_shown(digits, changed):
    done = {
        "decided": 9,
        "changed": 7,
        "wrong_before": 431,
        "wrong_after": 424,
        "pairs": [{"given": "<b>", "label": "3", "count": 7}],
    }
    section = choice(changed(digits, result={"corrections": done}))
    said = facts(section)["corrected by hand"]
    assert said == "9 labels decided on, 7 changed; wrong labels before 431, after 424"
    (pairs,) = [block for block in section.blocks if block.kind == "table" and block.folded]
    assert pairs.rows == [("<b>", "3", "7")]


def test_a_computed_classifier_has_no_network_and_no_epochs(tmp_path):
    run = tmp_path / "run"
    fit(load_digits(), {"data": {"source": "digits"}, "method": {"name": "ridge"}}, folder=run)
    section = choice(gather(run))
    assert section.lead.startswith("A classifier was computed from 1,437 labelled samples of 10 classes.")
    found = facts(section)
    assert found["judged without having been seen"] == "1,437 samples"
    assert not {"network", "optimiser", "epochs and batch"} & set(found)
