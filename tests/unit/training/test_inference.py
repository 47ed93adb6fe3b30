"""Mirror of src/anchored/training/inference.py: in the order of the data, whoever computes which part."""

import pytest
import torch

from anchored import AnchoredHead, backbones
from anchored.data import Batches, Dataset, TensorInputs
from anchored.methods import Classifier
from anchored.training import Runtime, answer_batches, ask, evaluation_batches


def logits_of(model, batches, runtime):
    return ask(model, batches, runtime).logits


def model_and_batches(n, batch_size=4, dtype=torch.float32):
    x = torch.randn(n, 8, generator=torch.Generator().manual_seed(1))
    data = Dataset("toy", TensorInputs(x), torch.zeros(n, dtype=torch.int64), ("a", "b", "c"))
    model = Classifier(backbones.get("tiny", (8,)), AnchoredHead(32, 3)).to(dtype)
    return model, Batches(data, batch_size=batch_size, dtype=dtype), x.to(dtype)


class OneOf(Runtime):
    """Process ``rank`` of several that run one after the other: gathers what the others left behind."""

    def __init__(self, rank, world_size, left):
        super().__init__(torch.device("cpu"))
        self.rank, self.world_size, self.left = rank, world_size, left

    def gather(self, rows):
        self.left.append(rows)
        return torch.cat(self.left)


def test_logits_come_in_the_order_of_the_data():
    model, batches, x = model_and_batches(11)
    logits = logits_of(model, batches, Runtime(torch.device("cpu")))
    torch.testing.assert_close(logits, model(x).detach())


@pytest.mark.parametrize("n", [5, 8, 9, 11])
@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_the_parts_of_several_processes_make_up_the_whole(n, world_size):
    model, batches, x = model_and_batches(n)
    left = []
    for rank in range(world_size):
        logits = logits_of(model, batches, OneOf(rank, world_size, left))
    assert len({len(part) for part in left}) == 1, "gathering needs parts of one size"
    torch.testing.assert_close(logits, model(x).detach())


def test_features_come_with_the_logits_that_belong_to_them():
    model, batches, x = model_and_batches(7)
    logits, features = ask(model, batches, Runtime(torch.device("cpu")), features=True)
    torch.testing.assert_close(features, model.features(x).detach())
    torch.testing.assert_close(model.head(features), logits)
    assert ask(model, batches, Runtime(torch.device("cpu"))).features is None


def test_the_model_is_scored_in_evaluation_mode_and_left_as_it_was():
    model, batches, _ = model_and_batches(6)
    model.backbone.last = torch.nn.Dropout(0.9)
    model.train()
    runtime = Runtime(torch.device("cpu"))
    assert torch.equal(logits_of(model, batches, runtime), logits_of(model, batches, runtime))
    assert model.training


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", torch.float32), ("64", torch.float64)])
def test_logits_are_at_least_single_precision(precision, dtype):
    model, batches, x = model_and_batches(6, dtype=torch.float64 if precision == "64" else torch.float32)
    logits = logits_of(model, batches, Runtime(torch.device("cpu"), precision))
    assert logits.dtype == dtype
    torch.testing.assert_close(logits, model(x).detach(), atol=0.02, rtol=0.02)


def test_a_part_can_be_asked_about_batch_by_batch():
    model, batches, x = model_and_batches(11)
    order = torch.tensor([7, 2, 9, 0, 4])
    answers = list(answer_batches(model, batches, Runtime(torch.device("cpu")), order=order, features=True))
    assert [len(each.logits) for each in answers] == [4, 1]
    torch.testing.assert_close(torch.cat([each.logits for each in answers]), model(x[order]).detach())
    torch.testing.assert_close(torch.cat([each.features for each in answers]), model.features(x[order]).detach())


def test_inputs_in_memory_need_no_threads():
    _, batches, _ = model_and_batches(4)
    made = evaluation_batches(batches.dataset, None, Runtime(torch.device("cpu")), workers=3)
    assert (made.workers, made.augment) == (0, None)
