"""Mirror of src/anchored/prototypes/_paper.py: the pseudo-code, its optimum, its seed, its refusals."""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError
from anchored.prototypes import paper, quality, simplex


def by_hand(k, d, steps, use_relu):
    """SGD with momentum, weight decay and the cosine schedule written out, with torch for the gradient only."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(k, d, generator=generator)
    w = torch.randn(k, d, generator=generator) * math.sqrt(2 / d)
    buffers = [torch.zeros(k, d), torch.zeros(k, d)]
    for step in range(steps):
        rate = 0.05 * (1 + math.cos(math.pi * step / 20_000))
        z.requires_grad_()
        w.requires_grad_()
        features = z.relu() if use_relu else z
        cosines = (features / features.norm(dim=1, keepdim=True)) @ (w / w.norm(dim=1, keepdim=True)).T
        loss = -(5 * cosines).log_softmax(dim=1).diagonal().mean()
        gradients = torch.autograd.grad(loss, [z, w])
        moved = []
        for i, (x, gradient) in enumerate(zip([z, w], gradients, strict=True)):
            buffers[i] = 0.9 * buffers[i] + gradient + 1e-4 * x.detach()
            moved.append(x.detach() - rate * buffers[i])
        z, w = moved
    return w / w.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("use_relu", [False, True])
def test_is_the_pseudo_code_with_its_rows_normalised(use_relu):
    torch.testing.assert_close(
        paper(4, 6, steps=200, use_relu=use_relu), by_hand(4, 6, 200, use_relu), atol=1e-4, rtol=0
    )


def test_rows_are_unit_although_the_raw_ones_shrink():
    assert (paper(5, 8, steps=50).double().norm(dim=1) - 1).abs().max() < 1e-7


def test_approaches_the_simplex_of_a_small_problem():
    assert quality(paper(3, 4, steps=1500)).gram_error < 5e-2


@pytest.mark.slow
def test_agrees_with_the_closed_form_s_gram_matrix():
    w, exact = paper(10, 128, steps=40_000).double(), simplex(10, 128, dtype=torch.float64)
    torch.testing.assert_close(w @ w.T, exact @ exact.T, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_use_relu_turns_the_simplex_so_that_nonnegative_features_fit_it():
    w = paper(10, 128, use_relu=True, steps=40_000).double()
    assert quality(w).gram_error < 1e-3
    z = F.normalize(w.relu(), dim=1)
    torch.testing.assert_close((z * w).sum(dim=1), torch.full((10,), math.sqrt(0.9)).double(), atol=2e-3, rtol=0)


def test_the_seed_decides_the_start():
    assert torch.equal(paper(3, 4, steps=5), paper(3, 4, steps=5, seed=0))
    assert not torch.equal(paper(3, 4, steps=5), paper(3, 4, steps=5, seed=1))


@pytest.mark.parametrize("options", [{"steps": 0}, {"steps": 2.5}, {"seed": -1}, {"scale": 0.0}])
def test_refuses_settings_that_make_no_sense(options):
    name, value = next(iter(options.items()))
    with pytest.raises(InputError, match=rf"{name} must .*got {value}"):
        paper(3, 4, **options)
