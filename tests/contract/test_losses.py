"""What every loss promises, checked over one literal table; a new loss is one more line of it."""

import math
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

from anchored import losses
from anchored._errors import InputError
from anchored.losses import (
    LADE,
    LDAM,
    AnchoredSquared,
    BalancedSoftmax,
    CrossEntropy,
    DotRegression,
    Focal,
    GeneralizedCrossEntropy,
    LabelAwareSmoothing,
    LogitAdjusted,
    MarginSoftmax,
    MeanAbsoluteError,
    NegativeSampleLogit,
    Normalized,
    ReverseCrossEntropy,
    SymmetricCrossEntropy,
)

K = 5
COUNTS = [500, 150, 40, 12, 5]
PRIOR = [count / sum(COUNTS) for count in COUNTS]
WEIGHT = [0.2, 1.0, 3.0, 0.5, 1.7]


# The slow road: one sample, plain floats, the formulas as they stand in the papers.


def softmax(row):
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def ce(row, y):
    return -math.log(softmax(row)[y])


def focal(gamma):
    return lambda row, y: -((1 - softmax(row)[y]) ** gamma) * math.log(softmax(row)[y])


def gce(q):
    return lambda row, y: (1 - softmax(row)[y] ** q) / q


def mae(scale):
    return lambda row, y: scale * (1 - softmax(row)[y])


def rce(row, y):
    one_hot = [1.0 if j == y else 1e-4 for j in range(len(row))]
    return -sum(p * math.log(label) for p, label in zip(softmax(row), one_hot, strict=True))


def normalized(loss):
    return lambda row, y: loss(row, y) / sum(loss(row, j) for j in range(len(row)))


def plus(a, first, b, second):
    return lambda row, y: a * first(row, y) + b * second(row, y)


def margin(margins, scale):
    def value(row, y):
        lowered = [scale * (f - (margins[y] if j == y else 0.0)) for j, f in enumerate(row)]
        return ce(lowered, y)

    return value


def adjusted(tau):
    return lambda row, y: ce([f + tau * math.log(pi) for f, pi in zip(row, PRIOR, strict=True)], y)


def smoothed(row, y):
    rank = (COUNTS[y] - min(COUNTS)) / (max(COUNTS) - min(COUNTS))
    epsilon = 0.1 + (0.4 - 0.1) * math.sin(math.pi / 2 * rank)
    return (1 - epsilon) * ce(row, y) + epsilon * sum(ce(row, j) for j in range(len(row))) / len(row)


LDAM_MARGINS = [0.5 * (min(COUNTS) / count) ** 0.25 for count in COUNTS]


@dataclass(frozen=True)
class Member:
    make: object
    """Settings to loss."""
    by_hand: object
    """Row of floats and label to value; None where the value belongs to the whole batch."""
    by_classes: bool = False
    """Whether it was built for K classes."""
    true_gradient: bool = True


