"""Mirror of src/anchored/methods/names.py: what a method's file says of it is what the parser does with its name."""

import dataclasses
import importlib
import inspect
import pkgutil

import pytest
import torch
from tests.builders import build_context

from anchored import methods
from anchored._errors import InputError
from anchored.losses import get, needs_counts
from anchored.methods import PROCEDURES, Method, Procedure, make_procedure, parse, procedure_type
from anchored.methods.closed_form import ClosedForm
from anchored.methods.parse import LOSSES, METHODS, MODIFIERS


def test_a_file_that_holds_a_procedure_is_in_the_table():
    found = set()
    for module in pkgutil.iter_modules(methods.__path__, "anchored.methods."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Procedure) and kind is not ClosedForm:  # which others are made of
                found.add(kind)
    assert found == set(PROCEDURES.values())
    assert len(found) == len(PROCEDURES), "no class has two names"


def test_one_stage_on_a_backbone_and_a_head_needs_no_file():
    assert procedure_type(parse("ldam+drw+pal")) is Procedure


def test_no_name_title_or_alias_is_used_twice():
    aliases = [alias for name in METHODS for alias in PROCEDURES[name].aliases]
    words = [*METHODS, *aliases, *LOSSES, *MODIFIERS]
    assert len(set(words)) == len(words)
    titles = [PROCEDURES[name].title for name in METHODS]
    assert all(titles)
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_gives_its_procedure_and_says_what_it_does(name):
    method, kind = parse(name), PROCEDURES[name]
    assert (method.algorithm, method.name, procedure_type(method)) == (name, name, kind)
    assert kind.about in method.describe()
    assert all(parse(alias) == method for alias in kind.aliases)


@pytest.mark.parametrize("name", METHODS)
def test_each_modifier_is_taken_or_refused_as_written(name):
    kind = PROCEDURES[name]
    for modifier in MODIFIERS:
        if modifier in kind.goes_with:
            assert parse(f"{name}+{modifier}").algorithm == name
        else:
            with pytest.raises(InputError, match=r"because"):
                parse(f"{name}+{modifier}")
    assert not set(kind.refused) & set(kind.goes_with), "a modifier is either taken or refused"


@pytest.mark.parametrize("name", METHODS)
def test_settings_are_fields_of_a_method_and_losses_exist(name):
    kind = PROCEDURES[name]
    assert set(kind.head) <= {field.name for field in dataclasses.fields(Method)}
    assert get(kind.loss) is not None
    assert not needs_counts(kind.loss)
    assert set(kind.goes_with) <= set(MODIFIERS)
    assert kind.first_stage is None or parse(kind.first_stage).algorithm == "single"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_builds_and_all_its_options_have_defaults(name):
    method = parse(name)
    kind = procedure_type(method)
    assert all(entry.default is not dataclasses.MISSING for entry in dataclasses.fields(kind.Options))
    options = kind.resolve(method, "blobs", torch.tensor([40, 20, 10, 5]), {})
    made = make_procedure(build_context(name, noise_rate=0.0, options=options))
    assert type(made) is kind
    network, stages = made.network(), made.stages()
    for stage in stages[1:]:
        stage.enter(network)
    if not kind.computed:  # which have no weights before they are computed
        assert network.eval()(torch.zeros(2, 6)).shape == (2, 4)
    assert sum(stage.settings == "second" and stage.trained for stage in stages) == (kind.second_epochs is not None)
