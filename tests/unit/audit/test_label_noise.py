"""Mirror of src/anchored/audit/label_noise.py: known corruption is found again, in spite of doubt and rare classes."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from anchored.audit import LabelNoise, fit_label_noise, judge, judge_labels, rate_interval
from anchored.data import Dataset, TensorInputs


def sample(n, k, matrix, *, sharp=4.0, prior=None, seed=0):
    """Logits that hold just what softmax(sharp * logits) says about the truth, and labels drawn by ``matrix``."""
    g = torch.Generator().manual_seed(seed)
    weights = torch.ones(k) if prior is None else torch.tensor(prior)
    centre = torch.multinomial(weights, n, replacement=True, generator=g)
    logits = F.one_hot(centre, k) + 0.35 * torch.randn(n, k, generator=g)
    logits = logits + weights.log() / sharp
    truth = torch.multinomial((sharp * logits).softmax(1), 1, generator=g)[:, 0]
    given = torch.multinomial(torch.tensor(matrix)[truth], 1, generator=g)[:, 0]
    return logits, truth, given


def symmetric(k, eta):
    return [[1 - eta if i == j else eta / (k - 1) for j in range(k)] for i in range(k)]


def pairwise(k, eta):
    return [[1 - eta if i == j else eta * (j == (i + 1) % k) for j in range(k)] for i in range(k)]


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.5, 0.8])
def test_finds_the_rate_and_the_matrix_of_symmetric_noise(eta):
    logits, truth, given = sample(4000, 10, symmetric(10, eta), sharp=8.0)
    noise = fit_label_noise(logits, given)
    drawn = (truth != given).double().mean().item()
    assert noise.rate == pytest.approx(drawn, abs=0.02)
    assert noise.interval[0] - 0.005 <= drawn <= noise.interval[1] + 0.005
    torch.testing.assert_close(noise.transition, torch.tensor(symmetric(10, eta)).double(), atol=0.08, rtol=0)


@pytest.mark.parametrize("eta", [0.2, 0.4])
def test_finds_noise_that_goes_one_way(eta):
    logits, truth, given = sample(3000, 5, pairwise(5, eta), sharp=8.0)
    noise = fit_label_noise(logits, given)
    assert noise.rate == pytest.approx((truth != given).double().mean().item(), abs=0.03)
    assert noise.transition[2, 3].item() == pytest.approx(eta, abs=0.06)
    assert noise.transition[2, 4].item() < 0.03


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.6])
def test_a_model_that_is_as_sure_of_one_sample_as_of_another_is_believed(eta):
    """Cosines of features that have all but reached their anchors: noise and modesty would explain the labels alike."""
    g = torch.Generator().manual_seed(0)
    truth = torch.arange(6000) % 10
    turned = torch.where(torch.rand(6000, generator=g) < 0.02, (truth + 1) % 10, truth)  # what the model takes it for
    depth = torch.rand(6000, 1, generator=g) ** 12  # most of them at their anchor, a few on the way to a mistake
    logits = F.one_hot(turned, 10) * (1 - 0.5 * depth) + F.one_hot(truth, 10) * 0.5 * depth
    given = torch.multinomial(torch.tensor(symmetric(10, eta))[truth], 1, generator=g)[:, 0]
    noise = fit_label_noise(logits + 0.01 * torch.randn(6000, 10, generator=g), given)
    assert noise.rate == pytest.approx((truth != given).double().mean().item(), abs=0.03)


def test_does_not_blame_the_labels_for_what_the_model_does_not_know():
    logits, _, given = sample(3000, 10, symmetric(10, 0.0), sharp=4.0)
    contradicted = (logits.argmax(1) != given).double().mean().item()
    assert contradicted > 0.2
    assert fit_label_noise(logits, given).rate < 0.05


def test_unbalanced_classes_do_not_hide_the_noise():
    prior = [50.0 ** (-j / 9) for j in range(10)]
    logits, truth, given = sample(4000, 10, symmetric(10, 0.4), sharp=8.0, prior=prior)
    assert fit_label_noise(logits, given).rate == pytest.approx((truth != given).double().mean().item(), abs=0.04)


def log_likelihood(logits, given, temperature, bias, matrix):
    """The sum over samples, one at a time, in plain floats."""
    total = 0.0
    for row, j in zip(logits.tolist(), given.tolist(), strict=True):
        scores = [value / temperature + b for value, b in zip(row, bias, strict=True)]
        top = max(scores)
        p = [math.exp(s - top) for s in scores]
        total += math.log(sum(p[i] * matrix[i][j] for i in range(len(p))) / sum(p))
    return total


def test_the_labels_are_at_least_as_likely_as_under_the_truth():
    matrix = pairwise(4, 0.3)
    logits, _, given = sample(1500, 4, matrix, sharp=6.0)
    noise = fit_label_noise(logits, given)
    found = log_likelihood(logits, given, noise.temperature, noise.bias.tolist(), noise.transition.tolist())
    assert (
        found > log_likelihood(logits, given, 1 / 6.0, [0.0] * 4, matrix) - 15.0
    )  # the prior does not believe in zeros


def test_the_posterior_is_bayes_rule():
    matrix = torch.tensor([[0.9, 0.1], [0.3, 0.7]], dtype=torch.float64)
    noise = LabelNoise(0.2, (0.1, 0.3), matrix, 0.5, torch.tensor([0.2, -0.2], dtype=torch.float64), 10)
    p = [math.exp(1.0 / 0.5 + 0.2), math.exp(0.4 / 0.5 - 0.2)]
    joint = [p[0] * 0.1, p[1] * 0.7]
    got = noise.posterior(torch.tensor([[1.0, 0.4]]), torch.tensor([1]))[0].tolist()
    assert got == pytest.approx([joint[0] / sum(joint), joint[1] / sum(joint)])
    assert noise.probabilities(torch.tensor([[1.0, 0.4]]))[0].tolist() == pytest.approx([p[0] / sum(p), p[1] / sum(p)])


def test_scale_and_shift_of_the_logits_change_nothing():
    logits, _, given = sample(1000, 4, symmetric(4, 0.3), sharp=6.0)
    one = fit_label_noise(logits.double(), given)
    other = fit_label_noise(37.0 * logits.double() + 5.0, given)
    assert other.rate == pytest.approx(one.rate, abs=1e-6)
    assert other.temperature == pytest.approx(37.0 * one.temperature, rel=1e-4)


def test_a_sample_of_weight_zero_is_not_there():
    logits, _, given = sample(1200, 4, symmetric(4, 0.3), sharp=6.0)
    weights = torch.ones(1200)
    weights[800:] = 0.0
    whole = fit_label_noise(logits, given, weights=weights)
    part = fit_label_noise(logits[:800], given[:800])
    assert whole.rate == pytest.approx(part.rate, abs=0.01)


def test_of_many_samples_a_part_is_enough_and_all_are_counted():
    logits, truth, given = sample(30_000, 3, symmetric(3, 0.3), sharp=8.0)
    noise = fit_label_noise(logits, given)
    assert noise.samples == 30_000
    assert noise.rate == pytest.approx((truth != given).double().mean().item(), abs=0.02)
    wrong = 1 - noise.posterior(logits, given)[torch.arange(30_000), given]
    assert noise.rate == pytest.approx(wrong.mean().item(), abs=0.005)


def test_fewer_samples_know_less():
    logits, _, given = sample(4000, 4, symmetric(4, 0.3), sharp=8.0)
    many, few = fit_label_noise(logits, given).interval, fit_label_noise(logits[:200], given[:200]).interval
    assert few[1] - few[0] > 1.5 * (many[1] - many[0])


def test_labels_that_agree_with_a_certain_model_are_clean_but_not_proven_so():
    logits = 20.0 * F.one_hot(torch.arange(60) % 3, 3).float()
    noise = fit_label_noise(logits, torch.arange(60) % 3)
    assert noise.rate < 0.01
    assert noise.interval[1] >= 3 / 60


@pytest.mark.parametrize(
    ("logits", "labels", "said"),
    [
        (torch.zeros(3), torch.zeros(3, dtype=torch.long), r"logits must be \(n, k\)"),
        (torch.zeros(0, 2), torch.zeros(0, dtype=torch.long), r"logits must be \(n, k\)"),
        (torch.full((2, 2), math.nan), torch.tensor([0, 1]), "must be finite"),
        (torch.zeros(2, 2), torch.tensor([0, 2]), r"numbers in 0\.\.1"),
        (torch.zeros(2, 2), torch.tensor([-1, 0]), "without a label"),
    ],
)
def test_refuses_what_has_no_answer(logits, labels, said):
    with pytest.raises(ValueError, match=said):
        fit_label_noise(logits, labels)


def test_refuses_weights_that_leave_nothing():
    with pytest.raises(ValueError, match="not all 0"):
        fit_label_noise(torch.zeros(2, 2), torch.tensor([0, 1]), weights=torch.zeros(2))


def test_what_a_person_confirmed_is_true_and_the_law_is_that_of_the_rest():
    logits, truth, given = sample(3000, 5, symmetric(5, 0.4), sharp=8.0)
    looked_at = torch.arange(3000) < 1500
    labels = torch.where(looked_at, truth, given)
    data = Dataset("some", TensorInputs(logits), labels, tuple("abcde"))
    noise, posterior = judge(replace(data, confirmed=looked_at), logits)
    assert torch.equal(posterior[looked_at], F.one_hot(truth[looked_at], 5).double())
    assert noise.rate == pytest.approx((labels != truth).double().mean().item(), abs=0.02)
    assert noise.interval[0] < noise.rate < noise.interval[1]
    alone = fit_label_noise(logits[1500:], given[1500:])
    torch.testing.assert_close(noise.transition, alone.transition)
    torch.testing.assert_close(posterior[1500:], alone.posterior(logits[1500:], given[1500:]))


def test_when_all_labels_are_confirmed_none_is_wrong():
    logits, _, given = sample(300, 3, symmetric(3, 0.3))
    data = Dataset("all", TensorInputs(logits), given, tuple("abc"), confirmed=torch.ones(300, dtype=torch.bool))
    noise, posterior = judge(data, logits)
    assert (noise.rate, noise.interval) == (0.0, (0.0, 0.0))
    assert torch.equal(posterior.argmax(1), given)


def test_nothing_confirmed_is_as_if_nobody_had_looked():
    logits, _, given = sample(300, 3, symmetric(3, 0.3))
    data = Dataset("none", TensorInputs(logits), given, tuple("abc"))
    for each in (data, replace(data, confirmed=torch.zeros(300, dtype=torch.bool))):
        noise, posterior = judge(each, logits)
        assert noise.rate == fit_label_noise(logits, given).rate
        assert torch.equal(posterior, noise.posterior(logits, given))


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("sharp", [3.0, 8.0])
def test_the_interval_holds_the_rate_whether_the_samples_are_hard_or_the_labels_wrong(eta, sharp):
    inside = 0
    for seed in range(10):
        logits, truth, given = sample(1500, 5, symmetric(5, eta), sharp=sharp, seed=seed)
        low, high = rate_interval(logits, given)
        inside += low <= (truth != given).double().mean().item() <= high
    assert inside >= 9


def test_hard_samples_leave_more_open_than_easy_ones():
    (hard, _, one), (easy, _, other) = (sample(3000, 5, symmetric(5, 0.2), sharp=sharp) for sharp in (3.0, 20.0))
    wide, narrow = rate_interval(hard, one), rate_interval(easy, other)
    assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_two_labels_of_the_same_frequency_leave_the_upper_end_open():
    g = torch.Generator().manual_seed(0)
    truth = torch.arange(2000) % 4
    given = torch.where(torch.rand(2000, generator=g) < 0.5, truth, (truth + 1) % 4)
    assert rate_interval(5.0 * F.one_hot(truth, 4) + torch.randn(2000, 4, generator=g), given)[1] == 1.0


@pytest.mark.parametrize("eta", [0.2, 0.4])
def test_a_review_of_the_most_suspect_does_not_make_the_rest_look_clean(eta):
    """The law with the truth of three hundred suspects filled in is that of all labels, not that of what is left."""
    logits, truth, given = sample(3000, 5, symmetric(5, eta), sharp=8.0)
    before = fit_label_noise(logits, given)
    suspicion = 1 - before.posterior(logits, given).gather(1, given[:, None])[:, 0]
    confirmed = torch.zeros(3000, dtype=torch.bool)
    confirmed[suspicion.argsort(descending=True)[:300]] = True
    labels = torch.where(confirmed, truth, given)
    noise, posterior = judge_labels(logits, labels, confirmed=confirmed, given=given)
    torch.testing.assert_close(noise.transition, before.transition, atol=0.05, rtol=0)
    left = float((labels != truth).double().mean())
    assert noise.rate == pytest.approx(left, abs=0.03)
    assert noise.interval[0] <= left <= noise.interval[1]
    assert torch.equal(posterior[confirmed].argmax(dim=1), truth[confirmed])
    without, _ = judge_labels(logits, labels, confirmed=confirmed)
    assert without.rate < noise.rate