TABLE = {
    "ce": Member(CrossEntropy, ce),
    "focal-0": Member(lambda **s: Focal(0.0, **s), ce),
    "focal-0.5": Member(lambda **s: Focal(0.5, **s), focal(0.5)),
    "focal-2": Member(lambda **s: Focal(2.0, **s), focal(2.0)),
    "focal-0.5-detached": Member(lambda **s: Focal(0.5, detach=True, **s), focal(0.5), true_gradient=False),
    "gce-0.1": Member(lambda **s: GeneralizedCrossEntropy(0.1, **s), gce(0.1)),
    "gce-0.7": Member(lambda **s: GeneralizedCrossEntropy(0.7, **s), gce(0.7)),
    "gce-1": Member(lambda **s: GeneralizedCrossEntropy(1.0, **s), gce(1.0)),
    "sce": Member(lambda **s: SymmetricCrossEntropy(0.1, 1.0, **s), plus(0.1, ce, 1.0, rce)),
    "sce-passive": Member(lambda **s: SymmetricCrossEntropy(0.0, 1.0, **s), rce),
    "mae": Member(MeanAbsoluteError, mae(1.0)),
    "mae-2": Member(lambda **s: MeanAbsoluteError(2.0, **s), mae(2.0)),
    "rce": Member(ReverseCrossEntropy, rce),
    "nce": Member(lambda **s: Normalized(CrossEntropy(), **s), normalized(ce)),
    "nfl-0.5": Member(lambda **s: Normalized(Focal(0.5), **s), normalized(focal(0.5))),
    "nfl-2": Member(lambda **s: Normalized(Focal(2.0), **s), normalized(focal(2.0))),
    "nfl-detached": Member(
        lambda **s: Normalized(Focal(0.5, detach=True), **s), normalized(focal(0.5)), true_gradient=False
    ),
    "ngce-0.1": Member(lambda **s: Normalized(GeneralizedCrossEntropy(0.1), **s), normalized(gce(0.1))),
    "ngce-0.7": Member(lambda **s: Normalized(GeneralizedCrossEntropy(0.7), **s), normalized(gce(0.7))),
    "nmae": Member(lambda **s: Normalized(MeanAbsoluteError(), **s), normalized(mae(1.0))),
    "n-sce": Member(lambda **s: Normalized(SymmetricCrossEntropy(1.0, 2.0), **s), normalized(plus(1, ce, 2, rce))),
    "n-sum": Member(
        lambda **s: Normalized(CrossEntropy() + 2 * ReverseCrossEntropy(), **s), normalized(plus(1, ce, 2, rce))
    ),
    "nce+rce": Member(lambda **s: losses.get("nce+rce", beta=10, **s), plus(1, normalized(ce), 10, rce)),
    "nce+mae": Member(lambda **s: losses.get("nce+mae", alpha=10, **s), plus(10, normalized(ce), 1, mae(1.0))),
    "nfl+rce": Member(lambda **s: losses.get("nfl+rce", **s), plus(1, normalized(focal(0.5)), 1, rce)),
    "ngce+mae": Member(lambda **s: losses.get("ngce+mae", q=0.5, **s), plus(1, normalized(gce(0.5)), 1, mae(1.0))),
    "ce+nsl": Member(lambda **s: losses.get("ce+nsl", **s), lambda row, y: ce(row, y) - row[y]),
    "nsl": Member(NegativeSampleLogit, lambda row, y: -row[y]),
    "dot-regression": Member(DotRegression, lambda row, y: 0.5 * (row[y] - 1) ** 2),
    "dot-regression-5": Member(lambda **s: DotRegression(5.0, **s), lambda row, y: 0.1 * (row[y] - 5) ** 2),
    "anchored-squared": Member(
        AnchoredSquared, lambda row, y: 0.5 + (K - 1) / (2 * K) * sum(f * f for f in row) - row[y]
    ),
    "margins": Member(
        lambda **s: MarginSoftmax([0.3, -0.2, 0.0, 1.0, 0.5], scale=2.0, **s),
        margin([0.3, -0.2, 0.0, 1.0, 0.5], 2.0),
        by_classes=True,
    ),
    "ldam": Member(lambda **s: LDAM(COUNTS, **s), margin(LDAM_MARGINS, 30.0), by_classes=True),
    "balanced-softmax": Member(lambda **s: BalancedSoftmax(COUNTS, **s), adjusted(1.0), by_classes=True),
    "logit-adjusted": Member(lambda **s: LogitAdjusted(COUNTS, tau=0.5, **s), adjusted(0.5), by_classes=True),
    "label-aware": Member(
        lambda **s: LabelAwareSmoothing(COUNTS, smooth_head=0.4, smooth_tail=0.1, **s), smoothed, by_classes=True
    ),
    "lade": Member(lambda **s: LADE(COUNTS, **s), None, by_classes=True),
}

every_loss = pytest.mark.parametrize("name", TABLE)
NOT_THE_BATCH = [name for name, member in TABLE.items() if member.by_hand is not None]


def batch(n=24, dtype=torch.float64, scale=3.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, K, generator=generator, dtype=dtype) * scale, torch.randint(K, (n,), generator=generator)


def extremes(dtype=torch.float32):
    """Every label at logits of +-1e4, where probabilities are 0 and 1; at equal logits; and at p just below 1."""
    rows = [[1e4] + [-1e4] * 4, [-1e4] + [1e4] * 4, [1e4, 1e4, -1e4, 0.0, 0.0], [0.0] * 5, [80.0] + [0.0] * 4]
    rows += [[-1e4] * 5, [1e4] * 5, [17.0, 0.0, -3.0, 1.0, 0.5]]
    logits = torch.tensor(rows, dtype=dtype).repeat_interleave(K, dim=0)
    return logits, torch.arange(K).repeat(len(rows))


# 1. Values


@pytest.mark.parametrize("name", NOT_THE_BATCH)
def test_agrees_with_a_slow_loop(name):
    logits, target = batch()
    expected = [TABLE[name].by_hand(row, y) for row, y in zip(logits.tolist(), target.tolist(), strict=True)]
    # Priors, margins and smoothing are kept in single precision, hence the tolerance.
    torch.testing.assert_close(
        TABLE[name].make().pointwise(logits, target), torch.tensor(expected).double(), rtol=2e-6, atol=1e-7
    )


