r"""Short vectors of texts from the groups of letters, or the words, that they share.

A text is counted into 4,096 buckets by a fixed hash, weighted by rarity (tf-idf) and scaled to length 1; the leading
right singular vectors V of all training texts then give ``z = x V``. Texts with a spelling in common lie near each
other, and a text never seen has a vector too. No label is looked at, and all that is learnt is two arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._errors import InputError

__all__ = ["BUCKETS", "HashedTexts", "Units"]

BUCKETS = 4096
"""How many buckets the letter groups or words of a text are counted into."""
_MOST_TEXTS = 10_000
Units = Literal["letters", "words"]
"""What is counted: groups of three and four letters within words, or single words."""


@dataclass(frozen=True, eq=False)
class HashedTexts:
    """Vectors of texts, learnt without labels.

    Args:
        units: What is counted.
        rarity: ``(4096,)``, the weight of each bucket.
        directions: ``(4096, d)``, the leading directions, scaled so that the first feature has variance 1.
        mean: ``(d,)``, the mean vector of the training rows.

    Example:
        >>> texts = HashedTexts.fit(["Senior engineer", "engineer II", "nurse"], np.array([3, 2, 4]), "letters", 2)
        >>> a, b, c = texts.transform(["engineer", "engineer III", "nurses"])
        >>> bool(np.linalg.norm(a - b) < np.linalg.norm(a - c))
        True
    """

    units: Units
    rarity: npt.NDArray[np.float32]
    directions: npt.NDArray[np.float32]
    mean: npt.NDArray[np.float32]

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.directions.shape[1])

    @classmethod
    def fit(cls, levels: Sequence[str], counts: npt.NDArray[np.int64], units: Units, dim: int) -> HashedTexts:
        """Learn the directions from the distinct training texts.

        Args:
            levels: The distinct texts. Of more than 10,000 the most frequent are used.
            counts: How many rows each has.
            units: What is counted.
            dim: The most features.

        Returns:
            The fitted vectors; fewer features if the texts have fewer directions.

        Example:
            >>> HashedTexts.fit(["red car", "blue car", "tree"], np.array([1, 1, 1]), "words", 30).dim
            2
        """
        from sklearn.utils.extmath import randomized_svd

        if len(levels) > _MOST_TEXTS:
            kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_TEXTS])
            levels, counts = [levels[i] for i in kept.tolist()], counts[kept]
        raw = _counted(levels, units)
        share = np.asarray((raw > 0).multiply(counts[:, None]).sum(axis=0)).ravel()
        rarity = (np.log((1 + counts.sum()) / (1 + share)) + 1).astype(np.float32)
        weighted = _scaled(raw, rarity)
        dim = max(1, min(dim, len(levels) - 1, BUCKETS - 1))
        strength = np.sqrt(counts / counts.sum())
        _, _, right = randomized_svd(weighted.multiply(strength[:, None]).tocsr(), dim, n_iter=4, random_state=0)
        vectors = weighted @ right.T
        mean = (vectors * (strength**2)[:, None]).sum(axis=0)
        spread = np.sqrt((((vectors - mean) ** 2) * (strength**2)[:, None]).sum(axis=0).max())
        size = float(spread) if spread > 1e-9 else 1.0
        return cls(units, rarity, (right.T / size).astype(np.float32), (mean / size).astype(np.float32))

    def transform(self, levels: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the vectors ``(m, d)`` of texts, minus the mean of training."""
        if not len(levels):
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = _scaled(_counted(levels, self.units), self.rarity) @ self.directions - self.mean
        return np.asarray(vectors, dtype=np.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return what was learnt, as tensors by name."""
        return {
            "rarity": torch.from_numpy(self.rarity),
            "directions": torch.from_numpy(np.ascontiguousarray(self.directions)),
            "mean": torch.from_numpy(self.mean),
        }

    @classmethod
    def restore(cls, units: Units, tensors: Mapping[str, Tensor]) -> HashedTexts:
        """Make the vectors from what :meth:`tensors` gave.

        Args:
            units: What is counted.
            tensors: Tensors by name.

        Returns:
            The same map from texts to vectors.

        Raises:
            InputError: If a tensor is missing, of another shape or not finite.
        """
        found = {name: tensors.get(name) for name in ("rarity", "directions", "mean")}
        rarity, directions, mean = found["rarity"], found["directions"], found["mean"]
        if (
            rarity is None or directions is None or mean is None
            or rarity.shape != (BUCKETS,) or directions.ndim != 2 or directions.shape[0] != BUCKETS
            or mean.shape != (directions.shape[1],)
            or not all(t is not None and t.dtype == torch.float32 and bool(t.isfinite().all()) for t in found.values())
        ):  # fmt: skip
            raise InputError("the encoding of a text column is damaged (its tensors do not fit); fit the model again")
        return cls(units, rarity.numpy(), directions.numpy(), mean.numpy())


def _counted(levels: Sequence[str], units: Units) -> Any:  # noqa: ANN401
    from sklearn.feature_extraction.text import HashingVectorizer

    how: dict[str, Any] = (
        {"analyzer": "char_wb", "ngram_range": (3, 4)}
        if units == "letters"
        else {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"}
    )
    return HashingVectorizer(n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32, **how).transform(
        levels
    )


def _scaled(counted: Any, rarity: npt.NDArray[np.float32]) -> Any:  # noqa: ANN401
    """Return tf-idf rows of length 1; a text without any unit stays 0."""
    weighted = counted.multiply(rarity[None, :]).tocsr()
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return weighted.multiply((1 / np.where(length > 0, length, 1.0))[:, None]).tocsr()
