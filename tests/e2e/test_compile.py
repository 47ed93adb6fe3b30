"""A compiled network trains along the same curve as the plain one."""

import pytest

from anchored.data import load_digits
from anchored.runs import fit


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # torch's compiler about torch itself
def test_compiling_changes_nothing_but_the_time():
    def curve(compiled):
        settings = {"data": {"source": "digits"}, "backbone": {"name": "tiny"}}
        return fit(load_digits(), settings | {"train": {"epochs": 2, "compile": compiled}}).history

    plain, compiled = curve(False), curve(True)
    assert [record["train_loss"] for record in compiled] == pytest.approx(
        [record["train_loss"] for record in plain], rel=1e-4
    )
