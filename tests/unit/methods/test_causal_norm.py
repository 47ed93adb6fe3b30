"""Mirror of src/anchored/methods/causal_norm.py: its scale, its published settings, its refusals."""

import pytest
import torch
from tests.builders import build_context

from anchored import InputError
from anchored.methods import make_procedure, parse
from anchored.methods.causal_norm import CausalNorm


def given(**settings):
    return build_context("causal-norm", **settings)


def test_the_network_has_the_methods_scale_unless_another_is_given():
    assert make_procedure(given()).network().head.scale == 16.0
    assert make_procedure(given(scale=8.0)).network().head.scale == 8.0


def test_more_is_removed_on_imagenet():
    method, counts = parse("causal-norm"), torch.tensor([100, 10])
    assert CausalNorm.resolve(method, "ImageNet_LT_train.txt", counts, {})["alpha"] == 3.0
    assert CausalNorm.resolve(method, "cifar100", counts, {})["alpha"] == 1.5
    assert CausalNorm.resolve(method, "ImageNet_LT_train.txt", counts, {"alpha": 2.0})["alpha"] == 2.0


def test_refuses_mixup_and_settings_without_sense():
    with pytest.raises(InputError, match="removing it removes the frequent classes"):
        parse("causal-norm+mixup")
    with pytest.raises(InputError, match="parts must be at most the 32 features"):
        make_procedure(given(options={"parts": 33})).network()
    for options, message in [({"parts": 0}, "parts"), ({"gamma": -1.0}, "gamma"), ({"momentum": 1.0}, "momentum")]:
        with pytest.raises(InputError, match=f"{message} must"):
            CausalNorm.Options(**options)
