"""The state of a training run in one file: tensors and, in the header, JSON. No pickle, one atomic write.

A checkpoint holds the model, the moving average, the optimiser, the position (epoch and batch), the
sums of the epoch under way, the history, and the generator that layers such as dropout draw from.
All else (order, augmentation, noise) is a function of the seed and the position, so it needs no state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from anchored._errors import InputError
from anchored._files import parse_json, read_tensors, write_atomically

__all__ = ["Checkpoint", "load_optimizer", "optimizer_state"]

_FORMAT = "anchored-checkpoint-1"
ANEW = "remove the run's folder, and start the run again"
"""The way out if a checkpoint is damaged."""


@dataclass
class Checkpoint:
    """Tensors by name, and facts that JSON can hold.

    Attributes:
        tensors: Tensors by name, such as ``model.head.weight``.
        facts: Plain values: position, history, settings of the optimizer.

    Example:
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "last.safetensors")
        >>> Checkpoint({"x": torch.ones(2)}, {"epoch": 3}).save(path)
        >>> Checkpoint.load(path).facts
        {'epoch': 3}
    """

    tensors: dict[str, Tensor]
    facts: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | Path) -> None:
        """Write the file; a crash at any moment leaves the previous one."""
        # Two names for one storage are refused by the format; a copy of each is what a checkpoint means anyway.
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in self.tensors.items()}
        header = {"format": _FORMAT, "facts": json.dumps(self.facts, allow_nan=False)}
        write_atomically(path, lambda temporary: save_file(tensors, temporary, metadata=header))

    @classmethod
    def load(cls, path: str | Path) -> Checkpoint:
        """Read a file written by :meth:`save`.

        Raises:
            InputError: It is no checkpoint, or damaged.
        """
        found = read_tensors(path, way_out=ANEW)
        if found.header.get("format") != _FORMAT:
            raise InputError(f"{path} is not a checkpoint of anchored; {ANEW}")
        facts = parse_json(found.header.get("facts", ""), where=f"the header of {path}", way_out=ANEW)
        return cls(found.tensors, facts)

    def part(self, prefix: str) -> dict[str, Tensor]:
        """Return the tensors whose names begin with ``prefix.``, under their names without it."""
        start = f"{prefix}."
        return {name[len(start) :]: tensor for name, tensor in self.tensors.items() if name.startswith(start)}


def optimizer_state(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Take the state of an optimizer apart: tensors by name, and the settings of its groups."""
    state = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    for index, slots in state["state"].items():
        for slot, value in slots.items():
            if value is not None:
                tensors[f"{index}.{slot}"] = value if isinstance(value, Tensor) else torch.tensor(value)
    return tensors, state["param_groups"]


def load_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], groups: list[dict[str, Any]]
) -> None:
    """Give an optimizer the state that :func:`optimizer_state` took apart.

    Args:
        optimizer: The optimizer, over the same parameters; it is changed in place.
        tensors: Its tensors by name.
        groups: The settings of its groups.

    Example:
        >>> weight = torch.nn.Parameter(torch.ones(2))
        >>> weight.grad = torch.ones(2)
        >>> first = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        >>> _ = first.step()
        >>> second = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        >>> load_optimizer(second, *optimizer_state(first))
        >>> second.state[weight]["momentum_buffer"]
        tensor([1., 1.])
    """
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, slot = name.split(".", 1)
        state.setdefault(int(index), {})[slot] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    for parameter, slots in optimizer.state.items():
        for slot, value in slots.items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                # In the parameter's memory order, as before: strided arithmetic may round differently.
                slots[slot] = torch.empty_like(parameter, dtype=value.dtype).copy_(value).detach()