@pytest.mark.parametrize("name", NOT_THE_BATCH)
def test_the_row_agrees_with_a_slow_loop(name):
    logits, _ = batch(n=6)
    expected = [[TABLE[name].by_hand(row, y) for y in range(K)] for row in logits.tolist()]
    torch.testing.assert_close(
        TABLE[name].make().per_class(logits), torch.tensor(expected).double(), rtol=2e-6, atol=1e-7
    )


def test_lade_agrees_with_a_slow_loop():
    logits, target = batch(n=9)
    rows, labels = logits.tolist(), target.tolist()
    regulariser = 0.0
    for c in range(K):
        own = [row[c] for row, y in zip(rows, labels, strict=True) if y == c]
        first = sum(own) / len(own) if own else 0.0
        second = math.log(sum(math.exp(row[c]) / (K * PRIOR[c]) for row in rows) / len(rows))
        regulariser -= PRIOR[c] * (first - second - 0.02 * second**2)
    expected = [adjusted(1.0)(row, y) + 0.3 * regulariser for row, y in zip(rows, labels, strict=True)]
    got = LADE(COUNTS, alpha=0.3, penalty=0.02).pointwise(logits, target)
    torch.testing.assert_close(got, torch.tensor(expected).double(), rtol=2e-6, atol=1e-6)


@every_loss
def test_labels_and_one_hot_probabilities_agree(name):
    logits, target = batch()
    loss = TABLE[name].make(reduction="none", weight=WEIGHT)
    torch.testing.assert_close(loss(logits, F.one_hot(target, K).double()), loss(logits, target), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NOT_THE_BATCH)
