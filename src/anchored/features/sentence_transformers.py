"""``sentence-transformers:NAME``: sentence vectors; NAME is a model of the hub or a local folder.

The library sentence-transformers is imported on use only. What a stored encoder keeps are the model's own files (JSON,
vocabulary, safetensors); code that comes with a model is never run.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.hub import from_cache_or_hub, needed
from anchored.features.packed_folder import pack, unpack
from anchored.features.stream import BatchedEncoder
from anchored.features.texts import chosen_texts
from anchored.features.weights import digest_of

__all__ = ["SentenceEncoder", "make", "restore"]


class SentenceEncoder(BatchedEncoder):
    """A model of sentence-transformers, frozen.

    Args:
        model: A model of the hub, or a folder.

    Raises:
        InputError: If the library is missing or the model cannot be found.
    """

    kind: ClassVar[str] = "text"

    def __init__(self, model: str) -> None:
        self.name = f"sentence-transformers:{model}"
        library = needed("sentence_transformers", encoder=self.name, install="sentence-transformers")

        def load(local: bool) -> Any:  # noqa: ANN401 - a model of an optional library
            return library.SentenceTransformer(model, device=_device(), local_files_only=local, trust_remote_code=False)

        self._model = from_cache_or_hub(load, encoder=self.name).eval()

    @cached_property
    def dim(self) -> int:
        """Number of features, found by encoding one text."""
        return self.embed(["text"]).shape[1]

    @cached_property
    def digest(self) -> str:
        """Digest of the model's files."""
        return digest_of(*self.state())

    def prepare(self, inputs: Inputs, index: Tensor) -> list[str]:
        """Take the texts; the model cuts them itself.

        Args:
            inputs: The texts.
            index: Row numbers ``(b,)``.

        Returns:
            The texts at ``index``.
        """
        return [text.encode("utf-8", "replace").decode("utf-8") for text in chosen_texts(inputs, index, self.name)]

    def embed(self, prepared: list[str]) -> Tensor:
        """Run the model."""
        with torch.inference_mode():
            found: Tensor = self._model.encode(
                prepared, batch_size=len(prepared), convert_to_tensor=True, show_progress_bar=False
            )
        return found.to(device="cpu", dtype=torch.float32)

    @cached_property
    def _files(self) -> dict[str, Tensor]:
        with tempfile.TemporaryDirectory() as folder:
            self._model.save(folder, create_model_card=False)
            return pack(folder)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the name, and the model's files as bytes."""
        return {"encoder": self.name}, dict(self._files)

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; sentence-transformers must be installed.

        Args:
            about: The name.
            tensors: The model's files.

        Raises:
            InputError: If the files are damaged or ask for other code than the library's own.
        """
        with tempfile.TemporaryDirectory() as folder:
            unpack(tensors, folder)
            _check_modules(Path(folder))
            made = cls(folder)
            made.name = str(about.get("encoder", made.name))
            made.__dict__["_files"] = dict(tensors)
        return made


def make(name: str) -> SentenceEncoder:
    """Make the encoder ``sentence-transformers:name``."""
    return SentenceEncoder(name)


def restore(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> SentenceEncoder:
    """Make the encoder from its state, see :meth:`SentenceEncoder.from_state`.

    Args:
        about: Plain values.
        tensors: The model's files.

    Returns:
        The encoder.
    """
    return SentenceEncoder.from_state(about, tensors)


def _check_modules(folder: Path) -> None:
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        types = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("the stored encoder: its modules.json is missing or damaged; make the model again") from None
    foreign = [name for name in types if not name.startswith("sentence_transformers.")]
    if foreign:
        raise InputError(f"the stored encoder asks for {foreign[0]!r}, which is not loaded; make the model again")


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
