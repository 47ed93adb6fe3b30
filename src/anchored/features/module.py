"""Any torch module as an encoder, for those who have a network of their own."""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.photos import PhotoEncoder, PhotoView
from anchored.features.stream import BatchedEncoder

__all__ = ["ModuleEncoder", "from_module"]


class ModuleEncoder(PhotoEncoder):
    """A module of the user's on images or vectors. Made by :func:`from_module`."""

    name = "module:own"
    kind: ClassVar[str] = "any"

    def __init__(self, module: nn.Module, view: PhotoView, *, precision: str, batch_size: int) -> None:
        super().__init__(module, view, precision=precision)
        self.batch_size = batch_size
        self._dim: int | None = None
        self._vector_length: int | None = None

    @property
    def fitted(self) -> bool:
        """Whether the length of vectors, or size and range of images, are settled."""
        return self._vector_length is not None or super().fitted

    @property
    def dim(self) -> int:
        """Number of features, found by one pass of zeros."""
        if self._dim is None:
            if not self.fitted:
                raise InputError("the number of features of a module is known after fit; call fit with the inputs")
            images = (3, self.view.height or 0, self.view.width or 0)
            shape = images if self._vector_length is None else (self._vector_length,)
            with torch.inference_mode():
                out = self.embed(torch.zeros(self.batch_size, *shape))
            if out.ndim != 2 or len(out) != self.batch_size:
                raise InputError(f"the module must answer features (n, d), got {tuple(out.shape)}; append nn.Flatten()")
            self._dim = out.shape[1]
        return self._dim

    def fit(self, inputs: Inputs) -> Self:
        """Settle size and range of images, or the length of vectors."""
        if self.fitted or len(inputs.shape) != 1:
            return super().fit(inputs)
        other = copy.copy(self)
        other._vector_length = inputs.shape[0]
        return other

    def transform(self, inputs: Inputs) -> Tensor:
        """Run the module on images or vectors."""
        if not self.fitted:
            return self.fit(inputs).transform(inputs)
        return super().transform(inputs) if self._vector_length is None else BatchedEncoder.transform(self, inputs)

    def prepare(self, inputs: Inputs, index: Tensor) -> Tensor:
        """Take vectors as they are, images as the view shows them.

        Args:
            inputs: Vectors or images.
            index: Row numbers ``(b,)``.

        Returns:
            Vectors ``(b, d)`` or pixels ``(b, 3, h, w)``.
        """
        return super().prepare(inputs, index) if self._vector_length is None else inputs.take(index)

    def embed(self, prepared: Tensor) -> Tensor:
        """Run the module; vectors are not normalised."""
        if self._vector_length is None:
            return super().embed(prepared)
        runner = self._runner
        like = next(runner.parameters(), torch.empty(0))
        features: Tensor = runner(prepared.to(device=like.device, dtype=like.dtype))
        return features.to(device="cpu", dtype=torch.float32)

    def _about(self) -> dict[str, Any]:
        code = {_code_of(type(part)) for part in self.network.modules()}
        return {"module": hashlib.sha256("\x1f".join([repr(self.network), *sorted(code)]).encode()).hexdigest()}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> NoReturn:
        """Refuse: a module of the user's is code, which is never loaded from a file.

        Args:
            about: Not used.
            tensors: Not used.

        Raises:
            InputError: Always; make the module again and load ``tensors`` into it.
        """
        raise InputError(
            "an encoder from a module of your own cannot be made from a file; make the module, load its weights with "
            "load_state_dict, and call features.from_module again"
        )


_THIS_PROCESS = os.urandom(16).hex()


def _code_of(kind: type[nn.Module]) -> str:
    """What a class of modules computes, as far as that can be told: its source, or the version of torch."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind.__module__.partition(".")[0] == "torch":
        return f"{name} {torch.__version__}"
    try:
        return f"{name} {inspect.getsource(kind)}"
    except (OSError, TypeError):  # typed at a prompt: another process cannot know whether it has the same one
        return f"{name} {_THIS_PROCESS}"


def from_module(
    module: nn.Module,
    *,
    size: tuple[int, int] | None = None,
    mean: Sequence[float] = (127.0, 127.0, 127.0),
    std: Sequence[float] = (128.0, 128.0, 128.0),
    precision: str = "float32",
    batch_size: int = 16,
) -> ModuleEncoder:
    """Use a torch module as an encoder.

    The cache knows a module by its weights and the source of its classes. If functions that these call have changed,
    encode with ``cache=False``.

    Args:
        module: Maps images ``(n, 3, h, w)``, normalised, or vectors ``(n, d)`` to features ``(n, e)``. It is run in
            evaluation mode and its weights are frozen.
        size: Height and width that images are brought to; by default 128 to 224 pixels, by the size of the images.
        mean: What is subtracted from pixels, per channel, on the scale 0 to 255.
        std: What they are divided by.
        precision: ``"float32"``, ``"bfloat16"`` or ``"auto"``.
        batch_size: Rows of one batch.

    Returns:
        The encoder.

    Example:
        >>> from anchored.data import TensorInputs
        >>> encoder = from_module(nn.Linear(4, 2))
        >>> tuple(encoder.transform(TensorInputs(torch.zeros(5, 4))).shape)
        (5, 2)
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"module must be a torch.nn.Module, got {type(module).__name__}; pass an instance")
    if len(mean) != 3 or len(std) != 3 or min(std) <= 0:
        raise InputError("mean and std must be three numbers each, std positive, on the scale 0 to 255")
    height, width = (None, None) if size is None else size
    view = PhotoView(height, width, (mean[0], mean[1], mean[2]), (std[0], std[1], std[2]))
    return ModuleEncoder(module, view, precision=precision, batch_size=batch_size)


def restore(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> NoReturn:
    """Refuse, see :meth:`ModuleEncoder.from_state`.

    Args:
        about: Not used.
        tensors: Not used.
    """
    ModuleEncoder.from_state(about, tensors)
