"""Depthwise convolution whose backward pass in bfloat16 is as fast on a processor as it should be.

A depthwise convolution filters each channel by itself. Going back through one, torch falls into slow loops in
bfloat16 on a processor, up to a hundred times slower than the way forward, in two places; here both take another road:

* the gradient of the inputs, if the convolution is strided: zeros between the gradients make it an ordinary
  convolution with the kernel turned round;
* the gradient of a 5 x 5 kernel. On a small map it is read off the products of all pairs of places,
  ``sum over images x[p] g[q]``, one matrix product per channel, of which those of the same offset ``p - q`` are added;
  on a larger map it is computed in float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["depthwise"]

_SMALL_MAP = 8
"""Side of a map up to which all pairs of its places are cheaper than a loop over it."""
_FAST_KERNEL = 3
"""Size of a kernel up to which torch is fast by itself."""


def depthwise(inputs: Tensor, weight: Tensor, bias: Tensor | None, stride: int, padding: int) -> Tensor:
    """Filter each channel by its own kernel, as ``torch.nn.functional.conv2d`` with as many groups as channels.

    Args:
        inputs: ``(n, c, h, w)``.
        weight: ``(c, 1, k, k)``.
        bias: ``(c,)`` or None.
        stride: Step of the kernel.
        padding: Zeros around the inputs.

    Returns:
        ``(n, c, h', w')``.

    Example:
        >>> x, w = torch.ones(1, 2, 4, 4), torch.ones(2, 1, 3, 3)
        >>> depthwise(x, w, None, 1, 1)[0, 0]
        tensor([[4., 6., 6., 4.],
                [6., 9., 9., 6.],
                [6., 9., 9., 6.],
                [4., 6., 6., 4.]])
    """
    if inputs.dtype == torch.bfloat16 and inputs.device.type == "cpu" and torch.is_grad_enabled():
        out: Tensor = _Depthwise.apply(inputs, weight, bias, stride, padding)  # type: ignore[no-untyped-call]
        return out
    return F.conv2d(inputs, weight, bias, stride, padding, groups=inputs.shape[1])


class _Depthwise(torch.autograd.Function):
    """Forward as torch does it, backward as the module says."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, stride: int, padding: int) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(x, weight)
        ctx.stride, ctx.padding = stride, padding
        return F.conv2d(x, weight, bias, stride, padding, groups=x.shape[1])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        x, weight = ctx.saved_tensors
        of_x = _of_inputs(gradient, x, weight, ctx.stride, ctx.padding) if ctx.needs_input_grad[0] else None
        of_weight = _of_weight(gradient, x, weight, ctx.stride, ctx.padding) if ctx.needs_input_grad[1] else None
        of_bias = gradient.sum(dim=(0, 2, 3)) if ctx.needs_input_grad[2] else None
        return of_x, of_weight, of_bias, None, None


def _of_inputs(gradient: Tensor, x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    k, (height, width) = weight.shape[-1], x.shape[2:]
    spread = gradient
    if stride > 1:
        n, c, h, w = gradient.shape
        spread = gradient.new_zeros(n, h * stride, w * stride, c).permute(0, 3, 1, 2)  # channels innermost
        spread[:, :, ::stride, ::stride] = gradient
    turned = weight.flip(2, 3)
    full = F.conv2d(spread, turned, None, 1, k - 1 - padding if stride == 1 else k - 1, groups=x.shape[1])
    if stride == 1:
        return full
    inside = full[:, :, padding : padding + height, padding : padding + width]
    missing = height - inside.shape[2], width - inside.shape[3]
    return F.pad(inside, (0, missing[1], 0, missing[0])) if any(missing) else inside


def _of_weight(gradient: Tensor, x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    k = weight.shape[-1]
    if k > _FAST_KERNEL and max(gradient.shape[2:]) <= _SMALL_MAP:
        return _by_pairs(gradient, x, k, stride, padding).to(weight.dtype)
    kind = torch.promote_types(weight.dtype, torch.float32) if k > _FAST_KERNEL else weight.dtype
    steps, around = [stride, stride], [padding, padding]
    ways = (steps, around, [1, 1], False, [0, 0], x.shape[1], [False, True, False])
    found: Tensor = torch.ops.aten.convolution_backward(gradient.to(kind), x.to(kind), weight.to(kind), None, *ways)[1]
    return found.to(weight.dtype)


def _by_pairs(gradient: Tensor, x: Tensor, k: int, stride: int, padding: int) -> Tensor:
    """Add the products of all pairs of places by their offset."""
    n, c, h, w = x.shape
    places = x.permute(1, 2, 3, 0).reshape(c, h * w, n)
    answers = gradient.permute(1, 0, 2, 3).reshape(c, n, -1)
    pairs = torch.bmm(places, answers).flatten(1)
    pairs = pairs.to(torch.promote_types(pairs.dtype, torch.float32))
    offsets = _offsets(h, w, *gradient.shape[2:], k, stride, padding).to(x.device)
    taps = pairs.new_zeros(c, k * k + 1).index_add_(1, offsets, pairs)
    return taps[:, :-1].reshape(c, 1, k, k)


@cache
def _offsets(h: int, w: int, h_out: int, w_out: int, k: int, stride: int, padding: int) -> Tensor:
    """Which tap of the kernel joins each pair of places ``(h * w * h' * w',)``; ``k * k`` if none does."""
    down = torch.arange(h)[:, None] - (stride * torch.arange(h_out) - padding)[None]
    across = torch.arange(w)[:, None] - (stride * torch.arange(w_out) - padding)[None]
    row, column = down[:, None, :, None], across[None, :, None, :]
    inside = (row >= 0) & (row < k) & (column >= 0) & (column < k)
    return torch.where(inside, row * k + column, k * k).flatten()
