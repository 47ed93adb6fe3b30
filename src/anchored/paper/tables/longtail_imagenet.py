"""ImageNet-LT: anchors in the first stage of cross entropy and MiSLAS, by many, medium and few images per class.

Claim
    Anchors improve cross entropy in all three groups of classes, and MiSLAS on the whole; its few classes lose by them.

Command
    ``anchored paper run longtail_imagenet --data-root IMAGENET --method ce+pal``. The folder holds the images of ILSVRC
    2012 under ``train/`` and ``val/`` and the two lists of the benchmark, ``ImageNet_LT_train.txt`` and
    ``ImageNet_LT_test.txt``, whose lines are ``train/n01440764/n01440764_190.JPEG 0``.

Setting
    ResNet-50, 180 epochs, batches of 256, learning rate 0.1 with cosine, weight decay 5e-4, crops of 224, mixup with
    0.2. The rows that the paper took from elsewhere have other networks there (ResNeXt-50 for Balanced Softmax, LADE
    and Causal Norm, ResNet-10 for OLTR), and so they have here. Groups go by more than 100, 20 to 100 and fewer than 20
    images; MiSLAS cuts at 390 and 835 classes instead, and the paper does not say which it used.

Cost
    Not run here; a GPU is what it is for. One GPU, an estimate: two to three days per run, 620 to 940 hours for all 13.
    On cores, an estimate: one step of ResNet-50 on eight images took 2.8 seconds of one core (2.9 images per second;
    ResNeXt-50 2.1; scoring 10). A run of 180 epochs on 115,800 images, 50,000 scored after each, is then 2,250 hours of
    one core, and all 13 runs, two of them shorter, are 14,000 hours on two cores.

Expected
    Published, many, medium, few and all. CE 66.8, 36.9, 7.1 and 43.6, CE+PAL 69.0, 42.5, 11.0 and 47.6; MiSLAS 61.7,
    51.3, 35.8 and 52.7, MiSLAS+PAL 64.0, 51.6, 32.4 and 53.3.

References:
    Zhong et al., 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
    Liu et al., 2019. Large-Scale Long-Tailed Recognition in an Open World. CVPR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.published import published_numbers
from anchored.paper.table import Cell, Row, Table
from anchored.paper.tables._longtailed import WHOLE, rows_with_anchors
from anchored.training import merge

__all__ = ["TABLE"]

_NEXT = {"backbone": {"name": "resnext50"}}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "fl": {"method": {"loss": {"gamma": 2.0}}},
    "oltr": {
        "backbone": {"name": "resnet10"},
        "schedule": {"name": "oltr-1"},
        "train": {"epochs": 30, "batch_size": 128},
        "second": {"epochs": 60, "schedule": "oltr-2"},
    },
    "causal-norm": merge(
        _NEXT,
        {"optimizer": {"lr": 0.2}, "schedule": {"name": "kang"}, "train": {"epochs": 90, "batch_size": 512}},
    ),
    "balanced-softmax": merge(_NEXT, {"optimizer": {"lr": 0.05}}),
    "lade": merge(_NEXT, {"optimizer": {"lr": 0.05}}),
}
"""What a method's reference sets differently from MiSLAS's first stage."""

_LISTS = (
    "put the images of ILSVRC 2012 under train/ and val/ of one folder, the lists ImageNet_LT_train.txt and "
    "ImageNet_LT_test.txt of the benchmark (Liu et al., 2019) beside them, and give the folder as --data-root"
)
_IMAGENET = Cell(
    name="imagenet-lt",
    title="ImageNet-LT",
    settings=merge(
        WHOLE,
        {
            "data": {
                "source": "ImageNet_LT_train.txt",
                "test": "ImageNet_LT_test.txt",
                "side": 224,
                "augment": ["resized-crop=224", "flip", "jitter=0.4,0.4,0.4,0"],
                "normalize": "imagenet",
            },
            "method": {"mixup_alpha": 0.2},
            "backbone": {"name": "resnet50"},
            "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "clip": None},
            "schedule": {"name": "imagenet-lt"},
            "train": {"epochs": 180, "batch_size": 256},
        },
    ),
)


def _settings(row: Row, cell: Cell) -> Mapping[str, Any]:
    return merge(merge(cell.settings, {"method": {"name": row.method}}), _OWN.get(row.method, {}))


TABLE = Table(
    name="longtail_imagenet",
    title="Test accuracy (%), ImageNet-LT",
    claim="Anchors in the first stage improve cross entropy and MiSLAS on a thousand classes.",
    rows=rows_with_anchors(
        "ce",
        "fl",
        "oltr",
        "causal-norm",
        "balanced-softmax",
        "lade",
        "crt+mixup",
        "lws+mixup",
        "mislas",
        "ce+pal",
        "mislas+pal",
    ),
    cells=(_IMAGENET,),
    build=_settings,
    published=published_numbers("longtail_imagenet"),
    measures=("many", "medium", "few", "accuracy"),
    seeds=(0,),
    needs={"ImageNet_LT_train.txt": _LISTS, "ImageNet_LT_test.txt": _LISTS},
)
