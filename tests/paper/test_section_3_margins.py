"""Section 3: the largest minimal margin, what reaches it on balanced data, what fails on imbalanced data."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored.losses import LDAM, MarginSoftmax
from anchored.prototypes import simplex
from anchored.theory import ldam_threshold, loss_floor, max_margin, max_margin_nonnegative


def unit(x):
    return F.normalize(x, dim=-1)


def labels(*counts):
    return torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))


def margin_loss(w, z, y, scale, alpha, weight=None):
    """The paper's L_alpha with one alpha for all classes; the library subtracts margins, alpha = -scale * margin."""
    return MarginSoftmax([-alpha / scale] * len(w), scale=scale, weight=weight)(z @ w.T, y)


def soft_min_margin(w, z, y, sharpness):
    """A smooth lower estimate of gamma_min that tends to it as sharpness grows."""
    logits = z @ w.T
    gaps = logits.gather(1, y[:, None]) - logits
    rivals = gaps[~F.one_hot(y, len(w)).bool()]
    return -torch.logsumexp(-sharpness * rivals, dim=0) / sharpness


def assert_simplex_with_features_on_it(w, z, y, atol):
    k = len(w)
    gram = torch.full((k, k), -1 / (k - 1), dtype=w.dtype).fill_diagonal_(1.0)
    torch.testing.assert_close(w @ w.T, gram, atol=atol, rtol=0)
    torch.testing.assert_close(z, w[y], atol=atol, rtol=0)


# Lemma 3.1


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 2, 4, 9])
def test_lemma_3_1_no_configuration_on_the_sphere_exceeds_the_bound(k, d, normal):
    w, z = unit(normal(4000, k, d)).detach(), unit(normal(4000, k, d)).detach()
    z = torch.cat([z[:2000], w[2000:]])  # half of the trials with the features on their prototypes
    logits = z @ w.mT
    own = logits.diagonal(dim1=1, dim2=2)
    rest = (logits - 9 * torch.eye(k, dtype=torch.float64)).amax(dim=2)
    assert (own - rest).amin(dim=1).max() <= max_margin(k) + 1e-12


@pytest.mark.parametrize(("k", "d"), [(2, 1), (2, 4), (3, 2), (4, 3), (5, 8)])
def test_lemma_3_1_the_simplex_attains_the_bound(k, d, margins):
    w = simplex(k, d, dtype=torch.float64)
    y = labels(*[2] * k)
    torch.testing.assert_close(margins(w, w[y], y), torch.full((2 * k,), max_margin(k), dtype=torch.float64))


@pytest.mark.parametrize(("k", "d"), [(3, 2), (4, 3), (4, 6)])
def test_lemma_3_1_climbing_the_minimal_margin_ends_at_the_simplex_and_no_higher(k, d, normal, descend, margins):
    v, u, y = normal(k, d), normal(2 * k, d), labels(*[2] * k)
    for sharpness in (4.0, 32.0, 256.0, 2048.0):
        descend(lambda s=sharpness: -soft_min_margin(unit(v), unit(u), y, s), v, u, rounds=1)
    w, z = unit(v).detach(), unit(u).detach()
    reached = margins(w, z, y).min().item()
    assert max_margin(k) - 1e-3 < reached <= max_margin(k) + 1e-12
    assert_simplex_with_features_on_it(w, z, y, atol=0.05)


def test_lemma_3_1_the_maximiser_is_unique_among_features(normal, margins):
    w, y = simplex(4, 5, dtype=torch.float64), labels(500, 500, 500, 500)
    z = unit(w[y] + 0.1 * normal(2000, 5)).detach()
    loss_of_margin = max_margin(4) - margins(w, z, y)
    # At least as steep as the angle is wide: k/(k-1) (1 - cos) is what is lost on average over the rivals.
    assert (loss_of_margin >= max_margin(4) * (1 - (z * w[y]).sum(dim=1)) - 1e-12).all()
    assert (loss_of_margin > 0).all()


