"""Mirror of src/anchored/cli/export.py: both formats, what is said of them, refusals before any work."""

import json

import pytest
from typer.testing import CliRunner

from anchored import InputError
from anchored.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.mark.slow
def test_onnx_is_compared_with_ours(table_run, tmp_path):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    done = call(table_run.path, tmp_path / "m.onnx", "--json")
    assert done.exit_code == 0, done.exception
    assert done.stderr == ""
    printed = json.loads(done.stdout)
    assert printed["format"] == "ONNX, opset 18"
    assert printed["input"] == {"name": "inputs", "type": "float32", "shape": ["batch", 8]}
    assert printed["outputs"] == ["logits", "probabilities"]
    assert printed["class_names"] == ["no", "yes", "ä <b>"]
    assert 0 <= printed["difference"] < 1e-5
    assert printed["bytes"] == (tmp_path / "m.onnx").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_a_program_of_torch_by_its_ending(table_run, tmp_path):
    done = call(table_run.path, tmp_path / "m.pt2")
    assert done.exit_code == 0, done.exception
    assert "torch.export" in done.stdout
    assert "float32 (batch, 8)" in done.stdout
    assert f"written to {tmp_path / 'm.pt2'}" in done.stdout
    assert (tmp_path / "m.pt2").is_file()


def test_refuses_what_it_cannot_do(table_run, tmp_path):
    for arguments, message in (
        ((table_run.path, tmp_path / "m.pkl"), r"exported to .onnx or .pt2"),
        ((table_run.path, tmp_path / "no" / "m.onnx"), "in a folder that exists"),
        ((tmp_path, tmp_path / "m.onnx"), "holds no run"),
        ((table_run.path, tmp_path / "m.pt2", "--input", "uint8"), "trained on floats, got input uint8"),
    ):
        error = call(*arguments).exception
        assert isinstance(error, InputError), (arguments, error)
        with pytest.raises(InputError, match=message):
            raise error
    assert call(table_run.path, tmp_path / "m.onnx", "--input", "int8").exit_code == 2
    assert list(tmp_path.iterdir()) == []
