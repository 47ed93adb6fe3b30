"""A trained model as another runtime sees it: raw inputs in; calibrated logits and their softmax out.

The graph holds all steps between: the encoder of photos, the normalisation of bytes or features, the network, the
temperature. Texts and rows of a table are encoded before the graph, since it has no words for them. :func:`about`
collects what a graph has no place for (class names, columns of a table); each format stores it in its own way.
"""

from __future__ import annotations

import copy
import json
from typing import Literal

import torch
from torch import Tensor, nn

from anchored import __version__
from anchored._errors import InputError
from anchored._random import stream
from anchored.features import TableEncoder
from anchored.features.photos import PhotoEncoder
from anchored.runs import TrainedModel

__all__ = ["Deployed", "InputType", "about", "deployed_shape", "input_dtype", "probe", "trace"]

InputType = Literal["auto", "uint8", "float32"]
INPUT, OUTPUTS = "inputs", ("logits", "probabilities")


class Deployed(nn.Module):
    """Computes logits and probabilities, both ``(n, k)``, of raw inputs, on the CPU in single precision.

    Args:
        model: A trained model, e.g. from :func:`anchored.load`; a copy of it is used.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 3))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("a", "b", "c"))
        >>> logits, probabilities = Deployed(model)(torch.zeros(2, 4))
        >>> logits.shape, probabilities.sum(dim=1).tolist()
        (torch.Size([2, 3]), [1.0, 1.0])
    """

    def __init__(self, model: TrainedModel) -> None:
        super().__init__()
        encoder = model.encoder
        self.encoder = encoder.as_module().eval() if isinstance(encoder, PhotoEncoder) else None
        self.model = copy.deepcopy(model).to("cpu", torch.float32).eval()

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Compute logits and probabilities of raw inputs."""
        if self.encoder is not None:
            inputs = self.encoder(inputs)
        logits: Tensor = self.model(inputs)
        return logits, logits.softmax(dim=1)


def deployed_shape(model: TrainedModel) -> tuple[int, ...]:
    """Tell the shape of one input of the graph: an image at the encoder's size, or what the network takes.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> deployed_shape(TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes")))
        (4,)
    """
    return model.raw_shape if isinstance(model.encoder, PhotoEncoder) else model.input_shape


def _takes_bytes(model: TrainedModel) -> bool:
    return isinstance(model.encoder, PhotoEncoder) or (model.encoder is None and model.normalization.divisor == 255)


def input_dtype(model: TrainedModel, asked: InputType = "auto") -> torch.dtype:
    """Choose the type of the graph's inputs: bytes if the model divides by 255, else floats, unless asked for.

    Floats stand for the same values as the bytes: 0 to 255 for pixels.

    Args:
        model: A trained model.
        asked: Type that the user asks for, or ``"auto"``.

    Returns:
        ``torch.uint8`` or ``torch.float32``.

    Raises:
        InputError: The type is unknown, or bytes are asked for and the model was trained on floats.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> input_dtype(model)
        torch.float32
    """
    if asked == "auto":
        return torch.uint8 if _takes_bytes(model) else torch.float32
    known = {"uint8": torch.uint8, "float32": torch.float32}
    if asked not in known:
        raise InputError(f"the input must be auto, uint8 or float32, got {asked!r}")
    if asked == "uint8" and not _takes_bytes(model):
        raise InputError("the model was trained on floats, got input uint8; leave it at auto")
    return known[asked]


def probe(model: TrainedModel, n: int, *, dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Make up inputs in the range that the model knows: random bytes, or features around their means.

    Args:
        model: A trained model.
        n: Number of inputs.
        dtype: Type of the inputs.
        seed: Seed of the random values.

    Returns:
        Inputs ``(n, ...)`` in the shape that the model takes.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> probe(model, 3, dtype=torch.float32).shape
        torch.Size([3, 4])
    """
    generator = stream(seed, "probe")
    shape = (n, *deployed_shape(model))
    if _takes_bytes(model):
        return torch.randint(256, shape, generator=generator).to(dtype)
    by_channel = (-1, *[1] * (len(shape) - 2))
    mean = torch.tensor(model.normalization.mean).view(by_channel)
    std = torch.tensor(model.normalization.std).view(by_channel)
    return (mean + std * torch.randn(shape, generator=generator)).to(dtype)


def trace(model: TrainedModel, *, dtype: torch.dtype) -> torch.export.ExportedProgram:
    """Trace the graph of :class:`Deployed`, for any number of inputs at a time.

    Args:
        model: A trained model.
        dtype: Type of the inputs.

    Returns:
        The program, as ``torch.export`` makes it.
    """
    example = probe(model, 2, dtype=dtype)
    with torch.no_grad():
        return torch.export.export(Deployed(model), (example,), dynamic_shapes=({0: torch.export.Dim("batch", min=1)},))


def about(model: TrainedModel) -> dict[str, str]:
    """Collect what a user of the graph needs beside it, as text; lists and objects as JSON.

    ``class_names`` are in the order of the outputs; ``columns``, for a table, are the features in their order;
    ``encoder`` names what makes the inputs of the graph from texts or rows (that of photos is inside), and
    ``encoded``, for a table, says what each of those inputs is, column by column;
    ``prior``, if the model was moved to one, is how frequent the classes are taken to be.
    """
    values: dict[str, object] = {
        "class_names": list(model.class_names),
        "input_shape": list(deployed_shape(model)),
        "normalization": model.normalization.to_dict(),
        "temperature": model.temperature,
        **({} if model.encoder is None else {"encoder": model.encoder.name}),
        **({"encoded": list(model.encoder.feature_names)} if isinstance(model.encoder, TableEncoder) else {}),
        **({} if model.prior is None else {"prior": list(model.prior)}),
        **{name: model.description[name] for name in ("columns", "method") if model.description.get(name) is not None},
    }
    return {"anchored": __version__, **{name: _text(value) for name, value in values.items()}}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
