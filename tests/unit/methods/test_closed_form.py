"""Mirror of src/anchored/methods/closed_form.py: nothing is trained, nothing is held out, shapes come from the file."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Dataset, Split, TensorInputs
from anchored.methods import PROCEDURES, parse, procedure_type
from anchored.methods.closed_form import folds_of
from anchored.runs import RunFolder, TrainedModel, fit

COMPUTED = [name for name, kind in PROCEDURES.items() if kind.computed]


def settings(method, **options):
    return {"method": {"name": method, "options": options}}


@pytest.mark.parametrize("method", COMPUTED)
def test_a_run_has_no_epochs_holds_nothing_out_and_judges_every_sample_unseen(method, tmp_path):
    data = blobs(240, distance=3.0)
    fitted = fit(Split(data, blobs(120, distance=3.0, seed=1)), settings(method), folder=tmp_path / "run")
    assert fitted.history == []
    assert fitted.config.data.hold_out == 0.0
    assert fitted.config.backbone.name == "none"
    assert fitted.result["calibration"]["on"] == "training data, each left out"
    assert fitted.result["held_out"]["n"] == 240
    assert fitted.result["test"]["accuracy"] > 0.9
    x = data.inputs.tensor[:30]
    loaded = TrainedModel.load(tmp_path / "run")
    assert torch.equal(loaded.predict_proba(x), fitted.model.predict_proba(x))
    again = fit(Split(data), RunFolder.open(tmp_path / "run").read_config())
    assert torch.equal(again.model.predict_proba(x), fitted.model.predict_proba(x))


@pytest.mark.parametrize("method", COMPUTED)
def test_a_sample_is_judged_without_its_own_label(method):
    """Another label of one sample leaves the logits of that sample as they were, up to calibration of all."""
    data = blobs(150, distance=2.0)
    labels = data.labels.clone()
    labels[7] = (labels[7] + 1) % 3
    logits = []
    for given in (data.labels, labels):
        context = type("Context", (), {"k": 3, "seed": 0, "method": parse(method), "options": {}, "shape": (6,)})
        procedure = procedure_type(parse(method))(context)
        if method == "ridge":
            procedure = procedure_type(parse(method))(type("C", (context,), {"options": {"alpha": 10.0}}))
        logits.append(procedure.compute(data.inputs.tensor.double(), given, None)[1][7])
    cosine = torch.nn.functional.cosine_similarity(*(each - each.mean() for each in logits), dim=0)
    assert cosine > 0.9  # folds are drawn by class, so those of a cross-fitted method move a little


@pytest.mark.parametrize("method", COMPUTED)
def test_samples_without_weight_do_not_count(method):
    data = blobs(200, distance=3.0)
    wrong = Dataset("x", data.inputs, (data.labels + (torch.arange(200) < 60)) % 3, data.class_names)
    weighted = Dataset("x", wrong.inputs, wrong.labels, wrong.class_names, weights=(torch.arange(200) >= 60).double())
    rest = wrong.subset(torch.arange(60, 200))
    one, other = fit(Split(weighted), settings(method)), fit(Split(rest), settings(method))
    x = data.inputs.tensor
    assert (one.model.predict_proba(x).argmax(1) == other.model.predict_proba(x).argmax(1)).double().mean() > 0.97


@pytest.mark.parametrize("method", COMPUTED)
def test_tensors_that_do_not_fit_are_refused(method, tmp_path):
    fit(Split(blobs(150)), settings(method), folder=tmp_path / "run")
    path = tmp_path / "run" / "model.safetensors"
    tensors = load_file(path)
    name = {
        "boosted": "head.anchors",
        "average": "head.members.ridge.slope",
        "neighbours": "head.kept",
    }.get(method, "head.slope")
    tensors[name] = tensors[name][:, :-1].contiguous()
    save_file(tensors, path)
    with pytest.raises(InputError, match="do not fit together"):
        TrainedModel.load(tmp_path / "run")


def test_what_is_not_finite_is_refused():
    rows = torch.randn(60, 3)
    rows[4, 1] = float("nan")
    data = Dataset("x", TensorInputs(rows), torch.arange(60) % 2, ("a", "b"))
    with pytest.raises(InputError, match="not finite"):
        fit(Split(data), settings("ridge"))


def test_folds_have_every_class_and_no_sample_twice():
    labels = torch.arange(100) % 7
    folds = folds_of(labels, 4, seed=3)
    assert sorted(i for fold in folds for i in fold.tolist()) == list(range(100))
    for j in range(7):
        sizes = [int((labels[fold] == j).sum()) for fold in folds]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("method", COMPUTED)
def test_it_is_exported_and_answers_the_same_elsewhere(method, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    from anchored.export import write_onnx

    data = blobs(150, distance=2.0)
    fitted = fit(Split(data), settings(method), folder=tmp_path / "run")
    write_onnx(fitted.model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    x = data.inputs.tensor[:20]
    names = [given.name for given in session.get_inputs()]
    answers = session.run(None, {names[0]: x.numpy()})
    expected = fitted.model.predict_proba(x).numpy()
    assert any(each.shape == expected.shape and abs(each - expected).max() < 1e-4 for each in answers)
