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


@pytest.mark.filterwarnings("ignore:TorchvisionGoogLeNet has other layers")
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


@pytest.mark.filterwarnings("ignore:.*are never negative in the first batches")
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
    with pytest.warns(UserWarning, match=r"layer '2': the features are never negative .* features='nonnegative'"):
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


def test_a_tower_with_an_auxiliary_classifier_says_that_it_stays(images):
    with pytest.warns(
        UserWarning, match=r"stay as they are: aux1\.fc2 \(20 -> 10\); anchor all of them by layer='all'"
    ):
        anchor_(TorchvisionGoogLeNet(), K)
    model = anchor_(TorchvisionGoogLeNet(), K, layer="all")
    assert isinstance(model.aux1.fc2, AnchoredHead)
    assert isinstance(model.fc, AnchoredHead)
    assert isinstance(model.squeeze, nn.Conv2d), "k outputs by coincidence"


def test_the_way_out_of_that_warning_anchors_all_of_them_without_a_count_too():
    """A model of one's own says nowhere how many classes it has; its classifier's number of outputs does."""

    def model():
        parts = {"body": nn.Linear(8, 16), "head": nn.Linear(16, 3), "aux": nn.Linear(16, 3), "fc_in": nn.Linear(8, 8)}
        return nn.ModuleDict(parts)

    with pytest.warns(UserWarning, match=r"stay as they are: aux \(16 -> 3\); anchor all of them by layer='all'"):
        anchor_(model())
    anchored = anchor_(model(), layer="all")
    assert [name for name, part in anchored.items() if isinstance(part, AnchoredHead)] == ["head", "aux"]


class TimmDistilled(Images):
    """As LeViT and DeiT in timm: two heads whose logits are averaged."""

    def __init__(self):
        super().__init__()
        self.num_classes = K
        self.head, self.head_dist = nn.Linear(16, K), nn.Linear(16, K)

    def get_classifier(self):
        return self.head, self.head_dist

    def forward(self, x):
        return (self.head(self.pooled(x)) + self.head_dist(self.pooled(x))) / 2


@pytest.mark.parametrize("layer", [["head", "head_dist"], ("head", "head_dist", "head"), "all"])
def test_several_heads_are_anchored_by_one_call(layer, images):
    model = anchor_(TimmDistilled(), K, layer=layer, scale=4.0)
    assert isinstance(model.head, AnchoredHead)
    assert isinstance(model.head_dist, AnchoredHead)
    assert model.head is not model.head_dist
    assert model(images).abs().max() <= 4.0 + 1e-5


def test_the_refusal_of_several_heads_shows_the_call_that_anchors_them():
    with pytest.raises(InputError) as refusal:
        anchor_(TimmDistilled(), K)
    call = str(refusal.value).split("layer=")[1]
    assert call == "['head', 'head_dist']"
    anchor_(TimmDistilled(), K, layer=["head", "head_dist"])


@pytest.mark.parametrize("layer", [[], [3], {"head": 1}.values()])
def test_refuses_a_list_that_names_no_layers(layer):
    with pytest.raises(InputError, match="layer must be a name, a list of names, or 'all'"):
        anchor_(TimmDistilled(), K, layer=layer)


def test_a_layer_that_is_called_all_is_that_layer():
    model = anchor_(nn.ModuleDict({"all": nn.Linear(4, K), "head": nn.Linear(4, K)}), K, layer="all")
    assert isinstance(model["all"], AnchoredHead)
    assert isinstance(model["head"], nn.Linear)


class HuggingFaceXVector(nn.Module):
    """As Wav2Vec2ForXVector: the classifier gives embeddings, the loss has the weights of the classes."""

    def __init__(self, speakers):
        super().__init__()
        self.config = types.SimpleNamespace(num_labels=speakers)
        self.classifier = nn.Linear(24, 24)
        self.objective = nn.Module()
        self.objective.weight = nn.Parameter(torch.zeros(24, speakers))


