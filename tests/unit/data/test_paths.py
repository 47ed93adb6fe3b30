"""Mirror of src/anchored/data/paths.py: a path read from a file stays below its root."""

from pathlib import Path

import pytest

from anchored._errors import InputError
from anchored.data.paths import below


@pytest.mark.parametrize("written", ["a.png", "x/a.png", "./x/../a.png", "x//a.png", "/data/root/a.png", "..a.png"])
def test_paths_below_the_root_are_taken(written):
    assert Path("/data/root") in below(Path("/data/root"), written, where="l").parents


@pytest.mark.parametrize(
    "written", ["../a.png", "x/../../a.png", "/etc/passwd", "/data/rooted/a.png", "..", ".", "", "a\0.png"]
)
def test_paths_that_lead_out_are_refused(written):
    with pytest.raises(InputError, match=r"^list\.txt, row 3: a path must lead to a file below /data/root, got"):
        below(Path("/data/root"), written, where="list.txt, row 3")
