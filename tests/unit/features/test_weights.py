"""Mirror of src/anchored/features/weights.py: tensors are read, anything else is refused in one line."""

import hashlib

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from anchored import InputError
from anchored.features.weights import check_sha256, digest_of, load_into, read_weights


@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: {"state_dict": s, "epoch": 3}, lambda s: {"model": s}])
def test_reads_a_checkpoint_however_it_is_wrapped(tmp_path, wrap):
    net = nn.Linear(2, 3)
    torch.save(wrap({f"module.{k}": v for k, v in net.state_dict().items()}), tmp_path / "w.pth")
    found = read_weights(tmp_path / "w.pth")
    assert set(found) == {"weight", "bias"}
    assert torch.equal(found["weight"], net.weight)


def test_reads_safetensors(tmp_path):
    save_file({"a": torch.ones(2)}, tmp_path / "w.safetensors")
    assert read_weights(tmp_path / "w.safetensors")["a"].tolist() == [1, 1]


def test_never_runs_code_from_a_file(tmp_path):
    torch.save(nn.Linear(2, 2), tmp_path / "object.pth")
    with pytest.raises(InputError, match="holds more than plain tensors, and is not loaded because it could run code"):
        read_weights(tmp_path / "object.pth")


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
def test_refuses_what_is_no_file_of_weights(tmp_path, name):
    with pytest.raises(InputError, match="there is no such file of weights"):
        read_weights(tmp_path / name)
    (tmp_path / name).write_bytes(b"no weights at all")
    with pytest.raises(InputError, match="not a readable file of weights") as refused:
        read_weights(tmp_path / name)
    assert "\n" not in str(refused.value)
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(InputError, match="holds no tensors by name"):
        read_weights(tmp_path / "list.pth")


def test_the_digest_of_a_file_is_checked(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    check_sha256(tmp_path / "f", hashlib.sha256(b"abc").hexdigest())
    with pytest.raises(InputError, match="its SHA-256 is ba7816bf8f01… and not the published 000000000000…"):
        check_sha256(tmp_path / "f", "0" * 64)
    with pytest.raises(InputError, match="cannot be read"):
        check_sha256(tmp_path / "g", "0" * 64)


def network():
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def test_a_classifier_in_the_file_is_left_out():
    source, target = network(), network()
    state = {**source.state_dict(), "fc.weight": torch.ones(5, 2), "head.fc.bias": torch.ones(5)}
    del state["1.num_batches_tracked"]  # files of old versions have none
    load_into(target, state, where="f", what="net")
    assert torch.equal(target[0].weight, source[0].weight)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("0.weight"), "not weights of net .0.weight is missing."),
        (lambda s: s.update({"0.weight": torch.ones(2, 4)}), r"0.weight is \(2, 4\) instead of \(2, 3\)"),
        (lambda s: s.update({"1.extra.weight": torch.ones(2)}), "1.extra does not belong to it"),
    ],
)
def test_weights_of_another_network_are_refused(change, message):
    state = network().state_dict()
    change(state)
    with pytest.raises(InputError, match=message):
        load_into(network(), state, where="f", what="net")


def test_a_digest_sees_every_part():
    about, tensors = {"a": 1, "b": [2.0]}, {"w": torch.arange(4.0)}
    base = digest_of(about, tensors)
    assert base == digest_of({"b": [2.0], "a": 1}, {"w": torch.arange(4.0).clone()})
    others = [
        digest_of({"a": 2, "b": [2.0]}, tensors),
        digest_of(about, {"v": torch.arange(4.0)}),
        digest_of(about, {"w": torch.arange(4.0).reshape(2, 2)}),
        digest_of(about, {"w": torch.arange(4.0, dtype=torch.float64)}),
        digest_of(about, {"w": torch.arange(4.0) + 1e-6}),
        digest_of(about, {}),
    ]
    assert len({base, *others}) == 7
    assert len(digest_of({}, {"half": torch.ones(3, dtype=torch.bfloat16), "empty": torch.ones(0)})) == 64
