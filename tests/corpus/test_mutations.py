"""Files that somebody's disk, editor or malice has changed: whatever the change, one line or an answer."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.corpus.test_corpus import made_base
from tests.forked import run

FILES = {
    "run/result.json": ("resume", "run"),
    "run/history.jsonl": ("report", "run", "--out", "r.html"),
    "run/config.yaml": ("predict", "run", "good.csv", "--out", "p.csv"),
    "run/model.json": ("predict", "run", "good.csv", "--out", "p.csv"),
    "run/model.safetensors": ("predict", "run", "good.csv", "--out", "p.csv"),
    "run/audit/audit.json": ("review", "run", "--static", "r.html"),
    "run/audit/suspects.csv": ("review", "run", "--static", "r.html"),
    "stopped/checkpoint/last.safetensors": ("resume", "stopped"),
    "good.csv": ("fit", "good.csv", "--method", "ridge", "--out", "out", "--no-report"),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return made_base(tmp_path_factory.mktemp("mutations") / "base")


@st.composite
def mutations(draw):
    """A few changes of bytes: replaced, removed, inserted, cut off."""
    kinds = ("replace", "remove", "insert", "cut")
    steps = st.tuples(st.sampled_from(kinds), st.floats(0, 1), st.integers(1, 40), st.binary(min_size=1, max_size=12))
    return draw(st.lists(steps, min_size=1, max_size=4))


def mutated(content, steps):
    for kind, where, length, new in steps:
        at = int(where * len(content))
        if kind == "cut":
            content = content[:at]
        else:
            kept = content[at:] if kind == "insert" else content[at + length :]
            content = content[:at] + (b"" if kind == "remove" else new) + kept
    return content


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(steps=mutations())
def test_a_mutated_file_is_answered(base, tmp_path_factory, file, steps):
    folder = tmp_path_factory.mktemp("case") / "here"
    shutil.copytree(base, folder)
    path = folder / file
    path.write_bytes(mutated(path.read_bytes(), steps))
    ended = run(FILES[file], folder, seconds=120)
    shutil.rmtree(folder)
    assert ended.code in (0, 2), ended.err[-2000:]
    assert "Traceback" not in ended.err
    assert ended.runs == ()
    assert ended.megabytes < 1_200
