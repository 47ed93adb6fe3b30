"""Mirror of src/anchored/training/runtime.py: one process, its device and its precision."""

import pytest
import torch

from anchored._errors import InputError
from anchored.training import Runtime, make_runtime, pick_device


def test_one_process_is_the_main_one_and_changes_nothing():
    runtime = make_runtime("cpu")
    x = torch.arange(4.0)
    assert (runtime.rank, runtime.world_size, runtime.main) == (0, 1, True)
    assert runtime.sum(x) is x
    assert runtime.gather(x) is x
    assert runtime.agree(True)
    assert not runtime.agree(False)
    model = torch.nn.BatchNorm1d(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert runtime.wrap(model, optimizer) == (model, optimizer)
    runtime.unify(model)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())


@pytest.mark.parametrize(
    ("precision", "weights", "products"),
    [
        ("32", torch.float32, torch.float32),
        ("64", torch.float64, torch.float64),
        ("bf16", torch.float32, torch.bfloat16),
    ],
)
def test_precision_decides_the_type_of_weights_and_of_products(precision, weights, products):
    runtime = Runtime(torch.device("cpu"), precision)
    assert runtime.dtype == weights
    x = torch.ones(2, 2, dtype=runtime.dtype)
    with runtime.autocast():
        assert (x @ x).dtype == products


def test_backward_gives_gradients():
    x = torch.ones(3, requires_grad=True)
    make_runtime("cpu").backward(x.square().sum())
    assert x.grad.tolist() == [2, 2, 2]


def test_auto_is_a_device_that_can_be_used():
    assert torch.zeros(2, device=pick_device("auto")).sum() == 0


@pytest.mark.parametrize("name", ["tpu-v9", "cuda:77", ""])
def test_a_device_that_is_not_there_is_refused_in_one_line(name):
    with pytest.raises(InputError, match=r"cannot be used here .*; use 'auto' or 'cpu'") as caught:
        pick_device(name)
    assert "\n" not in str(caught.value)
