"""Audits in the agreed form, written by hand: from probabilities, or from suspects said one by one."""

import csv
import json

import torch

from anchored.audit.suspects import COLUMNS


def write_rows(folder, class_names, rows):
    """``rows`` are (index, id, given, suggested, probability_wrong), classes by name; the rest follows from them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "suspects.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for rank, (index, name, given, suggested, wrong) in enumerate(rows, start=1):
            writer.writerow(
                [rank, index, name, given, suggested, wrong, round(0.5 - wrong, 4), 1 - wrong, wrong, "many"]
            )
    k = len(class_names)
    about = {
        "class_names": list(class_names), "samples": len(rows), "noise_rate": 0.3, "interval": [0.2, 0.4],
        "expected_errors": sum(row[-1] for row in rows), "transition": [[1 / k] * k] * k,
        "classes": [], "pairs": [], "duplicates": [],
    }  # fmt: skip
    (folder / "audit.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def write_audit(folder, dataset, probabilities):
    """Every sample of ``dataset``; a label is as wrong as the model finds it unlikely."""
    names, labels = dataset.class_names, dataset.labels
    own = probabilities.gather(1, labels[:, None])[:, 0]
    suggested = probabilities.argmax(dim=1)
    order = own.argsort(stable=True).tolist()
    rows = [
        (i, dataset.ids[i], names[labels[i]], names[suggested[i]], round(1 - min(float(own[i]), 1.0), 6)) for i in order
    ]
    return write_rows(folder, names, rows)


def audit_run(run, dataset):
    """Audit a finished run by what its own model says of ``dataset``."""
    from anchored.runs import TrainedModel

    model = TrainedModel.load(run)
    return write_audit(run / "audit", dataset, model.predict_proba(dataset.inputs.take(torch.arange(len(dataset)))))
