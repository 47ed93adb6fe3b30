"""Mirror of src/anchored/features/hub.py: the cache first, then the hub, and one line if neither has it."""

import socket
import sys
import types

import pytest

from anchored import InputError
from anchored.features import hub


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(hub, "reachable", lambda: False)


@pytest.fixture
def online(monkeypatch):
    monkeypatch.setattr(hub, "reachable", lambda: True)


def test_a_package_that_is_missing_or_broken_is_named(monkeypatch, tmp_path):
    with pytest.raises(InputError, match="encoder 'x' needs no_such_thing, which is not installed; pip install it"):
        hub.needed("no_such_thing", encoder="x", install="it")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "built_for_another.py").write_text("raise RuntimeError('operator torchvision::nms does not exist\\n.')")
    with pytest.raises(InputError, match=r"does not work with the installed torch .operator torchvision::nms does not"):
        hub.needed("built_for_another", encoder="x", install="it")
    (tmp_path / "lacks_another.py").write_text("import not_there_either")
    with pytest.raises(InputError, match=r"cannot be imported .No module named 'not_there_either'"):
        hub.needed("lacks_another", encoder="x", install="it")


@pytest.mark.usefixtures("online")
def test_the_cache_comes_first():
    asked = []
    assert hub.from_cache_or_hub(lambda local: asked.append(local) or "found", encoder="hf:a") == "found"
    assert asked == [True]

    def load(local):
        asked.append(local)
        if local:
            raise OSError("not cached")
        return "downloaded"

    assert hub.from_cache_or_hub(load, encoder="hf:a") == "downloaded"
    assert asked == [True, True, False]


def failing(_local):
    raise OSError("no such model\nand a long story")


@pytest.mark.usefixtures("offline")
def test_without_a_connection_there_is_one_line():
    with pytest.raises(InputError, match="hub cannot be reached; connect, or give --weights FILE") as refused:
        hub.from_cache_or_hub(failing, encoder="hf:a")
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("online")
def test_what_the_hub_says_is_cut_to_a_line(tmp_path):
    with pytest.raises(InputError, match=r"the hub does not give it \(no such model\)$"):
        hub.from_cache_or_hub(failing, encoder="hf:a")
    with pytest.raises(InputError, match=r"the folder cannot be loaded \(no such model\)$"):
        hub.from_cache_or_hub(failing, encoder=f"hf:{tmp_path}")


def test_a_broken_torchvision_is_named_however_deep_it_lies():
    def load(_local):
        try:
            raise RuntimeError("operator torchvision::nms does not exist")
        except RuntimeError as error:
            raise ModuleNotFoundError("Could not import module 'BertModel'. And so on") from error

    with pytest.raises(InputError, match="the installed torchvision does not work with the installed torch"):
        hub.from_cache_or_hub(load, encoder="hf:a")


def test_whether_the_hub_answers(monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert not hub.reachable()
        taken.listen()
        assert hub.reachable()
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert not hub.reachable()


def test_a_file_of_weights_is_found_in_the_cache(monkeypatch, tmp_path):
    stand_in = types.ModuleType("huggingface_hub")
    cached = {"model.safetensors": None, "pytorch_model.bin": str(tmp_path / "w.bin")}
    stand_in.try_to_load_from_cache = lambda repository, file: cached[file]
    stand_in.hf_hub_download = lambda repository, file: str(tmp_path / repository / file)
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    assert hub.download("owner/name", encoder="timm:x") == tmp_path / "w.bin"
    cached["pytorch_model.bin"] = None
    monkeypatch.setattr(hub, "reachable", lambda: True)
    assert hub.download("owner/name", encoder="timm:x") == tmp_path / "owner/name/model.safetensors"
    monkeypatch.setattr(hub, "reachable", lambda: False)
    with pytest.raises(InputError, match="encoder 'timm:x': its weights are not in the cache"):
        hub.download("owner/name", encoder="timm:x")
