"""The paper's row names give methods: ``ce+fnpal``, ``LDAM-DRW-PAL``, ``NCE+RCE+FNPAL``, ``CE+mixup+PAL``.

A name is a loss (or an active and a passive one) and modifiers, joined by ``+`` or ``-``:

========== =========================================================================================
modifier   meaning
========== =========================================================================================
``pal``    unit prototypes fixed at the anchors, no bias; features as they are
``fnpal``  the same with normalised features: logits are scale times cosine
``fnpn``   features and prototypes normalised, prototypes trained: the control of the paper's figure
``mixup``  inputs and labels blended in pairs
``drw``    class-balanced weights in the last fifth of training
``rw``     class-balanced weights from the start
``rs``     class-balanced sampling
========== =========================================================================================

``norm`` is cross entropy on a trained cosine head with scale 30. Methods with a file of their own (``crt``, ``mislas``,
``bbn``, …) stand where the loss would: ``mislas+pal``, ``crt+mixup``; :mod:`anchored.methods.names` lists them, and
each says in its file which modifiers it takes. Combinations that make no sense are refused with the reason.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from anchored import losses
from anchored._errors import InputError
from anchored._names import suggest
from anchored.methods.method import Method
from anchored.methods.names import PROCEDURES

__all__ = ["LOSSES", "METHODS", "MODIFIERS", "parse"]

METHODS = tuple(name for name in PROCEDURES if name != "single")
"""The methods with a file of their own."""

LOSSES = (*(name for name in losses.NAMES if name not in PROCEDURES), "norm")
"""The losses a name may start with."""

MODIFIERS = ("mixup", "drw", "rw", "rs", "pal", "fnpal", "fnpn")
"""What may follow, in the order of canonical names."""

_ALIASES = {
    "focal": "fl",
    "balanced softmax": "balanced-softmax",
    "balancedsoftmax": "balanced-softmax",
    "bs": "balanced-softmax",
    "la": "logit-adjusted",
    "logit adjustment": "logit-adjusted",
    **{alias: name for name in METHODS for alias in PROCEDURES[name].aliases},
}
_HEADS = ("pal", "fnpal", "fnpn")
_ACTIVE, _PASSIVE = ("nce", "nfl", "ngce"), ("mae", "rce")
_REBALANCED_BY_PRIOR = ("balanced-softmax", "logit-adjusted", "lade")
_NORMALISED_SCALE = 10.0
_MARGIN_SCALE = 30.0


def parse(name: object) -> Method:
    """Read the name of a method, in upper or lower case; a :class:`Method` is returned as it is.

    Raises:
        InputError: If a word is unknown, or the words together make no sense.

    Example:
        >>> parse("LDAM-DRW-PAL").name
        'ldam+drw+pal'
        >>> parse("ce+pal+fnpal")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: method 'ce+pal+fnpal' names two heads, pal and fnpal; keep one of them
    """
    if isinstance(name, Method):
        return name
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"a method must be a name such as 'ce+fnpal', got {name!r}")
    words = _words(name)
    own = [word for word in words if word in METHODS]
    if own:
        return _own(name, words, own)
    terms = [word for word in words if word in LOSSES]
    modifiers = [word for word in words if word in MODIFIERS]
    _check_words(name, words, terms, modifiers)
    loss = _loss(name, terms)
    head = next((word for word in modifiers if word in _HEADS), None)
    _check_sense(name, loss, head, modifiers)
    canonical = "+".join([*terms, *(word for word in MODIFIERS if word in modifiers)])
    return Method(
        name=canonical,
        mixup="mixup" in modifiers,
        deferred="drw" in modifiers,
        weighting="class-balanced" if "rw" in modifiers else "none",
        sampling="balanced" if "rs" in modifiers else "instance",
        **_head_settings(loss, head),  # type: ignore[arg-type]  # a dict of mixed values, checked by the tests
    )


def _own(name: str, words: list[str], own: list[str]) -> Method:
    """A method that has a file of its own."""
    if len(own) > 1:
        raise InputError(f"method {name!r} names two methods, {own[0]} and {own[1]}; keep one of them")
    kind, rest = PROCEDURES[own[0]], [word for word in words if word != own[0]]
    modifiers = [word for word in rest if word in MODIFIERS]
    others = [word for word in rest if word in LOSSES and word != kind.loss]
    if others:
        raise InputError(f"method {name!r}: {own[0]} has a loss of its own, {kind.loss}; leave out {others[0]!r}")
    _check_words(name, [*own, *rest], [*own, kind.loss], modifiers)
    for word in modifiers:
        if word not in kind.goes_with:
            with_what = f"it goes with {', '.join(kind.goes_with)}" if kind.goes_with else "it goes with no modifier"
            raise InputError(f"method {name!r}: {own[0]} without {word}, because {kind.refused.get(word, with_what)}")
    first = None if kind.first_stage is None else parse("+".join([kind.first_stage, *modifiers]))
    settings = {**kind.head, "head": "anchored"} if "pal" in modifiers else dict(kind.head)
    return Method(
        name="+".join([own[0], *(word for word in MODIFIERS if word in modifiers and word != "fnpal")]),
        loss=kind.loss,
        mixup="mixup" in modifiers if first is None else first.mixup,
        deferred="drw" in modifiers,
        algorithm=own[0],
        about=kind.about,
        first_stage=None if first is None else first.name,
        **settings,  # type: ignore[arg-type]  # a dict of mixed values, checked by the tests
    )


def _words(name: str) -> list[str]:
    words = []
    for piece in name.lower().split("+"):
        piece = _ALIASES.get(piece.strip(), piece.strip())
        if _known(piece):
            words.append(_ALIASES.get(piece, piece))
        else:
            words += _dashed(piece)
    return words


def _dashed(piece: str) -> list[str]:
    """``ldam-drw-pal`` as its words, with names that contain a dash kept whole."""
    words: list[str] = []
    parts = piece.split("-")
    while parts:
        length = next(
            (n for n in range(len(parts), 0, -1) if _known("-".join(parts[:n]))),
            len(parts),  # nothing known begins here: the rest is one unknown word
        )
        word = "-".join(parts[:length])
        words.append(_ALIASES.get(word, word))
        parts = parts[length:]
    return words


def _known(word: str) -> bool:
    return word in LOSSES or word in MODIFIERS or word in METHODS or word in _ALIASES


def _check_words(name: str, words: list[str], terms: list[str], modifiers: list[str]) -> None:
    known = [*LOSSES, *METHODS, *MODIFIERS]
    for word in words:
        if word not in known:
            raise InputError(f"unknown word {word!r} in method {name!r}; {suggest(word, known)}")
        if words.count(word) > 1:
            raise InputError(f"method {name!r} says {word!r} twice; once is enough")
    if not terms:
        raise InputError(f"method {name!r} names no loss; put one first, e.g. {'+'.join(['ce', *modifiers])!r}")
    heads = [word for word in modifiers if word in _HEADS]
    if len(heads) > 1:
        raise InputError(f"method {name!r} names two heads, {heads[0]} and {heads[1]}; keep one of them")


def _loss(name: str, terms: list[str]) -> str:
    if len(terms) == 1:
        return terms[0]
    if len(terms) == 2 and terms[0] in _ACTIVE and terms[1] in _PASSIVE:
        return "+".join(terms)
    raise InputError(
        f"method {name!r} adds {' and '.join(terms)}; a sum is one of {', '.join(_ACTIVE)} "
        f"followed by one of {', '.join(_PASSIVE)}, because only bounded losses complement each other"
    )


def _check_sense(name: str, loss: str, head: str | None, modifiers: list[str]) -> None:
    if loss == "nsl" and head in ("fnpn", "pal"):
        why = (
            "with trained prototypes all of them and all features collapse onto one point"
            if head == "fnpn"
            else "without normalised features it is unbounded below"
        )
        raise InputError(f"method {name!r} has no minimum: {why}; use 'nsl', which is anchored and normalised")
    if loss == "anchored-squared" and head in ("fnpal", "fnpn"):
        why = "with normalised features it is nsl plus a constant" if head == "fnpal" else "its prototypes are fixed"
        raise InputError(f"method {name!r}: {why}; use 'anchored-squared' or 'nsl'")
    if loss in ("ldam", "norm") and head in ("fnpal", "fnpn"):
        raise InputError(f"method {name!r}: {loss} normalises features already; use {loss!r} or '{loss}+pal'")
    corrections = [word for word in modifiers if word in ("drw", "rw", "rs")]
    if loss in _REBALANCED_BY_PRIOR:
        corrections.insert(0, loss)
    if len(corrections) > 1:
        raise InputError(
            f"method {name!r} corrects the class imbalance twice, by {corrections[0]} and by {corrections[1]}; "
            f"keep one of them"
        )


def _head_settings(loss: str, head: str | None) -> dict[str, object]:
    """Head, normalisation and scale, and the name of the loss that acts on them."""
    if loss in ("ldam", "norm"):
        kind = "anchored" if head == "pal" else "cosine"
        if loss == "ldam":  # the margin is subtracted from the cosine before scaling, so the loss scales
            return {"loss": "ldam", "head": kind, "normalize": True, "loss_scale": _MARGIN_SCALE}
        return {"loss": "ce", "head": kind, "normalize": True, "scale": _MARGIN_SCALE}
    if loss == "anchored-squared":  # a function of the products with the anchors, features as they are
        return {"loss": loss, "head": "anchored"}
    if loss == "nsl":
        return {"loss": loss, "head": "anchored", "normalize": True}
    if head is None:
        return {"loss": loss}
    if head == "pal":
        return {"loss": loss, "head": "anchored"}
    kind = "anchored" if head == "fnpal" else "cosine"
    return {"loss": loss, "head": kind, "normalize": True, "scale": _scale(loss)}


def _scale(loss: str) -> object:
    """Noise-aware if the loss fits noise when it is sharp; 10 if it is robust itself and needs the sharpness."""
    robust = loss in (*_ACTIVE, *_PASSIVE) or "+" in loss
    return _NORMALISED_SCALE if robust else "noise-aware"
