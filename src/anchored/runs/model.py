"""A trained model that stands on its own: raw inputs in, calibrated logits out, class names inside.

On disk it is two files, ``model.safetensors`` and ``model.json``, and two more, ``encoder.safetensors`` and
``encoder.json``, if photos, texts or rows are encoded first: no pickle, and nothing of the training data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors.torch import save_file
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._files import read_json, read_tensors, write_atomically, write_json
from anchored.data import Dataset, Inputs, Normalization, SourceOptions, TensorInputs
from anchored.features import Encoder, TableEncoder, encode, features_of, restore
from anchored.features.photos import PhotoEncoder
from anchored.heads import complete_settings
from anchored.methods import Network
from anchored.training import BackboneConfig, MethodConfig, Runtime, build_procedure, raw_logits, weight_of

__all__ = ["DESCRIPTION", "ENCODER", "ENCODER_WEIGHTS", "OWN_BACKBONE", "WEIGHTS", "TrainedModel", "read_encoder"]

WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"
ENCODER_WEIGHTS, ENCODER = "encoder.safetensors", "encoder.json"
OWN_BACKBONE = "own"
"""The name of a backbone that was the user's own module, which no name can make again."""
_LONGEST_ENCODER = 2**26
_FORMAT, _FORMAT_WITH_ENCODER = 2, 3