@pytest.mark.parametrize("k", [3, 6])
def test_lemma_3_1_needs_a_sample_of_every_class(k, margins):
    w = torch.tensor([[1.0, 0.0]] + [[-1.0, 0.0]] * (k - 1)).double()
    assert margins(w, w[:1], torch.tensor([0])).item() == 2.0 > max_margin(k)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_lemma_3_1_the_feature_used_in_the_printed_proof_is_not_the_best(k, margins):
    w = simplex(k, k, dtype=torch.float64)
    z = unit(w[:1] - w[1:2])
    reached = margins(w, z, torch.tensor([0])).item()
    if k == 2:
        assert reached == pytest.approx(max_margin(k))
    else:
        assert reached == pytest.approx(math.sqrt(k / (2 * (k - 1))))
        assert reached < max_margin(k)


# Theorem 3.2


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 2), (4, 3), (4, 7)])
@pytest.mark.parametrize(("scale", "alpha"), [(1.0, 0.5), (3.0, 0.0), (3.0, -1.5)])
def test_theorem_3_2_balanced_descent_ends_at_the_simplex(k, d, scale, alpha, normal, descend, margins):
    v, u, y = normal(k, d), normal(3 * k, d), labels(*[3] * k)
    value = descend(lambda: margin_loss(unit(v), unit(u), y, scale, alpha), v, u)
    w, z = unit(v).detach(), unit(u).detach()
    assert value == pytest.approx(loss_floor(k, scale, alpha), rel=1e-9)
    assert_simplex_with_features_on_it(w, z, y, atol=1e-4)
    assert margins(w, z, y).min().item() == pytest.approx(max_margin(k), abs=1e-4)


def test_theorem_3_2_the_floor_bounds_the_loss_of_any_configuration(normal):
    y = labels(2, 2, 2, 2)
    for _ in range(200):
        w, z = unit(normal(4, 3)), unit(normal(8, 3))
        assert margin_loss(w, z, y, 5.0, 0.3) >= loss_floor(4, 5.0, 0.3)


# What Theorem 3.2 excludes: imbalanced data without anchors


@pytest.mark.parametrize(("ratio", "reached"), [(60, 0.239), (300, 0.0)])
def test_without_anchors_imbalanced_descent_collapses_the_minority(ratio, reached, normal, descend, margins):
    v, u, y = normal(4, 4), normal(6, 4), labels(2, 2, 1, 1)
    copies = [ratio / 2, ratio / 2, 1, 1]  # a weight stands for that many copies of the sample
    descend(lambda: margin_loss(unit(v), unit(u), y, 2.0, 0.0, weight=copies), v, u)
    w, gamma = unit(v).detach(), margins(unit(v), unit(u), y).detach()
    assert gamma[y < 2].min() > max_margin(4)  # the common classes take more than their share
    assert gamma.min().item() == pytest.approx(reached, abs=2e-3)
    assert (w[2] @ w[3]).item() > 0.9  # the rare prototypes fall together


# Theorem 3.3


def predicts_plus(p, w, loss, z):
    """Whether the feature of least conditional risk, among rows of z, scores + (row 0 of w) higher than - (row 1)."""
    logits = z @ w.T
    best = (loss.per_class(logits) @ torch.tensor([p, 1 - p], dtype=torch.float64)).argmin()
    return bool(logits[best, 0] > logits[best, 1])


