"""What every judge of labels promises: answers without the sample's own label, the same for the same data."""

from importlib import import_module

import pytest
import torch

from anchored.audit.judges import JUDGES, Vectors, get, opinion_of
from anchored.audit.judges.folds import folds_of

LEAVE_ONE_OUT = ("ridge", "ridge-balanced", "kernel-ridge", "neighbours")
FOLDS = {"boosted": 4, "probe": 4, "second-round": 4}


def rows(n=240, k=3, *, d=5, rate=0.15, distance=2.5, seed=0, weights=None):
    """Normal clouds, some of whose labels are wrong."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.randint(k, (n,), generator=generator)
    X = distance * torch.eye(k, d)[truth] + torch.randn(n, d, generator=generator)
    given = torch.where(torch.rand(n, generator=generator) < rate, (truth + 1) % k, truth)
    return Vectors.check(X, given, k, weights=weights), truth


def with_labels(vectors, labels):
    return Vectors.check(vectors.X, labels, vectors.k, weights=vectors.weights, seed=vectors.seed)


def direction(logits):
    """Logits without shift and scale: the temperature is chosen with all labels, and is not what is tested here."""
    centred = logits - logits.mean(dim=1, keepdim=True)
    return torch.nn.functional.normalize(centred, dim=1)


def test_every_judge_is_tested_by_folds_or_left_out_alone():
    assert set(JUDGES) == {*LEAVE_ONE_OUT, *FOLDS}


@pytest.mark.parametrize("name", JUDGES)
def test_most_clean_labels_are_recognised(name):
    vectors, truth = rows()
    said = get(name)(vectors)
    assert said.shape == (240, 3)
    assert said.dtype == torch.float64
    assert bool(torch.isfinite(said).all())
    assert (said.argmax(dim=1) == truth).double().mean() > 0.8


def changed_at(vectors, place):
    labels = vectors.labels.clone()
    labels[place] = (labels[place] + 1) % vectors.k
    return with_labels(vectors, labels)


@pytest.fixture
def _one_candidate(monkeypatch):
    """Leave no choice of strength, width, neighbours or trees: that is made with all labels, and one may tip it."""
    monkeypatch.setattr("anchored.ridge.fit._STRENGTHS", (0.01,))
    monkeypatch.setattr("anchored.ridge.fit._FURTHER", 0)
    monkeypatch.setattr("anchored.ridge.fit.widths", lambda *given: [0.05])
    for module, name, value in (
        ("methods.nearest", "COUNTS", (10,)),
        ("methods.nearest", "WIDTHS", (0.2,)),
        ("audit.judges.probe", "STRENGTHS", (0.1,)),
        ("audit.judges.boosted", "_EVERY", 60),
    ):
        monkeypatch.setattr(import_module(f"anchored.{module}"), name, value)


@pytest.mark.usefixtures("_one_candidate")
@pytest.mark.parametrize("name", LEAVE_ONE_OUT)
def test_a_sample_does_not_vouch_for_its_own_label(name):
    """Changing the label of a sample turns what is said of others, but not what is said of itself.

    The balanced closed form and the neighbours know the classes' shares, of which one label is 1/n.
    """
    vectors, _ = rows()
    before = direction(get(name)(vectors))
    slack = 1e-6 if name in ("ridge", "kernel-ridge") else 0.02
    for place in (0, 7, 101, 200):
        moved = (direction(get(name)(changed_at(vectors, place))) - before).abs().amax(dim=1)
        assert moved[place] < slack < moved.max()


@pytest.mark.usefixtures("_one_candidate")
@pytest.mark.parametrize("name", FOLDS)
def test_a_fold_does_not_vouch_for_its_own_labels(name, monkeypatch):
    """Changing a label in a fold turns what is said of the other folds, but not what is said of this one."""
    vectors, _ = rows()
    fold = folds_of(vectors, FOLDS[name])
    # Folds are dealt out by label; here they stay what they are when a label changes.
    module = import_module(f"anchored.audit.judges.{name.replace('-', '_')}")
    monkeypatch.setattr(module, "folds_of", lambda vectors, count: fold)
    before = direction(get(name)(vectors))
    for place in (0, 50, 100):
        moved = (direction(get(name)(changed_at(vectors, place))) - before).abs().amax(dim=1)
        assert moved[fold == fold[place]].max() < 1e-6 < moved[fold != fold[place]].max()


@pytest.mark.parametrize("name", JUDGES)
def test_copies_do_not_vouch_for_each_other(name):
    """Every row occurs twice, under the same random label: who sees the copy would always be right."""
    generator = torch.Generator().manual_seed(1)
    X, y = torch.randn(150, 4, generator=generator), torch.randint(3, (150,), generator=generator)
    twice = Vectors.check(torch.cat([X, X]), torch.cat([y, y]), 3)
    right = (get(name)(twice).argmax(dim=1) == twice.labels).double().mean()
    assert right < 0.5


@pytest.mark.parametrize("name", LEAVE_ONE_OUT)
def test_the_order_of_samples_does_not_matter(name):
    vectors, _ = rows()
    order = torch.randperm(240, generator=torch.Generator().manual_seed(5))
    moved = Vectors.check(vectors.X[order], vectors.labels[order], 3)
    torch.testing.assert_close(get(name)(moved), get(name)(vectors)[order], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", JUDGES)
def test_the_names_of_the_classes_do_not_matter(name):
    vectors, truth = rows()
    renamed = torch.tensor([2, 0, 1])
    said = get(name)(with_labels(vectors, renamed[vectors.labels]))[:, renamed]
    if name in LEAVE_ONE_OUT:
        torch.testing.assert_close(direction(said), direction(get(name)(vectors)), atol=1e-4, rtol=0)
    else:  # folds are dealt out class by class, so they are others
        assert (said.argmax(dim=1) == truth).double().mean() > 0.8


@pytest.mark.parametrize("name", JUDGES)
def test_the_same_twice(name):
    vectors, _ = rows(weights=torch.linspace(0.5, 1.5, 240))
    assert torch.equal(get(name)(vectors), get(name)(vectors))


@pytest.mark.parametrize("name", JUDGES)
def test_nobody_learns_from_a_sample_of_weight_zero(name):
    """The last third is labelled at random and has no weight."""
    vectors, truth = rows()
    labels = vectors.labels.clone()
    labels[160:] = torch.randint(3, (80,), generator=torch.Generator().manual_seed(3))
    weights = torch.ones(240)
    weights[160:] = 0.0
    said = get(name)(Vectors.check(vectors.X, labels, 3, weights=weights))
    assert (said[160:].argmax(dim=1) == truth[160:]).double().mean() > 0.8


@pytest.mark.parametrize("name", JUDGES)
def test_an_opinion_is_as_sure_as_it_is_right(name):
    vectors, _ = rows(800, rate=0.3)
    opinion = opinion_of(name, get(name)(vectors), vectors)
    sure = opinion.logits.exp().amax(dim=1).mean()
    assert float(sure) == pytest.approx(opinion.accuracy, abs=0.06)
    assert opinion.log_likelihood > -torch.tensor(3.0).log()


@pytest.mark.parametrize("name", JUDGES)
def test_a_large_offset_of_the_features_does_not_matter(name):
    vectors, truth = rows()
    far = Vectors.check(vectors.X.double() + 1e8, vectors.labels, 3)
    assert (get(name)(far).argmax(dim=1) == truth).double().mean() > 0.8
