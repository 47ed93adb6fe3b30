"""Mirror of src/anchored/training/checkpoint.py: what goes in comes out, bit for bit, and nothing is unpickled."""

import pickle

import pytest
import torch

from anchored._errors import InputError
from anchored.training.checkpoint import Checkpoint, load_optimizer, optimizer_state


def trained(name, steps):
    torch_model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        torch_model.weight.copy_(torch.arange(6).view(2, 3) / 7)
        torch_model.bias.zero_()
    kind = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "adamw": torch.optim.AdamW,
        "fused adamw": lambda p: torch.optim.AdamW(p, fused=True),
    }[name]
    optimizer = kind(torch_model.parameters())
    for step in range(steps):
        one_step(torch_model, optimizer, step)
    return torch_model, optimizer


def one_step(model, optimizer, step):
    optimizer.zero_grad()
    model(torch.full((4, 3), 1.0 + step)).square().sum().backward()
    optimizer.step()


@pytest.mark.parametrize("name", ["sgd", "adamw", "fused adamw"])
def test_an_optimiser_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    straight, optimizer = trained(name, 3)
    slots, groups = optimizer_state(optimizer)
    tensors = {f"optimizer.{key}": value for key, value in slots.items()}
    tensors |= {f"model.{key}": value for key, value in straight.state_dict().items()}
    Checkpoint(tensors, {"groups": groups}).save(tmp_path / "c")

    back = Checkpoint.load(tmp_path / "c")
    resumed, other = trained(name, 0)
    resumed.load_state_dict(back.part("model"))
    load_optimizer(other, back.part("optimizer"), back.facts["groups"])
    for model, opt in ((straight, optimizer), (resumed, other)):
        one_step(model, opt, 9)
    assert torch.equal(straight.weight, resumed.weight)


def test_tensors_that_share_memory_are_saved(tmp_path):
    x = torch.arange(4.0)
    Checkpoint({"a": x, "b": x, "c": x[1:]}).save(tmp_path / "c")
    assert Checkpoint.load(tmp_path / "c").tensors["c"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps({"a": 1})])
def test_what_is_no_checkpoint_is_refused_in_one_line(content, tmp_path):
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read.*; remove the run's folder, and start the run again"):
        Checkpoint.load(tmp_path / "c")


def test_another_safetensors_file_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"x": torch.ones(1)}, tmp_path / "c")
    with pytest.raises(InputError, match="is not a checkpoint of anchored"):
        Checkpoint.load(tmp_path / "c")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read.*; remove the run's folder, and start the run again"):
        Checkpoint.load(tmp_path / "nothing")
