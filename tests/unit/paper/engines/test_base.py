"""Mirror of src/anchored/paper/engines/_base.py: an engine keeps four promises."""

import inspect

import pytest

from anchored.paper import Placement
from anchored.paper.engines import ENGINES, Engine


def test_an_engine_must_keep_all_of_them():
    assert {"free", "start", "wait", "close"} == Engine.__abstractmethods__
    with pytest.raises(TypeError, match="abstract"):
        Engine()


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
def test_every_engine_takes_a_placement_and_how_many_at_a_time(engine):
    assert issubclass(engine, Engine)
    parameters = inspect.signature(engine).parameters
    assert next(iter(parameters)) == "placement"
    assert parameters["jobs"].default is None


def test_a_placement_says_where_and_nothing_about_the_result():
    assert Placement("store") == Placement("store", None, 1, "auto")
