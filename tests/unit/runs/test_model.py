"""Mirror of src/anchored/training/trained.py: two files hold a model, and anything else is refused in one line."""

import json

import pytest
import torch

from anchored import AnchoredHead, CosineHead, LinearHead, backbones
from anchored._errors import InputError
from anchored.data import Normalization
from anchored.methods import Classifier
from anchored.runs import OWN_BACKBONE, TrainedModel

SHAPE = (1, 8, 8)
HEADS = {
    "anchored": lambda: AnchoredHead(32, 3, scale=7.0, features="nonnegative"),
    "plain anchors": lambda: AnchoredHead(32, 3, normalize=False),
    "cosine": lambda: CosineHead(32, 3, scale=4.0),
    "linear": lambda: LinearHead(32, 3),
}
METHODS = {
    "anchored": ("ce+fnpal", 7.0),
    "plain anchors": ("ce+pal", 1.0),
    "cosine": ("ce+fnpn", 4.0),
    "linear": ("ce", 1.0),
}


def made(head):
    method, scale = METHODS[head]
    return {
        "method": method,
        "noise_rate": 0.2,
        "scale": scale,
        "options": {},
        "backbone": {"name": "tiny", "last_relu": True, "options": {}},
        "training_counts": [5, 3, 2],
    }


def model(head="anchored", *, dtype=torch.float32):
    classifier = Classifier(backbones.get("tiny", SHAPE), HEADS[head]()).to(dtype)
    names = ("a", "b", "<b>é</b>")
    return TrainedModel(classifier, Normalization((0.3,), (0.5,), 255.0), names, 0.5, made(head))


@pytest.fixture
def images():
    return torch.randint(256, (6, *SHAPE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_comes_back_as_it_was(head, dtype, images, tmp_path):
    before = model(head, dtype=dtype)
    before.save(tmp_path)
    after = TrainedModel.load(tmp_path)
    assert torch.equal(after(images), before(images))
    assert after.class_names == ("a", "b", "<b>é</b>")
    assert (after.temperature, after.input_shape, after.description) == (0.5, SHAPE, made(head))
    assert not after.training


def test_logits_are_divided_by_the_temperature_and_inputs_normalised(images):
    trained = model()
    by_hand = trained.classifier((images / 255 - 0.3) / 0.5) / 0.5
    torch.testing.assert_close(trained(images), by_hand)
    torch.testing.assert_close(trained.predict_proba(images), by_hand.softmax(dim=1).detach())


def test_a_module_of_the_users_own_has_to_be_given_again(images, tmp_path):
    def own():
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 32))

    classifier = Classifier(backbones.wrap(own(), SHAPE), AnchoredHead(32, 3))
    scaling = Normalization((0.0,), (1.0,), 255.0)
    before = TrainedModel(
        classifier, scaling, ("a", "b", "c"), 1.0, made("anchored") | {"scale": 1.0, "backbone": {"name": OWN_BACKBONE}}
    )
    before.save(tmp_path)
    with pytest.raises(InputError, match="a module of your own; pass it as backbone="):
        TrainedModel.load(tmp_path)
    assert torch.equal(TrainedModel.load(tmp_path, backbone=own())(images), before(images))
    with pytest.raises(InputError, match="those of another network"):
        TrainedModel.load(tmp_path, backbone=torch.nn.Sequential(*own(), torch.nn.Linear(32, 32)))


def test_a_missing_file_names_the_way_out(tmp_path):
    with pytest.raises(InputError, match=r"holds no trained model \(model.json is missing\).*anchored resume"):
        TrainedModel.load(tmp_path)
    model().save(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(InputError, match="holds no trained model"):
        TrainedModel.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("model.json", b"{", "is damaged: not JSON"),
        ("model.json", b"\xff\xfe", "is not a text in UTF-8"),
        ("model.safetensors", b"cut", "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(name, content, says, tmp_path):
    model().save(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name} {says}.*; train it again") as caught:
        TrainedModel.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_another_format_is_refused(tmp_path):
    model().save(tmp_path)
    about = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(about | {"format": 9}))
    with pytest.raises(InputError, match="reads model formats 2 and 3, got 9"):
        TrainedModel.load(tmp_path)


def test_a_prior_is_bayes_rule_on_calibrated_probabilities(images):
    plain = model("linear")
    shares = torch.tensor([0.7, 0.2, 0.1])
    expected = plain.predict_proba(images) * shares
    expected = expected / expected.sum(dim=1, keepdim=True)
    for prior in (shares, [0.7, 0.2, 0.1], [70, 20, 10]):
        torch.testing.assert_close(plain.for_prior(prior).predict_proba(images), expected)


def test_equal_shares_add_nothing_and_the_last_prior_holds(images):
    plain = model("cosine")
    torch.testing.assert_close(plain.for_prior([0.1, 0.1, 0.1])(images), plain(images), atol=1e-6, rtol=1e-6)
    once, twice = plain.for_prior([1, 2, 3]), plain.for_prior([9, 1, 1]).for_prior([1, 2, 3])
    assert torch.equal(once(images), twice(images))
    assert plain.prior is None, "the model itself stays as it was"


def test_a_prior_is_saved_with_the_model(images, tmp_path):
    before = model("anchored").for_prior([5, 3, 2])
    before.save(tmp_path)
    after = TrainedModel.load(tmp_path)
    assert torch.equal(after(images), before(images))
    assert after.prior == pytest.approx([0.5, 0.3, 0.2])
    assert after.description == made("anchored")


@pytest.mark.parametrize(
    ("prior", "why"),
    [
        ([1, 2], r"one number for each of the 3 classes, got shape \(2,\)"),
        ([1, 0, 2], "positive, got 0 for class 'b'"),
        ([1, float("nan"), 2], "positive, got nan for class 'b'"),
        (["x", 1, 2], "must be a list of numbers"),
    ],
)
def test_a_prior_that_is_none_is_refused(prior, why):
    with pytest.raises(InputError, match=why):
        model().for_prior(prior)
