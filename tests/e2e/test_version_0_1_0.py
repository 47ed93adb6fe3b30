"""Runs that version 0.1.0 began are found, taken up and used: the folders beside this file were written by it."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from anchored.data import load_digits
from anchored.runs import RunFolder, TrainedModel, fit

FOLDER = Path(__file__).parent / "version_0_1_0"


@pytest.fixture
def resumed(tmp_path):
    def resume(name):
        run = RunFolder.open(shutil.copytree(FOLDER / name, tmp_path / name))
        return run, fit(load_digits(), run.read_settings(), folder=run)

    return resume


def test_a_run_of_two_stages_ends_as_it_would_have_ended(resumed):
    # The stored files were written on one kind of processor; another rounds sums differently, by about 1e-8 here.
    # Other batches, learning rates or draws would move weights by more than 1e-3.
    run, _ = resumed("crt")
    weights, expected = (load_file(path) for path in (run.path / "model.safetensors", FOLDER / "crt-model.safetensors"))
    assert list(weights) == list(expected)
    for name, tensor in weights.items():
        torch.testing.assert_close(tensor, expected[name], rtol=0, atol=1e-6, msg=name)
    assert json.loads((run.path / "model.json").read_text(encoding="utf-8")) == up_to_rounding("crt-model.json")
    history = f"[{','.join((run.path / 'history.jsonl').read_text(encoding='utf-8').splitlines())}]"
    assert json.loads(history) == up_to_rounding("crt-history.jsonl")


def up_to_rounding(name):
    """The content of a stored file; its fractions equal all that differ by rounding."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    content = f"[{','.join(text.splitlines())}]" if name.endswith(".jsonl") else text
    return json.loads(content, parse_float=lambda number: pytest.approx(float(number), rel=1e-5))


def test_a_run_that_looked_goes_on_with_its_look_and_keeps_its_reasons(resumed):
    run, fitted = resumed("auto")
    assert run.finished
    assert len(fitted.history) == 10
    assert fitted.result["auto"]["chosen"]["method"]["name"] == "ce+fnpal"
    assert fitted.result["test"]["accuracy"] > 0.85
    assert (run.path / "audit" / "suspects.csv").is_file()


def test_its_model_loads_and_predicts(tmp_path):
    for name in ("model.safetensors", "model.json"):
        shutil.copy(FOLDER / f"crt-{name}", tmp_path / name)
    model = TrainedModel.load(tmp_path)
    test = load_digits().test
    likely = model.predict_proba(test.inputs.take(torch.arange(len(test))))
    assert float((likely.argmax(dim=1) == test.labels).double().mean()) > 0.9


def test_its_configuration_keeps_its_hash():
    written = RunFolder.open(FOLDER / "crt").read_config()
    assert written.content_hash in (FOLDER / "crt-model.json").read_text(encoding="utf-8")
