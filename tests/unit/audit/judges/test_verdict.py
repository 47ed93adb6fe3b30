"""Mirror of src/anchored/audit/judges/verdict.py: what is found, what is not known, and rounds of review."""

import math

import pytest
import torch

from anchored._progress import Progress
from anchored.audit import judge_vectors
from anchored.audit.judges import verdict


def clouds(n=900, k=3, *, rate=0.2, distance=4.0, seed=0, d=6):
    g = torch.Generator().manual_seed(seed)
    truth = torch.randint(k, (n,), generator=g)
    X = distance * torch.eye(k, d)[truth] + torch.randn(n, d, generator=g)
    given = torch.where(torch.rand(n, generator=g) < rate, (truth + torch.randint(1, k, (n,), generator=g)) % k, truth)
    return X, given, truth


def flagged(verdict, labels):
    return 1 - verdict.posterior.gather(1, labels[:, None])[:, 0] > 0.5


def test_wrong_labels_are_found_and_the_interval_holds_the_rate():
    X, given, truth = clouds()
    verdict = judge_vectors(X, given, 3)
    wrong = given != truth
    assert (flagged(verdict, given) == wrong).double().mean() > 0.96
    low, high = verdict.noise.interval
    assert low <= float(wrong.double().mean()) <= high
    assert verdict.rate == verdict.noise.rate
    assert sum(each.weight for each in verdict.opinions) == pytest.approx(1.0)
    assert "look wrong" in verdict.text
    assert "systematically" in verdict.text


@pytest.mark.parametrize("what", ["random labels", "constant features", "every row under every label"])
def test_nothing_is_claimed_where_nothing_can_be_known(what):
    g = torch.Generator().manual_seed(0)
    if what == "random labels":
        X, y = torch.randn(600, 5, generator=g), torch.randint(3, (600,), generator=g)
    elif what == "constant features":
        X, y = torch.ones(600, 5), torch.randint(3, (600,), generator=g)
    else:
        X, y = torch.randn(200, 5, generator=g).repeat(3, 1), torch.arange(3).repeat_interleave(200)
    verdict = judge_vectors(X, y, 3)
    assert not verdict.knowable
    assert verdict.rate is None
    assert verdict.noise.interval == (0.0, 1.0)
    assert not bool(flagged(verdict, y).any())
    assert "Nothing can be said" in verdict.text


def test_labels_of_which_most_are_wrong_may_be_anything():
    """90 % wrong at three classes: two wrong labels are each commoner than the true one."""
    X, given, _ = clouds(1200, rate=0.9)
    verdict = judge_vectors(X, given, 3)
    assert verdict.noise.interval[1] == 1.0
    assert "nobody can tell" in verdict.text


NOTHING = (
    "Nothing can be said about these labels: held-out labels are predicted no better than by always naming the largest "
    "class (33.3% against 33.3%). Either the features say nothing about the classes or the labels are random. No label "
    "is flagged, and no noise rate is estimated."
)


def test_what_is_said_of_constant_features_and_of_rows_under_every_label_word_for_word():
    X, _, _ = clouds(100)
    every = torch.arange(3).repeat_interleave(100)
    assert judge_vectors(X.repeat(3, 1), every, 3).text == NOTHING
    assert judge_vectors(torch.ones(300, 6), torch.arange(300) % 3, 3).text == NOTHING


def test_random_labels_pass_no_more_often_than_the_test_says():
    """By the plain count of hits every fifth of these sets would be judged; the settings were chosen by the labels."""
    g = torch.Generator().manual_seed(5)
    sets = [(torch.randn(200, 3, generator=g), torch.randint(2, (200,), generator=g)) for _ in range(12)]
    assert sum(judge_vectors(X, y, 2, judges=("ridge", "neighbours")).knowable for X, y in sets) == 0


def test_a_large_number_added_to_every_feature_changes_nothing():
    X, given, _ = clouds(300)
    near, far = (judge_vectors(X.double() + shift, given, 3, judges=("ridge", "neighbours")) for shift in (0.0, 1e8))
    assert near.text == far.text
    torch.testing.assert_close(near.posterior, far.posterior, rtol=0.0, atol=1e-4)


