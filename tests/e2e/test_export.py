"""From a shell: a trained model leaves as ONNX, its rows come out the same there; a model folder travels alone."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def rows_of(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_images_are_labelled_alike_here_and_in_onnxruntime(anchored, write_images, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    write_images(tmp_path / "photos", 60)
    write_images(tmp_path / "new", 12, seed=1)
    flags = ("--epochs", 6, "--backbone", "cnn4", "--set", "data.augment=[]", "--batch-size", 16)
    assert anchored("fit", "photos", "--out", "run", *flags).code == 0
    (tmp_path / "elsewhere").mkdir()
    for name in ("model.json", "model.safetensors"):
        shutil.copy(tmp_path / "run" / name, tmp_path / "elsewhere" / name)
    shutil.rmtree(tmp_path / "photos")
    shutil.rmtree(tmp_path / "run")

    done = anchored("export", "elsewhere", "m.onnx", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["difference"] < 1e-5
    assert done.err == ""
    assert anchored("predict", "elsewhere", "new", "--out", "p.csv").code == 0
    session = runtime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    names = json.loads(session.get_modelmeta().custom_metadata_map["class_names"])
    rows = rows_of("p.csv")
    pixels = np.stack([np.asarray(Image.open(tmp_path / "new" / row["id"]))[None] for row in rows])
    (likely,) = session.run(["probabilities"], {"inputs": pixels})
    assert [names[i] for i in likely.argmax(axis=1)] == [row["label"] for row in rows]
    np.testing.assert_allclose(likely.max(axis=1), [float(row["probability"]) for row in rows], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bbn", "tade", "oltr", "causal-norm"])
def test_a_method_with_a_network_of_its_own_leaves_like_any_other(anchored, write_images, tmp_path, method):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    write_images(tmp_path / "photos", 60)
    flags = ("--epochs", 2, "--backbone", "tiny", "--set", "data.augment=[]", "--batch-size", 16)
    assert anchored("fit", "photos", "--out", "run", "--method", method, *flags).code == 0
    done = anchored("export", "run", "m.onnx", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["difference"] < 1e-5


def test_an_odd_model_ends_in_one_line(anchored, write_table, tmp_path):
    write_table(tmp_path / "t.csv", 60)
    assert anchored("fit", "t.csv", "--label", "kind", "--epochs", 1, "--out", "run").code == 0
    good = json.loads(Path("run/model.json").read_text())
    backbone = good["backbone"] | {"name": "mlp", "options": {"hidden": [50_000, 50_000]}}
    for changes in ({"class_names": [1, 2, 3]}, {"backbone": backbone}, {"input_shape": [8, "8", 8]}, {"method": None}):
        Path("run/model.json").write_text(json.dumps(good | changes))
        for command in (("predict", "run", "t.csv", "--out", "p.csv"), ("export", "run", "m.onnx")):
            done = anchored(*command)
            assert (done.code, done.out) == (2, ""), (changes, done.err)
            assert done.err.startswith("anchored: ")
            assert done.err.count("\n") == 1
    assert not Path("p.csv").exists()
    assert not Path("m.onnx").exists()
