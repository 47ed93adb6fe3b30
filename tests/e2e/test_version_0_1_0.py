"""Runs that version 0.1.0 began are found, taken up and used: the folders beside this file were written by it."""

import shutil
from pathlib import Path

import pytest
import torch

from anchored.data import load_digits
from anchored.runs import RunFolder, TrainedModel, fit

FOLDER = Path(__file__).parent / "version_0_1_0"


@pytest.fixture
def resumed(tmp_path):
    def resume(name):
        run = RunFolder.open(shutil.copytree(FOLDER / name, tmp_path / name))
        return run, fit(load_digits(), run.read_settings(), folder=run)

    return resume


def test_a_run_of_two_stages_ends_with_the_bytes_that_it_would_have_had(resumed):
    run, _ = resumed("crt")
    for name in ("model.safetensors", "model.json", "history.jsonl"):
        assert (run.path / name).read_bytes() == (FOLDER / f"crt-{name}").read_bytes(), name


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
