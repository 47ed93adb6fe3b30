"""Mirror of src/anchored/audit/check.py: a random sample, and what its answers change."""

import pytest
import torch

from anchored import InputError
from anchored.audit import LabelNoise, check, check_sample, correct_by_check

NOISE = LabelNoise(0.05, (0.0, 0.1), torch.eye(2), 1.0, torch.zeros(2), 2000)


def suspicions(n=2000, seed=0, wrong_by=0.0):
    """Labels 0, probabilities of being wrong, and a truth whose logit differs from theirs by ``wrong_by``."""
    g = torch.Generator().manual_seed(seed)
    logit = 2 * torch.randn(n, generator=g, dtype=torch.float64) - 1
    truth = (torch.rand(n, generator=g) < torch.sigmoid(logit + wrong_by)).long()
    p = torch.sigmoid(logit)
    return torch.stack([1 - p, p], dim=1), torch.zeros(n, dtype=torch.int64), truth


def test_every_sample_is_drawn_as_often_as_any_other():
    g = torch.Generator().manual_seed(0)
    drawn = torch.zeros(20)
    for _ in range(2000):
        places = check_sample(20, 5, g)
        assert len(places.unique()) == 5
        drawn[places] += 1
    assert bool((abs(drawn / 2000 - 0.25) < 0.05).all())


def test_the_interval_contains_the_rate_as_often_as_it_says():
    inside = 0
    for seed in range(100):
        posterior, labels, truth = suspicions(400, seed)
        places = check_sample(400, 50, torch.Generator().manual_seed(seed)).tolist()
        checked = correct_by_check(NOISE, posterior, labels, {i: int(truth[i]) for i in places})
        low, high = checked.noise.interval
        inside += low <= float((truth != labels).double().mean()) <= high
    assert inside >= 90


@pytest.mark.parametrize("wrong_by", [1.5, -1.5])
def test_probabilities_that_are_off_come_closer_to_the_truth(wrong_by):
    posterior, labels, truth = suspicions(wrong_by=wrong_by)
    answers = {i: int(truth[i]) for i in check_sample(2000, 200).tolist()}
    checked = correct_by_check(NOISE, posterior, labels, answers)
    wrong = (truth != labels).double()
    before, after = (abs(float(p.mean() - wrong.mean())) for p in (posterior[:, 1], checked.probability_wrong))
    assert after < 0.05 < before


def test_the_ranking_stays_and_the_checked_are_certain():
    posterior, labels, truth = suspicions(300)
    places = check_sample(300, 40)
    checked = correct_by_check(NOISE, posterior, labels, {int(i): int(truth[i]) for i in places})
    rest = torch.ones(300, dtype=torch.bool)
    rest[places] = False
    assert torch.equal(checked.probability_wrong[rest].argsort(), posterior[rest, 1].argsort())
    assert torch.equal(checked.probability_wrong[places], (truth != labels)[places].double())
    assert f"Of {len(places)} labels" in checked.text


def test_no_wrong_answer_leaves_a_rate_of_zero_possible():
    posterior, labels, _ = suspicions(200)
    checked = correct_by_check(NOISE, posterior, labels, dict.fromkeys(check_sample(200, 50).tolist(), 0))
    assert checked.wrong == 0
    assert checked.noise.interval[0] == 0.0
    assert 0.02 < checked.noise.interval[1] < 0.1


def test_refuses_no_answers_and_answers_about_nothing():
    posterior, labels, _ = suspicions(20)
    with pytest.raises(InputError, match="needs answers"):
        correct_by_check(NOISE, posterior, labels, {})
    with pytest.raises(InputError, match=r"0\.\.19"):
        correct_by_check(NOISE, posterior, labels, {20: 0})
    with pytest.raises(InputError, match="size"):
        check_sample(10, 0)


def bent(n, seed):
    """Probabilities that are right up to one half and much too high beyond: no line in logits mends them."""
    g = torch.Generator().manual_seed(seed)
    p = torch.rand(n, generator=g, dtype=torch.float64)
    truly = torch.where(p < 0.5, p, 0.5)
    return p, (torch.rand(n, generator=g) < truly).double(), truly


def test_many_answers_allow_a_curve_and_few_a_line():
    p, wrong, _ = bent(2000, 0)
    everyone, _, true_of_all = bent(5000, 1)
    line = check._recalibrated(everyone, p, wrong)
    found = check._corrected(everyone, p, wrong)
    gap = lambda said: float((said - true_of_all).abs().mean())  # noqa: E731
    assert gap(found) < 0.7 * gap(line)
    order = everyone.argsort()
    assert bool((found[order].diff() >= -1e-12).all())
    few = check._corrected(everyone, p[:50], wrong[:50])
    torch.testing.assert_close(few, check._recalibrated(everyone, p[:50], wrong[:50]))


def test_where_a_line_is_right_a_curve_is_not_taken():
    g = torch.Generator().manual_seed(3)
    p = torch.rand(400, generator=g, dtype=torch.float64)
    wrong = (torch.rand(400, generator=g) < p).double()
    torch.testing.assert_close(check._corrected(p, p, wrong), check._recalibrated(p, p, wrong))
