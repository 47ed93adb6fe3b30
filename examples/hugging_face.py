"""Hugging Face: a small vision transformer anchored, trained by Trainer, saved and loaded with its head."""

import tempfile

import torch
from sklearn.datasets import load_digits
from transformers import (
    AutoModelForImageClassification,
    Trainer,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)

import anchored
from anchored.integrations import hf

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).reshape(-1, 1, 8, 8) / 8 - 1
given = anchored.noise.symmetric(torch.tensor(y[:1300]), 0.2, 10, generator=torch.Generator().manual_seed(0)).labels
train = [{"pixel_values": x, "labels": label} for x, label in zip(X[:1300], given, strict=True)]
test = [{"pixel_values": x, "labels": label} for x, label in zip(X[1300:], torch.tensor(y[1300:]), strict=True)]

config = ViTConfig(
    image_size=8, patch_size=2, num_channels=1, num_labels=10,
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
)  # fmt: skip
model = ViTForImageClassification(config)
anchored.anchor_(model, scale=10.0, example={"pixel_values": X[:16]})
print(model.classifier)

with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, num_train_epochs=12, per_device_train_batch_size=32, gradient_accumulation_steps=2, learning_rate=2e-3,
        report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True, logging_strategy="no",
    )  # fmt: skip
    trainer = Trainer(
        model,
        arguments,
        train_dataset=train,
        eval_dataset=test,
        compute_loss_func=hf.loss("gce"),  # counts the labels of accumulated batches as Trainer expects
        compute_metrics=hf.compute_metrics,  # accuracy, margins, estimated noise of the labels
    )
    trainer.train()
    print({name: round(value, 3) for name, value in trainer.evaluate().items() if name.startswith("eval_")})

    model.save_pretrained(folder)
    again = hf.from_pretrained(AutoModelForImageClassification, folder)
    print(again.classifier)
    with torch.no_grad():
        batch = X[1300:1400]
        assert torch.equal(again.eval()(batch).logits, model.eval()(batch).logits)
