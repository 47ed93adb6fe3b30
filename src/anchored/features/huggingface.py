"""``hf:NAME``: networks of the transformers library for photos or text; NAME is a model of the hub or a local folder.

Text: the mean of the last hidden states over the tokens. Photos: the projected image vector of models such as CLIP,
otherwise the mean of the last hidden states over all places. transformers is imported on use only; code that comes with
a model is never run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.hub import check_torchvision, from_cache_or_hub, needed, reachable
from anchored.features.photos import PhotoEncoder, PhotoView, known_precision
from anchored.features.precision import PRECISIONS, choose_precision
from anchored.features.stream import BatchedEncoder
from anchored.features.texts import chosen_texts
from anchored.features.token_network import mean_over_tokens, run_in_buckets
from anchored.features.weights import digest_of, load_into, read_weights

__all__ = ["HuggingFacePhotos", "HuggingFaceTexts", "make", "restore"]

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_LONGEST = 512


class _ImageVectors(nn.Module):
    """A transformers model that answers one vector per image."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        if hasattr(self.model, "get_image_features"):
            found = self.model.get_image_features(pixel_values=images)  # type: ignore[operator]
            vectors: Tensor = found if isinstance(found, Tensor) else found.pooler_output
            return vectors
        hidden: Tensor = self.model(pixel_values=images).last_hidden_state
        return hidden.mean(dim=(2, 3)) if hidden.ndim == 4 else hidden.mean(dim=1)


