"""Lightning: an anchored module, and a callback that logs margins, angles and label noise after each validation."""

import lightning as L
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import anchored
from anchored.integrations.lightning import callback

L.seed_everything(0, verbose=False)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
given = anchored.noise.symmetric(y, 0.3, 10, generator=torch.Generator().manual_seed(0)).labels
train, held_out = TensorDataset(X[:1000], given[:1000]), TensorDataset(X[1000:1400], given[1000:1400])


class Digits(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        anchored.anchor_(self.model, 10, scale=5.0)
        self.loss = anchored.losses.get("gce")

    def forward(self, x):
        return self.model(x)

    def training_step(self, batch, _):
        x, label = batch
        loss = self.loss(self(x), label)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, label = batch
        self.log("val/loss", self.loss(self(x), label))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


module = Digits()
trainer = L.Trainer(
    max_epochs=15,
    accelerator="cpu",
    callbacks=[callback()],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, DataLoader(train, 64, shuffle=True), DataLoader(held_out, 200))
numbers = {name: round(float(value), 3) for name, value in trainer.callback_metrics.items()}
print(numbers)
right = (module.eval()(X[1400:]).argmax(dim=1) == y[1400:]).float().mean()
print(f"accuracy on true labels: {right:.3f}; wrong labels among the held-out ones: {numbers['val/noise/rate']}")
