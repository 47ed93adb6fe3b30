"""Mirror of src/anchored/features/timm.py: with a stand-in for timm, and with timm itself if it is installed."""

import sys
import types
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import save_file
from tests.unit.features.standins import shim_torchvision, some_images, tiny_network

from anchored import InputError
from anchored.features import get, restore, timm

CONFIG = {"input_size": (3, 16, 16), "mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25), "hf_hub_id": "timm/tiny.a1"}


@pytest.fixture
def stand_in(monkeypatch):
    """A module called timm with one model, which draws from the global generator as timm does."""

    def create_model(name, *, pretrained, num_classes):
        assert (pretrained, num_classes) == (False, 0)
        network = tiny_network()
        network[0].reset_parameters()
        network.pretrained_cfg = CONFIG
        return network

    module = types.ModuleType("timm")
    module.create_model = create_model
    module.list_models = lambda: ["tiny", "resnet18"]
    monkeypatch.setitem(sys.modules, "timm", module)


@pytest.fixture
def weights(tmp_path):
    state = {**tiny_network(seed=3).state_dict(), "fc.weight": torch.ones(9, 6), "fc.bias": torch.ones(9)}
    save_file(state, tmp_path / "w.safetensors")
    return tmp_path / "w.safetensors"


@pytest.mark.usefixtures("stand_in")
def test_weights_from_a_file_and_the_models_own_normalisation(weights):
    encoder = get("timm:tiny.a1", weights=weights, precision="float32")
    images = some_images(5, side=16)
    by_hand = tiny_network(seed=3)((images.tensor.float() / 255 - 0.5) / 0.25)
    torch.testing.assert_close(encoder.transform(images), by_hand.detach())
    assert (encoder.dim, encoder.name, encoder.view.height) == (6, "timm:tiny.a1", 16)


@pytest.mark.usefixtures("stand_in")
def test_published_weights_are_looked_for(monkeypatch, weights):
    asked = []
    monkeypatch.setattr(timm, "download", lambda repository, *, encoder: asked.append(repository) or weights)
    assert get("timm:tiny").digest == get("timm:tiny", weights=weights).digest
    assert asked == ["timm/tiny.a1"]
    monkeypatch.setitem(CONFIG, "hf_hub_id", None)
    with pytest.raises(InputError, match="knows no published weights of it; give --weights FILE"):
        get("timm:tiny")


@pytest.mark.usefixtures("stand_in")
def test_comes_back_from_its_state_and_leaves_the_generator_alone(weights):
    before = torch.get_rng_state()
    images = some_images(3)
    encoder = get("timm:tiny", weights=weights).fit(images)
    again = restore(*encoder.state())
    assert torch.equal(torch.get_rng_state(), before)
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(images), encoder.transform(images))


@pytest.mark.usefixtures("stand_in")
def test_refusals(tmp_path, weights):
    with pytest.raises(InputError, match="unknown timm model 'resnet81'; did you mean 'resnet18'"):
        get("timm:resnet81")
    with pytest.raises(InputError, match=r"unknown timm model 'zzz'; see timm.list_models\(\)"):
        get("timm:zzz")
    save_file({"conv1.weight": torch.ones(2)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=r"these are not weights of timm:tiny .0.weight is missing"):
        get("timm:tiny", weights=tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="not weights of timm:tiny"):
        restore({"encoder": "timm:tiny", "model": "tiny"}, {})


def test_without_timm_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(
        InputError, match="encoder 'timm:resnet18' needs timm, which is not installed; pip install timm"
    ):
        get("timm:resnet18")


@pytest.mark.skipif(find_spec("timm") is None, reason="timm is not installed")
@pytest.mark.filterwarnings("ignore")
def test_timm_itself(tmp_path):
    shim_torchvision()
    import timm as library

    model = library.create_model("mobilenetv3_small_050", pretrained=False, num_classes=7).eval()
    torch.save({"state_dict": model.state_dict()}, tmp_path / "m.pth")
    images = some_images(4)
    encoder = get("timm:mobilenetv3_small_050", weights=tmp_path / "m.pth", precision="float32").fit(images)
    out = encoder.transform(images)
    assert out.shape == (4, encoder.dim)
    shown = encoder.prepare(images, torch.arange(4)).float() / 255
    mean, std = (torch.tensor(model.pretrained_cfg[name])[:, None, None] for name in ("mean", "std"))
    with torch.no_grad():
        expected = model.forward_head(model.forward_features((shown - mean) / std), pre_logits=True)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
    assert restore(*encoder.state()).digest == encoder.digest
