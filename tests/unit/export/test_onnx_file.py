"""Mirror of src/anchored/export/onnx_file.py: onnxruntime's answers beside ours, and what the file holds."""

import json
import sys

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.export import OPSET, largest_difference, write_onnx
from anchored.export.deployed import probe

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


def session_of(path):
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def check_same(model, path, sizes=(1, 2, 7)):
    """Logits and probabilities of both sides, for batches of several sizes."""
    session = session_of(path)
    dtype = torch.uint8 if session.get_inputs()[0].type == "tensor(uint8)" else torch.float32
    for n in sizes:
        x = probe(model, n, dtype=dtype, seed=n)
        logits, probabilities = session.run(["logits", "probabilities"], {"inputs": x.numpy()})
        ours = model(x).detach()
        tolerance = 1e-5 * max(1.0, float(ours.abs().max()))
        torch.testing.assert_close(torch.from_numpy(logits), ours.float(), atol=tolerance, rtol=0)
        torch.testing.assert_close(torch.from_numpy(probabilities), ours.softmax(1).float(), atol=1e-5, rtol=0)


def test_images_go_in_as_bytes_and_the_file_says_what_it_is(make_model, tmp_path, capfd, recwarn):
    description = {"method": "ce+fnpal", "columns": None, "backbone": {"name": "tiny"}}
    model = make_model("tiny", (3, 8, 8), "anchored", description=description)
    write_onnx(model, tmp_path / "m.onnx")
    assert (capfd.readouterr(), len(recwarn)) == (("", ""), 0)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
    check_same(model, tmp_path / "m.onnx")
    assert largest_difference(model, tmp_path / "m.onnx") < 1e-5

    session = session_of(tmp_path / "m.onnx")
    (given,) = session.get_inputs()
    assert (given.name, given.shape, given.type) == ("inputs", ["batch", 3, 8, 8], "tensor(uint8)")
    assert [(out.name, out.shape) for out in session.get_outputs()] == [
        ("logits", ["batch", 5]),
        ("probabilities", ["batch", 5]),
    ]
    facts = session.get_modelmeta().custom_metadata_map
    assert tuple(json.loads(facts["class_names"])) == model.class_names
    assert facts["method"] == "ce+fnpal"
    graph = onnx.load(tmp_path / "m.onnx")
    assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", OPSET)]
    assert b".py" not in (tmp_path / "m.onnx").read_bytes()  # no paths of the machine that wrote it


def test_vectors_go_in_as_they_came(make_model, tmp_path):
    model = make_model("mlp", (4,), "linear")
    write_onnx(model, tmp_path / "m.onnx")
    check_same(model, tmp_path / "m.onnx")
    (given,) = session_of(tmp_path / "m.onnx").get_inputs()
    assert (given.shape, given.type) == (["batch", 4], "tensor(float)")


@pytest.mark.slow
def test_every_head_agrees(make_model, head, tmp_path):
    model = make_model("tiny", (4,), head)
    write_onnx(model, tmp_path / "m.onnx")
    check_same(model, tmp_path / "m.onnx")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "shape", "head"),
    [
        ("mlp", (20,), "cosine"),
        ("tiny", (1, 8, 8), "scaled"),
        ("cnn4", (1, 28, 28), "anchored"),
        ("cnn8", (3, 32, 32), "cosine"),
        ("resnet10", (3, 64, 64), "anchored"),
        ("resnet32", (3, 32, 32), "anchored"),
        ("resnext50", (3, 64, 64), "anchored"),
    ],
)
def test_every_backbone_agrees(make_model, backbone, shape, head, tmp_path):
    model = make_model(backbone, shape, head)
    write_onnx(model, tmp_path / "m.onnx")
    check_same(model, tmp_path / "m.onnx", sizes=(1, 3))


@pytest.mark.slow
def test_floats_may_go_in_for_bytes_and_double_comes_out_single(make_model, tmp_path):
    model = make_model("tiny", (1, 8, 8), "anchored", dtype=torch.float64)
    write_onnx(model, tmp_path / "m.onnx", input_type="float32")
    check_same(model, tmp_path / "m.onnx")
    session = session_of(tmp_path / "m.onnx")
    assert session.get_inputs()[0].type == "tensor(float)"
    x = probe(model, 3, dtype=torch.uint8)
    got = session.run(["probabilities"], {"inputs": x.numpy().astype(np.float32)})[0]
    torch.testing.assert_close(torch.from_numpy(got), model.predict_proba(x).float(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("missing", ["onnx", "onnxscript"])
def test_names_the_extra_that_is_missing(make_model, tmp_path, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=rf"needs {missing}; pip install 'anchored\[onnx\]'"):
        write_onnx(make_model(), tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_without_onnxruntime_there_is_nothing_to_compare_with(make_model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert largest_difference(make_model(), tmp_path / "m.onnx") is None


@pytest.mark.slow
def test_a_failure_leaves_the_old_file(make_model, tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_text("old")
    monkeypatch.setattr("anchored.export.onnx_file._LARGEST_FILE", 10)
    with pytest.raises(InputError, match="at most 2 GiB"):
        write_onnx(make_model(), tmp_path / "m.onnx")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("m.onnx", "old")]
