"""Every example under examples/ runs, if its framework is installed; what the pages about frameworks promise holds.

``.ci/run`` installs the frameworks into an environment of their own and runs this file in it.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import anchored
from anchored.integrations import hf, skorch

EXAMPLES = Path(__file__).parents[2] / "examples"

NEEDS = {
    "dense_prediction": (),
    "fabric_ddp": ("lightning_fabric",),
    "fastai_learner": ("fastai", "fastdownload", "fasthtml"),
    "hugging_face": ("transformers", "accelerate"),
    "lightning_module": ("lightning",),
    "plain_pytorch": (),
    "skorch_classifier": ("skorch",),
    "timm_train": ("timm", "torchvision"),
    "tracked_training": ("tensorboard",),
}
LEAST_RIGHT = 0.75
"""Of the true labels; an example that learnt nothing has 0.1."""

# The torchvision that the index has is built for CUDA, and expects two operators that a CPU build of torch lacks.
PRELUDE = """
import runpy, sys, torch, warnings
library = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


KEPT = []


def require(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if "torchvision" not in sys.modules and not KEPT and importlib.util.find_spec("torchvision") is not None:
        KEPT.append(library := torch.library.Library("torchvision", "DEF"))  # as in PRELUDE: transformers imports it
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def test_every_example_is_in_the_table_and_short():
    scripts = sorted(EXAMPLES.glob("*.py"))
    assert [path.stem for path in scripts] == sorted(NEEDS)
    for path in scripts:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, path.name


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDS)
def test_the_example_runs(name):
    require(*NEEDS[name])
    script = str(EXAMPLES / f"{name}.py")
    # Fabric starts its second process by the command line, so that example must be the script itself.
    command = [sys.executable, script] if name == "fabric_ddp" else [sys.executable, "-c", PRELUDE, script]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=570, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for share in re.findall(r"(?:accuracy on true labels|pixels right): ([0-9.]+)", done.stdout):
        assert float(share.rstrip(".")) >= LEAST_RIGHT, done.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("normalize", [True, False])
def test_hugging_face_loads_the_head_as_it_was_saved(tmp_path, normalize):
    require("transformers")
    from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

    config = BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    config.num_labels = 5
    model = anchored.anchor_(BertForSequenceClassification(config), scale=0.3, normalize=normalize).eval()
    ids = torch.randint(50, (4, 9), generator=torch.Generator().manual_seed(0))
    model.save_pretrained(tmp_path)
    for cls in (AutoModelForSequenceClassification, BertForSequenceClassification):
        again = hf.from_pretrained(cls, tmp_path)
        assert type(again) is BertForSequenceClassification
        assert (again.classifier.scale, again.classifier.normalize) == (0.3, normalize)
        with torch.no_grad():
            assert torch.equal(again(ids).logits, model(ids).logits)
    BertForSequenceClassification(config).save_pretrained(tmp_path / "plain")
    with pytest.raises(anchored.InputError, match="holds no anchored head"):
        hf.from_pretrained(AutoModelForSequenceClassification, tmp_path / "plain")


@pytest.mark.slow
def test_skorch_predicts_probabilities_where_it_would_give_logits():
    require("skorch")
    from skorch import NeuralNetClassifier

    torch.manual_seed(0)
    x, y = torch.randn(60, 4).numpy(), (torch.arange(60) % 3).numpy()
    model = anchored.anchor_(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)), 3, scale=5.0)
    loss = anchored.losses.get("gce")
    options = {"max_epochs": 1, "verbose": 0, "train_split": None}
    raw = NeuralNetClassifier(model, criterion=loss, **options).fit(x, y).predict_proba(x)
    ours = skorch.net(model, loss, **options).fit(x, y).predict_proba(x)
    assert abs(raw.sum(axis=1) - 1).max() > 0.1, "if skorch does it by itself, our page is out of date"
    assert abs(ours.sum(axis=1) - 1).max() < 1e-5
    assert ours.min() >= 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning:transformers")
@pytest.mark.filterwarnings("ignore::UserWarning:torch.utils.data")
def test_trainer_takes_unequal_batches_as_one(tmp_path):
    """Accumulated batches of 3 and 1 samples give the gradient of the mean over 4, as one batch of 4 does."""
    require("transformers", "accelerate")
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    data = [{"input_ids": torch.full((6,), i), "labels": torch.tensor(i % 3)} for i in range(4)]

    def weights(batch, steps):
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=9, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, classifier_dropout=0.0, num_labels=3,
        )  # fmt: skip
        model = anchored.anchor_(BertForSequenceClassification(config), scale=5.0, features="signed")
        arguments = TrainingArguments(
            str(tmp_path), per_device_train_batch_size=batch, gradient_accumulation_steps=steps, max_steps=1, seed=0,
            report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no", optim="sgd",
        )  # fmt: skip
        Trainer(model, arguments, train_dataset=data, compute_loss_func=hf.loss("gce")).train()
        return model.bert.embeddings.word_embeddings.weight.detach()

    torch.testing.assert_close(weights(3, 2), weights(4, 1), rtol=1e-4, atol=1e-8)
