"""Mirror of src/anchored/noise/_corruption.py: every figure of the receipt, recounted sample by sample."""

import json
import math

import pytest
import torch

from anchored.noise import Corruption


@pytest.fixture
def receipt():
    clean = torch.tensor([0, 0, 0, 0, 1, 1, 3, 3, 3])
    labels = torch.tensor([0, 1, 1, 0, 1, 1, 0, 3, 3])
    asked = torch.eye(4, dtype=torch.float64)
    asked[0] = torch.tensor([0.5, 0.5, 0, 0])
    asked[3] = torch.tensor([0.5, 0, 0, 0.5])
    return Corruption(labels, clean, 4, "by hand", 0.5, asked)


def test_rates_are_those_of_a_slow_count(receipt):
    pairs = list(zip(receipt.clean.tolist(), receipt.labels.tolist(), strict=True))
    assert receipt.rate == sum(a != b for a, b in pairs) / len(pairs)
    for j in range(4):
        mine = [a != b for a, b in pairs if a == j]
        assert receipt.per_class[j] == (sum(mine) / len(mine) if mine else None)
        for i in range(4):
            got = receipt.matrix[j, i].item()
            assert math.isnan(got) if not mine else got == sum(p == (j, i) for p in pairs) / len(mine)


def test_flipped_marks_what_changed(receipt):
    assert receipt.flipped.tolist() == [False, True, True, False, False, False, True, False, False]


def test_asked_rate_weighs_classes_by_their_size(receipt):
    assert receipt.asked_rate == pytest.approx((4 * 0.5 + 2 * 0 + 3 * 0.5) / 9)
    assert receipt.asked_per_class == (0.5, 0.0, 0.0, 0.5)


def test_as_dict_survives_json_without_nan(receipt):
    record = json.loads(json.dumps(receipt.as_dict(), allow_nan=False))
    assert record["per_class"] == [0.5, 0.0, None, 1 / 3]
    assert record["matrix"][2] is None
    assert record["matrix"][0] == [0.5, 0.5, 0, 0]


def test_summary_has_a_line_per_class_and_a_dash_for_the_absent(receipt):
    lines = receipt.summary().splitlines()
    assert lines[0] == "by hand: 3 of 9 labels changed, rate 0.3333 (asked 0.3889)"
    assert lines[2].split() == ["0", "4", "0.5000", "0.5000"]
    assert lines[4].split() == ["2", "0", "0.0000", "-"]
    assert len(lines) == 6


def test_repr_is_one_short_line(receipt):
    assert repr(receipt) == "Corruption('by hand', n=9, k=4, rate=0.3333)"


def test_check_passes_what_chance_explains_and_refuses_what_it_does_not(receipt):
    assert receipt.check() is receipt
    clean = torch.zeros(10_000, dtype=torch.int64)
    asked = torch.tensor([[0.6, 0.4], [0.0, 1.0]]).double()
    in_place = Corruption((torch.arange(10_000) < 2400).long(), clean, 2, "in place", 0.4, asked)
    with pytest.raises(RuntimeError, match=r"class 0 was asked for noise 0\.4000 and got 0\.2400 on 10000 labels"):
        in_place.check()
