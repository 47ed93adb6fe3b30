"""Mirror of src/anchored/heads/anchor.py: imitations of the structures in timm, torchvision and Hugging Face."""

import types
from collections import OrderedDict

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredConv, AnchoredHead, CosineHead, anchor_
from anchored.prototypes import simplex

K = 10


class Images(nn.Module):
    """A small convolution in place of a network, so that each imitation runs on images ``(n, 3, 8, 8)``."""

    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.squeeze = nn.Conv2d(width, K, 1)  # as in squeeze-and-excite: k outputs by coincidence
        self.expand = nn.Conv2d(K, width, 1)

    def maps(self, x):
        x = self.stem(x).relu()
        return x * self.expand(self.squeeze(x)).sigmoid()

    def pooled(self, x):
        return self.maps(x).mean(dim=(2, 3))


class TorchvisionResNet(Images):
    where, width = "fc", 16

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, K)

    def forward(self, x):
        return self.fc(self.pooled(x))


class TorchvisionMobileNet(Images):
    where, width = "classifier.3", 24

    def __init__(self):
        super().__init__()
        self.classifier = nn.Sequential(nn.Linear(16, 24), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(24, K))

    def forward(self, x):
        return self.classifier(self.pooled(x))


class TorchvisionVGG(Images):
    where, width = "classifier.6", 32

    def __init__(self):
        super().__init__()
        self.classifier = nn.Sequential(
            nn.Linear(16, 32),
            nn.ReLU(True),
            nn.Dropout(),
            nn.Linear(32, 32),
            nn.ReLU(True),
            nn.Dropout(),
            nn.Linear(32, K),
        )

    def forward(self, x):
        return self.classifier(self.pooled(x))


class TorchvisionViT(Images):
    where, width = "heads.head", 16

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.heads = nn.Sequential(OrderedDict(head=nn.Linear(16, K)))

    def forward(self, x):
        tokens = self.maps(x).flatten(2).transpose(1, 2)
        return self.heads(self.attention(tokens, tokens, tokens)[0][:, 0])


class TorchvisionGoogLeNet(Images):
    where, width = "fc", 16

    def __init__(self):
        super().__init__()
        self.aux1 = nn.Sequential(OrderedDict(fc1=nn.Linear(16, 20), fc2=nn.Linear(20, K)))
        self.fc = nn.Linear(16, K)

    def forward(self, x):
        return self.fc(self.pooled(x))


class TorchvisionSqueezeNet(Images):
    where, width = "classifier.1", 16

    def __init__(self):
        super().__init__()
        self.classifier = nn.Sequential(nn.Dropout(), nn.Conv2d(16, K, 1), nn.ReLU(True), nn.AdaptiveAvgPool2d((1, 1)))

    def forward(self, x):
        return self.classifier(self.maps(x)).flatten(1)


class TimmMobileNet(Images):
    where, width = "classifier", 24  # and not num_features

    def __init__(self):
        super().__init__()
        self.num_classes, self.num_features = K, 16
        self.conv_head = nn.Conv2d(16, 24, 1)
        self.classifier = nn.Linear(24, K)

    def get_classifier(self):
        return self.classifier

    def forward(self, x):
        return self.classifier(self.conv_head(self.maps(x)).mean(dim=(2, 3)))


class TimmConvNeXt(Images):
    where, width = "head.fc", 16

    def __init__(self):
        super().__init__()
        self.num_classes = K
        self.head = nn.Sequential(OrderedDict(norm=nn.LayerNorm(16), drop=nn.Dropout(0.0), fc=nn.Linear(16, K)))

    def get_classifier(self):
        return self.head.fc

    def forward(self, x):
        return self.head(self.pooled(x))


class HuggingFaceResNet(Images):
    where, width = "classifier.1", 16

    def __init__(self):
        super().__init__()
        self.num_labels = K
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(16, K))

    def forward(self, pixel_values):
        return self.classifier(self.maps(pixel_values).mean(dim=(2, 3), keepdim=True))


class HuggingFaceRoberta(Images):
    where, width = "classifier.out_proj", 12

    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(num_labels=K)
        self.classifier = nn.ModuleDict({"dense": nn.Linear(16, 12), "out_proj": nn.Linear(12, K)})

    def forward(self, x):
        return self.classifier["out_proj"](self.classifier["dense"](self.pooled(x)).tanh())


IMITATIONS = [
    TorchvisionResNet, TorchvisionMobileNet, TorchvisionVGG, TorchvisionViT, TorchvisionGoogLeNet,
    TorchvisionSqueezeNet, TimmMobileNet, TimmConvNeXt, HuggingFaceResNet, HuggingFaceRoberta,
]  # fmt: skip


@pytest.fixture
def images():
    return torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("count", [K, None], ids=["count given", "count inferred"])
@pytest.mark.parametrize("kind", IMITATIONS)
def test_replaces_the_classifier_and_nothing_else(kind, count, images):
    model = kind()
    before = dict(model.named_modules())
    assert anchor_(model, count, scale=5.0) is model
    changed = {name for name, module in model.named_modules() if before.get(name) is not module}
    assert changed == {kind.where}
    head = model.get_submodule(kind.where)
    assert isinstance(head, AnchoredHead)
    assert (head.in_features, head.num_classes, head.scale) == (kind.width, K, 5.0)
    logits = model.eval()(images)
    assert logits.shape == (4, K)
    assert logits.abs().max() <= 5.0 + 1e-5
    logits.square().sum().backward()
    assert model.stem.weight.grad.abs().max() > 0


