"""Mirror of src/anchored/features/_depthwise.py: the gradients are those that torch computes."""

import pytest
import torch
import torch.nn.functional as F

from anchored.features._depthwise import _Depthwise, depthwise

LAYERS = [(3, 1, 1, 6, 6), (3, 2, 0, 9, 7), (5, 1, 2, 6, 4), (5, 2, 0, 11, 9), (5, 1, 2, 12, 10), (5, 2, 2, 8, 7)]


def gradients(convolution, x, weight, bias):
    leaves = [tensor.clone().requires_grad_() for tensor in (x, weight, bias)]
    out = convolution(*leaves)
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
    return [out.detach(), *torch.autograd.grad(out, leaves, weights)]


@pytest.mark.parametrize(("k", "stride", "padding", "height", "width"), LAYERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_it_is_the_convolution_of_torch_forward_and_backward(k, stride, padding, height, width, dtype):
    generator = torch.Generator().manual_seed(k)
    shapes = (3, 4, height, width), (4, 1, k, k), (4,)
    x, weight, bias = (torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes)
    x = x.to(memory_format=torch.channels_last)
    found = gradients(lambda *leaves: _Depthwise.apply(*leaves, stride, padding), x, weight, bias)
    exact = [tensor.double() for tensor in (x, weight, bias)]
    expected = gradients(lambda a, b, c: F.conv2d(a, b, c, stride, padding, groups=4), *exact)
    loose = {"atol": 1e-9, "rtol": 1e-9} if dtype == torch.float64 else {"atol": 0.15, "rtol": 0.03}
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine.double(), theirs, **loose)


def test_only_bfloat16_takes_the_other_road():
    x, weight = torch.ones(1, 2, 4, 4, requires_grad=True), torch.ones(2, 1, 3, 3)
    assert "Depthwise" not in type(depthwise(x, weight, None, 1, 1).grad_fn).__name__
    rounded = depthwise(x.bfloat16(), weight.bfloat16(), None, 1, 1)
    assert "Depthwise" in type(rounded.grad_fn).__name__
