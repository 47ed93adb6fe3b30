"""Mirror of src/anchored/data/corruption.py: imbalance before noise, clean labels beside, a receipt that is true."""

import json

import pytest
import torch

from anchored import noise
from anchored._errors import InputError
from anchored._random import stream
from anchored.data import CorruptionPlan, Dataset, TensorInputs, corrupt


def balanced(n_per_class=500, k=10, name="cifar10"):
    labels = torch.arange(k).repeat(n_per_class)
    return Dataset(name, TensorInputs(torch.arange(len(labels))[:, None].float()), labels, tuple(map(str, range(k))))


def test_imbalance_comes_first_whatever_the_order_of_words():
    one = corrupt(balanced(), ["symmetric=0.4", "longtail=100"], seed=0)
    two = corrupt(balanced(), "longtail=100,symmetric=0.4", seed=0)
    assert torch.equal(one.dataset.labels, two.dataset.labels)
    assert one.receipt == two.receipt
    assert one.dataset.clean_labels.bincount().tolist() == one.receipt["imbalance"]["counts"]


def test_cifar10_has_the_published_counts():
    counts = corrupt(balanced(5000), "longtail=100", seed=0).receipt["imbalance"]["counts"]
    assert counts == [5000, 2997, 1796, 1077, 645, 387, 232, 139, 83, 50]
    assert sum(corrupt(balanced(5000), "step=10", seed=0).receipt["imbalance"]["counts"]) == 27500


def test_unbalanced_data_gives_what_it_has():
    # 30 of the first class only: the profile shrinks until every class can give its part.
    data = balanced(100, 3)
    data = data.subset(torch.cat([torch.arange(0, 90, 3), (data.labels > 0).nonzero()[:, 0]]))
    assert data.counts.tolist() == [30, 100, 100]
    assert corrupt(data, "longtail=10", seed=0).receipt["imbalance"]["counts"] == [30, 9, 3]


def test_the_largest_class_can_be_given():
    data = balanced(5000)
    counts = corrupt(data, "longtail=100:1000", seed=0).receipt["imbalance"]["counts"]
    assert counts == [1000, 599, 359, 215, 129, 77, 46, 27, 16, 10]
    with pytest.raises(InputError, match="asks for 6000 samples of class 0, which has 5000"):
        corrupt(data, "longtail=100:6000", seed=0)
    with pytest.raises(InputError, match="step=100:99 leaves a class without a sample"):
        corrupt(data, "step=100:99", seed=0)


@pytest.mark.parametrize("mode", ["exact", "iid", "apl"])
def test_symmetric_noise_is_drawn_as_the_mode_says(mode):
    data = balanced(name="mnist").subset(torch.arange(3000, 5000))
    result = corrupt(data, f"symmetric=0.4:{mode}", seed=3)
    direct = noise.symmetric(data.labels, 0.4, 10, generator=stream(3, "noise"), mode=mode)
    assert torch.equal(result.dataset.labels, direct.labels)
    assert result.receipt["noise"]["mode"] == mode


def test_asymmetric_noise_is_drawn_as_mode_and_mapping_say():
    data = balanced(50, 100, "cifar100")
    result = corrupt(data, "asymmetric=0.4:iid:cifar100_index_blocks", seed=3)
    direct = noise.index_blocks(data.labels, 0.4, generator=stream(3, "noise"))
    assert torch.equal(result.dataset.labels, direct.labels)
    assert result.receipt["noise"]["mapping"] == "cifar100_index_blocks"
    in_place = corrupt(balanced(), "asymmetric=0.4:apl_sequential", seed=3)
    assert torch.equal(
        in_place.dataset.labels, noise.apl_sequential(balanced().labels, 0.4, generator=stream(3, "noise")).labels
    )
    with pytest.raises(InputError, match="the confusion 'cifar100' is of 100 classes, the data has 10; leave it out"):
        corrupt(balanced(), "asymmetric=0.4:cifar100", seed=0)


def test_clean_labels_inputs_and_places_belong_together():
    data = balanced()
    result = corrupt(data, ["longtail=10", "symmetric=0.6"], seed=4)
    rows = result.dataset.inputs.tensor[:, 0].long()
    assert torch.equal(rows, result.kept)
    assert torch.equal(result.dataset.clean_labels, data.labels[rows])
    flipped = result.dataset.labels != result.dataset.clean_labels
    assert result.receipt["noise"]["flipped"] == int(flipped.sum())
    assert result.receipt["noise"]["rate"] == pytest.approx(flipped.double().mean().item())
    assert abs(result.receipt["noise"]["rate"] - 0.6) < 0.02


