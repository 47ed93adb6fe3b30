"""What each process of ``test_longtail_processes.py`` does: train every method named, and write down what came out.

Run by ``torchrun`` as ``longtail_worker.py FOLDER METHOD...``; every process writes ``FOLDER/RANK.json``.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

import torch


def settings(name, two_stages):
    tree = {
        "data": {"source": "digits", "corrupt": ["longtail=15"]},
        "method": {"name": name},
        "backbone": {"name": "tiny"},
        "optimizer": {"name": "adamw", "lr": 0.01},
        "train": {"epochs": 5, "batch_size": 32, "evaluate": False},
    }
    return tree | ({"second": {"epochs": 4}} if two_stages else {})


def digest(module):
    total = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        total.update(name.encode() + value.contiguous().numpy().tobytes())
    return total.hexdigest()


def main():
    from anchored import methods
    from anchored.data import load_digits
    from anchored.runs import fit

    torch.set_num_threads(1)
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    told = {}
    for name in names:
        two_stages = methods.procedure_type(methods.parse(name)).second_epochs is not None
        fitted = fit(load_digits(), settings(name, two_stages))
        told[name] = {"digest": digest(fitted.model.classifier), "accuracy": fitted.result["test"]["accuracy"]}
    (folder / f"{os.environ['RANK']}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