class HuggingFacePhotos(PhotoEncoder):
    """A vision network of transformers, frozen. Made by :func:`make`.

    Args:
        model: Name on the hub, or a folder.
        network: The model.
        config: Its configuration as plain values.
        view: How photos are shown to it.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``.
    """

    def __init__(
        self, model: str, network: nn.Module, config: dict[str, Any], view: PhotoView, *, precision: str
    ) -> None:
        self.name = f"hf:{model}"
        self._config = config
        super().__init__(_ImageVectors(network), view, precision=precision)

    @cached_property
    def dim(self) -> int:
        """Number of features, found by one pass of zeros."""
        like = next(self._runner.parameters())
        shape = (1, 3, self.view.height or 224, self.view.width or 224)
        with torch.inference_mode():
            out: Tensor = self._runner(torch.zeros(shape, dtype=like.dtype, device=like.device))
        return out.shape[1]

    def _about(self) -> dict[str, Any]:
        return {"kind": "image", "config": self._config}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; transformers must be installed.

        Args:
            about: Configuration, view and precision.
            tensors: The weights.
        """
        name = str(about.get("encoder", "")).partition(":")[2]
        config = _checked_config(about)
        network = _from_config(config, f"hf:{name}")
        made = cls(name, network, config, PhotoView.from_dict(about.get("view", {})), precision=known_precision(about))
        load_into(made.network, tensors, where="the stored encoder", what=made.name)
        return made


class HuggingFaceTexts(BatchedEncoder):
    """A text network of transformers, frozen: mean of the last hidden states. Made by :func:`make`.

    Args:
        model: Name on the hub, or a folder.
        network: The model.
        config: Its configuration as plain values.
        tokenizer: The JSON of its tokenizer, as bytes.
        pad: Number of the padding token.
        longest: The most tokens that are read of a text.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``.
    """

    kind: ClassVar[str] = "text"

    def __init__(
        self,
        model: str,
        network: nn.Module,
        config: dict[str, Any],
        *,
        tokenizer: bytes,
        pad: int,
        longest: int,
        precision: str,
    ) -> None:
        self.name = f"hf:{model}"
        self.network = network.eval().requires_grad_(False)
        self.precision = choose_precision(precision)
        self._config, self._json, self._pad, self._longest = config, tokenizer, pad, longest
        self._cut = needed("tokenizers", encoder=self.name, install="tokenizers").Tokenizer.from_buffer(tokenizer)
        self._cut.enable_truncation(longest)
        self._cut.no_padding()

    @property
    def dim(self) -> int:
        """Length of a hidden state."""
        return int(self._config["hidden_size"])

    @cached_property
    def digest(self) -> str:
        """Digest of weights, configuration, tokenizer and precision."""
        return digest_of(*self.state())

    @cached_property
    def _runner(self) -> nn.Module:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return self.network.to(device=device, dtype=PRECISIONS[self.precision])

    def prepare(self, inputs: Inputs, index: Tensor) -> list[list[int]]:
        """Cut texts into tokens.

        Args:
            inputs: The texts.
            index: Row numbers ``(b,)``.

        Returns:
            Token numbers of each text.
        """
        texts = [text.encode("utf-8", "replace").decode("utf-8") for text in chosen_texts(inputs, index, self.name)]
        return [found.ids for found in self._cut.encode_batch(texts)]

    def embed(self, prepared: list[list[int]]) -> Tensor:
        """Run the network and average over tokens."""
        return run_in_buckets(prepared, self._averaged, pad=self._pad, longest=self._longest)

    def _averaged(self, ids: Tensor, mask: Tensor) -> Tensor:
        device = next(self._runner.parameters()).device
        hidden = self._runner(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
        return mean_over_tokens(hidden.float(), mask.to(device)).cpu()

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return configuration and settings, the weights, and the tokenizer's JSON as bytes."""
        about = {
            "encoder": self.name,
            "kind": "text",
            "config": self._config,
            "pad": self._pad,
            "longest": self._longest,
            "precision": self.precision,
        }
        weights = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        return about, {**weights, "tokenizer": torch.frombuffer(bytearray(self._json), dtype=torch.uint8)}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; transformers must be installed.

        Args:
            about: Configuration and settings.
            tensors: Weights and tokenizer.
        """
        name = str(about.get("encoder", "")).partition(":")[2]
        config = _checked_config(about)
        network = _from_config(config, f"hf:{name}")
        weights = {key: tensor for key, tensor in tensors.items() if key != "tokenizer"}
        load_into(network, weights, where="the stored encoder", what=f"hf:{name}")
        if "tokenizer" not in tensors:
            raise InputError("the stored encoder: its tokenizer is missing; make the model again")
        return cls(
            name,
            network,
            config,
            tokenizer=tensors["tokenizer"].to(torch.uint8).numpy().tobytes(),
            pad=int(about.get("pad", 0)),
            longest=min(int(about.get("longest", _LONGEST)), 2**15),
            precision=known_precision(about),
        )


def make(
    name: str, *, weights: str | Path | None = None, precision: str = "auto"
) -> HuggingFacePhotos | HuggingFaceTexts:
    """Make the encoder ``hf:name``, for photos or for text as the model is.

    Args:
        name: A model of the hub, or a folder.
        weights: A file of weights; a classifier in it is left out. By default those of the model.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``.

    Returns:
        The encoder.

    Raises:
        InputError: If transformers is missing, the model cannot be found, or the weights are of another model.
    """
    encoder = f"hf:{name}"
    library = needed("transformers", encoder=encoder, install="transformers")
    config = from_cache_or_hub(
        lambda local: library.AutoConfig.from_pretrained(name, local_files_only=local), encoder=encoder
    )
    plain: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
    network = _from_config(plain, encoder) if weights is not None else _pretrained(library, name, encoder)
    if weights is not None:
        found = read_weights(weights)
        prefix = f"{getattr(network, 'base_model_prefix', '')}."
        own = {key.removeprefix(prefix) if prefix != "." else key: tensor for key, tensor in found.items()}
        load_into(network, own, where=str(weights), what=encoder)
    if hasattr(config, "vision_config") or hasattr(config, "num_channels") or hasattr(config, "image_size"):
        return HuggingFacePhotos(name, network, plain, _view(library, name, config, encoder), precision=precision)
    tokenizer = from_cache_or_hub(
        lambda local: library.AutoTokenizer.from_pretrained(name, local_files_only=local), encoder=encoder
    )
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(f"encoder {encoder!r}: its tokenizer has no fast version; choose another model")
    longest = min(_LONGEST, int(tokenizer.model_max_length), int(plain.get("max_position_embeddings") or _LONGEST))
    return HuggingFaceTexts(
        name,
        network,
        plain,
        tokenizer=backend.to_str().encode(),
        pad=int(tokenizer.pad_token_id or 0),
        longest=longest,
        precision=precision,
    )


def restore(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> HuggingFacePhotos | HuggingFaceTexts:
    """Make the encoder from its state.

    Args:
        about: Plain values.
        tensors: Weights, and for text the tokenizer.

    Returns:
        The encoder.
    """
    made = HuggingFaceTexts if about.get("kind") == "text" else HuggingFacePhotos
    return made.from_state(about, tensors)


def _pretrained(library: Any, name: str, encoder: str) -> nn.Module:  # noqa: ANN401 - an optional module
    def load(local: bool) -> tuple[nn.Module, Mapping[str, Any]]:
        # Layers that the file lacks are drawn at random, and reported at length.
        with torch.random.fork_rng(devices=[]), _quiet(library):
            return library.AutoModel.from_pretrained(  # type: ignore[no-any-return]
                name, local_files_only=local, output_loading_info=True, dtype=torch.float32
            )

    network, told = from_cache_or_hub(load, encoder=encoder)
    missing = [key for key in told.get("missing_keys", ()) if "pooler" not in key and "position_ids" not in key]
    if missing:
        raise InputError(f"encoder {encoder!r}: its weights lack {missing[0]}; choose another model")
    return _without_pooler(network)


@contextmanager
def _quiet(library: Any) -> Iterator[None]:  # noqa: ANN401 - an optional module
    """Within, transformers draws no bars and reports errors only."""
    logging = library.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        logging.enable_progress_bar()


def _from_config(config: dict[str, Any], encoder: str) -> nn.Module:
    library = needed("transformers", encoder=encoder, install="transformers")
    try:
        rest = {key: value for key, value in config.items() if key not in ("model_type", "auto_map")}
        described = library.AutoConfig.for_model(str(config.get("model_type")), **rest)
        with torch.random.fork_rng(devices=[]):
            network: nn.Module = library.AutoModel.from_config(described, trust_remote_code=False)
    except Exception as error:  # whatever a damaged configuration makes it stumble over
        check_torchvision(error, encoder=encoder)
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"encoder {encoder!r}: its configuration gives no network ({reason})") from None
    return _without_pooler(network)


def _without_pooler(network: nn.Module) -> nn.Module:
    """The network without a pooling layer of its own: it is not used, and often not trained."""
    pooler = getattr(network, "pooler", None)
    if isinstance(pooler, nn.Module) and any(True for _ in pooler.parameters()):
        network.pooler = None  # type: ignore[assignment]
    return network.eval()


def _checked_config(about: Mapping[str, Any]) -> dict[str, Any]:
    config = about.get("config")
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise InputError("the stored encoder: its configuration is missing; make the model again")
    return config


def _preprocessing(library: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - an optional module
    """What the model says about its images; nothing if it says nothing, which means ImageNet's statistics."""
    for local in (True, False):
        if not local and (Path(name).is_dir() or not reachable()):
            break
        try:
            path = library.utils.cached_file(name, "preprocessor_config.json", local_files_only=local)
            about = json.loads(Path(path).read_text(encoding="utf-8"))
        except Exception:  # every version has its own class for a file that is not there
            continue
        if isinstance(about, dict):
            return about
    return {}


def _view(library: Any, name: str, config: Any, encoder: str) -> PhotoView:  # noqa: ANN401 - optional module
    shown = getattr(config, "vision_config", config)
    side = getattr(shown, "image_size", None) or 224
    height, width = (side, side) if isinstance(side, int) else (int(side[0]), int(side[1]))
    about = _preprocessing(library, name)
    mean = [255.0 * float(v) for v in about.get("image_mean", _MEAN)]
    std = [255.0 * float(v) for v in about.get("image_std", _STD)]
    if len(mean) != 3 or len(std) != 3:
        raise InputError(f"encoder {encoder!r} takes images with {len(mean)} channels; choose one for three")
    return PhotoView(height, width, (mean[0], mean[1], mean[2]), (std[0], std[1], std[2]))
