"""mini-WebVision: fifty classes of images found on the web, whose labels nobody checked.

Claim
    Anchors help under real noise: with them cross entropy, focal loss and SCE are above every loss without. So is the
    negative-signed sample logit, which has nothing to tune.

Command
    ``anchored paper run webvision_mini --data-root WEBVISION``. The folder holds the resized images of WebVision 1.0
    (``google/``, ``val_images_256/``) and two lists made from those that come with them::

        awk '$2 < 50' info/train_filelist_google.txt > webvision_mini_train.txt
        awk '$2 < 50 { print "val_images_256/" $0 }' info/val_filelist.txt > webvision_mini_val.txt

Setting
    ResNet-50 from scratch, 250 epochs, batches of 256, learning rate 0.4 with Nesterov momentum, times 0.97 per epoch,
    weight decay 3e-5, crops of 224 with colour jitter; scored on WebVision's own 2,500 validation images. The noise
    rate is unknown; 0.2 is assumed, which makes the scale 1. The paper names no number of runs here; one seed is the
    default.

Cost
    Not run here; a GPU is what it is for. One GPU, an estimate: a day and a half per run, 540 hours for all 15. On
    cores, an estimate: one step of ResNet-50 on eight images took 2.8 seconds of one core (2.9 images per second). A
    run of 250 epochs on 65,944 images is then 1,600 hours of one core, and all 15 runs are 12,000 hours on two cores.

Expected
    Published: CE 62.60 alone, 68.92 with PAL, 69.69 with FNPAL; FL 63.80 and 69.64 with FNPAL; SCE 66.92 and 69.92, the
    best; NSL 69.56; GCE 61.76 and NCE+RCE 66.32, without anchors.

References:
    Li et al., 2017. WebVision Database: Visual Learning and Understanding from Web Data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.published import published_numbers
from anchored.paper.table import Cell, Row, Table
from anchored.paper.tables._noisy import loss_settings
from anchored.runs import recipes
from anchored.training import merge

__all__ = ["TABLE"]

_WEBVISION = Cell(
    name="webvision-mini",
    title="WebVision (mini)",
    settings=merge(
        recipes.get("webvision"),
        {
            "data": {
                "source": "webvision_mini_train.txt",
                "test": "webvision_mini_val.txt",
                "side": 224,
                "below_label": 50,
                "hold_out": 0.0,
            },
            "method": {"noise_rate": 0.2},
        },
    ),
)
_LISTS = "get WebVision 1.0 (resized images, info) from its site, give its folder as --data-root, and there run"
_RANDOM = {"method": {"anchors": "random"}}
_ALIGNED = {"method": {"anchors": "aligned"}}
_ANCHORED = ("nsl", "ce+pal", "ce+fnpal", "fl+fnpal", "sce+fnpal")


def _settings(row: Row, cell: Cell) -> Mapping[str, Any]:
    loss = row.method.removesuffix("+fnpal").removesuffix("+pal")
    return merge(cell.settings, {"method": {"name": row.method, "loss": loss_settings(loss, "webvision")}})


TABLE = Table(
    name="webvision_mini",
    title="Validation accuracy (%) after the last epoch, mini-WebVision",
    claim="Anchors help under the noise of the web, whose rate nobody knows.",
    rows=(
        *(Row(name=name, method=name) for name in ("ce", "fl", "gce", "sce", "nce+rce")),
        *(Row(name=name, method=name, settings=_RANDOM) for name in _ANCHORED),
        *(Row(name=f"{name} (aligned)", method=name, settings=_ALIGNED, ours=True) for name in _ANCHORED),
    ),
    cells=(_WEBVISION,),
    build=_settings,
    published=published_numbers("webvision_mini"),
    seeds=(0,),
    needs={
        "webvision_mini_train.txt": f"{_LISTS} awk '$2 < 50' info/train_filelist_google.txt > webvision_mini_train.txt",
        "webvision_mini_val.txt": (
            f"{_LISTS} awk '$2 < 50 {{ print \"val_images_256/\" $0 }}' info/val_filelist.txt > webvision_mini_val.txt"
        ),
    },
)