class TrainedModel(nn.Module):
    """Calibrated logits of raw inputs: ``softmax`` of them is the probability of each class.

    Args:
        classifier: The network, which answers logits of normalised inputs.
        normalization: Turns raw inputs into normalised ones.
        class_names: Names of the classes, in the order of the logits.
        temperature: The number that logits are divided by.
        description: How the parts were made, as plain values: method, backbone, columns of a table …
        prior: How frequent the classes are in the data to predict, kept as shares; see :meth:`for_prior`.
        encoder: Turns photos, texts or rows into the vectors that the network takes; None if it takes them itself.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> model.predict_proba(torch.zeros(1, 4)).sum().item()
        1.0
    """

    log_prior: Tensor | None

    def __init__(
        self,
        classifier: Network,
        normalization: Normalization,
        class_names: tuple[str, ...],
        temperature: float = 1.0,
        description: dict[str, Any] | None = None,
        prior: Sequence[float] | Tensor | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        if len(classifier.input_shape) == 3:
            # Faster on a CPU; and one memory order for fresh and loaded models alike gives the same last bit.
            classifier = classifier.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.classifier = classifier
        self.normalization = normalization
        self.class_names = tuple(class_names)
        self.temperature = temperature
        self.description = dict(description or {})
        self.prior = None if prior is None else _shares(prior, self.class_names)
        # Times k, so that equal shares add nothing.
        log_prior = None
        if self.prior is not None:
            log_prior = torch.tensor(self.prior, device=weight_of(classifier).device).mul(len(self.prior)).log()
        self.register_buffer("log_prior", log_prior, persistent=False)
        self.eval()

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input of the network: of a raw input, or of an encoded one if there is an encoder."""
        return self.classifier.input_shape

    @property
    def raw_shape(self) -> tuple[int, ...]:
        """The shape that raw data is opened in: of images ``(c, h, w)``; ``()`` for texts and rows of a table."""
        if self.encoder is None:
            return self.input_shape
        if isinstance(self.encoder, PhotoEncoder):
            return 3, self.encoder.view.height or 0, self.encoder.view.width or 0
        return ()

    @property
    def source_options(self) -> SourceOptions:
        """How :func:`anchored.data.open_source` must open other data, so that the model can take it."""
        columns = self.description.get("columns")
        if isinstance(self.encoder, TableEncoder):
            read: SourceOptions = {
                "form": "table",
                "columns": tuple(self.encoder.columns),
                "verbatim": self.encoder.text_columns,
            }
        elif self.raw_shape == ():
            read = {"form": "texts", "columns": columns}
        else:
            read = {"form": "vectors" if len(self.raw_shape) == 1 else "auto", "columns": columns}
        return {**read, "shape": self.raw_shape, "any_size": self.encoder is not None}

    def encoded(self, dataset: Dataset) -> Dataset:
        """Return ``dataset`` in the form that the network takes: encoded, if the model has an encoder.

        Args:
            dataset: Photos, texts or rows as they came, or data in the network's form already.

        Returns:
            The same samples; vectors if there is an encoder. What was encoded before is found in the cache.
        """
        if self.encoder is None or dataset.inputs.shape == self.input_shape:
            return dataset
        return encode(dataset, self.encoder)

    def vectors(self, inputs: Inputs | Tensor) -> Tensor:
        """Encode raw inputs for the network.

        Args:
            inputs: Images as a tensor ``(n, c, h, w)`` of bytes, or any inputs that the encoder takes. A tensor in the
                network's form is returned as it is.

        Returns:
            What the network takes, ``(n, *input_shape)``.

        Raises:
            InputError: The inputs are not what the model takes.
        """
        if isinstance(inputs, Tensor):
            if self.encoder is None or tuple(inputs.shape[1:]) == self.input_shape:
                return inputs
            inputs = TensorInputs(inputs)
        if self.encoder is None:
            return inputs.take(torch.arange(len(inputs)))
        return features_of(inputs, self.encoder, cache=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Compute calibrated logits ``(n, k)`` of raw inputs: uint8 images, or vectors as they came."""
        inputs = self.vectors(inputs)
        weight = weight_of(self.classifier)
        normalized = self.normalization(inputs.to(weight.device), dtype=weight.dtype)
        return self.calibrated(self.classifier(normalized))

    def calibrated(self, logits: Tensor) -> Tensor:
        """Divide logits ``(n, k)`` of the network by the temperature, and move them to the prior if there is one."""
        calibrated = logits / self.temperature
        return calibrated if self.log_prior is None else calibrated + self.log_prior.to(calibrated)

    @torch.inference_mode()
    def predict_proba(self, inputs: Tensor) -> Tensor:
        """Compute calibrated probabilities ``(n, k)``."""
        return self.forward(inputs).softmax(dim=1)

    def raw_logits(self, dataset: Dataset, *, device: torch.device | None = None, workers: int = 2) -> Tensor:
        """Compute logits before the temperature; cosines, if the head is a scale times cosines.

        Args:
            dataset: What to ask about, in memory or on the disk.
            device: The device to compute on; by default that of the model.
            workers: Threads that decode images on the disk.

        Returns:
            Logits ``(n, k)``, float32, on the CPU: what :func:`anchored.audit.audit` judges labels by.
        """
        runtime = Runtime(weight_of(self.classifier).device if device is None else device)
        return raw_logits(self.classifier, dataset, self.normalization, runtime, workers=workers)

    def for_prior(self, prior: Sequence[float] | Tensor) -> TrainedModel:
        r"""Adapt the model to data whose classes are as frequent as ``prior`` says: add :math:`\log \pi_j` to logit j.

        That is Bayes' rule for a model whose probabilities are those of equally frequent classes, as balanced softmax,
        LADE, PC softmax and balanced batches train it. Equal shares add nothing. A model of plain cross entropy carries
        the frequencies of its training data; ``pc-softmax`` is the same training with them taken off.

        Args:
            prior: A positive number per class, in the order of ``class_names``: shares or counts.

        Returns:
            Another model with the same network (not a copy of it), in place of any prior that this one had.

        Example:
            >>> from anchored import AnchoredHead, backbones
            >>> from anchored.methods import Classifier
            >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
            >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
            >>> odds = lambda p: p[0, 1] / p[0, 0]
            >>> x = torch.zeros(1, 4)
            >>> round(float(odds(model.for_prior([1, 3]).predict_proba(x)) / odds(model.predict_proba(x))), 4)
            3.0
        """
        return TrainedModel(
            self.classifier,
            self.normalization,
            self.class_names,
            self.temperature,
            self.description,
            prior,
            self.encoder,
        )

    def save(self, folder: str | Path) -> None:
        """Write the files of the model into ``folder``, each atomically."""
        folder = Path(folder)
        if self.encoder is not None:
            described, tensors = self.encoder.state()
            held = {name: tensor.contiguous() for name, tensor in tensors.items()}
            write_atomically(folder / ENCODER_WEIGHTS, lambda path: save_file(held, path, metadata={"format": "pt"}))
            write_json(folder / ENCODER, {"encoder": self.encoder.name, **described})
        about = {
            "format": _FORMAT if self.encoder is None else _FORMAT_WITH_ENCODER,
            "class_names": list(self.class_names),
            "temperature": self.temperature,
            "normalization": self.normalization.to_dict(),
            "input_shape": list(self.input_shape),
            **self.description,
            **({} if self.prior is None else {"prior": list(self.prior)}),
        }
        state = {
            name: value.detach().cpu().contiguous().clone() for name, value in self.classifier.state_dict().items()
        }
        write_atomically(folder / WEIGHTS, lambda path: save_file(state, path, metadata={"format": "pt"}))
        write_json(folder / DESCRIPTION, about)

    @classmethod
    def load(cls, folder: str | Path, *, backbone: nn.Module | None = None) -> TrainedModel:
        """Read what :meth:`save` wrote.

        Args:
            folder: The folder of a run, or any folder with the two files.
            backbone: The module that training was given, if it was one of your own; its weights are replaced.

        Returns:
            The model, on the CPU.

        Raises:
            InputError: A file is missing or damaged, or the weights are those of another network.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> from anchored.data import load_digits
            >>> from anchored.runs import fit
            >>> with TemporaryDirectory() as folder:
            ...     _ = fit(load_digits(), {"method": {"name": "ce"}, "train": {"epochs": 1}}, folder=f"{folder}/run")
            ...     TrainedModel.load(f"{folder}/run").class_names[:3]
            ('0', '1', '2')
        """
        folder = Path(folder)
        for name in (DESCRIPTION, WEIGHTS):
            if not (folder / name).is_file():
                way_out = (
                    "it was removed after the run had finished; train again"
                    if (folder / "result.json").is_file()
                    else f"finish it with: anchored resume {folder}"
                )
                raise InputError(f"{folder} holds no trained model ({name} is missing); {way_out}")
        about = read_json(folder / DESCRIPTION, way_out="train it again")
        state = read_tensors(folder / WEIGHTS, way_out="train it again").tensors
        if about.get("format") not in (_FORMAT, _FORMAT_WITH_ENCODER):
            raise InputError(
                f"{folder}: this version reads model formats {_FORMAT} and {_FORMAT_WITH_ENCODER}, "
                f"got {about.get('format')!r}"
            )
        encoder = read_encoder(folder) if about["format"] == _FORMAT_WITH_ENCODER else None
        classifier = _network(folder, about, backbone)
        classifier = classifier.to(_widest(state.values()))
        try:
            classifier.load_state_dict(complete_settings(state, classifier))
        except RuntimeError as error:
            reason = " ".join(line.strip() for line in str(error).splitlines()[:2])
            raise InputError(f"the weights in {folder} are those of another network: {reason}") from None
        named = {"class_names", "temperature", "normalization", "input_shape", "format", "prior"}
        return cls(
            classifier,
            Normalization.from_dict(about["normalization"]),
            tuple(about["class_names"]),
            float(about["temperature"]),
            {name: value for name, value in about.items() if name not in named},
            about.get("prior"),
            encoder,
        )


def read_encoder(folder: Path) -> Encoder:
    """Read the encoder beside a model; its parts are checked as they are read, since files are untrusted.

    Raises:
        InputError: If there is none, or it is damaged.
    """
    way_out = "copy the files of the model from the run again"
    for name in (ENCODER, ENCODER_WEIGHTS):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: the model encodes its inputs first, and {name} is missing; {way_out}")
    about = read_json(folder / ENCODER, longest=_LONGEST_ENCODER, way_out=way_out)
    tensors = read_tensors(folder / ENCODER_WEIGHTS, way_out=way_out).tensors
    try:
        return restore(about, tensors)
    except InputError as error:
        raise InputError(f"{folder / ENCODER}: {error}") from None


def _shares(prior: Sequence[float] | Tensor, class_names: tuple[str, ...]) -> tuple[float, ...]:
    """``prior`` with the sum one."""
    try:
        values = torch.as_tensor(prior, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"a prior must be a list of numbers, got {prior!r}; give one per class") from None
    if values.shape != (len(class_names),):
        raise InputError(
            f"a prior must hold one number for each of the {len(class_names)} classes, got shape {tuple(values.shape)}"
        )
    for name, value in zip(class_names, values.tolist(), strict=True):
        if not 0 < value < math.inf:
            raise InputError(f"a prior must be positive, got {value:g} for class {name!r}; give a rare class a little")
    return tuple((values / values.sum()).tolist())


def _network(folder: Path, about: dict[str, Any], module: nn.Module | None) -> Network:
    """The network as it was built for training, through all its stages; its values are loaded afterwards."""
    if module is None and about["backbone"]["name"] == OWN_BACKBONE:
        raise InputError(f"{folder} was trained with a module of your own; pass it as backbone=")
    try:
        method = MethodConfig(
            name=about["method"], noise_rate=about["noise_rate"], scale=about["scale"], options=about["options"]
        )
        backbone = BackboneConfig(**about["backbone"])
        if backbone.name != OWN_BACKBONE and not about["backbone"].keys() >= {"last_relu", "options"}:
            raise TypeError("the backbone is described by half")
    except (ValidationError, TypeError):
        raise InputError(f"{folder / DESCRIPTION} is damaged: its settings are not those of a model") from None
    counts, shape = torch.tensor(about["training_counts"]), tuple(about["input_shape"])
    built = build_procedure(method, backbone, counts, shape, module=module, blank=True)
    network = built.network()
    for stage in built.stages()[1:]:
        stage.enter(network)
    return network


def _widest(tensors: Iterable[Tensor]) -> torch.dtype:
    """Return the type of the most digits among floating-point tensors; heads say themselves which of theirs differ."""
    found = [each.dtype for each in tensors if each.is_floating_point()]
    return torch.float64 if torch.float64 in found else found[0]
