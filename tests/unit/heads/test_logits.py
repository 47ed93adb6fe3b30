"""Mirror of src/anchored/heads/_logits.py: products by a plain loop, and how little each dtype loses."""

import math

import pytest
import torch

from anchored.heads._logits import inner, shortest_length, unit, without_autocast


def by_hand(features, rows, normalize, normalize_rows=False):
    """The same products, number by number."""

    def direction(vector):
        length = max(math.sqrt(math.fsum(v * v for v in vector)), 1e-6)
        return [v / length for v in vector]

    table = []
    for z in features.tolist():
        z = direction(z) if normalize else z
        table.append(
            [
                math.fsum(a * b for a, b in zip(z, direction(w) if normalize_rows else w, strict=True))
                for w in rows.tolist()
            ]
        )
    return torch.tensor(table, dtype=torch.float64)


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    features = 3 * torch.randn(6, 5, generator=generator, dtype=torch.float64)
    return features, torch.randn(4, 5, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("normalize_rows", [False, True])
def test_agrees_with_a_plain_loop(batch, normalize, normalize_rows):
    features, rows = batch
    found = inner(features, rows, normalize=normalize, normalize_rows=normalize_rows)
    torch.testing.assert_close(found, by_hand(features, rows, normalize, normalize_rows), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("features", "rows", "result"),
    [
        (torch.bfloat16, torch.float32, torch.float32),
        (torch.float16, torch.float32, torch.float32),
        (torch.float16, torch.float16, torch.float16),
        (torch.bfloat16, torch.bfloat16, torch.bfloat16),
        (torch.float64, torch.float32, torch.float64),
        (torch.float16, torch.bfloat16, torch.float32),
    ],
)
def test_the_result_has_the_dtype_torch_promotes_to(batch, features, rows, result):
    assert inner(batch[0].to(features), batch[1].to(rows), normalize=True).dtype == result


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_rounds_once(dtype):
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(64, 512, generator=generator).to(dtype)
    rows = torch.nn.functional.normalize(torch.randn(10, 512, generator=generator), dim=1).to(dtype)
    exact = inner(features.double(), rows.double(), normalize=True)
    found = inner(features, rows, normalize=True)
    # One rounding of the result is half a unit in the last place; 1e-6 covers the float32 sums.
    assert ((found.double() - exact).abs() <= exact.abs() * torch.finfo(dtype).eps / 2 * 1.001 + 1e-6).all()


def test_autocast_leaves_float32_products_alone(batch):
    features, rows = (each.float() for each in batch)
    plain = inner(features, rows, normalize=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.mm(features, rows.T).dtype == torch.bfloat16
        inside = inner(features, rows, normalize=True)
    assert inside.dtype == torch.float32
    assert torch.equal(inside, plain)


def test_autocast_goes_on_after_the_context():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with without_autocast(torch.device("cpu")):
            assert not torch.is_autocast_enabled("cpu")
        assert torch.is_autocast_enabled("cpu")


def test_shapes_can_be_inferred_without_values():
    found = inner(torch.empty(2, 5, device="meta"), torch.empty(3, 5, device="meta"), normalize=True)
    assert found.shape == (2, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_gradient_at_zero_fits_into_its_dtype(dtype):
    zero = torch.zeros(1, 64, dtype=dtype, requires_grad=True)
    rows = unit(torch.ones(2, 64)).to(dtype)
    inner(zero, rows, normalize=True).sum().backward()
    assert torch.isfinite(zero.grad).all()
    assert zero.grad.abs().max() > 0


def test_a_vector_of_the_shortest_length_still_becomes_unit():
    shortest = shortest_length(torch.float64)
    assert unit(torch.tensor([shortest, 0.0], dtype=torch.float64)).norm() == pytest.approx(1.0, rel=1e-12)
    assert unit(torch.tensor([shortest / 2, 0.0], dtype=torch.float64)).norm() == pytest.approx(0.5, rel=1e-12)


def test_large_float16_features_do_not_overflow():
    features = torch.full((1, 256), 6e4, dtype=torch.float16)  # the sum of squares is 9e11
    rows = unit(torch.ones(2, 256)).half()
    torch.testing.assert_close(inner(features, rows, normalize=True), torch.ones(1, 2).half())


def test_nan_stays_nan():
    features = torch.tensor([[math.nan, 1.0], [1.0, 0.0]])
    found = inner(features, torch.eye(2), normalize=True)
    assert found[0].isnan().all()
    assert found[1].tolist() == [1.0, 0.0]


def test_a_wrong_length_is_torchs_error(batch):
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        inner(batch[0][:, :4], batch[1], normalize=False)
