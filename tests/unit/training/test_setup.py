"""Mirror of src/anchored/training/setup.py: what is built from a configuration, and stages at their own pace."""

import math

import pytest
import torch
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Split
from anchored.runs import RunData, decide
from anchored.training import (
    BackboneConfig,
    Checkpoint,
    MethodConfig,
    OptimizerConfig,
    Runtime,
    TrainingSetup,
    build_procedure,
    check_possible,
    make_optimizer,
    validate,
)

K = 3


def clouds(counts, seed=0):
    return blobs(counts=counts, distance=2.0, seed=seed)


def config_for(name="ce", **settings):
    asked = {
        "method": {"name": name},
        "backbone": {"name": "tiny"},
        "data": {"hold_out": 0.2},
        "optimizer": {"name": "sgd", "lr": 0.1},
        "look": None,
        **settings,
    }
    data = RunData.open(Split(clouds([60, 30, 10])), validate(asked))
    return decide(validate(asked), data, None).config, data


def work(name="ce", *, module=None, test=True, precision="32", **settings):
    config, data = config_for(name, **settings)
    data = RunData(data.labelled, data.labelled, clouds([9] * K, 1) if test else None)
    return TrainingSetup(config, data.parts(config), Runtime(torch.device("cpu"), precision), module)


def test_what_is_held_out_is_not_trained_on():
    made = work()
    assert len(made.train_set) + len(made.held_out) == 100
    assert made.counts.tolist() == [48, 24, 8]
    mine, theirs = (made_set.inputs.take(torch.arange(len(made_set))) for made_set in (made.train_set, made.held_out))
    assert not (mine[:, None] == theirs[None]).all(dim=2).any()


def test_without_a_part_held_out_or_tested_nothing_is_scored():
    made = work(test=False, data={"hold_out": 0.0})
    assert made.held_out is None
    assert made.score() == {}


def test_scores_are_those_of_the_network_on_data_that_is_not_trained_on():
    made = work()
    record = made.score()
    with torch.no_grad():
        for part, data in (("held_out", made.held_out), ("test", made.test)):
            x = made.normalization(data.inputs.take(torch.arange(len(data))))
            logits = made.network.eval()(x)
            assert record[f"{part}_accuracy"] == float((logits.argmax(dim=1) == data.labels).double().mean())
            if part == "held_out":
                expected = torch.nn.functional.cross_entropy(logits, data.labels)
                assert record["held_out_loss"] == pytest.approx(float(expected), rel=1e-5)


def test_a_batch_is_no_larger_than_the_data():
    assert work(train={"batch_size": 4000}).batch_size == 80


def test_deferred_weights_set_in_where_the_configuration_says():
    plan = work("ce+drw", train={"epochs": 10, "drw_start": 0.8}).plan
    assert [plan.class_weights(epoch) is None for epoch in range(10)] == [True] * 8 + [False] * 2
    assert work("ce+rw", train={"epochs": 10}).plan.class_weights(0) is not None
    assert work("ce", train={"epochs": 10}).plan.class_weights(9) is None


def test_the_first_stage_follows_the_schedule():
    plan = work("ce", train={"epochs": 4}).plan
    expected = [0.1 * 0.5 * (1 + math.cos(math.pi * epoch / 4)) for epoch in range(4)]
    assert [plan.learning_rate(epoch) for epoch in range(4)] == pytest.approx(expected)


def test_the_second_stage_has_a_pace_of_its_own():
    made = work("crt", train={"epochs": 6}, second={"epochs": 2, "lr": 0.4})
    assert (made.plan.epochs, made.plan.sampling) == (6, "instance")
    made.enter()
    assert (made.plan.epochs, made.plan.sampling) == (2, "balanced")
    assert [made.plan.learning_rate(epoch) for epoch in range(2)] == pytest.approx([0.4, 0.2])
    assert (made.state.stage, made.last) == (1, True)


def test_groups_of_the_second_stage_reach_the_optimiser_with_their_factors():
    made = work("mislas", method={"name": "mislas", "options": {"lr_factor": 0.05}})
    made.enter()
    assert [group["factor"] for group in made.state.optimizer.param_groups] == [1.0, 0.05]


def test_a_stage_looks_at_features_as_they_were_before_it():
    made = work("ncm")
    with torch.no_grad():
        x = made.normalization(made.train_set.inputs.take(torch.arange(80)))
        features = made.network.eval().features(x)
    made.enter()
    unit = torch.nn.functional.normalize(features - features.mean(dim=0), dim=1)
    expected = torch.stack([unit[made.train_set.labels == j].mean(dim=0) for j in range(K)])
    torch.testing.assert_close(made.network.head.means, expected, atol=1e-5, rtol=1e-4)
    assert made.plan.epochs == 0


def test_without_filling_only_the_structure_is_made():
    made = work("ncm")
    made.enter(fill=False)
    assert made.network.head.means.eq(0).all()


def test_the_average_is_what_goes_on_to_the_next_stage():
    made = work("crt", train={"ema": 0.5})
    average = made.state.average.module
    made.enter()
    assert made.state.model is average
    assert made.state.average.module is not average


