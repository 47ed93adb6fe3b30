"""Mirror of src/anchored/heads/nearest_mean.py: distances one by one, and scikit-learn's nearest centroid."""

import math

import pytest
import torch
import torch.nn.functional as F
from sklearn.neighbors import NearestCentroid

from anchored._errors import InputError
from anchored.heads import NearestMeanHead

D, K = 6, 4
TRANSFORMS = ("cl2n", "l2n", "un")


def clouds(n=60, *, seed=0, far=0.0):
    g = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % K
    return far + 2 * torch.eye(K, D)[labels] + torch.randn(n, D, generator=g), labels


def by_hand(train, labels, z, transform):
    """Minus the squared distances, in plain floats."""
    rows = train.double().tolist()
    centre = [sum(column) / len(rows) for column in zip(*rows, strict=True)]

    def move(row):
        row = [value - c for value, c in zip(row, centre, strict=True)] if transform == "cl2n" else row
        length = math.sqrt(sum(value * value for value in row))
        return row if transform == "un" else [value / length for value in row]

    moved = [move(row) for row in rows]
    means = []
    for j in range(K):
        own = [row for row, y in zip(moved, labels.tolist(), strict=True) if y == j]
        means.append([sum(column) / len(own) for column in zip(*own, strict=True)])
    return torch.tensor(
        [[-sum((a - b) ** 2 for a, b in zip(move(row), mean, strict=True)) for mean in means] for row in z.tolist()]
    )


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_agrees_with_distances_taken_one_by_one(transform):
    z, y = clouds()
    other, _ = clouds(seed=1)
    found = NearestMeanHead.from_features(z, y, K, transform=transform)(other)
    torch.testing.assert_close(found, by_hand(z, y, other, transform), atol=1e-4, rtol=1e-4)


def test_plain_distances_are_scikit_learns_nearest_centroid():
    z, y = clouds()
    other, _ = clouds(seed=1)
    reference = NearestCentroid().fit(z.numpy(), y.numpy()).predict(other.numpy())
    found = NearestMeanHead.from_features(z, y, K, transform="un")(other).argmax(dim=1)
    assert found.tolist() == reference.tolist()


def test_features_far_from_the_origin_lose_no_digits():
    z, y = clouds(far=1000.0)
    near, _ = clouds()
    far_away = NearestMeanHead.from_features(z, y, K, transform="un")(z)
    torch.testing.assert_close(
        far_away, NearestMeanHead.from_features(near, y, K, transform="un")(near), atol=0.02, rtol=1e-3
    )


def test_repeating_a_class_moves_no_plain_mean():
    z, y = clouds()
    more, labels = torch.cat([z, *[z[y == 0]] * 9]), torch.cat([y, *[y[y == 0]] * 9])
    once = NearestMeanHead.from_features(z, y, K, transform="l2n")
    often = NearestMeanHead.from_features(more, labels, K, transform="l2n")
    torch.testing.assert_close(once(z), often(z))


def test_the_length_of_a_feature_counts_only_untransformed():
    z, y = clouds()
    for transform, alike in (("l2n", True), ("un", False)):
        head = NearestMeanHead.from_features(z, y, K, transform=transform)
        assert torch.allclose(head(z), head(3 * z), atol=1e-5) == alike


def test_the_softmax_at_a_temperature_is_the_posterior_of_round_clouds():
    z, y = clouds()
    head = NearestMeanHead.from_features(z, y, K, transform="un")
    variance = 0.8
    centres = head.means + head.centre
    density = torch.stack([torch.exp(-((z - c) ** 2).sum(dim=1) / (2 * variance)) for c in centres], dim=1)
    torch.testing.assert_close(
        (head(z) / (2 * variance)).softmax(dim=1), F.normalize(density, p=1, dim=1), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_mean_itself_is_at_distance_zero_and_never_below(transform):
    head = NearestMeanHead.from_features(*clouds(), K, transform=transform)
    own = head(head.means + head.centre) if transform == "un" else head(clouds()[0])
    assert (own <= 0).all()
    if transform == "un":
        torch.testing.assert_close(own.diagonal(), torch.zeros(K), atol=1e-5, rtol=0)


def test_state_moves_to_a_head_that_was_built_empty():
    z, y = clouds()
    full, empty = NearestMeanHead.from_features(z, y, K), NearestMeanHead(D, K)
    assert not torch.equal(full(z), empty(z))
    empty.load_state_dict(full.state_dict())
    assert torch.equal(full(z), empty(z))
    assert list(full.parameters()) == []
    assert (full.out_features, full.in_features) == (K, D)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_types_stay_close_and_zero_features_finite(dtype):
    z, y = clouds()
    head = NearestMeanHead.from_features(z, y, K)
    exact = head(z)
    found = head.to(dtype)(z.to(dtype))
    assert found.dtype == dtype
    assert (found - exact).abs().max() <= 16 * max(torch.finfo(dtype).eps, 1e-6)
    assert torch.isfinite(head(torch.zeros(2, D, dtype=dtype))).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(NearestMeanHead.from_features(z, y, K)(z), exact)


def test_compiles_exports_and_keeps_leading_axes():
    z, y = clouds()
    head = NearestMeanHead.from_features(z, y, K)
    torch.testing.assert_close(torch.compile(head, fullgraph=True, backend="eager")(z), head(z))
    program = torch.export.export(head, (z,), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.testing.assert_close(program.module()(z[:3]), head(z[:3]))
    torch.testing.assert_close(head(z.reshape(2, 30, D))[1, 4], head(z[34]))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: NearestMeanHead(D, K, transform="l2"), "unknown transform 'l2'; did you mean 'l2n'"),
        (lambda: NearestMeanHead(D, 1), "num_classes must be at least 2"),
        (lambda: NearestMeanHead.from_features(torch.zeros(3, D), torch.tensor([0, 0, 2]), 3), "class 1 has no sample"),
        (lambda: NearestMeanHead.from_features(torch.zeros(3), torch.zeros(3).long(), 2), "features must have shape"),
        (
            lambda: NearestMeanHead.from_features(torch.zeros(3, D), torch.tensor([0, 1, 5]), 2),
            "labels must be in 0..1",
        ),
    ],
)
def test_refuses_with_the_reason(make, why):
    with pytest.raises(InputError, match=why):
        make()
