"""Count for how many published architectures ``anchor_`` does the right thing: timm, torchvision, transformers.

Not a test: it builds some four hundred networks with random weights, which takes about an hour. It needs timm,
torchvision and transformers beside the library (docs/frameworks/index.md says how they were installed), and is run as

    python tests/campaign/anchor_models.py timm --out counts.json
    python tests/campaign/anchor_models.py torchvision --out counts.json
    python tests/campaign/anchor_models.py transformers --out counts.json

A case is **right** if, after one call of ``anchor_(model, scale=5)``,

- the logits have one column per class and stay within the scale,
- the sign of the features in ``repr`` is that of the features themselves, after one batch, and with ``example=``,
- a training step moves the network and leaves the prototypes as they were, bit for bit,
- the state dict, loaded into a second model that was anchored with another scale, gives the same logits.

A model with several classifiers must be refused with the call that anchors all of them; that call is then made, and
must be right too. A model without a layer of class logits must be refused. Models that cannot be built or run at all
are listed apart, and are no part of the count. A network has ``--seconds`` of the processor and ``--memory`` GB.
"""

import argparse
import contextlib
import copy
import gc
import json
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import torch

from anchored import InputError, anchor_
from anchored.heads import AnchoredHead

K, SCALE = 7, 5.0
SMALL_FIRST = re.compile(
    r"test|pico|femto|atto|zepto|nano|xxs|xxt|xxtiny|_xs|_tiny|_micro|_mini|_s0|b0|_18|18|_small|_t$|_s$"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="+", choices=COLLECTIONS)
    parser.add_argument("--out", default="counts.json")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of the processor that a model may take")
    parser.add_argument("--memory", type=float, default=6, help="GB that the process may take")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_DATA, (int(arguments.memory * 2**30),) * 2)
    import_torchvision_on_a_cpu()
    path = Path(arguments.out)
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []  # it goes on where it was stopped
    done = {each["model"] for each in found}
    for collection in arguments.collections:
        for name, build, inputs in COLLECTIONS[collection](done):
            if arguments.only in name and name not in done:
                found.append({"collection": collection, "model": name, **limited(build, inputs, arguments.seconds)})
                print(json.dumps(found[-1]), flush=True)
                path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    for line in summary(found):
        print(line)


