"""Mirror of src/anchored/integrations/trackers.py: each kind of tracker gets its own call."""

from types import SimpleNamespace

import pytest

from anchored import InputError
from anchored.integrations import trackers


def test_each_kind_of_tracker_gets_its_call():
    calls = []
    tensorboard = SimpleNamespace(add_scalar=lambda *given: calls.append(given))
    mlflow = SimpleNamespace(log_metrics=lambda numbers, step: calls.append((numbers, step)))
    run = SimpleNamespace(log=lambda numbers, step: calls.append((numbers, step)))
    for tracker in (tensorboard, mlflow, run):
        trackers.log_to(tracker, prefix="val/")({"a": 1.0, "b": 2.0}, 7)
    both = {"val/a": 1.0, "val/b": 2.0}
    assert calls == [("val/a", 1.0, 7), ("val/b", 2.0, 7), (both, 7), (both, 7)]


def test_refuses_what_cannot_log():
    with pytest.raises(InputError, match="one of the methods add_scalar, log_metrics, log, got int"):
        trackers.log_to(3)
