"""Mirror of src/anchored/prototypes/_make.py: which construction each request gets."""

import pytest
import torch

from anchored import InputError
from anchored.prototypes import _packing, _relu_packing, direct_sum, make, packing, simplex
from anchored.prototypes._anneal import Effort

CHOICES = [
    (5, 5, "signed", lambda g: simplex(5, 5, generator=g)),
    (5, 4, "signed", lambda g: simplex(5, 4, generator=g)),
    (6, 4, "signed", lambda g: direct_sum(6, 4, generator=g)),
    (8, 4, "signed", lambda g: direct_sum(8, 4, generator=g)),
    (9, 4, "signed", lambda g: packing(9, 4, generator=g)),
    (5, 5, "nonnegative", lambda g: simplex(5, 5, orientation="orthant", generator=g)),
    (4, 3, "nonnegative", lambda g: packing(4, 3, nonnegative=True, generator=g)),
]


@pytest.mark.parametrize(("k", "d", "features", "expected"), CHOICES)
def test_picks_the_best_construction_there_is(k, d, features, expected, monkeypatch):
    for module in (_packing, _relu_packing):
        monkeypatch.setattr(module, "effort", lambda k, d: Effort(restarts=2, steps=5, first=4.0, last=64.0))
    made = make(k, d, features=features, generator=torch.Generator().manual_seed(5))
    assert torch.equal(made, expected(torch.Generator().manual_seed(5)))


def test_refuses_features_of_an_unknown_kind():
    with pytest.raises(InputError, match="unknown kind of features 'non-negative'; did you mean 'nonnegative'"):
        make(3, 4, features="non-negative")
