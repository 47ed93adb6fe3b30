"""TensorBoard, MLflow or W&B: margins, angles and noise of held-out labels, sent to whichever tracker there is."""

import tempfile
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import anchored
from anchored.integrations import Geometry, trackers

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
given = anchored.noise.symmetric(y, 0.3, 10, generator=torch.Generator().manual_seed(0)).labels
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
anchored.anchor_(model, 10, scale=5.0)
loss, optimizer = anchored.losses.get("gce"), torch.optim.Adam(model.parameters(), lr=3e-3)

with tempfile.TemporaryDirectory() as folder:
    writer = SummaryWriter(folder)
    log = trackers.log_to(writer, prefix="val/")  # or log_to(mlflow), or log_to(wandb.init(project="digits"))
    gathered = Geometry.of(model)
    for epoch in range(10):
        for batch in torch.randperm(1000).split(64):
            optimizer.zero_grad()
            loss(model(X[batch]), given[batch]).backward()
            optimizer.step()
        gathered.clear()
        handle = gathered.watch()
        with torch.no_grad():
            model(X[1000:])
        gathered.add_labels(given[1000:])
        handle.remove()
        log(gathered.summary(), epoch)
    writer.close()
    print({name: round(value, 3) for name, value in gathered.summary().items()})
    assert any(Path(folder).iterdir())