@pytest.mark.parametrize(("name", "mapping"), [("cifar10", "cifar10"), ("mnist", "mnist"), ("own", "next class")])
def test_asymmetric_noise_uses_the_published_mapping_where_there_is_one(name, mapping):
    result = corrupt(balanced(name=name), "asymmetric=0.4", seed=0)
    assert result.receipt["noise"]["mapping"] == mapping
    targets = noise.MAPPINGS[name].targets if name in noise.MAPPINGS else {i: (i + 1) % 10 for i in range(10)}
    wrong = result.dataset.labels != result.dataset.clean_labels
    pairs = zip(result.dataset.clean_labels[wrong].tolist(), result.dataset.labels[wrong].tolist(), strict=True)
    assert set(pairs) == set(targets.items())


def test_a_published_name_with_other_classes_gets_no_published_mapping():
    assert corrupt(balanced(50, 4, "mnist"), "asymmetric=0.4", seed=0).receipt["noise"]["mapping"] == "next class"


def test_imbalance_alone_keeps_no_clean_labels_and_nothing_changes_the_original():
    data = balanced(50)
    before = data.labels.clone()
    assert corrupt(data, "step=5", seed=0).dataset.clean_labels is None
    corrupt(data, "symmetric=0.5", seed=0)
    assert torch.equal(data.labels, before)


def test_seeds_decide_and_receipts_are_json():
    labels = [corrupt(balanced(50), "symmetric=0.5", seed=s).dataset.labels for s in (0, 0, 1)]
    assert torch.equal(labels[0], labels[1])
    assert not torch.equal(labels[0], labels[2])
    receipt = corrupt(balanced(50), ["symmetric=0.5", "step=2"], seed=0).receipt
    assert json.loads(json.dumps(receipt)) == receipt


def test_nothing_asked_is_nothing_done():
    data = balanced(5)
    result = corrupt(data, [], seed=0)
    assert result.dataset is data
    assert result.receipt == {}
    assert result.kept is None


@pytest.mark.parametrize(
    ("specs", "words"),
    [
        (["symetric=0.4"], "unknown corruption 'symetric' in 'symetric=0.4'; did you mean 'symmetric'"),
        (["symmetric"], "'symmetric' needs a number, e.g. symmetric=0.4"),
        (["longtail=many"], "needs a number, e.g. longtail=100"),
        (["longtail=nan"], "needs a number"),
        (["symmetric=0.4", "symmetric=0.2"], "symmetric is given twice"),
        (["symmetric=0.4", "asymmetric=0.2"], "symmetric and asymmetric exclude each other; give one noise only"),
        (["longtail=10", "step=10"], "longtail and step exclude each other; give one imbalance only"),
        (["symmetric=1.4"], r"the noise rate must lie in \[0, 1\)"),
        (["longtail=0.01"], "rho must lie in"),
        (
            ["longtail=100:many"],
            "after the colon comes the size of the largest class, got 'many'; e.g. longtail=100:1000",
        ),
        (["longtail=100:50:60"], "gives n_max twice"),
        (["longtail=100:0"], "n_max must be at least 1"),
        (["symmetric=0.4:apll"], "unknown option 'apll'; did you mean 'apl'"),
        (["symmetric=0.4:mnist"], "unknown option 'mnist'"),
        (["asymmetric=0.4:iid:exact"], "gives mode twice"),
    ],
)
def test_refuses_words_that_make_no_plan(specs, words):
    with pytest.raises(InputError, match=words):
        CorruptionPlan.parse(specs)


def test_refuses_what_the_data_cannot_bear():
    with pytest.raises(InputError, match="longtail=100 leaves a class without a sample, as classes hold 20 to 20"):
        corrupt(balanced(20), "longtail=100", seed=0)
    with pytest.raises(InputError, match="corrupted already"):
        corrupt(corrupt(balanced(20), "symmetric=0.2", seed=0).dataset, "symmetric=0.2", seed=0)
    with pytest.raises(InputError, match="some samples have none"):
        corrupt(balanced(1, 2).with_labels(torch.tensor([0, -1])), "symmetric=0.2", seed=0)
