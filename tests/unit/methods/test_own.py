"""Mirror of src/anchored/methods/own.py: what is promised of a name is what the parser does with it."""

import dataclasses

import pytest

from anchored._errors import InputError
from anchored.losses import get
from anchored.methods import Method, parse
from anchored.methods.own import OWN
from anchored.methods.parse import LOSSES, MODIFIERS


@pytest.mark.parametrize("name", OWN)
def test_a_name_gives_its_procedure_and_says_what_it_does(name):
    method = parse(name)
    assert (method.procedure, method.name) == (name, name)
    assert OWN[name].about in method.describe()


@pytest.mark.parametrize("name", OWN)
def test_each_modifier_is_taken_or_refused_as_written(name):
    about = OWN[name]
    for modifier in MODIFIERS:
        if modifier in about.goes_with:
            assert parse(f"{name}+{modifier}").procedure == name
        else:
            with pytest.raises(InputError, match=r"because"):
                parse(f"{name}+{modifier}")
    assert not set(about.refused) & set(about.goes_with), "a modifier is either taken or refused"


@pytest.mark.parametrize("name", OWN)
def test_settings_are_fields_of_a_method_and_losses_exist(name):
    about = OWN[name]
    assert set(about.head) <= {field.name for field in dataclasses.fields(Method)}
    assert get(about.loss) is not None
    assert set(about.goes_with) <= set(MODIFIERS)


def test_no_name_is_a_loss_or_a_modifier_too():
    assert not set(OWN) & (set(LOSSES) | set(MODIFIERS))
