"""Mirror of src/anchored/features/table.py: fit without labels, raw new rows, plain state, and all refusals."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load, save
from sklearn.linear_model import LogisticRegression
from tests.customers import HEADING, customers, write_customers
from tests.unit.features.columns.test_text import Lengths

from anchored._errors import InputError
from anchored.data import TensorInputs, as_columns, load_columns, read_columns
from anchored.features import ColumnUse, TableEncoder, written_uses


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows, _ = customers(600, seed=1)
    path = write_customers(tmp_path_factory.mktemp("t") / "customers.csv", rows)
    return load_columns(path, label="income").train.inputs


@pytest.fixture(scope="module")
def encoder(table):
    return TableEncoder().fit(table)


def test_every_column_of_the_customers_is_taken_for_what_it_is(encoder):
    assert {use.column: use.kind for use in encoder.uses} == {
        "customer_id": "id",
        "age": "number",
        "education": "category",
        "occupation": "category",
        "marital_status": "category",
        "hours_per_week": "number",
        "capital_gain": "number",
        "joined": "date",
        "comment": "text",
    }
    shares = {use.column: use.missing for use in encoder.uses}
    assert shares["hours_per_week"] == pytest.approx(0.05, abs=0.03)
    assert shares["education"] > 0  # NA counts as missing


def test_features_are_finite_centred_and_named(encoder, table):
    features = encoder.transform(table)
    assert features.dtype == torch.float32
    assert features.shape == (600, encoder.dim) == (600, len(encoder.feature_names))
    assert torch.isfinite(features).all()
    assert features.mean(dim=0).abs().max() < 1e-3
    assert len(encoder.feature_columns) == encoder.dim
    assert sum(use.features for use in encoder.uses) == encoder.dim


def test_rows_are_encoded_alone_as_they_are_together(encoder, table):
    index = torch.tensor([5, 3, 599])
    torch.testing.assert_close(encoder.transform(table.subset(index)), encoder.transform(table)[index])


def test_columns_in_another_order_and_further_columns_do_not_matter(encoder, table):
    shuffled = table.without([])
    shuffled.columns = dict(reversed(list(shuffled.columns.items()))) | {"more": table.columns["age"]}
    assert torch.equal(encoder.transform(shuffled), encoder.transform(table))


def test_the_state_is_plain_json_and_tensors(encoder, table):
    about, tensors = encoder.state()
    again = TableEncoder.from_state(json.loads(json.dumps(about)), load(save(tensors)))
    assert torch.equal(again.transform(table), encoder.transform(table))
    assert again.digest == encoder.digest
    assert again.uses == encoder.uses
    assert again.feature_names == encoder.feature_names


def test_the_digest_changes_with_what_decides_the_features(encoder, table):
    assert TableEncoder().fit(table).digest == encoder.digest
    assert TableEncoder(one_hot=3).fit(table).digest != encoder.digest
    assert TableEncoder().fit(table.subset(torch.arange(500))).digest != encoder.digest


def test_a_damaged_state_is_refused(encoder):
    about, tensors = encoder.state()
    for bad in (
        {"format": 2},
        {"columns": [{"column": "x"}]},
        {"columns": [{"column": "x", "kind": "moon"}]},
        {"uses": 3},
    ):
        with pytest.raises(InputError):
            TableEncoder.from_state({**about, **bad}, tensors)
    with pytest.raises(InputError, match="damaged"):
        TableEncoder.from_state(about, {})


def test_missing_columns_are_named_together(encoder, table):
    with pytest.raises(InputError, match="needs columns 'age', 'joined', and the table has"):
        encoder.transform(table.without(["age", "joined"]))


def test_a_cell_that_cannot_be_read_is_refused_with_row_and_column(encoder, tmp_path):
    rows, _ = customers(20, seed=2)
    rows[7][1] = "old"
    path = write_customers(tmp_path / "new.csv", rows, label=False)
    with pytest.raises(
        InputError, match=r"new\.csv, row 9, column 'age': a cell must be a number, as in training, got 'old'"
    ):
        encoder.transform(read_columns(path))


def test_new_values_and_new_gaps_are_taken(encoder, tmp_path):
    rows, _ = customers(20, seed=3)
    for row in rows:
        row[2], row[3], row[6], row[7] = "bootcamp", "", "", "NA"
    features = encoder.transform(read_columns(write_customers(tmp_path / "new.csv", rows, label=False)))
    assert torch.isfinite(features).all()


def test_the_user_can_drop_columns_and_say_what_they_are(table):
    encoder = TableEncoder(kinds={"age": "category", "customer_id": "text"}, drop=["comment"]).fit(table)
    kinds = {use.column: use.kind for use in encoder.uses}
    assert (kinds["age"], kinds["customer_id"], kinds["comment"]) == ("category", "text", "dropped")
    for wrong, message in (
        ({"kinds": {"agee": "number"}}, "no column 'agee'; did you mean 'age'"),
        ({"drop": ["agee"]}, "no column 'agee' to drop"),
    ):
        with pytest.raises(InputError, match=message):
            TableEncoder(**wrong).fit(table)
    with pytest.raises(InputError, match="unknown kind of column 'num'"):
        TableEncoder(kinds={"age": "num"})
    with pytest.raises(InputError, match="both dropped and told"):
        TableEncoder(kinds={"age": "number"}, drop=["age"])


def test_all_problems_are_told_in_one_line():
    frame = pd.DataFrame({"w": ["1 kg", "2 g"], "d": ["01/02/2021", "03/04/2021"], "x": [1.0, 2.0]})
    with pytest.raises(InputError) as error:
        TableEncoder().fit(as_columns(frame))
    text = str(error.value)
    assert "column 'w': numbers with different units" in text
    assert "column 'd': '01/02/2021' could be" in text
    assert "\n" not in text
    assert "--drop" in text


def test_a_row_of_units_under_the_heading_is_a_second_heading(tmp_path):
    body = "\n".join(f"{i}.5,{i * 2},{'ab'[i % 2]}" for i in range(1, 40))
    path = tmp_path / "t.csv"
    path.write_text(f"weight,height,group\nkg_,cm_,-\n{body}\n")
    with pytest.raises(InputError, match=r"row 2: looks like a second heading or a row of units \('weight': 'kg_'"):
        TableEncoder().fit(read_columns(path))


def test_a_text_encoder_goes_along(table):
    encoder = TableEncoder(text=Lengths()).fit(table)
    about, tensors = encoder.state()
    again = TableEncoder.from_state(about, tensors, text_encoders={"lengths": Lengths})
    assert torch.equal(again.transform(table), encoder.transform(table))
    with pytest.raises(InputError, match="not known here"):
        TableEncoder.from_state(about, tensors)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(InputError, match=r"no column is left to learn from: 'a' \(constant\), 'b' \(id\)"):
        TableEncoder().fit(as_columns({"a": [1] * 30, "b": list(range(30))}))
    with pytest.raises(InputError, match="no rows"):
        TableEncoder().fit(as_columns({"a": []}))
    with pytest.raises(InputError, match="has not been fitted"):
        TableEncoder().transform(as_columns({"a": [1]}))
    with pytest.raises(InputError, match="takes the rows of a table, got TensorInputs"):
        TableEncoder().fit(TensorInputs(torch.zeros(2, 2)))


def test_the_small_table_is_readable(encoder):
    text = written_uses(encoder.uses)
    lines = text.splitlines()
    assert lines[0].split() == ["column", "kind", "missing", "features", "what", "is", "done", "examples"]
    assert [line.split()[0] for line in lines[1:] if "!" not in line] == HEADING[:-1]
    assert all(len(line) <= 100 for line in lines if "!" not in line)
    assert written_uses([ColumnUse("a", "number", "scaled", ("1",), 0.001, 1)]).splitlines()[1].split()[2:4] == [
        "<1",
        "%",
    ]


def test_the_encoded_customers_can_be_learnt(tmp_path):
    """A linear model on the encoding knows the clean labels of new rows well beyond chance, from noisy ones."""
    rows, _ = customers(3000, seed=0)
    data = load_columns(write_customers(tmp_path / "train.csv", rows), label="income").train
    new, clean = customers(2000, wrong=0.0, seed=7)
    fresh = load_columns(write_customers(tmp_path / "new.csv", new), label="income").train
    assert np.mean(clean == clean[0]) < 0.65  # what a constant answer would reach
    encoder = TableEncoder().fit(data.inputs)
    model = LogisticRegression(C=0.1, max_iter=500).fit(encoder.transform(data.inputs).numpy(), data.labels.numpy())
    right = model.predict(encoder.transform(fresh.inputs).numpy()) == fresh.labels.numpy()
    assert right.mean() > 0.82
