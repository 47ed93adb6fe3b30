"""Every bad input gets the answer it must get: no traceback, no hang, nothing half-written or run, bounded memory."""

import csv
import os
import shutil

import pytest

from tests.corpus.cases import cases, copy_base, write_base
from tests.forked import run

SECONDS, MEGABYTES = 120.0, 1_200  # beyond the libraries, which hold some 500 MB


def made_base(folder):
    """Good data, a finished run and a stopped one."""
    folder.mkdir()
    write_base(folder)
    made = run(["fit", "good.csv", "--epochs", "1", "--out", "run"], folder, seconds=300)
    assert made.code == 0, made.err
    made = run(["audit", "run"], folder, seconds=300)
    assert made.code == 0, made.err
    made = run(
        ["fit", "good.csv", "--method", "ce", "--epochs", "1", "--out", "stopped", "--no-report"], folder, seconds=300
    )
    assert made.code == 0, made.err
    (folder / "stopped" / "result.json").unlink()
    return folder


def listing(folder):
    """Names of everything below, but for what a lock or a cache leaves."""
    found = set()
    for path, folders, files in os.walk(os.fsencode(folder)):
        found |= {os.path.join(path, name) for name in (*folders, *files)}
    return {name for name in found if not name.endswith((b".lock",)) and b"/cache" not in name}


def faults(case, ended, before, after, folder):
    """What is wrong with an answer; nothing if it is right."""
    wrong = []
    if ended.code is None:
        wrong.append("it hangs")
    if "Traceback (most recent call last)" in ended.err:
        wrong.append(f"a traceback: {ended.err.strip().splitlines()[-1][:300]}")
    if ended.megabytes > MEGABYTES:
        wrong.append(f"{ended.megabytes:.0f} MB")
    if ended.runs or any(b"PWNED" in name for name in after):
        wrong.append(f"it ran {ended.runs}")
    answer = case.answer
    if answer == "answered":
        answer = {0: "tolerated", 2: "refused"}.get(ended.code, "neither 0 nor 2")
        if answer.startswith("neither"):
            wrong.append(f"exit code {ended.code}")
    if answer == "refused":
        said = [line for line in ended.err.splitlines() if line.startswith("anchored: ")]
        if ended.code != 2:
            wrong.append(f"exit code {ended.code}, and not 2")
        elif not said or ended.err.splitlines()[-1] != said[-1] or len(said[-1]) > 2_000:
            wrong.append(f"not one line: {ended.err[-500:]!r}")
        elif case.says not in said[-1]:
            wrong.append(f"{case.says!r} is not in {said[-1]!r}")
        if after - before:
            wrong.append(f"left behind: {sorted(after - before)[:5]}")
    elif ended.code != 0:
        wrong.append(f"exit code {ended.code}, and not 0: {ended.err[-300:]!r}")
    if case.answer == "rows" and ended.code == 0:
        with (folder / "out.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        if len(rows) != 3 or [bool(row["error"]) for row in rows] != [False, True, False]:
            wrong.append(f"rows {rows}")
    return wrong


@pytest.mark.slow
def test_every_bad_input_gets_the_answer_it_must_get(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = made_base(tmp_path / "base")
    every = cases()
    assert len(every) >= 300
    assert len({case.name for case in every}) == len(every)
    found = {}
    for number, case in enumerate(every):
        folder = tmp_path / f"case {number}"
        copy_base(base, folder)
        case.make(folder)
        before = listing(folder)
        ended = run(case.arguments, folder, seconds=SECONDS)
        wrong = faults(case, ended, before, listing(folder), folder)
        if wrong:
            found[case.name] = wrong
        shutil.rmtree(folder, ignore_errors=True)
    assert not found, "\n".join(f"{name}: {'; '.join(wrong)}" for name, wrong in found.items())