def test_a_soft_label_gets_the_expectation(name):
    logits, _ = batch(n=6)
    soft = torch.rand(6, K, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    soft = soft / soft.sum(dim=1, keepdim=True)
    loss = TABLE[name].make()
    by_label = torch.stack([loss.pointwise(logits, torch.full((6,), y)) for y in range(K)], dim=1)
    torch.testing.assert_close(loss.pointwise(logits, soft), (soft * by_label).sum(dim=1))


# 2. Weight, reduction, ignored labels: as torch's CrossEntropyLoss


@every_loss
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_reductions_are_torchs(name, weight):
    logits, target = batch()
    target[::5] = -100
    make = TABLE[name].make
    kept = target != -100
    factor = (torch.ones(K) if weight is None else torch.tensor(weight)).double()[target.clamp(min=0)] * kept
    values = make().pointwise(logits, target) * factor
    assert (make().pointwise(logits, target)[~kept] == 0).all()
    torch.testing.assert_close(make(weight=weight, reduction="none")(logits, target), values)
    torch.testing.assert_close(make(weight=weight, reduction="sum")(logits, target), values.sum())
    torch.testing.assert_close(make(weight=weight)(logits, target), values.sum() / factor.sum())


@every_loss
def test_an_ignored_sample_changes_nothing_else(name):
    logits, target = batch()
    more = torch.cat([logits, 9 * torch.ones(3, K).double()]), torch.cat([target, torch.tensor([2, 2, 2])])
    kept = target != 2
    loss = TABLE[name].make(ignore_index=2)
    torch.testing.assert_close(loss(*more), loss(logits[kept], target[kept]))


@every_loss
def test_without_samples_it_ends_as_torch_does(name):
    logits, target = batch()
    make = TABLE[name].make
    for some_logits, some_target in [(logits, torch.full_like(target, -100)), (logits[:0], target[:0])]:
        for reduction in ("mean", "sum", "none"):
            expected = F.cross_entropy(some_logits, some_target, reduction=reduction)
            got = make(reduction=reduction)(some_logits, some_target)
            torch.testing.assert_close(got, expected, equal_nan=True)


@every_loss
@pytest.mark.parametrize("label", [K, -1])
def test_a_label_out_of_range_raises(name, label):
    logits, target = batch(dtype=torch.float32)
    target[3] = label
    with pytest.raises((IndexError, RuntimeError)):
        TABLE[name].make()(logits, target)


@every_loss
def test_holds_nothing_that_is_trained_or_saved(name):
    loss = TABLE[name].make(weight=WEIGHT)
    assert not list(loss.parameters())
    assert not loss.state_dict()
    assert loss.to(torch.float64).weight.dtype == torch.float64


# 3. Numbers


@every_loss
def test_extreme_logits_give_finite_values_and_gradients(name):
    logits, target = extremes()
    logits.requires_grad_()
    loss = TABLE[name].make(reduction="none")
    values = loss(logits, target)
    (gradient,) = torch.autograd.grad(values.sum(), logits)
    assert torch.isfinite(values).all()
    assert torch.isfinite(gradient).all()
    row = loss.per_class(logits)
    (gradient,) = torch.autograd.grad(row.sum(), logits)
    assert torch.isfinite(row).all()
    assert torch.isfinite(gradient).all()


@every_loss
def test_single_precision_agrees_with_double(name):
    logits, target = batch(scale=8.0)
    loss = TABLE[name].make(reduction="none")
    torch.testing.assert_close(loss(logits.float(), target).double(), loss(logits, target), rtol=2e-4, atol=2e-4)


@every_loss
def test_nan_logits_give_nan(name):
    logits, target = batch()
    logits[4, 1] = math.nan
    target[4] = 1
    assert torch.isnan(TABLE[name].make()(logits, target))
    assert torch.isnan(TABLE[name].make().pointwise(logits, target)[4])


@every_loss
def test_the_gradient_is_the_derivative(name):
    logits, target = batch(n=7, scale=1.0)
    target[2] = -100
    loss = TABLE[name].make(weight=WEIGHT).double()
    logits.requires_grad_()
    if not TABLE[name].true_gradient:
        assert not torch.autograd.gradcheck(loss, (logits, target), raise_exception=False)
        return
    assert torch.autograd.gradcheck(loss, (logits, target))
    assert torch.autograd.gradcheck(loss, (logits, F.one_hot(target.clamp(min=0), K).double() * 0.9 + 0.02))
    assert torch.autograd.gradcheck(loss.per_class, (logits,))


@every_loss
def test_half_precision_and_autocast_are_computed_in_single(name):
    logits, target = batch(dtype=torch.float32, scale=1.0)
    weight = torch.randn(K, K, generator=torch.Generator().manual_seed(3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = (logits @ weight).requires_grad_()
        value = TABLE[name].make()(scores, target)
    assert scores.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, TABLE[name].make()(scores.float(), target))
    (gradient,) = torch.autograd.grad(value, scores)
    assert gradient.dtype == torch.bfloat16
    assert torch.isfinite(gradient).all()


def assert_compiled_equals_eager(name, backend, soft=False):
    torch._dynamo.reset()
    logits, target = batch(dtype=torch.float32)
    target[2] = -100
    loss = TABLE[name].make(weight=WEIGHT)
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for some_target in (target, F.one_hot(target.clamp(min=0), K).float())[: 1 + soft]:
        ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
        loss(ours, some_target).backward()
        compiled(theirs, some_target).backward()
        torch.testing.assert_close(compiled(logits, some_target), loss(logits, some_target))
        torch.testing.assert_close(theirs.grad, ours.grad, rtol=1e-4, atol=1e-6)


@every_loss
def test_compiles_to_one_graph(name):
    assert_compiled_equals_eager(name, "eager")


@pytest.mark.slow
@every_loss
def test_its_backward_compiles_too(name):
    assert_compiled_equals_eager(name, "aot_eager", soft=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own compiler still uses it
@pytest.mark.parametrize("name", ["nfl+rce", "ldam"])
def test_generated_code_agrees(name):
    assert_compiled_equals_eager(name, "inductor")


# 4. Declared properties, in both directions


def probes():
    logits = torch.cat([batch(n=64, scale=scale, seed=seed)[0] for seed, scale in enumerate((0.1, 1.0, 5.0, 30.0))])
    one_up = torch.eye(K, dtype=torch.float64) * K / (K - 1)  # where the squared loss is lowest
    return torch.cat([logits, one_up, extremes(torch.float64)[0]])


@every_loss
def test_symmetric_means_a_constant_sum_over_labels(name):
    loss = TABLE[name].make()
    total = loss.per_class(probes()).sum(dim=1)
    assert loss.symmetric == bool((total - total[0]).abs().max() < 1e-9)


@every_loss
def test_bounded_means_that_growing_logits_do_not_grow_the_loss(name):
    loss = TABLE[name].make()
    largest = [loss.per_class(probes() * factor).abs().max().item() for factor in (1.0, 100.0)]
    assert loss.bounded == (largest[1] < 2 * largest[0])


@every_loss
def test_shift_invariant_means_that_a_constant_on_all_logits_is_lost(name):
    logits, target = batch()
    loss = TABLE[name].make(reduction="none")
    same = torch.allclose(loss(logits, target), loss(logits + 7.0, target), rtol=1e-9, atol=1e-9)
    assert loss.shift_invariant == same


@every_loss
def test_nonnegative_means_no_value_below_zero(name):
    loss = TABLE[name].make()
    logits = probes()
    lowest = min(loss.pointwise(logits, torch.full((len(logits),), y)).min().item() for y in range(K))
    # Labels in proportion to the prior, and logits that fit them: where LADE's regulariser is lowest.
    labels = torch.arange(K).repeat_interleave(torch.tensor(COUNTS))
    fitted = torch.full((len(labels), K), -50.0).scatter(1, labels[:, None], math.log(K)).double()
    assert loss.nonnegative == (min(lowest, loss.pointwise(fitted, labels).min().item()) >= 0)


# 5. Dense prediction: every pixel is a sample, as in torch


def dense(shape=(2, 3, 4), seed=0):
    """Logits ``(n, k, h, w)`` and labels ``(n, h, w)``, the former not contiguous in memory."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(*shape, K, generator=generator, dtype=torch.float64).movedim(-1, 1)
    return logits, torch.randint(K, shape, generator=generator)


def in_a_row(values):
    return values.movedim(1, -1).reshape(-1, K)


@every_loss
@pytest.mark.parametrize("shape", [(2, 3, 4), (6, 5), (2, 2, 3, 2)], ids=["maps", "sequences", "volumes"])
def test_dense_logits_are_one_sample_per_pixel(name, shape):
    logits, target = dense(shape)
    target.view(-1)[::5] = -100
    make = TABLE[name].make
    for reduction in ("mean", "sum", "none"):
        for weight in (None, WEIGHT):
            loss = make(reduction=reduction, weight=weight)
            expected = loss(in_a_row(logits), target.flatten())
            found = loss(logits, target)
            assert found.shape == (shape if reduction == "none" else ())
            torch.testing.assert_close(found.flatten(), expected.flatten())
    assert make().pointwise(logits, target).shape == shape


@every_loss
def test_dense_probabilities_are_one_sample_per_pixel(name):
    logits, target = dense()
    soft = (F.one_hot(target, K).double() * 0.9 + 0.02).movedim(-1, 1)
    loss = TABLE[name].make(reduction="none", weight=WEIGHT)
    torch.testing.assert_close(loss(logits, soft).flatten(), loss(in_a_row(logits), in_a_row(soft)))
    assert loss(logits, soft).shape == target.shape


@every_loss
def test_the_dense_gradient_goes_to_its_own_pixel(name):
    logits, target = dense()
    target[0, 1] = -100
    loss = TABLE[name].make()
    (found,) = torch.autograd.grad(loss(logits.requires_grad_(), target), logits)
    rows = in_a_row(logits.detach()).requires_grad_()
    (expected,) = torch.autograd.grad(loss(rows, target.flatten()), rows)
    torch.testing.assert_close(in_a_row(found), expected)


def test_dense_cross_entropy_is_torchs():
    logits, target = dense()
    target[1, 0] = -100
    weight = torch.tensor(WEIGHT).double()
    for reduction in ("mean", "sum", "none"):
        expected = F.cross_entropy(logits, target, weight=weight, reduction=reduction)
        torch.testing.assert_close(CrossEntropy(weight=weight, reduction=reduction)(logits, target), expected)
    soft = logits.softmax(dim=1)
    torch.testing.assert_close(CrossEntropy()(logits, soft), F.cross_entropy(logits, soft))


@pytest.mark.parametrize("name", ["ce", "nfl-0.5", "ldam"])
def test_dense_losses_compile_to_one_graph(name):
    torch._dynamo.reset()
    logits, target = dense()
    loss = TABLE[name].make(weight=WEIGHT)
    torch.testing.assert_close(
        torch.compile(loss, fullgraph=True, backend="eager")(logits, target), loss(logits, target)
    )


def test_a_dense_target_of_another_shape_is_refused():
    logits, target = dense()
    with pytest.raises(
        InputError, match=r"need labels of shape \(2, 3, 4\): got target \(2, 4, 3\) .*movedim\(-1, 1\)"
    ):
        CrossEntropy()(logits, target.mT)
    with pytest.raises(InputError, match=r"need probabilities of shape \(2, 5, 3, 4\)"):
        CrossEntropy()(logits, target.double())


@every_loss
def test_activation_and_decodes_give_probabilities_and_labels(name):
    logits, _ = batch()
    loss = TABLE[name].make()
    torch.testing.assert_close(loss.activation(logits).sum(dim=1), torch.ones(24).double())
    assert torch.equal(loss.decodes(logits), logits.argmax(dim=1))
