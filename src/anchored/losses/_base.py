r"""The base of all losses: a row with one entry per label that the sample might have.

.. math::  \ell(\mathbf f) = (\ell(\mathbf f, 1), \dots, \ell(\mathbf f, k)), \qquad \mathbf f \in \mathbb R^k.

The value at a label is an entry of the row, the value at a soft label its expectation, symmetry a
statement about its sum. Alphabet: ``n`` samples, ``k`` classes, ``p = softmax(logits)``.

No loss reads the values of logits or targets on the host: a training step neither waits for the device nor breaks the
graph of the compiler. Shapes and dtypes are checked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._names import suggest

if TYPE_CHECKING:
    from anchored.losses.combination import Sum

__all__ = ["LabelledLogits", "Loss", "Options", "Reduction", "Weight"]

Reduction = Literal["mean", "sum", "none"]
Weight = Tensor | Sequence[float] | None

_REDUCTIONS = ["mean", "sum", "none"]


class Options(TypedDict, total=False):
    """The keyword arguments that every loss takes; :class:`Loss` documents them."""

    weight: Weight
    reduction: Reduction
    ignore_index: int


class LabelledLogits:
    """Logits with their integer labels, and what several terms of a sum share instead of computing it again."""

    def __init__(self, logits: Tensor, target: Tensor, ignore_index: int) -> None:
        self.logits = logits
        self.target = target
        self.ignore_index = ignore_index
        self.kept = target != ignore_index
        """``(n,)`` bool: whose label counts."""
        self.labels = torch.where(self.kept, target, 0)
        """``(n,)``: the labels, with 0 in place of an ignored one, so that they can index."""
        self._log_p: Tensor | None = None
        self._own_log_p: Tensor | None = None

    # By hand and not by functools.cached_property, whose lock (in Python 3.11) torch.compile cannot follow.

    @property
    def log_p(self) -> Tensor:
        """Log-probabilities ``(n, k)``."""
        if self._log_p is None:
            self._log_p = F.log_softmax(self.logits, dim=1)
        return self._log_p

    @property
    def own_log_p(self) -> Tensor:
        """The log-probability ``(n,)`` of each label; 0 for an ignored one."""
        if self._own_log_p is None:
            self._own_log_p = -F.nll_loss(self.log_p, self.target, reduction="none", ignore_index=self.ignore_index)
        return self._own_log_p

    def entries(self, row: Tensor) -> Tensor:
        """Return the entries ``(n,)`` of ``row`` ``(n, k)`` at the labels."""
        return row.gather(1, self.labels[:, None]).squeeze(1)


class Loss(nn.Module, ABC):
    r"""A map from logits to the row of its values over all labels.

    .. math::  \ell(\mathbf f) = (\ell(\mathbf f, 1), \dots, \ell(\mathbf f, k)), \qquad
               \ell(\mathbf f, \mathbf t) = \sum_{j=1}^{k} t_j\, \ell(\mathbf f, j) \quad\text{for soft } \mathbf t.

    A subclass writes :meth:`per_class`; values at labels, at soft labels, class weights, reduction
    and ignored labels follow. Losses add, and can be multiplied by a number:
    ``10 * Normalized(CrossEntropy()) + 0.1 * ReverseCrossEntropy()`` is a loss again.

    The three arguments below are options of every loss.

    Args:
        weight: One factor per class, ``(k,)``. As in ``torch.nn.CrossEntropyLoss`` the mean over
            integer labels is then divided by the sum of the weights picked, the mean over soft
            labels by ``n``. It is a buffer that is not saved; assign to it to change it.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        ignore_index: The label of samples to leave out.

    Shape:
        logits ``(n, k)``; bfloat16 and float16 are computed, and returned, in float32.
        target ``(n,)`` int64, or ``(n, k)`` probabilities. Out ``()``, or ``(n,)`` for ``"none"``.
        Dense prediction as in torch: logits ``(n, k, h, w)``, or any number of axes after the classes, with target
        ``(n, h, w)`` or ``(n, k, h, w)``; every pixel is a sample. Out ``()``, or ``(n, h, w)`` for ``"none"``.

    Example:
        The squared hinge on the margin to each class, as a loss of one's own:

        >>> import torch
        >>> class SquaredHinge(Loss):
        ...     def per_class(self, logits):
        ...         return (1 - logits).clamp(min=0).square()
        >>> (0.5 * SquaredHinge(reduction="none"))(torch.tensor([[0.0, 3.0]]), torch.tensor([0]))
        tensor([0.5000])
    """

    symmetric: bool = False
    """Whether the row has the same sum at all logits; then uniform label noise does not move the minimiser."""
    bounded: bool = False
    """Whether, for a given ``k``, no value exceeds a bound however large the logits."""
    shift_invariant: bool = True
    """Whether adding one number to all logits of a sample changes nothing."""
    nonnegative: bool = True
    """Whether no value is below zero."""

    _shown: ClassVar[str] = ""
    """Format of a subclass's own settings in its ``repr``, for instance ``"scale={self.scale:g}"``."""

    weight: Tensor | None

    def __init__(self, *, weight: Weight = None, reduction: Reduction = "mean", ignore_index: int = -100) -> None:
        super().__init__()
        if reduction not in _REDUCTIONS:
            raise InputError(f"unknown reduction {reduction!r}; {suggest(str(reduction), _REDUCTIONS)}")
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise InputError(f"ignore_index must be a whole number, got {ignore_index!r}")
        self.register_buffer("weight", None if weight is None else check_weight(weight), persistent=False)
        self.reduction: Reduction = reduction
        self.ignore_index = ignore_index

    @abstractmethod
    def per_class(self, logits: Tensor) -> Tensor:
        """Return values ``(n, k)``: entry ``[i, j]`` is the loss of sample ``i`` if its label were ``j``."""

    def pointwise(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each sample, neither weighted nor reduced.

        Args:
            logits: Logits ``(n, k)``, or ``(n, k, ...)``.
            target: Labels ``(n,)``, int64, or probabilities ``(n, k)``; ``(n, ...)`` or ``(n, k, ...)`` if dense.

        Returns:
            Values ``(n,)`` at the labels, 0 for an ignored one; the expectation of the row under probabilities. If
            dense, ``(n, ...)``.

        Example:
            >>> from anchored.losses import CrossEntropy
            >>> CrossEntropy().pointwise(torch.zeros(2, 4), torch.tensor([2, -100]))
            tensor([1.3863, 0.0000])
        """
        _check_tensors(logits, target)
        if logits.ndim > 2:
            return self.pointwise(*_pixels_as_samples(logits, target)).reshape(_places(logits))
        logits = self._checked(logits, target)
        if target.is_floating_point():
            return self._over(logits, target.to(logits.dtype))
        batch = LabelledLogits(logits, target, self.ignore_index)
        return torch.where(batch.kept, self._at(batch), 0.0)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of the batch, weighted and reduced.

        Args:
            logits: Logits ``(n, k)``, or ``(n, k, ...)``.
            target: Labels ``(n,)``, int64, or probabilities ``(n, k)``; ``(n, ...)`` or ``(n, k, ...)`` if dense.

        Returns:
            A scalar ``()``, or ``(n,)`` (``(n, ...)`` if dense) if the reduction is ``"none"``.

        Raises:
            InputError: If shapes or dtypes do not fit.

        Example:
            >>> from anchored.losses import CrossEntropy
            >>> CrossEntropy(weight=[1.0, 3.0])(torch.zeros(2, 2), torch.tensor([0, 1]))
            tensor(0.6931)
        """
        _check_tensors(logits, target)
        if logits.ndim > 2:
            values = self.forward(*_pixels_as_samples(logits, target))
            return values.reshape(_places(logits)) if self.reduction == "none" else values
        if target.is_floating_point():
            mass = target if self.weight is None else target * self._weight_for(logits)
            return self._reduced(self.pointwise(logits, mass))
        values = self.pointwise(logits, target)
        kept = target != self.ignore_index
        share = kept.to(values.dtype)
        if self.weight is not None:
            share = share * self._weight_for(logits).to(values.dtype)[torch.where(kept, target, 0)]
            values = values * share
        return self._reduced(values, share)

    def activation(self, logits: Tensor) -> Tensor:
        """Return probabilities ``(n, k)`` of logits ``(n, k)``: their softmax. fastai and skorch ask a loss for it.

        Example:
            >>> from anchored.losses import CrossEntropy
            >>> CrossEntropy().activation(torch.zeros(1, 4))
            tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
        """
        return in_single_precision(logits).softmax(dim=1)

    def decodes(self, logits: Tensor) -> Tensor:
        """Return the most probable labels ``(n,)`` of logits ``(n, k)``, under the name that fastai uses.

        Example:
            >>> from anchored.losses import CrossEntropy
            >>> CrossEntropy().decodes(torch.eye(3)[[2, 0]])
            tensor([2, 0])
        """
        return logits.argmax(dim=1)

    def __add__(self, other: object) -> Sum:
        from anchored.losses.combination import Sum  # a Sum is a Loss, so it cannot be imported above

        return Sum(self, other) if isinstance(other, Loss) else NotImplemented

    def __mul__(self, factor: object) -> Sum:
        from anchored.losses.combination import Sum

        return Sum(self, factors=(factor,)) if isinstance(factor, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def extra_repr(self) -> str:
        """Return the settings of the subclass, and the options that differ from the defaults."""
        parts = [self._shown.format(self=self)] if self._shown else []
        parts += [] if self.reduction == "mean" else [f"reduction={self.reduction!r}"]
        parts += [] if self.ignore_index == -100 else [f"ignore_index={self.ignore_index}"]
        return ", ".join(parts)

    # A subclass may replace these three if there is a shorter way than through the whole row.

    def _at(self, batch: LabelledLogits) -> Tensor:
        """Return values ``(n,)`` at integer labels; what stands at ignored ones does not matter."""
        return batch.entries(self.per_class(batch.logits))

    def _over(self, logits: Tensor, mass: Tensor) -> Tensor:
        """Return values ``(n,)``: the row summed with ``mass`` ``(n, k)``, probabilities times class weights."""
        return (mass * self.per_class(logits)).sum(dim=1)

    def _total(self, batch: LabelledLogits) -> Tensor:
        """Return the sum ``(n,)`` of each row."""
        return self.per_class(batch.logits).sum(dim=1)

    def _reduced(self, values: Tensor, share: Tensor | None = None) -> Tensor:
        if self.reduction == "none":
            return values
        if self.reduction == "sum":
            return values.sum()
        # An empty or wholly ignored batch has no mean: 0 / 0 is NaN here, as it is in torch.
        return values.mean() if share is None else values.sum() / share.sum()

    def _weight_for(self, logits: Tensor) -> Tensor:
        assert self.weight is not None
        if self.weight.shape != logits.shape[1:]:
            shapes = f"got {tuple(self.weight.shape)} for logits {tuple(logits.shape)}"
            raise InputError(f"weight must hold one factor per class: {shapes}")
        return self.weight

    def _checked(self, logits: Tensor, target: Tensor) -> Tensor:
        """Check shapes and dtypes, and return ``logits`` in at least single precision."""
        shapes = f"got target {tuple(target.shape)} {target.dtype} for logits {tuple(logits.shape)} {logits.dtype}"
        if logits.ndim != 2 or not logits.is_floating_point():
            raise InputError(f"logits must be a floating point tensor (n, k) or (n, k, ...): {shapes}")
        if target.is_floating_point():
            if target.shape != logits.shape:
                raise InputError(f"probabilities must have the shape of the logits: {shapes}; labels must be int64")
            if self.ignore_index >= 0:
                raise InputError(
                    f"ignore_index={self.ignore_index} names a label, but the target holds probabilities: {shapes}; "
                    f"drop those rows, or give int64 labels"
                )
        elif target.ndim != 1 or target.shape[0] != logits.shape[0] or target.dtype != torch.int64:
            raise InputError(
                f"target must hold one int64 label per row of logits, or probabilities (n, k): {shapes}; "
                f"one-hot rows need a floating point dtype"
            )
        return in_single_precision(logits)


def _places(logits: Tensor) -> tuple[int, ...]:
    """Return the shape ``(n, ...)`` of the samples in dense logits ``(n, k, ...)``."""
    return (logits.shape[0], *logits.shape[2:])


def _pixels_as_samples(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits ``(m, k)`` and target ``(m,)`` or ``(m, k)``, a row per pixel; refuse shapes that do not fit."""
    soft = target.is_floating_point()
    wanted = tuple(logits.shape) if soft else _places(logits)
    if tuple(target.shape) != wanted:
        kind = "probabilities" if soft else "labels"
        raise InputError(
            f"dense logits (n, k, ...) need {kind} of shape {wanted}: got target {tuple(target.shape)} {target.dtype} "
            f"for logits {tuple(logits.shape)}; if the classes are on the last axis, move them by logits.movedim(-1, 1)"
        )

    def rows(values: Tensor) -> Tensor:
        return values.movedim(1, -1).flatten(0, -2)

    return rows(logits), rows(target) if soft else target.flatten()


def _check_tensors(logits: object, target: object) -> None:
    for name, given in (("logits", logits), ("target", target)):
        if not isinstance(given, Tensor):
            raise InputError(f"{name} must be a torch.Tensor, got {type(given).__name__}; try torch.as_tensor")


def in_single_precision(logits: Tensor) -> Tensor:
    """Return half precision as float32, everything else as it is.

    A log-probability near 0 and a sum over thousands of classes both need more than bfloat16's eight
    bits; autocast makes the same choice for ``F.cross_entropy`` on accelerators.
    """
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits


def check_weight(weight: Tensor | Sequence[float]) -> Tensor:
    """Return class weights ``(k,)`` as a floating point tensor; refuse infinite and negative ones."""
    given = torch.as_tensor(weight)
    given = given.detach().clone() if given.is_floating_point() else given.to(torch.get_default_dtype())
    if given.ndim != 1 or not bool(torch.isfinite(given).all()) or bool((given < 0).any()):
        raise InputError(
            f"weight must be a flat sequence of k finite factors that are not negative, got {weight!r}"
            if given.numel() <= 10
            else f"weight must be k finite factors that are not negative, got shape {tuple(given.shape)} "
            f"with values from {given.min().item():g} to {given.max().item():g}"
        )
    return given
