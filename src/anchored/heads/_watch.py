"""The sign of the features, seen in the first batches: prototypes that fit it are made before training matters.

What the structure of a model does not tell, its features do. One negative entry proves them signed. Without one, they
come out of a ReLU if sixteen of their d columns have positive entries (signs by chance fall so once in 2^16 times; the
samples of one column are no independent draws), or if many entries are exactly 0. An undecided head then gets
prototypes for non-negative features before it gives its first logits; a head that was told something else warns.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from anchored.prototypes import make

if TYPE_CHECKING:
    from anchored.heads.anchored import AnchoredHead

__all__ = ["SignWatch", "sign_of"]

BATCHES = 8
ENOUGH = 16


def sign_of(features: Tensor) -> Literal["signed", "nonnegative"] | None:
    """Return the sign of features ``(..., d)``, or None if they do not tell, or hold a NaN.

    They are non-negative if ``min z >= 0`` and either 16 columns hold a positive entry or 16 entries are positive and
    16 exactly 0.

    Example:
        >>> sign_of(torch.tensor([1.0, -0.1])), sign_of(torch.ones(2, 32)), sign_of(torch.ones(99, 3))
        ('signed', 'nonnegative', None)
    """
    if features.numel() == 0:
        return None
    rows = features.detach().reshape(-1, features.shape[-1])
    lowest = rows.amin().item()
    if lowest < 0:
        return "signed"
    positive = rows > 0
    by_columns = int(positive.any(dim=0).sum()) >= ENOUGH
    by_zeros = min(int(positive.sum()), int((rows == 0).sum())) >= ENOUGH
    return "nonnegative" if lowest >= 0 and (by_columns or by_zeros) else None


class SignWatch:
    """Looks at the features of the first batches and compares them with what the prototypes were made for.

    Args:
        head: The head to watch.
        name: Its name in the model, for messages.
        may_change: Whether the prototypes may be made again for the sign that is seen.
        generator_state: State of the generator that the prototypes were drawn from; None for the default one.
    """

    def __init__(self, head: AnchoredHead, name: str, *, may_change: bool, generator_state: Tensor | None) -> None:
        self.name = name
        self.may_change = may_change
        self.generator_state = generator_state
        self.batches = BATCHES
        self.made = head.prototypes.clone()

    def look(self, head: AnchoredHead, features: Tensor) -> None:
        """Look at one batch, if its values can be read; after the first few, stop watching.

        Args:
            head: The head that is watched.
            features: The features ``(..., d)`` that it was given.
        """
        if _is_traced(head, features):
            return
        try:
            sign = sign_of(features)
        except RuntimeError:  # under vmap, and on fake tensors, there is no value to read
            return
        self.batches -= 1
        if self.batches == 0:
            head.watch = None
        if sign is None:
            return
        if sign == head.features:
            head.sign_known_by = "seen in the first batches" if head.sign_known_by == "assumed" else head.sign_known_by
            if sign == "signed":  # one negative entry is a proof, a batch without one is not
                head.watch = None
        elif self.may_change and sign == "nonnegative" and self._untouched(head) and not _several_processes():
            self._make_again(head)
        else:
            head.watch = None
            warnings.warn(self._warning(head, sign), stacklevel=2)

    def _untouched(self, head: AnchoredHead) -> bool:
        """Return whether the prototypes are still those that were made, and not those of a file."""
        own = head.prototypes
        return own.shape == self.made.shape and torch.equal(own, self.made.to(own.device, own.dtype))

    def _make_again(self, head: AnchoredHead) -> None:
        generator = torch.Generator()
        if self.generator_state is None:
            generator.manual_seed(0)
        else:
            generator.set_state(self.generator_state)
        rows = make(head.num_classes, head.in_features, features="nonnegative", generator=generator)
        with torch.no_grad():
            head.prototypes.copy_(rows)
        head.features, head.sign_known_by = "nonnegative", "seen in the first batches"
        self.may_change, self.made = False, rows

    def _warning(self, head: AnchoredHead, sign: str) -> str:
        if sign == "signed":
            seen, so = "have negative entries", "which leave part of the space unused"
        else:
            seen, so = "are never negative in the first batches", "towards some of which they cannot turn"
        return (
            f"layer {self.name!r}: the features {seen}, but its prototypes are those for {head.features} features, "
            f"{so}; use anchor_(model, features={sign!r}), or anchor_(model, example=batch), before training"
        )


def _is_traced(head: AnchoredHead, features: object) -> bool:
    """Return whether what happens is recorded instead of computed, or the head is a copy that is thrown away."""
    return (
        not isinstance(features, Tensor)  # a proxy of torch.fx
        or torch.compiler.is_compiling()
        or torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]  # torch shows it without saying so
        or features.is_meta
        or getattr(head, "_is_replica", False)  # of nn.DataParallel
    )


def _several_processes() -> bool:
    """Return whether other processes hold the same head, and might see another sign."""
    group = torch.distributed
    return group.is_available() and group.is_initialized() and group.get_world_size() > 1