@pytest.mark.parametrize("options", [{}, {"num_classes": 5}, {"num_classes": 24}])
@pytest.mark.parametrize("speakers", [5, 24])
def test_a_speaker_model_is_refused_because_its_loss_has_the_classes(options, speakers):
    with pytest.raises(InputError, match=r"keeps the weights of its classes in its loss, objective \(Module\)"):
        anchor_(HuggingFaceXVector(speakers), **options)


# The sign of the features


@pytest.mark.parametrize("form", [lambda x: x, lambda x: (x,), lambda x: {"x": x}], ids=["tensor", "tuple", "mapping"])
def test_an_example_settles_the_sign_and_leaves_no_trace(form, images):
    model = TorchvisionResNet()
    model.norm = nn.BatchNorm2d(3)
    model.stem = nn.Sequential(model.norm, model.stem).train()
    mean = model.norm.running_mean.clone()
    head = anchor_(model, K, example=form(images)).fc
    assert head.features == "nonnegative"
    assert "for nonnegative features (seen in the example)" in repr(head)
    assert model.training
    assert torch.equal(model.norm.running_mean, mean)
    assert not model.stem[1]._forward_pre_hooks


def test_an_example_of_signed_features_shows_them(images):
    model = TimmMobileNet()
    assert anchor_(model, K, example=images).classifier.features == "signed"
    assert "(seen in the example)" in repr(model.classifier)


def test_the_example_may_give_a_lazy_layer_its_size():
    model = nn.Sequential(nn.Flatten(), nn.LazyLinear(K))
    assert anchor_(model, K, example=torch.ones(9, 3, 4))[1].in_features == 12


def test_without_an_example_the_first_batch_settles_it_before_the_first_logits(images):
    model = anchor_(TorchvisionResNet(), K)
    assert "for signed features (assumed)" in repr(model.fc)
    first = model(images)
    assert "for nonnegative features (seen in the first batches)" in repr(model.fc)
    expected = AnchoredHead(16, K, features="nonnegative")
    assert torch.equal(model.fc.prototypes, expected.prototypes)
    assert torch.equal(model(images), first)
    assert anchor_(TorchvisionResNet(), K, features="nonnegative").fc.watch is not None


def test_signed_features_keep_their_prototypes(images):
    model = anchor_(TimmMobileNet(), K)
    before = model.classifier.prototypes.clone()
    model(images)
    assert torch.equal(model.classifier.prototypes, before)
    assert "for signed features (seen in the first batches)" in repr(model.classifier)
    assert model.classifier.watch is None


def test_the_generator_decides_the_prototypes_that_are_made_later_too(images):
    def rows(seed):
        model = anchor_(TorchvisionResNet(), K, generator=torch.Generator().manual_seed(seed))
        model(images)
        return model.fc.prototypes

    assert torch.equal(rows(1), rows(1))
    assert not torch.equal(rows(1), rows(2))


def test_a_wrong_declaration_warns_in_both_directions(images):
    with pytest.warns(UserWarning, match=r"'classifier': the features have negative entries, .* features='signed'"):
        anchor_(TimmMobileNet(), K, features="nonnegative")(images)
    model = anchor_(TorchvisionResNet(), K, features="signed")
    with pytest.warns(UserWarning, match=r"'fc': the features are never negative .* features='nonnegative'"):
        model(images)
    model(images)  # once is enough


def test_weights_of_a_file_are_never_changed_by_what_is_seen(images):
    trained = anchor_(TorchvisionResNet(), K, features="signed", generator=torch.Generator().manual_seed(7))
    model = anchor_(TorchvisionResNet(), K)
    model.load_state_dict(trained.state_dict())
    model(images)
    assert torch.equal(model.fc.prototypes, trained.fc.prototypes)
    by_hand = anchor_(TorchvisionResNet(), K)  # as loaders do that write into tensors
    by_hand.fc.prototypes.copy_(trained.fc.prototypes)
    with pytest.warns(UserWarning, match="are never negative in the first batches"):
        by_hand(images)
    assert torch.equal(by_hand.fc.prototypes, trained.fc.prototypes)


def test_own_prototypes_are_not_watched(images):
    head = anchor_(TorchvisionResNet(), K, prototypes=simplex(K, 16)).fc
    assert head.watch is None
    assert "for given prototypes" in repr(head)