def test_one_precision_holds_for_every_stage():
    made = work("ncm", precision="64")
    made.enter()
    assert {value.dtype for value in made.network.state_dict().values() if value.is_floating_point()} == {torch.float64}


def test_a_module_of_the_users_own_takes_the_place_of_the_backbone():
    module = torch.nn.Sequential(torch.nn.Linear(6, 11), torch.nn.ReLU())
    made = work(module=module)
    assert made.own_module
    assert made.network.head.in_features == 11


def test_pieces_are_made_from_what_the_configuration_says():
    method = MethodConfig(name="ce+fnpal", noise_rate=0.3, scale=4.0)
    counts = torch.tensor([3, 2, 1])
    made = build_procedure(method, BackboneConfig(name="tiny"), counts, (6,), seed=5)
    assert made.method.name == "ce+fnpal"
    network = made.network()
    assert (network.head.scale, network.head.prototypes.shape[0], network.input_shape) == (4.0, 3, (6,))
    again = build_procedure(method, BackboneConfig(name="tiny"), counts, (6,), seed=5).network()
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))
    blank = build_procedure(method, BackboneConfig(name="tiny"), counts, (6,), blank=True).network()
    assert blank.state_dict().keys() == network.state_dict().keys()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"backbone": {"name": "tinny"}}, "unknown backbone 'tinny'"),
        ({"schedule": {"name": "cosinus"}}, "unknown schedule 'cosinus'"),
        ({"data": {"augment": ["flop"], "hold_out": 0.2}}, "flop"),
        ({"method": {"name": "gce", "loss": {"qq": 1.0}}}, "qq"),
        ({"method": {"name": "crt"}, "second": {"schedule": "cosinus"}}, "unknown schedule 'cosinus'"),
    ],
)
def test_what_training_would_stumble_over_later_is_refused_at_once(settings, message):
    config, data = config_for(**settings)
    with pytest.raises(InputError, match=message):
        check_possible(config, data.labelled.counts, data.labelled.inputs.shape)


def test_a_restored_setup_goes_on_in_the_stage_of_the_checkpoint(tmp_path):
    path = tmp_path / "second epoch"
    made = work("crt", train={"epochs": 1}, second={"epochs": 2})
    made.run(save=lambda state: state.checkpoint().save(path) if state.epoch == 2 else None)
    fresh = work("crt", train={"epochs": 1}, second={"epochs": 2})
    fresh.restore(Checkpoint.load(path))
    assert (fresh.state.stage, fresh.state.epoch) == (1, 2)
    fresh.run()
    for name, value in made.network.state_dict().items():
        assert torch.equal(value, fresh.network.state_dict()[name])


def test_inputs_are_left_as_they_are_where_that_is_asked_for():
    inputs = work(data={"normalize": "none"})
    rows = inputs.train_set.inputs.take(torch.arange(4))
    assert torch.equal(inputs.normalization(rows, dtype=rows.dtype), rows)


def test_settings_reach_the_optimiser():
    model = torch.nn.Linear(2, 2)
    config = OptimizerConfig(lr=0.3, momentum=0.8, nesterov=True, weight_decay=0.01)
    group = make_optimizer(config, model.parameters()).param_groups[0]
    assert (group["lr"], group["momentum"], group["nesterov"], group["weight_decay"]) == (0.3, 0.8, True, 0.01)
    adam = make_optimizer(OptimizerConfig(name="adamw", lr=0.2, weight_decay=0.1), model.parameters())
    assert (type(adam).__name__, adam.param_groups[0]["weight_decay"]) == ("AdamW", 0.1)
    assert adam.param_groups[0]["fused"], "one kernel for all parameters on a CPU"
    abroad = make_optimizer(OptimizerConfig(name="adamw"), torch.nn.Linear(2, 2, device="meta").parameters())
    assert not abroad.param_groups[0]["fused"]


def test_frozen_parameters_are_left_out():
    model = torch.nn.Linear(2, 2)
    model.bias.requires_grad_(False)
    assert make_optimizer(OptimizerConfig(), model.parameters()).param_groups[0]["params"] == [model.weight]
    model.weight.requires_grad_(False)
    with pytest.raises(InputError, match="no parameter that is trained"):
        make_optimizer(OptimizerConfig(), model.parameters())


@pytest.mark.parametrize(
    ("evaluate", "scored"),
    [(True, [1, 2, 3, 4, 5, 6, 7]), (False, []), (3, [3, 6, 7]), (7, [7]), (100, [7])],
)
def test_the_test_set_is_scored_as_often_as_asked_and_after_the_last_epoch(evaluate, scored):
    made = work(train={"epochs": 7, "evaluate": evaluate})
    found = []
    for epoch in range(7):
        made.state.epoch = epoch
        if "test_accuracy" in made.score():
            found.append(epoch + 1)
    assert found == scored


def test_epochs_between_two_scores_are_counted_in_each_stage():
    made = work("crt", train={"epochs": 4, "evaluate": 3}, second={"epochs": 2})
    made.state.epoch = 4
    made.enter()
    due = []
    for epoch in (4, 5):
        made.state.epoch = epoch
        due.append("test_accuracy" in made.score())
    assert due == [False, True]
