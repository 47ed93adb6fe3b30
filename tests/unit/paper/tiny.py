"""A table small enough to run: two methods on digits, with and without noise, one epoch."""

from anchored.paper import Cell, Published, Row, Table
from anchored.training import merge


def _cell(eta):
    return Cell(
        name=f"digits/{eta}",
        title=f"digits {eta}",
        settings={
            "data": {
                "source": "digits",
                "corrupt": [f"symmetric={eta}"] if eta else [],
                "hold_out": 0.0,
                "augment": [],
                "normalize": "fit",
            },
            "method": {"noise_rate": eta},
            "backbone": {"name": "mlp", "options": {"hidden": [16]}},
            "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4, "clip": 5.0},
            "schedule": {"name": "cosine"},
            "train": {"epochs": 2, "batch_size": 64},
        },
    )


def _settings(row, cell):
    return merge(cell.settings, {"method": {"name": row.method, "loss": {}}})


TINY = Table(
    name="tiny",
    title="Test accuracy (%), digits",
    claim="It runs.",
    rows=(
        Row(name="ce", method="ce"),
        Row(name="ce+fnpal", method="ce+fnpal", settings={"method": {"anchors": "random"}}),
        Row(name="ce+fnpal (aligned)", method="ce+fnpal", settings={"method": {"anchors": "aligned"}}, ours=True),
    ),
    cells=(_cell(0.0), _cell(0.4)),
    build=_settings,
    published={
        ("ce", "digits/0.0", "accuracy"): Published(90.0, 1.0),
        ("ce", "digits/0.4", "accuracy"): Published(50.0, None, "a slip | of *the* print"),
        ("ce+fnpal", "digits/0.4", "accuracy"): Published(80.0, 0.5),
    },
    seeds=(0, 1),
)


def record(row="ce", cell="digits/0.0", seed=0, epochs=2, precision="32", every=1, accuracy=0.9, best=None, **more):
    """A record of the tiny table as if it had been run."""
    job = TINY.job(row, cell, seed=seed, epochs=epochs, precision=precision, evaluate_every=every)
    return {
        "table": "tiny",
        "cell": cell,
        "row": row,
        "seed": seed,
        "epochs": epochs,
        "shortened": job.shortened,
        "precision": precision,
        "key": job.key,
        "last": {"accuracy": accuracy, "many": accuracy},
        "best": {"epoch": 1, "accuracy": accuracy if best is None else best},
        "history": {"test_accuracy": [accuracy / 2, accuracy]},
        "seconds": 3.0,
        "settings": job.settings,
        **({"evaluate_every": every} if every > 1 else {}),
    } | more