def test_what_one_half_says_of_the_other_is_enough_to_know(monkeypatch):
    X, given, _ = clouds(240, rate=0.3)
    monkeypatch.setattr(verdict, "_CERTAIN", 0.0)  # nothing is beyond doubt: the halves decide
    assert judge_vectors(X, given, 3, judges=("ridge", "neighbours")).knowable


def test_a_hard_clean_set_is_not_called_noisy_with_certainty():
    X, given, _ = clouds(rate=0.0, distance=1.5)
    verdict = judge_vectors(X, given, 3)
    assert verdict.accuracy < 0.85
    assert verdict.noise.interval[0] == 0.0
    assert flagged(verdict, given).double().mean() < 0.05


def test_one_class_only_or_a_handful_of_samples_say_nothing():
    assert not judge_vectors(torch.randn(50, 2), torch.zeros(50, dtype=torch.int64), 2).knowable
    assert not judge_vectors(torch.randn(4, 2), torch.tensor([0, 1, 0, 1]), 2).knowable


def test_after_a_review_of_the_most_suspect_the_rest_is_still_found():
    X, given, truth = clouds(1500, rate=0.4, distance=3.5)
    first = judge_vectors(X, given, 3)
    suspicion = 1 - first.posterior.gather(1, given[:, None])[:, 0]
    confirmed = torch.zeros(1500, dtype=torch.bool)
    confirmed[suspicion.argsort(descending=True)[:300]] = True
    labels = torch.where(confirmed, truth, given)
    second = judge_vectors(X, labels, 3, confirmed=confirmed, given=given)
    left = (labels != truth) & ~confirmed
    found = flagged(second, labels)
    before = (flagged(first, given) & left).sum() / left.sum()
    assert not bool(found[confirmed].any())
    assert (found & left).sum() / left.sum() >= before - 0.03
    assert second.noise.rate == pytest.approx(float(left.double().mean()), abs=0.04)
    blind = judge_vectors(X, labels, 3, confirmed=confirmed)
    assert (flagged(blind, labels) & left).sum() <= (found & left).sum()


def test_the_same_twice_and_every_judge_is_announced():
    class Heard(Progress):
        def __init__(self):
            self.lines = []

        def say(self, line):
            self.lines.append(line)

    X, given, _ = clouds(300)
    heard = Heard()
    one, two = judge_vectors(X, given, 3, progress=heard), judge_vectors(X, given, 3)
    assert torch.equal(one.posterior, two.posterior)
    asked = [line.split()[0] for line in heard.lines]  # the second round may be asked and not listened to
    assert asked[: len(one.opinions)] == [each.name for each in one.opinions]
    assert set(asked[len(one.opinions) :]) <= {"second-round"}


def test_far_features_say_the_same():
    X, given, truth = clouds(600)
    far = judge_vectors(X.double() + 1e8, given, 3)
    assert far.noise.rate == pytest.approx(float((given != truth).double().mean()), abs=0.03)


def asymmetric(n=900, rate=0.3, seed=0):
    g = torch.Generator().manual_seed(seed)
    truth = torch.arange(n) % 3
    X = 3 * torch.eye(3, 6)[truth] + torch.randn(n, 6, generator=g)
    return X, torch.where(torch.rand(n, generator=g) < rate, (truth + 1) % 3, truth)


def test_the_second_round_is_listened_to_only_if_it_gains(monkeypatch):
    X, given = asymmetric()
    names = ("ridge", "neighbours", "second-round")
    monkeypatch.setattr("anchored.audit.judges.verdict._LEAST_GAIN", -math.inf)
    always = judge_vectors(X, given, 3, judges=names)
    assert [each.name for each in always.opinions] == list(names)
    monkeypatch.setattr("anchored.audit.judges.verdict._LEAST_GAIN", math.inf)
    never = judge_vectors(X, given, 3, judges=names)
    without = judge_vectors(X, given, 3, judges=names[:2])
    assert [each.name for each in never.opinions] == list(names[:2])
    assert torch.equal(never.logits, without.logits)


def test_clean_labels_need_no_second_round(monkeypatch):
    X, given = asymmetric(rate=0.0)
    monkeypatch.setattr("anchored.audit.judges.verdict._LEAST_GAIN", -math.inf)
    found = judge_vectors(X, given, 3, judges=("ridge", "second-round"))
    assert [each.name for each in found.opinions] == ["ridge"]
