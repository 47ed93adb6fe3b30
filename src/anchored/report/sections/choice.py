"""What was trained and why: the data, the network and the method, in words that need no paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored import methods
from anchored._errors import InputError
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Paragraph, Section, Table
from anchored.report._words import count, listed, name, percent

__all__ = ["LOSSES", "choice", "method_in_words", "reasons"]

HEADS = {
    "anchored": "Every class was given a fixed direction before training, all of them as far apart as they can be. "
    "These anchors never move, so neither wrong labels nor large classes can pull them out of place; "
    "what learns is the network in front of them.",
    "cosine": "The direction of every class is learned from the labels, and only angles count, not lengths.",
    "linear": "The last layer is an ordinary one: the direction of every class is learned from the labels.",
    "computed": "The classifier was computed from all samples at once, without passes through them. What is said here "
    "of a sample that it was computed from comes from a computation that left this sample out.",
}
LOSSES = {
    "ce": "cross entropy, the usual loss",
    "fl": "focal loss, which looks most at samples that are still misjudged",
    "gce": "generalised cross entropy, which gives up on labels that stay implausible",
    "sce": "symmetric cross entropy, which distrusts implausible labels a little",
    "mae": "absolute error, which tolerates wrong labels but learns slowly",
    "rce": "reverse cross entropy, which tolerates wrong labels",
    "nce": "normalised cross entropy, which tolerates wrong labels",
    "nfl": "normalised focal loss, which tolerates wrong labels",
    "ngce": "normalised generalised cross entropy, which tolerates wrong labels",
    "nsl": "the plain product with the label's own direction, which tolerates wrong labels",
    "ldam": "margins that are wider the rarer a class is",
    "balanced-softmax": "cross entropy corrected for how often each class occurs",
    "logit-adjusted": "cross entropy corrected for how often each class occurs",
    "lade": "cross entropy freed from how often each class occurs",
    "label-aware": "cross entropy with labels that are softened more for frequent classes",
    "dot-regression": "a pull of each sample towards its class's own direction",
    "anchored-squared": "the squared distance of each sample from its class's own direction",
}
"""Every loss in a few words."""
_PROFILES = {"longtail": "long-tailed", "step": "large and small"}


def choice(evidence: Evidence) -> Section:
    """Write the section about what was trained."""
    config, result = evidence.config, evidence.result
    blocks: list[Block] = [Paragraph(text) for text in reasons(result)]
    method, trusted = str(result.get("method", config.method.name)), config.train.labels == "cleaned"
    blocks += [Paragraph(text) for text in method_in_words(method, trusted=trusted)]
    blocks.append(Table(("", ""), _facts(evidence), wordy=True))
    changed = (result.get("corrections") or {}).get("pairs") or ()
    if changed:
        rows = [(name(each["given"]), name(each["label"]), count(each["count"])) for each in changed]
        blocks.append(
            Table(("labelled as", "corrected to", "samples"), rows, folded="What the corrections changed", words=2)
        )
    epochs, samples = int(result.get("epochs", 0)), int(result.get("samples", 0))
    known = f"{count(samples, 'labelled sample')} of {count(evidence.k, 'class', 'classes')}"
    made = f"A network ({name(config.backbone.name)}) was trained on {known}, in {count(epochs, 'pass', 'passes')}"
    made = f"A classifier was computed from {known}." if _computed(method) else f"{made} through them."
    lead = f"{made} The method is called {name(method)}; this is what it does."
    return Section("trained", "What was trained", lead, blocks)


def reasons(result: Mapping[str, Any]) -> list[str]:
    """Say why the settings were chosen, if the run chose them itself and kept its reasons.

    Example:
        >>> reasons({"auto": {"noise_rate": 0.3, "imbalance": 1.2, "labels_changed": 12}})
        ['The settings were chosen after a first look at the labels: about 30.0 % of them look wrong, and the largest
        class has some 1.2 times as many samples as the smallest. For training, 12 labels were replaced by likelier
        ones.']
    """
    said = result.get("auto")
    if isinstance(said, str):
        return [said]
    if not isinstance(said, Mapping):
        return []
    if isinstance(said.get("text"), str):
        return [said["text"]]
    if not isinstance(said.get("noise_rate"), (int, float)):
        return []
    text = "The settings were chosen after a first look at the labels: "
    text += f"about {percent(said['noise_rate'])} of them look wrong"
    if isinstance(said.get("imbalance"), (int, float)):
        text += f", and the largest class has some {said['imbalance']:.1f} times as many samples as the smallest"
    text += "."
    if said.get("labels_changed"):
        text += f" For training, {count(said['labels_changed'], 'label')} were replaced by likelier ones."
    return [text]


def method_in_words(method: str, *, trusted: bool = False) -> list[str]:
    """Say what a method does, sentence by sentence.

    Args:
        method: Name of the method.
        trusted: Whether each label counted only as far as it can be trusted, instead of fully.

    Returns:
        The sentences; none for an unknown method.

    Example:
        >>> method_in_words("nce+rce+fnpal")[1]
        'It was trained with normalised cross entropy, which tolerates wrong labels, plus reverse cross entropy, which
        tolerates wrong labels.'
    """
    try:
        parsed = methods.parse(method)
    except InputError:
        return []
    terms = [LOSSES.get(each, each) for each in parsed.loss.split("+")]
    if parsed.head == "computed":
        sentences = [HEADS["computed"], f"It is {parsed.about}."]
        if trusted:
            sentences.append("Each label counted as far as it can be trusted: one that is surely wrong did not count.")
        return sentences
    sentences = [HEADS[parsed.head], f"It was trained with {', plus '.join(terms)}."]
    if trusted:
        sentences.append("Each label counted as far as it can be trusted: one that is surely wrong did not count.")
    elif parsed.loss == "ce":
        sentences.append("This loss believes every label, right or wrong.")
    if parsed.mixup:
        sentences.append("Pairs of samples were blended, labels and all, so that no single label is learned by heart.")
    if parsed.deferred:
        sentences.append("In the last part of training rare classes counted for more.")
    if parsed.weighting != "none":
        sentences.append("Rare classes counted for more throughout.")
    if parsed.sampling != "instance":
        sentences.append("Samples of rare classes were shown more often than they occur.")
    about = getattr(parsed, "about", "")
    if about:
        sentences.append(f"Beyond that: {about}.")
    return sentences


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    config, result = evidence.config, evidence.result
    facts = [("data", name(config.data.source or "given from Python", 200))]
    facts.append(("trained on", f"{count(int(result.get('samples', 0)))} samples"))
    computed = _computed(str(result.get("method", config.method.name)))
    held = "judged without having been seen" if computed else "held out, not trained on"
    for part, title in (("held_out", held), ("test", "tested on")):
        if result.get(part):
            facts.append((title, f"{count(int(result[part]['n']))} samples"))
    facts.append(("classes", str(evidence.k)))
    facts += [("corrupted on purpose", text) for text in _corruption(evidence)]
    facts += [("corrected by hand", text) for text in _corrections(evidence)]
    if not computed:
        facts.append(("network", name(config.backbone.name)))
    facts.append(("method", f"{name(result.get('method', '?'))}: {name(result.get('description', ''), 300)}"))
    if computed:
        return facts
    if evidence.measured is not None and evidence.measured.scale is not None:
        facts.append(("scale (sharpness) of the head", f"{evidence.measured.scale:.3g}"))
    facts.append(
        ("augmentation", listed([name(each) for each in config.data.augment]) if config.data.augment else "none")
    )
    optimizer = config.optimizer
    facts.append(
        ("optimiser", f"{optimizer.name}, learning rate {optimizer.lr:g}, weight decay {optimizer.weight_decay:g}")
    )
    facts.append(("epochs and batch", f"{result.get('epochs', '?')} epochs, {config.train.batch_size} samples a step"))
    if evidence.seconds:
        facts.append(("time", _duration(evidence.seconds)))
    return facts


def _computed(method: str) -> bool:
    """Tell whether a method is computed at once instead of trained."""
    try:
        return methods.parse(method).head == "computed"
    except InputError:
        return False


def _corruption(evidence: Evidence) -> list[str]:
    done = evidence.result.get("corruption") or {}
    texts = []
    if imbalance := done.get("imbalance"):
        profile = _PROFILES.get(imbalance["kind"], imbalance["kind"])
        texts.append(
            f"{profile} classes, the largest {imbalance['rho']:g} times the smallest: "
            f"{count(imbalance['n'])} of {count(imbalance['n_before'])} samples kept"
        )
    if noise := done.get("noise"):
        texts.append(
            f"{percent(noise['rate'])} of the labels corrupted ({noise['kind']}), {count(noise['flipped'])} in all"
        )
    return texts


def _corrections(evidence: Evidence) -> list[str]:
    """Say what a reviewer's decisions changed; if the true labels are known, also how much they helped."""
    done = evidence.result.get("corrections")
    if not isinstance(done, Mapping) or "changed" not in done:
        return []
    text = f"{count(int(done.get('decided', 0)), 'label')} decided on, {count(int(done['changed']))} changed"
    if isinstance(done.get("wrong_before"), int) and isinstance(done.get("wrong_after"), int):
        text += f"; wrong labels before {count(done['wrong_before'])}, after {count(done['wrong_after'])}"
    return [text]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