def turning_point(w, loss, z):
    """The p at which the prediction turns, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if predicts_plus(middle, w, loss, z) else (middle, high)
    return (low + high) / 2


CIRCLE = torch.linspace(0, 2 * math.pi, 20001, dtype=torch.float64)[:-1]
CIRCLE = torch.stack([CIRCLE.cos(), CIRCLE.sin()], dim=1)
OPPOSITE = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
RARE = LDAM([20, 380], margin=0.8, scale=2.0)  # the first class has one sample in twenty
UNEQUAL = {
    "ldam": RARE,
    "positive": MarginSoftmax([0.5, 0.1], scale=3.0),
    "mixed": MarginSoftmax([-0.5, 0.2], scale=3.0),
}


def alphas(loss):
    return (-loss.scale * loss.margins).tolist()


@pytest.mark.parametrize("loss", UNEQUAL.values(), ids=UNEQUAL)
@pytest.mark.parametrize("angle", [math.pi, 1.0])
def test_theorem_3_3_the_prediction_turns_at_the_threshold_and_not_at_one_half(loss, angle):
    w = torch.tensor([[1.0, 0.0], [math.cos(angle), math.sin(angle)]], dtype=torch.float64)
    turn = turning_point(w, loss, CIRCLE)
    assert turn == pytest.approx(ldam_threshold(*alphas(loss)), abs=1e-3)
    assert abs(turn - 0.5) > 0.02


@pytest.mark.parametrize("loss", UNEQUAL.values(), ids=UNEQUAL)
def test_theorem_3_3_in_one_dimension_it_turns_at_the_printed_threshold(loss):
    ends = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    turn = turning_point(ends, loss, ends)
    assert turn == pytest.approx(ldam_threshold(*alphas(loss), r=2 * loss.scale), abs=1e-6)
    assert abs(turn - 0.5) > 0.02


@pytest.mark.parametrize("margin", [-0.7, 0.0, 0.5])
def test_theorem_3_3_equal_margins_are_calibrated(margin):
    assert turning_point(OPPOSITE, MarginSoftmax([margin] * 2, scale=3.0), CIRCLE) == pytest.approx(0.5, abs=1e-3)


def test_theorem_3_3_ldam_contradicts_bayes_between_its_threshold_and_one_half():
    p = (ldam_threshold(*alphas(RARE)) + 0.5) / 2
    assert p < 0.49
    assert predicts_plus(p, OPPOSITE, RARE, CIRCLE)


def test_theorem_3_3_the_minimiser_is_not_at_the_ends_as_the_printed_proof_says():
    p, scale = 0.7, 3.0
    logits = CIRCLE @ OPPOSITE.T
    conditional = MarginSoftmax([0.0, 0.0], scale=scale).per_class(logits) @ torch.tensor([p, 1 - p]).double()
    best = conditional.argmin()
    u = scale * (logits[best, 0] - logits[best, 1]).item()
    assert u == pytest.approx(math.log(p / (1 - p)), abs=1e-2)
    assert abs(u) < 2 * scale / 5


# Not in the paper: features without negative entries


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 3), (4, 6)])
def test_nonnegative_features_climb_to_their_own_bound_and_no_higher(k, d, normal, descend, margins):
    v, u, y = normal(k, d), normal(k, d), torch.arange(k)
    for sharpness in (4.0, 32.0, 256.0, 2048.0):
        descend(lambda s=sharpness: -soft_min_margin(unit(v), unit(u**2), y, s), v, u, rounds=1)
    reached = margins(unit(v), unit(u**2), y).min().item()
    assert max_margin_nonnegative(k) - 2e-3 < reached <= max_margin_nonnegative(k) + 1e-12 < max_margin(k)


def test_a_randomly_turned_simplex_leaves_nonnegative_features_far_below_the_bound():
    def ceilings(w):
        # The margin is at most k/(k-1) w_y . z (mean rival), and w_y . z at most the norm of the positive part of w_y.
        return max_margin(10) * w.clamp(min=0).norm(dim=1)

    turned, aligned = (simplex(10, 64, orientation=o, dtype=torch.float64) for o in ("random", "orthant"))
    assert ceilings(turned).min() < 0.8
    assert ceilings(turned).max() - ceilings(turned).min() > 0.02  # and the classes are no longer treated alike
    torch.testing.assert_close(ceilings(aligned), torch.full((10,), max_margin_nonnegative(10)).double())
