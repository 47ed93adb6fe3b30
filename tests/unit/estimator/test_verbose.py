"""Mirror of src/anchored/estimator/verbose.py: what is printed, and that nothing is unless asked for."""

import numpy as np
import pandas as pd

from anchored import AnchoredClassifier, AnchoredRidge
from anchored.estimator.verbose import PrintedProgress


def test_an_epoch_is_one_line(capsys):
    progress = PrintedProgress()
    progress.start(epochs=3, epoch=0, batches=2, samples=8)
    progress.epoch({"epoch": 2, "train_loss": None, "held_out_accuracy": 0.5}, seconds=1.0, samples=8)
    assert capsys.readouterr().out == "epoch 2/3: 50.0 % of the held-out labels\n"


def test_estimators_speak_if_asked(capsys):
    table = pd.DataFrame({"size": np.arange(30.0) % 7, "town": ["a", "b", "b"] * 10})
    labels = (table["town"] == "a").to_numpy()
    AnchoredRidge().fit(table, labels)
    AnchoredClassifier(epochs=2, random_state=0).fit(table, labels)
    assert capsys.readouterr().out == ""
    AnchoredRidge(verbose=True).fit(table, labels)
    said = capsys.readouterr().out
    assert "town    category" in said
    assert "anchored least squares: linear, alpha" in said
    AnchoredClassifier(epochs=2, random_state=0, verbose=1).fit(table, labels)
    said = capsys.readouterr().out
    assert "town    category" in said
    assert "epoch 2/2: loss" in said
