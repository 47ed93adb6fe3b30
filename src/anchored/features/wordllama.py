"""``wordllama``: static token vectors for text, 256 numbers per text, thousands of texts a second.

A text is cut into the tokens of Llama 2, and the vectors of its tokens are averaged. Tokenizer and matrix (32,000 x
256, MIT) lie in the package ``wordllama``, the extra ``text``; only its two files are read. A text without any token,
such as an empty one, is the zero vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.base import Encoder
from anchored.features.texts import batches_of_texts, texts_of
from anchored.features.weights import check_sha256, digest_of, read_weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["SHA256", "WordLlama"]

SHA256 = {
    "weights/l2_supercat_256.safetensors": "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    "tokenizers/l2_supercat_tokenizer_config.json": "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}
"""Digests of the two published files, by their place in the package."""
_TEXTS, _CHARACTERS = 1024, 2**20
_LARGEST_MATRIX = 2**28


class WordLlama(Encoder):
    r"""Mean of static token vectors, :math:`\frac1m\sum_{i=1}^m E_{t_i}` for a text with tokens :math:`t_1,\dots,t_m`.

    Args:
        matrix: Token vectors ``(tokens, d)``; by default those of the installed package.
        tokenizer: The tokenizer's JSON, as bytes; by default that of the installed package.

    Raises:
        InputError: If the package is missing or its files are damaged.
    """

    name = "wordllama"
    kind: ClassVar[str] = "text"

    def __init__(self, matrix: Tensor | None = None, tokenizer: bytes | None = None) -> None:
        if (matrix is None) != (tokenizer is None):
            raise InputError("wordllama needs matrix and tokenizer together, got only one of them; give both or none")
        if matrix is None or tokenizer is None:
            matrix, tokenizer = _installed()
        if matrix.ndim != 2 or not matrix.dtype.is_floating_point or matrix.numel() > _LARGEST_MATRIX:
            raise InputError(f"token vectors must be floats (tokens, d), got {tuple(matrix.shape)} {matrix.dtype}")
        if not bool(torch.isfinite(matrix).all()):
            raise InputError("token vectors must be finite; give the published file")
        self._stored = matrix
        self._json = tokenizer
        self._matrix = matrix.to(torch.float32)
        self._tokenizer = _tokenizer(tokenizer)

    @property
    def dim(self) -> int:
        """Length of a token vector, 256."""
        return self._matrix.shape[1]

    @cached_property
    def digest(self) -> str:
        """Digest of matrix and tokenizer."""
        return digest_of(*self.state())

    def transform(self, inputs: Inputs) -> Tensor:
        """Average the token vectors of each text."""
        batches = batches_of_texts(texts_of(inputs, self.name), count=_TEXTS, characters=_CHARACTERS)
        return torch.cat([torch.empty(0, self.dim), *(self._averaged(batch) for batch in batches)])

    def _averaged(self, texts: Any) -> Tensor:  # noqa: ANN401 - a sequence of strings, sliced
        # A lone surrogate has no UTF-8: it becomes a question mark and not an error.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        found = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        rows = [tokens.ids if text else [] for tokens, text in zip(found, clean, strict=True)]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        tokens = torch.from_numpy(
            np.concatenate([np.empty(0, np.int64), *(np.asarray(r, np.int64) for r in rows if r)])
        )
        offsets = torch.from_numpy(lengths.cumsum() - lengths)
        known = tokens.clamp_(0, self._matrix.shape[0] - 1)
        if len(known) == 0:
            return torch.zeros(len(rows), self.dim)
        return F.embedding_bag(known, self._matrix, offsets, mode="mean")

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the name, the matrix, and the tokenizer's JSON as bytes."""
        tokenizer = torch.frombuffer(bytearray(self._json), dtype=torch.uint8)
        return {"encoder": self.name}, {"matrix": self._stored.clone(), "tokenizer": tokenizer}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; the package is not needed.

        Args:
            about: Not used.
            tensors: ``matrix`` and ``tokenizer``.

        Raises:
            InputError: If one of them is missing or damaged.

        Example:
            >>> WordLlama.from_state({}, {})
            Traceback (most recent call last):
            ...
            anchored._errors.InputError: the stored encoder: matrix or tokenizer is missing; make the model again
        """
        if "matrix" not in tensors or "tokenizer" not in tensors:
            raise InputError("the stored encoder: matrix or tokenizer is missing; make the model again")
        return cls(tensors["matrix"], bytes(tensors["tokenizer"].to(torch.uint8).numpy().tobytes()))


def _tokenizer(content: bytes) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise InputError("wordllama needs tokenizers, which is not installed; pip install 'anchored[text]'") from None
    try:
        return Tokenizer.from_buffer(content)
    except Exception:  # its errors have no common class
        raise InputError("the tokenizer of wordllama is damaged; install the package again") from None


def _installed() -> tuple[Tensor, bytes]:
    spec = find_spec("wordllama")  # importing it would set up logging for everyone
    if spec is None or spec.origin is None:
        raise InputError("wordllama needs its token vectors, which are not installed; pip install 'anchored[text]'")
    folder = Path(spec.origin).parent
    for file, digest in SHA256.items():
        check_sha256(folder / file, digest)
    matrix_file, tokenizer_file = (folder / file for file in SHA256)
    (matrix,) = read_weights(matrix_file).values()
    return matrix, tokenizer_file.read_bytes()
