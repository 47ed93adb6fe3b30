"""Mirror of src/anchored/report/sections/geometry.py: angles and margins of samples whose places are known."""

from dataclasses import replace

import torch

from anchored.report.sections.geometry import geometry


def at(evidence, changed, features, labels, *, anchored=True):
    directions = torch.eye(3)
    measured = replace(
        evidence.measured,
        features=features,
        directions=directions,
        labels=labels,
        logits=features @ directions.T,
        anchored=anchored,
    )
    return changed(evidence, measured=measured, class_names=("a", "b", "<c>"))


def test_angles_of_samples_between_two_anchors(digits, changed):
    labels = torch.tensor([0, 1, 2, 2])
    features = torch.tensor([[2.0, 0, 0], [1.0, 1.0001, 0], [0, 1.0, 1.0001], [0, 1.0, 0]])
    section = geometry(at(digits, changed, features, labels))
    # angles 0, 45, 45 and 90 degrees; the last sample lies on the anchor of another class
    assert "within 45°" in section.lead
    assert "75.0 % are nearer to it" in section.lead
    assert "“<c>” is the class with the least room" in section.lead
    assert "at least 90° apart" in section.blocks[0].caption


def test_learned_directions_are_not_called_anchors(digits, changed):
    section = geometry(at(digits, changed, torch.eye(3), torch.arange(3), anchored=False))
    assert "anchor" not in section.lead


def test_of_many_classes_the_narrowest_are_drawn(digits, changed):
    k = 40
    features = torch.eye(k) + 0.01 * torch.arange(k)[:, None] * torch.eye(k).roll(1, 0)
    measured = replace(
        digits.measured, features=features, directions=torch.eye(k), labels=torch.arange(k), logits=features
    )
    many = changed(digits, measured=measured, class_names=tuple(f"class {j:02}" for j in range(k)))
    picture = geometry(many).blocks[2]
    assert "class 39" in picture.svg
    assert "class 05" not in picture.svg


def test_without_features_there_is_no_section(digits, changed):
    assert geometry(changed(digits, measured=None)) is None
    assert geometry(changed(digits, measured=replace(digits.measured, features=None))) is None
