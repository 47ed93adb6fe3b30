"""Every table runs each row with the settings of its reference, found by the name of the table's own data source.

The numbers are typed from the references' files, not taken from the code: configuration files of Active-Passive-Losses
(noisy labels), LDAM-DRW, MiSLAS, LADE, BBN, TADE, classifier-balancing, OLTR and Causal Norm (long tails), and the
appendix of the paper where it names its own.
"""

from types import SimpleNamespace

import pytest
import torch

from anchored.paper import TABLES
from anchored.runs import decide
from anchored.training import validate

IMAGENET = [1280 - round(1275 * i / 999) for i in range(1000)]
SHAPES = {"mnist": (1, 28, 28), "cifar10": (3, 32, 32), "cifar100": (3, 32, 32)}
BALANCED = {"mnist": [6000] * 10, "cifar10": [5000] * 10, "cifar100": [500] * 100}


def long_tail(k, most, rho):
    """The counts of Cao et al., in plain numbers."""
    return [int(most * (1 / rho) ** (i / (k - 1))) for i in range(k)]


def step(k, most, rho):
    return [most] * (k // 2) + [int(most / rho)] * (k // 2)


def counts_of(source, corrupt):
    if source.endswith(".txt"):
        return IMAGENET if "ImageNet" in source else [1000] * 50
    kind, _, rho = (corrupt[0] if corrupt else "").partition("=")
    if kind in ("longtail", "step"):
        k, most = len(BALANCED[source]), BALANCED[source][0]
        return (long_tail if kind == "longtail" else step)(k, most, int(rho))
    return BALANCED[source]


class Described:
    """A data set of which only the name, the shape of an input and the class sizes are known."""

    def __init__(self, name, shape, counts):
        self.name, self.inputs, self.counts, self.k = name, SimpleNamespace(shape=shape), counts, len(counts)

    def __len__(self):
        return int(self.counts.sum())


def resolved(table, row, cell, folder=""):
    """What a row trains with; the data is there in name and numbers only. Lists may lie in a folder."""
    job = TABLES[table].job(row, cell, seed=0)
    data = job.settings["data"]
    source = folder + data["source"] if data["source"].endswith(".txt") else data["source"]
    counts = torch.tensor(counts_of(data["source"], data.get("corrupt", ())))
    dataset = Described(source, SHAPES.get(source, (3, 224, 224)), counts)
    settings = validate({**job.settings, "data": {**data, "source": source}, "look": None})
    return decide(settings, SimpleNamespace(labelled=dataset, corrections={}), None).config.as_dict()


def agree(config, expected):
    """Compare the entries called ``part.name`` of a configuration with what is expected of each."""
    found = {}
    for path in expected:
        value = config
        for part in path.split("."):
            value = value[part]
        found[path] = value
    assert found == expected


# Noisy labels (Ma et al.).
RECIPES = {
    "mnist": {"epochs": 50, "lr": 0.01, "weight_decay": 1e-3, "backbone": "cnn4"},
    "cifar10": {"epochs": 120, "lr": 0.01, "weight_decay": 1e-4, "backbone": "cnn8"},
    "cifar100": {"epochs": 200, "lr": 0.1, "weight_decay": 1e-5, "backbone": "resnet34"},
}
LOSSES = {
    # loss: mnist, cifar10, cifar100, webvision
    "ce": ({}, {}, {}, {}),
    "nsl": ({}, {}, {}, {}),
    "fl": ({"gamma": 0.5},) * 4,
    "gce": ({"q": 0.7},) * 4,
    "sce": (
        {"alpha": 0.01, "beta": 1.0},
        {"alpha": 0.1, "beta": 1.0},
        {"alpha": 6.0, "beta": 0.1},
        {"alpha": 10.0, "beta": 1.0},
    ),
    "nce+mae": (
        {"alpha": 1.0, "beta": 10.0},
        {"alpha": 1.0, "beta": 1.0},
        {"alpha": 10.0, "beta": 1.0},
        {"alpha": 50.0, "beta": 1.0},
    ),
    "nce+rce": (
        {"alpha": 1.0, "beta": 10.0},
        {"alpha": 1.0, "beta": 1.0},
        {"alpha": 10.0, "beta": 0.1},
        {"alpha": 50.0, "beta": 0.1},
    ),
    "nfl+rce": (
        {"alpha": 1.0, "beta": 10.0, "gamma": 0.5},
        {"alpha": 1.0, "beta": 1.0, "gamma": 0.5},
        {"alpha": 10.0, "beta": 0.1, "gamma": 0.5},
        {"alpha": 50.0, "beta": 0.1, "gamma": 0.5},
    ),
}


def loss_of(method, data):
    """The typed settings of a row's loss; the factor of focal losses is detached, as in the reference."""
    loss = method.removesuffix("+fnpal").removesuffix("+pal")
    detached = {"detach": True} if loss in ("fl", "nfl+rce") else {}
    return LOSSES[loss][("mnist", "cifar10", "cifar100", "webvision").index(data)] | detached


@pytest.mark.parametrize("table", ["noise_symmetric", "noise_asymmetric"])
def test_noisy_labels(table):
    jobs = [(row, cell) for row in TABLES[table].rows for cell in TABLES[table].cells]
    assert jobs
    for row, cell in jobs:
        data = cell.name.split("/")[0]
        recipe = RECIPES[data]
        agree(
            resolved(table, row.name, cell.name),
            {
                "method.loss": loss_of(row.method, data),
                "train.epochs": recipe["epochs"],
                "train.batch_size": 128,
                "optimizer.name": "sgd",
                "optimizer.lr": recipe["lr"],
                "optimizer.momentum": 0.9,
                "optimizer.nesterov": False,
                "optimizer.weight_decay": recipe["weight_decay"],
                "optimizer.clip": 5.0,
                "schedule.name": "cosine",
                "backbone.name": recipe["backbone"],
                "data.hold_out": 0.0,
            },
        )


@pytest.mark.parametrize("row", TABLES["webvision_mini"].rows, ids=lambda row: row.name)
@pytest.mark.parametrize("folder", ["", "/data/webvision/"])
def test_webvision(row, folder):
    agree(
        resolved("webvision_mini", row.name, "webvision-mini", folder),
        {
            "method.loss": loss_of(row.method, "webvision"),
            "train.epochs": 250,
            "train.batch_size": 256,
            "optimizer.lr": 0.4,
            "optimizer.momentum": 0.9,
            "optimizer.nesterov": True,
            "optimizer.weight_decay": 3e-5,
            "optimizer.clip": 5.0,
            "schedule.name": "webvision",
            "backbone.name": "resnet50",
        },
    )


# Long tails. Shared by a table: MiSLAS's first stage, or LDAM's recipe; then what a row has of its own.
CIFAR_LT = {
    "train.epochs": 200,
    "train.batch_size": 128,
    "train.drw_start": 0.8,
    "train.class_weight_beta": 0.9999,
    "optimizer.lr": 0.1,
    "optimizer.momentum": 0.9,
    "optimizer.nesterov": False,
    "optimizer.weight_decay": 2e-4,
    "optimizer.clip": None,
    "backbone.name": "resnet32",
    "data.augment": ["crop=4", "flip"],
    "method.mixup_alpha": 1.0,
}
PAPER = {"optimizer.weight_decay": 5e-4}
LADE = {"train.batch_size": 256, "optimizer.lr": 0.2, "optimizer.weight_decay": 5e-4, "schedule.name": "lade"}
SECOND = {"second.epochs": 10, "second.lr": 0.1, "second.schedule": "cosine"}
MISLAS = {
    # data, ratio: smooth_head, smooth_tail, shift_bn, lr_factor
    ("cifar10", 100): (0.3, 0.0, False, 0.5),
    ("cifar10", 50): (0.2, 0.0, False, 0.2),
    ("cifar10", 10): (0.1, 0.0, False, 0.2),
    ("cifar100", 100): (0.4, 0.1, True, 0.2),
    ("cifar100", 50): (0.3, 0.0, True, 0.1),
    ("cifar100", 10): (0.2, 0.0, True, 0.1),
    ("imagenet-lt", 256): (0.3, 0.0, True, 0.05),
}


def mislas(data, ratio):
    names = ("smooth_head", "smooth_tail", "shift_bn", "lr_factor")
    return {"method.options": dict(zip(names, MISLAS[data, ratio], strict=True))}


def cifar100_row(name, rho):
    """What the row ``name`` of CIFAR-100-LT has at ratio ``rho``."""
    own = {
        "fl": {"method.loss": {"gamma": 1.0}},
        "bbn": {"schedule.name": "bbn"},
        "crt+mixup": SECOND,
        "lws+mixup": SECOND,
        "pc-softmax": LADE,
        "lade": LADE | {"method.loss": {"penalty": 0.1} if rho == 10 else {}},
        "mislas": SECOND | mislas("cifar100", rho),
        "tade": {
            "method.options": {"tau": 2.0},
            "optimizer.weight_decay": 5e-4,
            "optimizer.nesterov": True,
            "schedule.name": "tade",
            "backbone.options": {"widths": [16, 24, 48]},
            "data.augment": ["crop=4", "flip", "rotate=15"],
        },
        "ce (wd 5e-4)": PAPER,
        "mislas (lr 0.15, wd 5e-4)": PAPER
        | mislas("cifar100", rho)
        | {"optimizer.lr": 0.15, "second.epochs": 10, "second.lr": 0.01},
    }
    own["mislas+pal"] = own["mislas (lr 0.15, wd 5e-4)"]
    for row in ("ldam", "ldam+drw", "ce+pal", "ce+mixup+pal", "ldam+pal", "ldam+drw+pal"):
        own[row] = PAPER
    for row in ("balanced-softmax", "balanced-softmax+pal"):  # ours, with the decay of the rows that it is compared to
        own[row] = PAPER
    ours = {}
    if "projected" in name:
        ours["backbone.options"] = {"project": 128}
    if "s=" in name:
        ours["method.scale"] = float(name.partition("s=")[2].rstrip(")"))
    # What stands in brackets is how anchors are laid, unless it is the name of a row of its own.
    row = own.get(name, own.get(name.partition(" (")[0], {}))
    return CIFAR_LT | {"schedule.name": "mislas"} | row | ours


@pytest.mark.parametrize("rho", [100, 50, 10])
@pytest.mark.parametrize("row", [row.name for row in TABLES["longtail_cifar100"].rows])
def test_long_tailed_cifar100(row, rho):
    agree(resolved("longtail_cifar100", row, f"cifar100/longtail-{rho}"), cifar100_row(row, rho))


@pytest.mark.parametrize("cell", [cell.name for cell in TABLES["longtail_cifar"].cells])
def test_ldams_setting(cell):
    for row in TABLES["longtail_cifar"].rows:
        agree(resolved("longtail_cifar", row.name, cell), CIFAR_LT | {"schedule.name": "ldam"})


@pytest.mark.parametrize("decay", ["0", "5e-5", "1e-4", "2e-4", "3e-4", "5e-4", "7e-4", "1e-3", "5e-3", "1e-2"])
def test_weight_decay(decay):
    expected = CIFAR_LT | {"schedule.name": "ldam", "optimizer.weight_decay": float(decay)}
    for row in TABLES["weight_decay"].rows:
        agree(resolved("weight_decay", row.name, decay), expected)


IMAGENET_LT = {
    "train.epochs": 180,
    "train.batch_size": 256,
    "optimizer.lr": 0.1,
    "optimizer.momentum": 0.9,
    "optimizer.weight_decay": 5e-4,
    "optimizer.clip": None,
    "schedule.name": "imagenet-lt",
    "backbone.name": "resnet50",
    "method.mixup_alpha": 0.2,
    "data.augment": ["resized-crop=224", "flip", "jitter=0.4,0.4,0.4,0"],
}
IMAGENET_ROWS = {
    "fl": {"method.loss": {"gamma": 2.0}},
    "oltr": {
        "backbone.name": "resnet10",
        "train.epochs": 30,
        "train.batch_size": 128,
        "schedule.name": "oltr-1",
        "second.epochs": 60,
        "second.lr": 0.1,
        "second.schedule": "oltr-2",
        "method.options": {
            "scale": 16.0,
            "reach": 10.0,
            "memory_weight": 0.01,
            "repulsion": 0.01,
            "margin": 10.0,
            "feature_lr": 0.1,
            "memory_lr": 0.1,
        },
    },
    "causal-norm": {
        "backbone.name": "resnext50",
        "train.epochs": 90,
        "train.batch_size": 512,
        "optimizer.lr": 0.2,
        "schedule.name": "kang",
        "method.options": {"parts": 2, "gamma": 1 / 32, "alpha": 3.0, "momentum": 0.9},
    },
    "balanced-softmax": {"backbone.name": "resnext50", "optimizer.lr": 0.05},
    "lade": {"backbone.name": "resnext50", "optimizer.lr": 0.05, "method.loss": {"alpha": 0.05, "penalty": 0.5}},
    "crt+mixup": SECOND,
    "lws+mixup": SECOND,
    "mislas": SECOND | mislas("imagenet-lt", 256),
    "mislas+pal": SECOND | mislas("imagenet-lt", 256),
}


@pytest.mark.parametrize("folder", ["", "/data/lists/"])
@pytest.mark.parametrize("row", [row.name for row in TABLES["longtail_imagenet"].rows])
def test_long_tailed_imagenet(row, folder):
    expected = IMAGENET_LT | IMAGENET_ROWS.get(row.removesuffix(" (aligned)"), {})
    agree(resolved("longtail_imagenet", row, "imagenet-lt", folder), expected)