@pytest.mark.parametrize("kind", IMITATIONS)
def test_more_classes_than_the_layer_had_when_it_is_named(kind, images):
    model = anchor_(kind(), 2 * kind.width, layer=kind.where, normalize=False, features="signed")
    assert model.eval()(images).shape == (4, 2 * kind.width)


def test_another_number_of_classes_is_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"with 7 outputs, it has none; .* for example by layer='fc'"):
        anchor_(TorchvisionResNet(), 7)


def test_a_refusal_leaves_the_model_as_it_was():
    model = TorchvisionResNet()
    fc = model.fc
    for options in ({"scale": -1.0}, {"prototypes": torch.eye(3)}, {"features": "signd"}):
        with pytest.raises(InputError):
            anchor_(model, K, **options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sacle'"):
        anchor_(model, K, sacle=2.0)
    assert model.fc is fc


def test_several_candidates_are_listed():
    model = nn.ModuleDict({"left": nn.Linear(6, K), "right": nn.Conv2d(7, K, 1)})
    with pytest.raises(InputError, match=r"10 outputs, it has 2; choose one of left \(6 -> 10\), right \(7 -> 10\)"):
        anchor_(model, K)
    assert isinstance(anchor_(model, K, layer="right")["right"], AnchoredConv)


def test_a_misspelt_layer_gets_the_nearest_names():
    with pytest.raises(InputError, match=r"no layer 'classifier\.4'; did you mean 'classifier\.3'"):
        anchor_(TorchvisionMobileNet(), K, layer="classifier.4")


@pytest.mark.parametrize("model", [nn.Linear(6, K), nn.Conv2d(6, K, 1), CosineHead(6, K)])
def test_a_model_that_is_the_layer_cannot_be_changed_in_place(model):
    with pytest.raises(InputError, match=r"the model itself is a .* use AnchoredHead\(in_features, num_classes\)"):
        anchor_(model, K)


def test_a_layer_without_a_size_is_refused():
    with pytest.raises(InputError, match="layer '1' is a LazyLinear that has no size yet; run one batch"):
        anchor_(nn.Sequential(nn.Flatten(), nn.LazyLinear(K)), K)


def test_a_layer_without_values_is_refused():
    with pytest.raises(InputError, match="layer '1' is on the meta device"):
        anchor_(nn.Sequential(nn.ReLU(), nn.Linear(6, K)).to("meta"), K)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_keeps_the_dtype_of_the_layer(dtype):
    head = anchor_(nn.Sequential(nn.ReLU(), nn.Linear(16, K)).to(dtype), K)[1]
    assert head.prototypes.dtype == dtype
    assert head(torch.ones(2, 16, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("training", [True, False])
def test_keeps_the_mode_of_the_layer(training):
    model = nn.Sequential(nn.ReLU(), nn.Linear(16, K)).train(training)
    assert anchor_(model, K)[1].training is training


def test_a_shared_layer_is_replaced_wherever_it_is():
    shared = nn.Linear(K, K)
    model = anchor_(nn.Sequential(shared, nn.ReLU(), shared), layer="2")
    assert isinstance(model[0], AnchoredHead)
    assert model[0] is model[2]


def test_anchoring_twice_replaces_the_head():
    model = anchor_(anchor_(TorchvisionSqueezeNet(), K), K, layer="classifier", scale=3.0)
    assert isinstance(model.classifier[1], AnchoredConv)
    assert model.classifier[1].scale == 3.0


def test_features_after_a_relu_get_reachable_prototypes():
    def margins(model):
        reachable = model[-1].prototypes.clamp_min(0)
        logits = model[-1](reachable)
        return logits.diagonal() - logits.masked_fill(torch.eye(K, dtype=torch.bool), -9).amax(dim=1)

    def network():
        return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, K))

    bound = (K / (K - 1)) ** 0.5
    assert margins(anchor_(network(), K)).min() == pytest.approx(bound, abs=1e-5)
    assert margins(anchor_(network(), K, features="signed")).min() < 0.9 * bound


def test_options_reach_the_head():
    rows = simplex(K, 16)
    head = anchor_(TorchvisionResNet(), K, normalize=False, scale=2.0, prototypes=rows).fc
    assert (head.normalize, head.scale) == (False, 2.0)
    assert torch.equal(head.prototypes, rows)
    turned = [anchor_(TorchvisionResNet(), K, generator=torch.Generator().manual_seed(seed)).fc for seed in (1, 1, 2)]
    assert torch.equal(turned[0].prototypes, turned[1].prototypes)
    assert not torch.allclose(turned[0].prototypes, turned[2].prototypes, atol=0.01)


@pytest.mark.parametrize("count", [1, 0, 2.5, True])
def test_refuses_an_impossible_number_of_classes(count):
    with pytest.raises(InputError, match="num_classes must be"):
        anchor_(TorchvisionResNet(), count)
