"""Mirror of src/anchored/runs/reasons.py: a column that is wrong on purpose is the one that is named."""

import numpy as np
import pytest
import torch

from anchored.data import Dataset, Split, TensorInputs, as_columns
from anchored.runs import RunData, SpeakingColumns, fit, linear_map, reasons
from anchored.training import validate

RNG = np.random.default_rng(0)
N = 300
TOWN = RNG.integers(0, 2, N)
AGE = RNG.normal(size=N)
LABELS = torch.from_numpy((AGE + 3 * (TOWN - 0.5) > 0).astype(np.int64))


def table():
    columns = {"noise": RNG.normal(size=N), "age": AGE, "town": np.array(["Lima", "Rome"])[TOWN]}
    return Dataset("toy", as_columns(columns), LABELS, ("no", "yes"))


def vectors(columns=("noise", "age", "town")):
    rows = torch.from_numpy(np.stack([RNG.normal(size=N), AGE, TOWN], axis=1)).float()
    return Dataset("toy", TensorInputs(rows), LABELS, ("no", "yes"), columns=columns)


@pytest.mark.parametrize("make", [table, vectors])
def test_the_column_that_decides_is_named_first(make):
    data = RunData.open(Split(make()), validate({}))
    speaking = SpeakingColumns.of(data, None)
    no, yes = int(np.flatnonzero(TOWN == 0)[0]), int(np.flatnonzero(TOWN == 1)[0])
    found = speaking.against([no, yes], [1, 0], [0, 1], most=2)
    assert [cells[0].column for cells in found] == ["town", "town"]
    assert all(cells[0].against > 0 for cells in found)
    assert [len(cells) for cells in found] == [2, 2]
    turned = speaking.against([no], [0], [1], most=3)[0]  # of the other label, the same cell speaks for it
    assert turned[-1].column == "town"
    assert turned[-1].against == pytest.approx(-found[0][0].against)


def test_parts_of_all_columns_add_up_to_the_lead():
    data = RunData.open(Split(vectors()), validate({}))
    speaking = SpeakingColumns(data, None)
    rows = data.labelled.inputs.tensor.double()
    logits = (rows - rows.mean(dim=0)) @ speaking.weights
    for index in (0, 7, 100):
        total = sum(reason.against for reason in speaking.against([index], [0], [1], most=3)[0])
        assert total == pytest.approx(float(logits[index, 1] - logits[index, 0]), rel=1e-9)


def test_a_linear_model_speaks_for_itself_and_another_has_a_stand_in():
    data = vectors()
    settings = {"method": {"name": "ridge"}, "look": None}
    fitted = fit(Split(data), settings)
    own = linear_map(fitted.model, data)
    with torch.inference_mode():
        rows = data.inputs.tensor[:20]
        want = fitted.model(rows) - fitted.model(torch.zeros(1, 3))
    torch.testing.assert_close(rows.double() @ own, want.double(), rtol=1e-4, atol=1e-4)
    assert fitted.model.description["method"] == "ridge"
    fitted.model.description["method"] = "kernel-ridge"
    stand_in = linear_map(fitted.model, data)
    torch.testing.assert_close(stand_in, linear_map(None, data))
    assert torch.equal((stand_in[:, 1] - stand_in[:, 0])[1:].sign(), (own[:, 1] - own[:, 0])[1:].sign())


def test_what_has_no_columns_says_nothing():
    images = Dataset("toy", TensorInputs(torch.zeros(4, 1, 8, 8)), torch.tensor([0, 1, 0, 1]), ("a", "b"))
    assert SpeakingColumns.of(RunData(images, images), None) is None
    wide = Dataset("toy", TensorInputs(torch.zeros(4, 2000)), torch.tensor([0, 1, 0, 1]), ("a", "b"))
    assert SpeakingColumns.of(RunData(wide, wide), None) is None
    unnamed = RunData.open(Split(vectors(columns=None)), validate({}))
    assert SpeakingColumns.of(unnamed, None).against([0], [0], [1], most=1)[0][0].column in ("x1", "x2")


def test_the_order_of_many_rows_is_that_of_each(monkeypatch):
    monkeypatch.setattr(reasons, "_AT_ONCE", 7)
    for make in (table, vectors):
        data = RunData.open(Split(make()), validate({}))
        speaking = SpeakingColumns(data, None)
        index, given = list(range(20)), [1 - int(LABELS[i]) for i in range(20)]
        suggested = [int(LABELS[i]) for i in range(20)]
        order = speaking.order(index, given, suggested, most=2)
        each = [
            [reason.column for reason in speaking.against([i], [y], [s], most=2)[0] if reason.against > 0]
            for i, y, s in zip(index, given, suggested, strict=True)
        ]
        assert order == each
        assert any(order)
