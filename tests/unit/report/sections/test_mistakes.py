"""Mirror of src/anchored/report/sections/mistakes.py: counted by a slow loop, and readable with many classes."""

from dataclasses import replace

import torch

from anchored.report.sections.mistakes import mistakes, most_confused


def test_the_count_agrees_with_a_loop(digits):
    said = digits.measured.logits.argmax(dim=1).tolist()
    wrong = sum(a != b for a, b in zip(said, digits.measured.labels.tolist(), strict=True))
    section = mistakes(digits)
    assert f"made {wrong} mistake" in section.lead
    table = section.blocks[-1]
    assert int(table.rows[0][2]) == max(int(row[2]) for row in table.rows)


def answered(evidence, changed, labels, said, k, **more):
    logits = torch.nn.functional.one_hot(said, k).double()
    measured = replace(evidence.measured, labels=labels, logits=logits, **more)
    return changed(evidence, measured=measured, class_names=tuple(f"class {j:03}" for j in range(k)))


def test_no_mistake(digits, changed):
    labels = torch.arange(10)
    section = mistakes(answered(digits, changed, labels, labels, 10))
    assert section.lead == "The model made no mistake on 10 samples."
    assert [block.kind for block in section.blocks] == ["picture", "paragraph"]


def test_of_a_hundred_classes_the_most_confused_are_drawn(digits, changed):
    labels = torch.arange(100).repeat(20)
    said = labels.clone()
    said[labels == 7] = 3
    said[labels == 50] = (said[labels == 50] + torch.arange(20)) % 100
    section = mistakes(answered(digits, changed, labels, said, 100, total=2000))
    assert "“class 007” for “class 003”: 20 of 20 times" in section.lead
    picture, table = section.blocks
    assert "class 007" in picture.svg
    assert "class 099" not in picture.svg
    assert len(table.rows) == 15
    assert not table.folded


def test_pairs_are_ordered_by_how_often_they_happen():
    assert most_confused([[0, 1], [4, 0]]) == [(4, 1, 0), (1, 0, 1)]


def test_without_answers_there_is_no_section(digits, changed):
    assert mistakes(changed(digits, measured=None)) is None


def test_mistakes_that_are_only_probable_are_counted_by_their_probability(digits, changed):
    said = torch.zeros(20, dtype=torch.int64)
    truth = torch.zeros(20, 3, dtype=torch.float64)
    truth[:, 0], truth[:, 2] = 0.8, 0.2
    section = mistakes(answered(digits, changed, truth.argmax(dim=1), said, 3, posterior=truth))
    assert "It made 4 mistakes" in section.lead
    assert "“class 002” for “class 000”: 4 of 4 times" in section.lead