def import_torchvision_on_a_cpu():
    """Define the two operators that the CUDA build of torchvision expects; without them it does not import."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    KEPT.append(library)


KEPT = []


def summary(found):
    """Lines of a Markdown table."""
    yield "| collection | counted | right | refused first, with the call | refused rightly | wrong | not runnable |"
    yield "|---|---|---|---|---|---|---|"
    for collection in dict.fromkeys(each["collection"] for each in found):
        rows = [each for each in found if each["collection"] == collection]
        number = {kind: sum(each["outcome"] == kind for each in rows) for kind in OUTCOMES}
        counted = len(rows) - number["cannot be run"]
        right = number["right"] + number["right by the call shown"] + number["refused rightly"]
        share = f"{right} ({100 * right / max(counted, 1):.1f} %)"
        yield (
            f"| {collection} | {counted} | {share} | {number['right by the call shown']} | "
            f"{number['refused rightly']} | {number['wrong']} | {number['cannot be run']} |"
        )
    signs = [each for each in found if "nonnegative" in each]
    truly = [each for each in signs if each["nonnegative"]]
    yield f"features non-negative: {len(truly)}, found {sum(each['found_nonnegative'] for each in truly)}"
    signed = [each for each in signs if not each["nonnegative"]]
    yield f"features signed: {len(signed)}, found {sum(not each['found_nonnegative'] for each in signed)}"


OUTCOMES = ("right", "right by the call shown", "refused rightly", "wrong", "cannot be run")


def limited(build, inputs, seconds):
    """The outcome of one model within the time allowed."""

    def stop(*_):
        raise TimeoutError

    # Seconds of the processor, so that the outcome does not depend on what else the machine does.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    started = time.process_time()
    try:
        return {**judged(build, inputs), "seconds": round(time.process_time() - started, 1)}
    except TimeoutError:
        return {"outcome": "cannot be run", "why": f"more than {seconds:.0f} s"}
    except MemoryError as error:
        return {"outcome": "cannot be run", "why": f"too large {error}"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        gc.collect()


def judged(build, inputs):
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            plain = build()
            example = inputs(plain)
        plain.eval()
        with torch.no_grad():
            gives_classes = K in run(plain, example).shape
    except (TimeoutError, MemoryError):
        raise
    except Exception as error:
        return {"outcome": "cannot be run", "why": f"{type(error).__name__}: {str(error)[:150]}"}
    layer, outcome = None, "right"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                anchor_(copy.deepcopy(plain), scale=SCALE)
            except InputError as refusal:
                shown = re.search(r"layer=(\[.*\])$", str(refusal))
                if not gives_classes or "keeps the weights of its classes in its loss" in str(refusal):
                    return {"outcome": "refused rightly", "why": str(refusal)[:150]}
                if shown is None:
                    return {"outcome": "wrong", "why": f"refused: {str(refusal)[:200]}"}
                layer, outcome = json.loads(shown.group(1).replace("'", '"')), "right by the call shown"
            return {"outcome": outcome, **checked(plain, example, layer)}
    except (TimeoutError, MemoryError):
        raise
    except AssertionError as error:
        return {"outcome": "wrong", "why": str(error)[:200]}
    except Exception as error:
        if "can't allocate memory" in str(error):
            raise MemoryError from error
        traceback.print_exc(file=sys.stderr)
        return {"outcome": "wrong", "why": f"{type(error).__name__}: {str(error)[:200]}"}


def checked(plain, example, layer):
    model = anchor_(copy.deepcopy(plain), scale=SCALE, layer=layer)
    heads = [module for module in model.modules() if isinstance(module, AnchoredHead)]
    lowest = {}
    hooks = [head.register_forward_pre_hook(keep_lowest(lowest)) for head in heads]
    with torch.no_grad():
        logits = run(model, example)
    for hook in hooks:
        hook.remove()
    assert K in (logits.shape[-1], logits.shape[1]), f"logits {tuple(logits.shape)} do not have {K} classes"
    assert logits.abs().max() <= SCALE + 1e-3, f"a logit of {logits.abs().max():.3g} is beyond the scale"
    assert lowest, "the head never ran"
    truth = ["nonnegative" if low >= 0 else "signed" for low in lowest.values()]
    found = [head.features for head in lowest]
    measured = anchor_(copy.deepcopy(plain), scale=SCALE, layer=layer, example=example)
    by_example = [each.features for each in measured.modules() if isinstance(each, AnchoredHead)]
    ran = [by_example[heads.index(head)] for head in lowest]
    assert truth == found == ran, f"features are {truth}, found {found} by the first batch, {ran} by example"
    with torch.no_grad():
        assert torch.allclose(run(measured, example), logits, atol=1e-4), "the two ways disagree on logits"
    assert f"{truth[0]} features (seen" in repr(next(iter(lowest))) or "(by structure)" in repr(next(iter(lowest)))
    del measured
    step(model.train(), heads, example)
    twin = anchor_(plain, scale=1.0, layer=layer)
    twin.load_state_dict(model.state_dict())
    with torch.no_grad():
        same = torch.allclose(run(twin.eval(), example), run(model.eval(), example), atol=1e-4, equal_nan=True)
    assert same, "loading the state dict gave other logits"
    return {
        "nonnegative": truth[0] == "nonnegative",
        "found_nonnegative": found[0] == "nonnegative",
        "heads": len(heads),
    }


def keep_lowest(lowest):
    def hook(head, given):
        lowest[head] = min(lowest.get(head, float("inf")), given[0].detach().min().item())

    return hook


def step(model, heads, example):
    """One step of gradient descent: the network moves, the prototypes do not."""
    kept = [head.prototypes.clone() for head in heads]
    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    before = free[0].detach().clone()
    optimiser = torch.optim.SGD(free, lr=1e-3)
    try:
        logits = run(model, example)
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):  # BatchNorm cannot train on so small a map
            raise
        logits = run(model.eval(), example)
    logits.float().square().sum().backward()
    optimiser.step()
    moved = not torch.equal(free[0], before) or any(each.grad is not None and each.grad.any() for each in free)
    assert moved, "nothing was trained"
    assert all(torch.equal(head.prototypes, rows) for head, rows in zip(heads, kept, strict=True)), "prototypes moved"
    optimiser.zero_grad()


def run(model, example):
    """The logits of a model on its example, whatever kind of answer it gives."""
    answer = model(**example) if isinstance(example, dict) else model(example)
    if isinstance(answer, torch.Tensor):
        return answer
    if isinstance(answer, (tuple, list)) and not hasattr(answer, "logits"):
        return answer[0]
    return answer.logits


# The collections: name, a function that builds the model with K classes, a function that gives its inputs.


def timm_models(done):
    import timm

    seen = {name.split("/")[0] for name in done}
    for module in timm.list_modules():
        names = timm.list_models(module=module)
        if names and module not in seen:
            name = smallest(names)
            yield f"{module}/{name}", lambda name=name: timm_model(name), timm_inputs


def smallest(names):
    """The model with the fewest weights among the three whose names say that they are small."""
    import timm

    def by_name(name):
        numbers = [int(each) for each in re.findall(r"\d+", name)]
        return (SMALL_FIRST.search(name) is None, max(numbers, default=0), len(name))

    def weights(name):
        try:
            with torch.device("meta"):
                return sum(each.numel() for each in timm.create_model(name, num_classes=K).parameters())
        except Exception:
            return float("inf")

    return min(sorted(names, key=by_name)[:3], key=weights)


def timm_model(name):
    """The model for small images, if it can be built for them."""
    import timm

    with contextlib.suppress(Exception):
        model = timm.create_model(name, num_classes=K, img_size=96)
        with torch.no_grad():
            model.eval()(torch.zeros(1, 3, 96, 96))
        return model
    return timm.create_model(name, num_classes=K)


def timm_inputs(model):
    whole = model.default_cfg.get("input_size", (3, 224, 224))
    for size in (96, 128):
        with torch.no_grad(), contextlib.suppress(Exception):
            model.eval()(torch.zeros(1, whole[0], size, size))
            return torch.randn(2, whole[0], size, size)
    return torch.randn(2, *whole)


def torchvision_models(done):
    from torchvision import models

    for name in models.list_models():
        builder = models.get_model_builder(name)
        if builder.__module__.split(".")[2] in ("detection", "segmentation", "optical_flow", "quantization"):
            continue
        video = ".video" in builder.__module__
        yield name, lambda name=name: torchvision_model(name), vision_inputs(name, video)


def torchvision_model(name):
    """The model for small images, if it can be built for them; the transformers among them have a fixed size."""
    from torchvision import models

    for size in (112, 96):  # multiples of the patches of 14, 16 and 32 pixels
        with contextlib.suppress(TypeError, ValueError, AssertionError):
            return models.get_model(name, weights=None, num_classes=K, image_size=size)
    return models.get_model(name, weights=None, num_classes=K)


def vision_inputs(name, video):
    largest = (1, 3, 16, 224, 224) if video else (2, 3, 299, 299) if name == "inception_v3" else (2, 3, 224, 224)
    smaller = [(1, 3, 8, 64, 64), (1, 3, 16, 112, 112)] if video else [(2, 3, 96, 96), (2, 3, 112, 112)]

    def inputs(model):
        for shape in smaller if name != "inception_v3" else ():  # its auxiliary classifier, in training, needs more
            with torch.no_grad(), contextlib.suppress(Exception):
                model.eval()(torch.zeros(shape))
                return torch.randn(shape)
        return torch.randn(largest)

    return inputs


def transformers_models(done):
    import transformers
    from transformers.models.auto import modeling_auto

    transformers.logging.set_verbosity_error()
    done = set(done)
    for kind in ("SEQUENCE", "TOKEN", "IMAGE", "AUDIO", "VIDEO", "AUDIO_XVECTOR"):
        mapping = (
            f"MODEL_FOR_{kind}_CLASSIFICATION_MAPPING_NAMES"
            if kind != "AUDIO_XVECTOR"
            else "MODEL_FOR_AUDIO_XVECTOR_MAPPING_NAMES"
        )
        for names in getattr(modeling_auto, mapping).values():
            for name in (names,) if isinstance(names, str) else names:
                cls = getattr(transformers, name, None)
                if name not in done and cls is not None and getattr(cls, "config_class", None) is not None:
                    done.add(name)
                    yield name, lambda cls=cls, kind=kind: transformers_model(cls, kind), transformers_inputs(kind)


def transformers_model(cls, kind):
    """The model by the first of two small configurations that runs; one that stays large is not built."""
    try:
        return running(cls, kind, small_config(cls.config_class))
    except (TimeoutError, MemoryError):
        raise
    except Exception:
        config = small_config(cls.config_class)
        for part in (config, *(each for each in vars(config).values() if hasattr(each, "to_dict"))):
            for name, value in SECOND_TRY.items():
                if hasattr(part, name):
                    with contextlib.suppress(Exception):
                        setattr(part, name, value)
        return running(cls, kind, config)


def running(cls, kind, config):
    with torch.device("meta"), contextlib.suppress(NotImplementedError, RuntimeError):
        weights = sum(each.numel() for each in cls(copy.deepcopy(config)).parameters())
        if weights > 1.5e8:
            raise MemoryError(f"{weights / 1e6:.0f} million weights")
    model = cls(config).eval()
    with torch.no_grad():
        run(model, transformers_inputs(kind)(model))
    return model


SECOND_TRY = {
    "num_key_value_heads": 4, "head_dim": 8, "rotary_dim": 4, "channel_shrink_ratio": 1, "pad_token_id": 0,
    "axial_pos_embds_dim": [16, 16], "axial_pos_shape": [4, 4], "decoder_start_token_id": 0,
    "attention_head_size": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "kv_lora_rank": 16,
    "q_lora_rank": 16, "input_size": 64, "default_language": "en_XX",
}  # fmt: skip


SIZES = {
    "hidden_size": 32, "pooler_hidden_size": 32, "d_model": 32, "dim": 32, "embed_dim": 32, "n_embd": 32,
    "emb_dim": 32, "hidden_dim": 32, "embedding_size": 32, "projection_dim": 32, "classifier_proj_size": 24,
    "num_hidden_layers": 2, "n_layers": 2, "n_layer": 2, "num_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_attention_heads": 4, "n_heads": 4, "n_head": 4, "num_heads": 4, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "hidden_dim_ffn": 64,
    "ffn_dim": 64, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "d_ff": 64, "n_inner": 64, "d_kv": 8,
    "vocab_size": 128, "max_position_embeddings": 64, "n_positions": 64, "max_source_positions": 64,
    "image_size": 64, "patch_size": 16, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32, "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2, "xvector_output_dim": 24, "ffn_hidden_size": 64,
}  # fmt: skip


def small_config(cls):
    """A configuration with the usual sizes made small, as far as it has them; its parts likewise."""
    config = cls(num_labels=K)
    shrink(config)
    config.num_labels = K
    if getattr(config, "pad_token_id", None) is None or config.pad_token_id >= 128:
        config.pad_token_id = 0
    return config


def shrink(config):
    for part in list(vars(config).values()):
        if hasattr(part, "to_dict"):
            shrink(part)
    for name, value in SIZES.items():
        given = getattr(config, name, None)
        if isinstance(given, int) and not isinstance(given, bool) and given > value:
            with contextlib.suppress(Exception):
                setattr(config, name, value)
    kinds = getattr(config, "layer_types", None)
    if isinstance(kinds, list):  # two layers, of two kinds if there are two
        with contextlib.suppress(AttributeError):
            config.layer_types = (list(dict.fromkeys(kinds)) * 2)[:2]
    if hasattr(config, "vocab_size") and config.vocab_size is None:
        config.vocab_size = 128


def transformers_inputs(kind):
    def inputs(model):
        accepted = model.forward.__code__.co_varnames
        if kind == "IMAGE":
            size = getattr(model.config, "image_size", None) or 64
            size = size if isinstance(size, int) else size[0]
            return {"pixel_values": torch.randn(2, getattr(model.config, "num_channels", 3) or 3, size, size)}
        if kind == "VIDEO":
            frames = getattr(model.config, "num_frames", 4)
            size = model.config.image_size if isinstance(getattr(model.config, "image_size", 64), int) else 64
            return {"pixel_values": torch.randn(2, frames, 3, size, size)}
        if kind in ("AUDIO", "AUDIO_XVECTOR"):
            if "input_features" in accepted and model.main_input_name == "input_features":
                bins = getattr(model.config, "num_mel_bins", None) or getattr(
                    model.config, "feature_projection_input_dim", 80
                )
                return {
                    "input_features": torch.randn(2, bins, 128)
                    if "whisper" in model.config.model_type
                    else torch.randn(2, 64, bins)
                }
            if model.config.model_type == "audio-spectrogram-transformer":
                return {"input_values": torch.randn(2, model.config.max_length, model.config.num_mel_bins)}
            return {"input_values": torch.randn(2, 8000)}
        ids = torch.randint(3, 90, (2, 16))
        end = getattr(model.config, "eos_token_id", None)
        ids[:, -1] = end if isinstance(end, int) and end < 128 else 2  # where some models look for the end of the text
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if "bbox" in accepted:
            given["bbox"] = torch.zeros(2, 16, 4, dtype=torch.long)
        return given

    return inputs


COLLECTIONS = {"timm": timm_models, "torchvision": torchvision_models, "transformers": transformers_models}

if __name__ == "__main__":
    main()
