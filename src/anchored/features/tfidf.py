"""``tfidf``: words and pairs of words, weighted by how rare they are, on their 512 main directions.

The count of a term is damped, ``1 + log(count)``, and multiplied by ``log((1 + n) / (1 + df)) + 1``; rows get length
one and are projected on the leading right singular vectors of the training texts, turned at random. What was learnt is
plain data: the terms, their weights and the directions. Scripts without spaces between words are cut into one to three
characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import stream
from anchored.data import Inputs
from anchored.features.base import Encoder
from anchored.features.texts import batches_of_texts, texts_of
from anchored.features.weights import digest_of

__all__ = ["TfIdf"]

_WORDS, _TEXTS_TO_LEARN_FROM = r"(?u)\b\w+\b", 50_000
_BATCH, _CHARACTERS = 4096, 2**22
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


class TfIdf(Encoder):
    """Term weights on their main directions; fitted on the training texts.

    Args:
        dim: Directions that are kept; fewer if there are fewer texts or terms.
        terms: Terms that are kept: the most frequent ones.

    Example:
        >>> from types import SimpleNamespace
        >>> texts = SimpleNamespace(texts=["good film", "bad film", "good book"], shape=())
        >>> tuple(TfIdf(dim=2).fit(texts).transform(texts).shape)
        (3, 2)
    """

    name = "tfidf"
    kind: ClassVar[str] = "text"

    def __init__(self, dim: int = 512, *, terms: int = 30_000) -> None:
        self._asked = check_integer("dim", dim, low=1, high=4096)
        self._limit = check_integer("terms", terms, low=1, high=10**6)
        self._analyzer = "word"
        self._terms: list[str] = []
        self._idf: Tensor = torch.empty(0)
        self._directions: Tensor = torch.empty(0, 0)

    @property
    def fitted(self) -> bool:
        """Whether the encoder has learnt its terms."""
        return bool(self._terms)

    @property
    def dim(self) -> int:
        """Number of directions."""
        return self._directions.shape[1] if self.fitted else self._asked

    @cached_property
    def _digest(self) -> str:
        return digest_of(*self.state())

    @property
    def digest(self) -> str:
        """Digest of settings, terms, weights and directions."""
        return self._digest

    def fit(self, inputs: Inputs) -> Self:
        """Learn terms, weights and directions; of more than 50,000 texts, from that many at equal distances.

        Args:
            inputs: The training texts.

        Returns:
            A fitted encoder.

        Raises:
            InputError: If the texts hold no word at all.
        """
        from sklearn.utils.extmath import randomized_svd

        texts = texts_of(inputs, self.name)
        step = -(-len(texts) // _TEXTS_TO_LEARN_FROM) if len(texts) else 1
        some = texts[::step]
        made = type(self)(self._asked, terms=self._limit)
        made._analyzer = "char" if _is_unspaced(some) else "word"
        vectorizer = made._vectorizer(min_df=2 if len(some) >= 100 else 1, max_features=self._limit)
        try:
            weighted = vectorizer.fit_transform(some)
        except ValueError:  # scikit-learn's "empty vocabulary", or "no terms remain"
            raise InputError(
                "tfidf found no word that it could learn from: the texts are empty, or no word occurs twice; check them"
            ) from None
        kept = min(self._asked, *weighted.shape)
        _, _, directions = randomized_svd(weighted, n_components=kept, n_iter=4, random_state=0)
        names: npt.NDArray[Any] = vectorizer.get_feature_names_out()
        made._terms = [str(term) for term in names]
        made._idf = torch.from_numpy(np.asarray(vectorizer.idf_, dtype=np.float32))
        # Half precision: a third of the digits of the directions carry nothing, and the file is half as large.
        made._directions = (torch.from_numpy(np.ascontiguousarray(directions.T)) @ _turn(kept)).to(torch.float16)
        return made

    def _vectorizer(self, **options: Any) -> Any:  # noqa: ANN401 - scikit-learn is untyped
        from sklearn.feature_extraction.text import TfidfVectorizer

        if self._analyzer == "char":
            options = {"analyzer": "char", "ngram_range": (1, 3), **options}
        else:
            options = {"token_pattern": _WORDS, "ngram_range": (1, 2), **options}
        return TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **options)

    @cached_property
    def _fitted_vectorizer(self) -> Any:  # noqa: ANN401 - scikit-learn is untyped
        vectorizer = self._vectorizer(vocabulary={term: i for i, term in enumerate(self._terms)})
        vectorizer.idf_ = self._idf.numpy()
        return vectorizer

    def transform(self, inputs: Inputs) -> Tensor:
        """Weigh the terms of each text and project them; a text without known terms is the zero vector."""
        if not self.fitted:
            raise InputError("tfidf must learn its terms first; call fit with the training texts")
        directions = self._directions.to(torch.float32).numpy()
        batches = batches_of_texts(texts_of(inputs, self.name), count=_BATCH, characters=_CHARACTERS)
        parts = [torch.from_numpy(self._fitted_vectorizer.transform(batch) @ directions) for batch in batches]
        return torch.cat([torch.empty(0, self.dim), *parts])

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return settings, analyzer and terms, and the weights and directions."""
        about = {
            "encoder": self.name,
            "dim": self._asked,
            "limit": self._limit,
            "analyzer": self._analyzer,
            "terms": list(self._terms),
        }
        return about, {"idf": self._idf.clone(), "directions": self._directions.clone()}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned.

        Args:
            about: Settings, analyzer and terms.
            tensors: ``idf`` and ``directions``.

        Raises:
            InputError: If the parts do not fit each other.

        Example:
            >>> TfIdf.from_state(*TfIdf(dim=7).state()).dim
            7
        """
        made = cls(about.get("dim", 512), terms=about.get("limit", 30_000))
        terms, idf, directions = about.get("terms"), tensors.get("idf"), tensors.get("directions")
        analyzer = about.get("analyzer")
        sound = (
            isinstance(terms, list)
            and all(isinstance(term, str) for term in terms)
            and len(set(terms)) == len(terms)
            and analyzer in ("word", "char")
            and idf is not None
            and directions is not None
            and tuple(idf.shape) == (len(terms),)
            and directions.ndim == 2
            and (directions.shape[0] == len(terms))
            and bool(torch.isfinite(idf).all() and torch.isfinite(directions).all())
        )
        if not sound or idf is None or directions is None:
            raise InputError("the stored encoder: terms, weights and directions of tfidf do not fit; make it again")
        made._terms, made._analyzer = list(terms or ()), str(analyzer)
        made._idf, made._directions = idf.to(torch.float32), directions
        return made


def _turn(d: int) -> Tensor:
    """A rotation ``(d, d)``, always the same.

    Singular vectors come with lengths from large to next to nothing. A classifier that standardises columns would blow
    up the last ones, which are chance, and a new text that differs there would get absurd values. Turned at random,
    every column holds a share of all directions; distances between texts stay what they are.
    """
    gaussian = torch.randn(d, d, generator=stream(0, "tfidf", d), dtype=torch.float64)
    rotation: Tensor = torch.linalg.qr(gaussian).Q
    return rotation.to(torch.float32)


def _is_unspaced(texts: Sequence[str]) -> bool:
    """Whether most letters belong to scripts that are written without spaces between words."""
    step = max(1, len(texts) // 200)
    letters = [letter for text in texts[::step] for letter in text[:500] if letter.isalpha()]
    unspaced = sum(unicodedata.name(letter, "").startswith(_UNSPACED) for letter in letters)
    return 2 * unspaced > len(letters)
