"""Mirror of src/anchored/features/precision.py: the machine decides, not a measurement."""

import pytest

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


def test_refuses_another_name():
    with pytest.raises(InputError, match="precision must be auto, float32 or bfloat16, got 'half'"):
        precision.choose_precision("half")
