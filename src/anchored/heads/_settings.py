"""Settings that decide logits, kept in buffers: a state dict then says all that a head needs to give its logits.

``head.scale`` reads and is assigned like any attribute. Its value is in the buffer ``saved_scale``, which the forward
pass uses, so it is saved, moved, broadcast and restored by everything that knows tensors. The buffer is float64 in a
double-precision head and float32 in all others, half precision included, because a scale rounded to bfloat16 would be
off by up to 0.4 %.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, cast, overload

import torch
from torch import Tensor, nn

__all__ = ["Choice", "Flag", "KeepsSettings", "Number", "Setting", "complete_settings"]

T = TypeVar("T")


class Setting(Generic[T]):
    """A value of a module that is read and assigned like an attribute and kept in a buffer: ``saved_NAME = value``.

    Args:
        decides_logits: Whether a state dict without it leaves the logits open, which is worth a warning.
    """

    def __init__(self, *, decides_logits: bool = True) -> None:
        self.decides_logits = decides_logits

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.buffer, self.exact = name, f"saved_{name}", f"_exact_{name}"

    @overload
    def __get__(self, module: None, owner: type) -> Self: ...
    @overload
    def __get__(self, module: nn.Module, owner: type) -> T: ...
    def __get__(self, module: nn.Module | None, owner: type) -> "Self | T":
        if module is None:
            return self
        kept = module.__dict__.get("_buffers", {}).get(self.buffer)
        if kept is None:
            raise AttributeError(f"{type(module).__name__} has no {self.name} yet")
        exact = cast(T, module.__dict__.get(self.exact))
        # The buffer decides: a loader may have written to it. The exact value only adds the digits it has no room for.
        if kept.is_meta or torch.equal(kept, self.encode(exact, kept.dtype).to(kept.device)):
            return exact
        return self.decode(kept)

    def __set__(self, module: nn.Module, value: T) -> None:
        module.__dict__[self.exact] = checked = self.check(value)
        kept = module._buffers.get(self.buffer)
        if kept is None:
            module.register_buffer(self.buffer, self.encode(checked, self.dtype_for(torch.get_default_dtype())))
        elif not kept.is_meta:
            with torch.no_grad():
                kept.copy_(self.encode(checked, kept.dtype))  # in place: DDP and compiled graphs hold the tensor

    def check(self, value: object) -> T:
        """Return the value as it is kept, or refuse it."""
        raise NotImplementedError

    def encode(self, value: T, dtype: torch.dtype) -> Tensor:
        """Return the value as a tensor ``()`` of ``dtype``."""
        raise NotImplementedError

    def decode(self, kept: Tensor) -> T:
        """Return the value of a tensor ``()`` that was read from a file."""
        raise NotImplementedError

    def dtype_for(self, dtype: torch.dtype) -> torch.dtype:
        """Return the type of the buffer in a module of ``dtype``."""
        raise NotImplementedError


class Number(Setting[float]):
    """A setting that is a real number; float32 keeps it to ``|s' - s| <= 6e-8 s``.

    Args:
        check: Takes name and value, and returns the value as a float or refuses it.
    """

    def __init__(self, check: Callable[[str, object], float]) -> None:
        super().__init__()
        self.checked = check

    def check(self, value: object) -> float:
        """Return the number if it is allowed."""
        return self.checked(self.name, value)

    def encode(self, value: float, dtype: torch.dtype) -> Tensor:
        """Return the number, rounded to ``dtype``."""
        return torch.tensor(value, dtype=dtype)

    def decode(self, kept: Tensor) -> float:
        """Return the shortest decimal that rounds to what was kept: 0.3, not 0.30000001192092896."""
        value = kept.double().item()
        for digits in range(1, 17):
            short = float(f"{value:.{digits}g}")
            if torch.tensor(short, dtype=kept.dtype).double().item() == value:
                return short
        return value

    def dtype_for(self, dtype: torch.dtype) -> torch.dtype:
        """Return float64 for float64, else float32."""
        return torch.float64 if dtype == torch.float64 else torch.float32


class Flag(Setting[bool]):
    """A setting that is true or false."""

    def check(self, value: object) -> bool:
        """Return the value as a bool."""
        return bool(value)

    def encode(self, value: bool, dtype: torch.dtype) -> Tensor:
        """Return the flag as a bool tensor."""
        return torch.tensor(value, dtype=torch.bool)

    def decode(self, kept: Tensor) -> bool:
        """Return the flag."""
        return bool(kept)

    def dtype_for(self, dtype: torch.dtype) -> torch.dtype:
        """Return bool."""
        return torch.bool


class Choice(Setting[str]):
    """A setting that is one of a few words; its place among them is kept as int64.

    Args:
        words: The words, in an order that never changes.
    """

    def __init__(self, *words: str) -> None:
        super().__init__(decides_logits=False)
        self.words = words

    def check(self, value: object) -> str:
        """Return the word, which must be one of those given."""
        return self.words[self.words.index(str(value))]

    def encode(self, value: str, dtype: torch.dtype) -> Tensor:
        """Return the place of the word."""
        return torch.tensor(self.words.index(value))

    def decode(self, kept: Tensor) -> str:
        """Return the word at the place that was kept; the first one if a later version knows more."""
        place = int(kept)
        return self.words[place if 0 <= place < len(self.words) else 0]

    def dtype_for(self, dtype: torch.dtype) -> torch.dtype:
        """Return int64."""
        return torch.int64


class KeepsSettings(nn.Module):
    """A module with :class:`Setting` attributes, which it saves, and restores from files that lack some of them."""

    @classmethod
    def settings(cls) -> "Iterator[Setting[Any]]":
        """Yield the settings of the class."""
        for kind in cls.__mro__:
            yield from (value for value in vars(kind).values() if isinstance(value, Setting))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        values = {each: getattr(self, each.name) for each in self.settings()}
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        floats = [kept.dtype for name, kept in self._buffers.items() if kept is not None and kept.is_floating_point()]
        for each, value in values.items():
            kept = self._buffers[each.buffer]
            assert kept is not None
            wanted = each.dtype_for(torch.float64 if floats and set(floats) == {torch.float64} else torch.float32)
            if kept.dtype != wanted:
                self._buffers[each.buffer] = each.encode(value, wanted).to(kept.device)
            setattr(self, each.name, value)  # what was moved may have lost digits, or its value on the way by meta
        return self

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *others: Any) -> None:  # noqa: ANN401  # torch leaves them untyped
        own = set(self._buffers) | set(self._parameters)
        if any(prefix + name in state_dict for name in own):
            absent = [each for each in self.settings() if prefix + each.buffer not in state_dict]
            state_dict = {**state_dict, **{prefix + each.buffer: self._buffers[each.buffer] for each in absent}}
            assumed = [f"{each.name}={getattr(self, each.name)!r}" for each in absent if each.decides_logits]
            if assumed:
                where = f"{type(self).__name__} {prefix.rstrip('.')!r}" if prefix else type(self).__name__
                warnings.warn(
                    f"{where}: the file says nothing about {' and '.join(assumed)}, the values of the head that it is "
                    f"loaded into, which are kept; files of version 0.1.0 lack them, so check that they are those of "
                    f"the training",
                    stacklevel=2,
                )
        super()._load_from_state_dict(state_dict, prefix, *others)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # as above
        for each in self.settings():  # a pickle of version 0.1.0 has the value itself
            if each.name in self.__dict__:
                setattr(self, each.name, self.__dict__.pop(each.name))


def complete_settings(state: Mapping[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """Add to a state dict what a file of version 0.1.0 lacks, from a model that was built with the right settings.

    A run folder says in its configuration how its heads are built, so nothing has to be assumed when its weights are
    loaded.

    Args:
        state: The state dict.
        model: The model that it will be loaded into.

    Returns:
        The state dict with ``saved_scale`` and the like for each head that has other entries in it.

    Example:
        >>> from anchored.heads import AnchoredHead
        >>> head = AnchoredHead(4, 3, scale=5.0)
        >>> complete_settings({"prototypes": head.prototypes}, head)["saved_scale"]
        tensor(5.)
    """
    complete = dict(state)
    for name, module in model.named_modules():
        if isinstance(module, KeepsSettings):
            prefix = f"{name}." if name else ""
            if any(prefix + own in state for own in {*module._buffers, *module._parameters}):
                for each in module.settings():
                    kept = module._buffers[each.buffer]
                    assert kept is not None
                    complete.setdefault(prefix + each.buffer, kept)
    return complete
