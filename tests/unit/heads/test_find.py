"""Mirror of src/anchored/heads/_find.py: one rule, a few known places, and a list where neither settles it."""

import types

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import LinearHead, ScaledHead
from anchored.heads._find import Layer, find_layer, layers


class Net(nn.Module):
    """Submodules by name, run in an order that only its (absent) forward would know."""

    def __init__(self, **modules):
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)


def test_lists_linear_layers_pixelwise_convolutions_and_heads():
    model = Net(
        a=nn.Linear(4, 5),
        b=nn.Conv2d(4, 6, 1),
        c=LinearHead(4, 7),
        norm=nn.BatchNorm1d(4),
        wide=nn.Conv2d(4, 5, 3),
        grouped=nn.Conv2d(4, 8, 1, groups=2),
        strided=nn.Conv2d(4, 5, 1, stride=2),
        padded=nn.Conv2d(4, 5, 1, padding=1),
    )
    assert [str(layer) for layer in layers(model)] == ["a (4 -> 5)", "b (4 -> 6)", "c (4 -> 7)"]


def test_does_not_look_inside_a_head():
    assert [layer.name for layer in layers(Net(top=ScaledHead(nn.Linear(4, 5)), top2=nn.Linear(4, 5)))] == [
        "top",
        "top2",
    ]


def test_leaves_out_the_projection_of_an_attention():
    # MultiheadAttention reads out_proj.weight and never calls out_proj: a head there would not be used.
    model = Net(attention=nn.MultiheadAttention(8, 2), out=nn.Linear(8, 8))
    assert find_layer(model, 8, None).name == "out"


def test_lists_a_shared_layer_once():
    shared = nn.Linear(4, 5)
    assert [layer.name for layer in layers(Net(a=shared, b=shared))] == ["a"]


@pytest.mark.parametrize("places", [{}, {"fc": nn.Linear(4, 9)}])
def test_the_only_layer_with_so_many_outputs_wins_wherever_it_is(places):
    model = Net(deep=Net(strange_name=nn.Linear(4, 5)), body=nn.Linear(4, 4), **places)
    assert find_layer(model, 5, None).name == "deep.strange_name"


@pytest.mark.parametrize("place", ["classifier", "fc", "head", "heads", "score"])
def test_a_known_place_settles_a_tie(place):
    model = Net(aux=nn.Linear(4, 5), **{place: nn.Sequential(nn.Flatten(), nn.Linear(4, 5))}, last=nn.Linear(4, 5))
    assert find_layer(model, 5, None).name == f"{place}.1"


def test_get_classifier_settles_before_the_names_do():
    class Timm(Net):
        def get_classifier(self):
            return self.odd

    assert find_layer(Timm(odd=nn.Linear(4, 5), fc=nn.Linear(4, 5)), 5, None).name == "odd"


def test_two_classifiers_are_not_settled():
    class Distilled(Net):
        def get_classifier(self):
            return self.head, self.head_dist

    with pytest.raises(InputError, match=r"it has 2; choose one of head \(4 -> 5\), head_dist \(4 -> 5\)"):
        find_layer(Distilled(head=nn.Linear(4, 5), head_dist=nn.Linear(4, 5)), 5, None)


def test_two_known_places_are_not_settled():
    with pytest.raises(InputError, match="it has 2"):
        find_layer(Net(fc=nn.Linear(4, 5), head=nn.Linear(4, 5)), 5, None)


def test_a_count_that_no_layer_has_is_refused_with_the_way_out():
    with pytest.raises(InputError) as refusal:
        find_layer(Net(body=nn.Linear(4, 4), fc=nn.Linear(4, 1000)), 10, None)
    assert str(refusal.value) == (
        "Net must have exactly one Linear or 1x1 Conv2d layer with 10 outputs, it has none; "
        "choose one of body (4 -> 4), fc (4 -> 1000), for example by layer='fc'"
    )


def test_a_model_without_such_layers_is_refused():
    with pytest.raises(InputError, match="Net has no Linear or 1x1 Conv2d layer to replace; make an AnchoredHead"):
        find_layer(Net(conv=nn.Conv2d(3, 4, 3)), 4, None)


def test_a_long_list_keeps_its_end():
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(20)))
    with pytest.raises(InputError, match=r"choose one of 12 \(4 -> 4\).* 19 \(4 -> 4\) and 12 earlier ones"):
        find_layer(model, 4, None)


