"""Mirror of src/anchored/paper/tables/_small.py: small, and corrupted as in the paper's setting."""

import pytest

from anchored import imbalance
from anchored.data import CorruptionPlan
from anchored.paper.tables._small import LONGTAILED, small_noise
from anchored.training import validate


@pytest.mark.parametrize("eta", [0.6, 0.8])
def test_noise_is_drawn_as_in_the_tables_on_500_of_each_digit(eta):
    config = validate(small_noise(eta).settings)
    plan = CorruptionPlan.parse(config.data.corrupt)
    assert (plan.eta, plan.mode, plan.rho, plan.n_max) == (eta, "apl", 1.0, 500)
    assert config.method.noise_rate == eta
    assert config.data.hold_out == 0.0


def test_the_long_tail_has_2478_digits():
    plan = CorruptionPlan.parse(LONGTAILED.settings["data"]["corrupt"])
    assert sum(imbalance.counts(plan.n_max, 10, plan.rho)) == 2478
    assert LONGTAILED.settings["method"]["noise_rate"] == 0.0
