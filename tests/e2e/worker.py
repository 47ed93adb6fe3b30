"""What each process of ``test_processes.py`` does: train as a scenario says, and write down what it saw.

Run by ``torchrun`` as ``worker.py FOLDER SCENARIO...``; every process writes ``FOLDER/SCENARIO.RANK.json``.
"""

import json
import os
import sys
import time
from pathlib import Path

import torch

DIGITS = {"source": "digits"}
SCENARIOS = {
    "plain": {
        "data": DIGITS,
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 3, "batch_size": 128},
    },
    "mixed": {
        "data": DIGITS | {"corrupt": ["longtail=10"], "augment": ["crop=1", "flip"]},
        "method": {"name": "ce+rs+mixup"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 2, "batch_size": 64},
    },
    "weighted": {
        "data": DIGITS | {"corrupt": ["longtail=10", "symmetric=0.2"]},
        "method": {"name": "ldam+drw+pal"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 12, "batch_size": 64, "ema": 0.9, "drw_start": 0.2},
    },
    "stopped": {
        "data": DIGITS | {"corrupt": ["symmetric=0.6"], "hold_out": 0.3},
        "method": {"name": "ce"},
        "backbone": {"name": "tiny"},
        "optimizer": {"name": "adamw", "lr": 0.03, "clip": None},
        "schedule": {"name": "constant"},
        "train": {"epochs": 40, "batch_size": 64, "early_stop": 2},
    },
    "cut": {
        "data": DIGITS,
        "method": {"name": "ce"},
        "train": {"epochs": 2, "batch_size": 16, "ema": 0.9, "checkpoint_seconds": 0.0},
    },
    "long": {
        "data": DIGITS | {"augment": ["crop=1"]},
        "method": {"name": "ce+fnpal"},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 6, "batch_size": 64, "ema": 0.9},
    },
}


class Cut(Exception):
    """What stands for the end of all processes at once."""


class Witness:
    """Stands before the loop's step and the loop's mixup, and writes down what they are given."""

    def __init__(self, cut_after=None):
        from anchored.training import loop

        self.loop, self.step, self.mixup, self.cut_after = loop, loop._step, loop.mixup, cut_after
        self.seen, self.shares = {}, []

    def __enter__(self):
        self.loop._step, self.loop.mixup = self.watched_step, self.watched_mixup
        return self

    def __exit__(self, *_):
        self.loop._step, self.loop.mixup = self.step, self.mixup

    def watched_step(self, plan, state, batch, companion, counts, *rest):
        if self.cut_after is not None and state.epoch * 1000 + state.batch >= self.cut_after:
            raise Cut
        index = batch.index if counts is None else batch.index[counts]
        self.seen.setdefault(state.epoch, []).extend(index.tolist())
        return self.step(plan, state, batch, companion, counts, *rest)

    def watched_mixup(self, *args, **kwargs):
        mixed = self.mixup(*args, **kwargs)
        self.shares.append(mixed.lam)
        return mixed


def dropping():
    """Dropout draws in every step, BatchNorm counts in its buffers, and both do so on each process for itself."""
    layers = torch.nn.Linear(64, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Dropout(0.3)
    module = torch.nn.Sequential(torch.nn.Flatten(), *layers, torch.nn.Linear(32, 16))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
    return module


def run(name, folder, *, slowly=False):
    """Fit as ``name`` says, in ``folder/name``, or go on with it; returns what to write down."""
    from anchored.data import load_digits
    from anchored.runs import RunFolder, fit
    from anchored.training import Progress

    class Slow(Progress):
        def epoch(self, record, *, seconds, samples):
            time.sleep(0.5)

    split, module = load_digits(), dropping() if name == "cut" else None
    target = RunFolder(folder / name)
    with Witness() as witness:
        fitted = fit(
            split,
            SCENARIOS[name],
            folder=target if target.started else target.path,
            module=module,
            progress=Slow() if slowly else None,
        )
    return {"seen": witness.seen, "shares": witness.shares, "history": fitted.history, "result": fitted.result}


def cut_and_resumed(folder):
    """The scenario ``cut``, with all processes stopped after the 60th batch of the first epoch, and taken up again."""
    from anchored.data import load_digits
    from anchored.runs import RunFolder, fit

    split, path = load_digits(), folder / "resumed"
    try:
        with Witness(cut_after=60):
            fit(split, SCENARIOS["cut"], folder=path, module=dropping())
    except Cut:
        pass
    position = RunFolder.open(path).read_checkpoint().facts
    fitted = fit(split, SCENARIOS["cut"], folder=RunFolder.open(path), module=dropping())
    return {"history": fitted.history, "position": [position["epoch"], position["batch"]]}


def main():
    torch.set_num_threads(1)
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    rank = os.environ.get("RANK", "0")
    (folder / f"pid.{rank}").write_text(str(os.getpid()))
    for name in names:
        name, _, how = name.partition(":")
        answer = cut_and_resumed(folder) if name == "resumed" else run(name, folder, slowly=how == "slowly")
        (folder / f"{name}.{rank}.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
