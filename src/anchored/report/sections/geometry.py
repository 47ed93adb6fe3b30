r"""Geometry: how near samples come to the direction of their class, and by how much they clear the next one.

.. math::  \theta_i = \arccos \frac{z_i \cdot w_{y_i}}{\lVert z_i\rVert \lVert w_{y_i}\rVert}, \qquad
           \gamma_i = \cos(z_i, w_{y_i}) - \max_{j \ne y_i} \cos(z_i, w_j).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from anchored import metrics
from anchored.report._evidence import Evidence
from anchored.report._measured import Measured
from anchored.report._section import Block, Paragraph, Picture, Section
from anchored.report._words import count, name, percent
from anchored.report.charts import histogram, spreads

__all__ = ["geometry"]

_SHOWN, _WORST = 25, 20


def geometry(evidence: Evidence) -> Section | None:
    """Write the section about geometry; None if the network has no features or no class directions to compare."""
    measured = evidence.measured
    if measured is None or measured.features is None or measured.directions is None:
        return None
    features = measured.features.double()
    labels = measured.labels[: len(features)]
    cosines = F.normalize(features, dim=1) @ F.normalize(measured.directions.double(), dim=1).T
    own = cosines.gather(1, labels[:, None]).squeeze(1)
    angles = torch.rad2deg(own.clamp(-1, 1).arccos())
    margins = metrics.sample_margins(cosines, labels)
    lengths = metrics.norms(features)
    right = measured.logits[: len(features)].argmax(dim=1) == labels
    anchor = "anchor" if measured.anchored else "class direction"
    between = metrics.minimal_angle(measured.directions)
    blocks: list[Block] = [
        Picture(
            histogram("angles", angles[right], angles[~right], label=f"angle to the own {anchor}, degrees"),
            f"Angle between a sample and the {anchor} of its class; two {anchor}s are at least {between:.0f}° apart.",
            "Histogram of angles.",
            half=True,
        ),
        Picture(
            histogram("norms", lengths[right], lengths[~right], label="length of the feature vector"),
            f"Length of the feature vectors; {_role(measured)}.",
            "Histogram of lengths.",
            half=True,
        ),
    ]
    by_class = [(j, margins[labels == j]) for j in range(evidence.k) if bool((labels == j).any())]
    by_class.sort(key=lambda pair: (float(pair[1].median()), pair[0]))
    drawn = by_class if len(by_class) <= _SHOWN else by_class[:_WORST]
    svg = spreads(
        "margins",
        [evidence.class_names[j] for j, _ in drawn],
        [values for _, values in drawn],
        label=f"margin: cosine to the own {anchor} minus that to the nearest other",
    )
    caption = "Margins by class, narrowest first: the dot is the middle sample, the bar holds eight in ten"
    if len(drawn) < len(by_class):
        caption += f" (the {len(drawn)} narrowest of {len(by_class)} classes)"
    blocks.append(
        Picture(svg, f"{caption}. Left of the line a sample is nearer to another class.", "Margins by class.")
    )
    blocks.append(Paragraph(f"Measured on {count(len(features))} {evidence.part_in_words} samples.", quiet=True))
    worst = name(evidence.class_names[by_class[0][0]], 40)
    lead = (
        f"Half of the samples lie within {float(angles.median()):.0f}° of their class's {anchor}, and "
        f"{percent(float((margins > 0).double().mean()))} are nearer to it than to any other; "
        f"“{worst}” is the class with the least room."
    )
    return Section("geometry", "How well the classes are kept apart", lead, blocks)


def _role(measured: Measured) -> str:
    if measured.normalized:
        return "this head looks at directions only, so they decide nothing"
    return "the longer one is, the surer the answer"
