"""What every corruption promises: input untouched, drawn from its generator alone, a receipt that is true."""

import json

import pytest
import torch

from anchored import noise

FEATURES = torch.rand(1200, 6, generator=torch.Generator().manual_seed(9))
MATRIX = torch.full((10, 10), 0.03, dtype=torch.float64).fill_diagonal_(0.73)

PROCEDURES = {
    "symmetric exact": lambda y, eta, g: noise.symmetric(y, eta, 10, generator=g),
    "symmetric iid": lambda y, eta, g: noise.symmetric(y, eta, 10, generator=g, mode="iid"),
    "symmetric apl": lambda y, eta, g: noise.symmetric(y, eta, 10, generator=g, mode="apl"),
    "asymmetric exact": lambda y, eta, g: noise.asymmetric(y, eta, "mnist", generator=g),
    "asymmetric iid": lambda y, eta, g: noise.asymmetric(y, eta, "cifar10", generator=g, mode="iid"),
    "superclasses": lambda y, eta, g: noise.asymmetric(y, eta, "cifar100", generator=g),
    "apl_sequential": lambda y, eta, g: noise.apl_sequential(y, eta, generator=g),
    "index_blocks": lambda y, eta, g: noise.index_blocks(y, eta, generator=g),
    "transition": lambda y, eta, g: noise.transition(y, (1 - eta) * torch.eye(10).double() + eta * MATRIX, generator=g),
    "instance": lambda y, eta, g: noise.instance_dependent(FEATURES, y, eta, 10, generator=g),
}

each = pytest.mark.parametrize("corrupt", PROCEDURES.values(), ids=PROCEDURES.keys())


@pytest.fixture
def clean():
    return torch.arange(10).repeat(120)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@each
def test_leaves_its_input_untouched_and_shares_no_memory_with_it(corrupt, clean):
    before = clean.clone()
    receipt = corrupt(clean, 0.4, seeded(0))
    assert torch.equal(clean, before)
    receipt.labels.zero_()
    receipt.clean.zero_()
    assert torch.equal(clean, before)


@each
def test_same_generator_same_labels_and_another_one_others(corrupt, clean):
    first, again, other = (corrupt(clean, 0.4, seeded(s)).labels for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@each
def test_without_a_generator_the_draw_is_repeatable(corrupt, clean):
    assert torch.equal(corrupt(clean, 0.4, None).labels, corrupt(clean, 0.4, None).labels)


@each
def test_does_not_disturb_the_global_generator(corrupt, clean):
    before = torch.get_rng_state()
    corrupt(clean, 0.4, None)
    assert torch.equal(torch.get_rng_state(), before)


@each
def test_gives_labels_of_the_same_shape_and_classes(corrupt, clean):
    receipt = corrupt(clean, 0.4, seeded(0))
    assert receipt.labels.shape == clean.shape
    assert receipt.labels.dtype == torch.int64
    assert 0 <= int(receipt.labels.min()) <= int(receipt.labels.max()) < receipt.k


@each
def test_receipt_says_what_happened(corrupt, clean):
    receipt = corrupt(clean, 0.4, seeded(0))
    wrong = receipt.labels != clean
    assert 0 < receipt.rate < 0.5
    assert receipt.rate == pytest.approx(wrong.double().mean().item())
    assert torch.equal(receipt.flipped, wrong)
    assert torch.equal(receipt.clean, clean)
    for c in range(10):
        assert receipt.per_class[c] == pytest.approx(wrong[clean == c].double().mean().item())
        assert receipt.matrix[c].sum().item() == pytest.approx(1)
        assert 1 - receipt.matrix[c, c].item() == pytest.approx(receipt.per_class[c])


@each
def test_asked_rows_are_distributions(corrupt, clean):
    asked = corrupt(clean, 0.4, seeded(0)).asked_matrix
    rows = asked[~asked.isnan().any(dim=1)]
    assert len(rows) >= 10
    assert (rows >= 0).all()
    torch.testing.assert_close(rows.sum(dim=1), torch.ones(len(rows)).double())


@each
def test_realised_rates_are_the_asked_ones_unless_history_says_otherwise(corrupt, clean, request):
    receipt = corrupt(clean, 0.4, seeded(0))
    if "apl_sequential" in request.node.name:
        assert receipt.per_class[3] < 0.33  # cats, asked for 0.4
    else:
        receipt.check()


@each
def test_no_noise_changes_nothing(corrupt, clean):
    receipt = corrupt(clean, 0.0, seeded(0))
    assert torch.equal(receipt.labels, clean)
    assert receipt.rate == 0


@each
def test_receipt_can_be_read_and_stored(corrupt, clean):
    receipt = corrupt(clean, 0.4, seeded(0))
    record = json.loads(json.dumps(receipt.as_dict(), allow_nan=False))
    assert record["rate"] == receipt.rate
    assert record["procedure"] in receipt.summary()
    assert len(receipt.summary().splitlines()) == 2 + receipt.k
