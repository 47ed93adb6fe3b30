"""Mirror of src/anchored/features/precision.py: the machine decides, not a measurement."""

import pytest
import torch

from anchored import InputError
from anchored.features import precision


@pytest.mark.parametrize(("fast", "expected"), [(True, "bfloat16"), (False, "float32")])
def test_auto_follows_the_machine(monkeypatch, fast, expected):
    monkeypatch.setattr(precision, "has_fast_bfloat16", lambda: fast)
    assert precision.choose_precision("auto") == expected
    assert precision.choose_precision("float32") == "float32"


def test_hardware_is_asked_for(monkeypatch):
    precision.has_fast_bfloat16.cache_clear()
    monkeypatch.setattr(precision.torch.cpu, "get_capabilities", lambda: {"amx_bf16": True}, raising=False)
    assert precision.has_fast_bfloat16()
    precision.has_fast_bfloat16.cache_clear()
    monkeypatch.setattr(precision.torch.cpu, "get_capabilities", lambda: {"avx2": True}, raising=False)
    assert not precision.has_fast_bfloat16()
    precision.has_fast_bfloat16.cache_clear()


@pytest.mark.parametrize(
    ("capabilities", "emulated"),
    [
        ({"architecture": "x86_64", "avx2": True, "avx512_bf16": False, "amx_bf16": False}, True),
        ({"architecture": "x86_64", "avx512_bf16": True}, False),
        ({"architecture": "x86_64", "amx_bf16": True}, False),
        ({"architecture": "aarch64", "neon": True}, False),
        ({}, False),
    ],
)
def test_a_processor_emulates_bfloat16_only_if_it_is_known_to_lack_it(monkeypatch, capabilities, emulated):
    monkeypatch.setattr(precision.torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert precision.emulates_bfloat16(torch.device("cpu")) == emulated


def test_an_older_torch_does_not_tell_of_the_processor_so_nothing_is_claimed(monkeypatch):
    monkeypatch.delattr(precision.torch.cpu, "get_capabilities", raising=False)
    assert not precision.emulates_bfloat16(torch.device("cpu"))


@pytest.mark.parametrize("has", [True, False])
def test_a_gpu_is_asked_about_itself_and_not_about_the_processor(monkeypatch, has):
    answers = {"architecture": "x86_64", "avx512_bf16": not has}
    monkeypatch.setattr(precision.torch.cpu, "get_capabilities", lambda: answers, raising=False)
    monkeypatch.setattr(precision.torch.cuda, "is_bf16_supported", lambda including_emulation: has)
    assert precision.emulates_bfloat16(torch.device("cuda")) is not has


def test_refuses_another_name():
    with pytest.raises(InputError, match="precision must be auto, float32 or bfloat16, got 'half'"):
        precision.choose_precision("half")
