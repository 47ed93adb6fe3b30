"""Mirror of src/anchored/methods/procedures.py: every name leads to a class, and the class to a network."""

import dataclasses

import pytest
import torch

from anchored import backbones
from anchored.methods import PROCEDURES, Given, Procedure, parse, procedure, procedure_type
from anchored.methods.own import OWN


def test_one_stage_on_a_backbone_and_a_head_needs_no_file():
    assert procedure_type(parse("ldam+drw+pal")) is Procedure


def test_names_are_those_that_the_parser_knows():
    assert set(PROCEDURES) - {"single"} <= set(OWN)
    assert len(set(PROCEDURES.values())) == len(PROCEDURES)


@pytest.mark.parametrize("name", [name for name in OWN if name in PROCEDURES])
def test_every_method_builds_and_all_its_options_have_defaults(name):
    method = parse(name)
    kind = procedure_type(method)
    assert all(entry.default is not dataclasses.MISSING for entry in dataclasses.fields(kind.Options))
    counts = torch.tensor([30, 20, 10])

    def backbone(stream_name="init", /):
        return backbones.get("tiny", (6,), generator=torch.Generator().manual_seed(0))

    options = kind.resolve(method, "blobs", counts, {})
    made = procedure(Given(method=method, backbone=backbone, counts=counts, noise_rate=0.0, options=options))
    assert type(made) is kind
    network, stages = made.network(), made.stages()
    for stage in stages[1:]:
        stage.enter(network)
    assert network.eval()(torch.zeros(2, 6)).shape == (2, 3)
    assert sum(stage.second and stage.trained for stage in stages) == (kind.second is not None)
