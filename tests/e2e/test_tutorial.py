"""The tutorial's commands, executed as they are written: labels are found, corrected, and the model gets better."""

import json
import re
import shlex
from pathlib import Path

import pytest

from anchored.runs import RunFolder

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "learn" / "digits.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def accuracy(run):
    return RunFolder.open(run).read_result()["test"]["accuracy"]


def test_the_whole_loop(anchored):
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), {})
            continue
        for line in block.splitlines():
            program, *words = shlex.split(line)
            assert program == "anchored"
            done = anchored(*words)
            assert done.code == 0, f"{line}: {done.err[-2000:]}"
    assert Path("review.html").is_file()
    assert (Path("before") / "report.html").is_file()
    # 30 % of five digits in ten: about 15 % of all labels.
    found = json.loads(Path("findings/audit.json").read_text())
    wrong = RunFolder.open("before").read_result()["corruption"]["noise"]["rate"]
    assert abs(found["noise_rate"] - wrong) < 0.08
    corrected = RunFolder.open("after").read_result()["corrections"]
    assert corrected["wrong_after"] < corrected["wrong_before"] / 4, "200 looks find most of some 210 wrong labels"
    assert accuracy("after") >= accuracy("before") - 0.02, "there is little left to gain, of 360 test samples"
    assert accuracy("before") > accuracy("before-ce") + 0.05
    assert accuracy("after-ce") > accuracy("before-ce") + 0.05
    assert Path("model.onnx").stat().st_size > 10_000
    assert len(Path("labels.csv").read_text().splitlines()) > 100


def test_the_python_of_the_audit_page():
    page = PAGE.parents[1] / "audit.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), {})
    assert abs(json.loads(Path("findings/audit.json").read_text())["noise_rate"] - 0.3) < 0.05
