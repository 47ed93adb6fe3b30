"""Mirror of src/anchored/integrations/skorch.py; with skorch itself it runs in tests/e2e/test_frameworks.py."""

import sys

import pytest
import torch

from anchored import InputError
from anchored.integrations import skorch


def test_probabilities_are_the_softmax():
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(skorch.probabilities(logits), logits.exp() / logits.exp().sum(dim=1, keepdim=True))


def test_says_how_to_install_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "skorch", None)
    with pytest.raises(InputError, match="pip install skorch"):
        skorch.net(torch.nn.Linear(2, 2))