class TestWithoutACount:
    def test_the_only_layer_is_it(self):
        assert find_layer(Net(conv=nn.Conv2d(3, 4, 3), odd=nn.Linear(4, 5)), None, None).name == "odd"

    def test_the_last_layer_of_a_chain_is_it(self):
        body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        tail = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 7), nn.Identity())
        assert find_layer(nn.Sequential(body, tail, nn.Dropout()), None, None).name == "1.2"

    def test_the_last_layer_of_a_known_chain_is_it(self):
        model = Net(body=nn.Linear(4, 4), classifier=nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 7)))
        assert find_layer(model, None, None).name == "classifier.2"

    @pytest.mark.parametrize("attribute", ["num_classes", "num_labels"])
    def test_the_number_that_the_model_states_is_used(self, attribute):
        model = Net(classifier=Net(dense=nn.Linear(4, 4), out_proj=nn.Linear(4, 5)))
        setattr(model, attribute, 5)
        assert find_layer(model, None, None).name == "classifier.out_proj"

    def test_so_is_the_number_in_its_config(self):
        model = Net(a=nn.Linear(4, 4), b=nn.Linear(4, 5))
        model.config = types.SimpleNamespace(num_labels=5)
        assert find_layer(model, None, None).name == "b"

    def test_a_number_that_no_layer_has_is_not(self):
        model = Net(a=nn.Linear(4, 4), fc=nn.Linear(4, 5))
        model.num_classes = 1000  # stale: somebody exchanged fc
        assert find_layer(model, None, None).name == "fc"

    def test_a_chain_with_a_forward_of_its_own_is_not_read(self):
        class Reversed(nn.Sequential):
            def forward(self, x):
                return self[0](self[1](x))

        with pytest.raises(InputError, match="exactly one Linear or 1x1 Conv2d layer, it has 2"):
            find_layer(Reversed(nn.Linear(4, 5), nn.Linear(4, 4)), None, None)

    def test_several_layers_in_an_unknown_order_are_refused(self):
        with pytest.raises(InputError, match=r"a \(4 -> 6\), b \(4 -> 5\), for example by layer='b'"):
            find_layer(Net(a=nn.Linear(4, 6), b=nn.Linear(4, 5)), None, None)


class TestByName:
    model = Net(
        body=nn.Linear(4, 5),
        norm=nn.LayerNorm(4),
        top=nn.Sequential(nn.Flatten(), nn.Linear(4, 6), nn.Linear(6, 7)),
        pair=Net(a=nn.Linear(4, 5), b=nn.Linear(4, 6)),
    )

    @pytest.mark.parametrize(
        ("name", "count", "found"),
        [
            ("body", 5, "body"),
            ("body", 99, "body"),
            ("top.1", None, "top.1"),
            ("top", None, "top.2"),
            ("top", 6, "top.1"),
            ("pair", 6, "pair.b"),
        ],
    )
    def test_takes_the_layer_or_the_one_inside_the_block(self, name, count, found):
        layer = find_layer(self.model, count, name)
        assert isinstance(layer, Layer)
        assert layer.name == found
        assert self.model.get_submodule(found) is layer.module

    def test_a_misspelt_name_gets_the_nearest(self):
        with pytest.raises(InputError, match=r"Net has no layer 'bodi'; did you mean 'body'\?"):
            find_layer(self.model, 5, "bodi")

    def test_a_layer_that_is_no_classifier_is_refused(self):
        with pytest.raises(InputError, match=r"layer 'norm' is a LayerNorm, and only .* it holds none"):
            find_layer(self.model, 5, "norm")

    def test_a_block_with_several_is_refused(self):
        with pytest.raises(InputError, match=r"it holds pair.a \(4 -> 5\), pair.b \(4 -> 6\)"):
            find_layer(self.model, None, "pair")


def test_what_is_no_module_is_refused():
    with pytest.raises(InputError, match=r"model must be a torch\.nn\.Module, got str"):
        find_layer("net", 5, None)


def test_finding_changes_nothing():
    model = Net(fc=nn.Linear(4, 5))
    before = torch.random.get_rng_state()
    module = model.fc
    find_layer(model, 5, None)
    assert model.fc is module
    assert torch.equal(torch.random.get_rng_state(), before)
