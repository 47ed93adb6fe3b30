"""Mirror of src/anchored/training/runtime.py: one process, its device and its precision."""

import pytest
import torch

from anchored._errors import InputError
from anchored.training import Runtime, make_runtime, pick_device, precision_warning, runtime


def test_one_process_is_the_main_one_and_changes_nothing():
    alone = make_runtime("cpu")
    x = torch.arange(4.0)
    assert (alone.rank, alone.world_size, alone.main) == (0, 1, True)
    assert alone.sum(x) is x
    assert alone.gather(x) is x
    assert alone.agree(True)
    assert not alone.agree(False)
    model = torch.nn.BatchNorm1d(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert alone.wrap(model, optimizer) == (model, optimizer)
    alone.unify(model)
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
    there = Runtime(torch.device("cpu"), precision)
    assert there.dtype == weights
    x = torch.ones(2, 2, dtype=there.dtype)
    with there.autocast():
        assert (x @ x).dtype == products


def test_a_precision_that_is_slower_on_a_device_is_warned_of_in_one_line(monkeypatch):
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    monkeypatch.setattr(runtime, "emulates_bfloat16", lambda device: True)
    assert precision_warning(cpu, "bf16") == (
        "precision bf16 is slower than 32 here, up to ten times, because this processor has neither AVX512-BF16 nor "
        "AMX; take precision 32"
    )
    assert "because this GPU has no bfloat16; " in precision_warning(gpu, "bf16")
    assert precision_warning(cpu, "32") is precision_warning(cpu, "64") is None
    monkeypatch.setattr(runtime, "emulates_bfloat16", lambda device: False)
    assert precision_warning(cpu, "bf16") is None


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
