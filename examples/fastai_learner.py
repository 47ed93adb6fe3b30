"""fastai: a Learner with a loss of this library, which knows how to turn logits into probabilities and labels."""

import torch
from fastai.basics import DataLoader, DataLoaders, Learner, accuracy
from fastai.callback.progress import ProgressCallback
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import TensorDataset

import anchored

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
given = anchored.noise.symmetric(y[:1300], 0.4, 10, generator=torch.Generator().manual_seed(0)).labels
dls = DataLoaders(
    DataLoader(TensorDataset(X[:1300], given), bs=64, shuffle=True),
    DataLoader(TensorDataset(X[1300:], y[1300:]), bs=500),
)

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
anchored.anchor_(model, 10, scale=5.0)
learner = Learner(dls, model, loss_func=anchored.losses.get("gce"), metrics=accuracy)
learner.remove_cb(ProgressCallback)
with learner.no_logging():
    learner.fit(12, 5e-3)
    likely, labels = learner.get_preds()
assert torch.allclose(likely.sum(dim=1), torch.ones(len(likely)), atol=1e-4)
print(f"accuracy on true labels: {(likely.argmax(dim=1) == labels).float().mean():.3f}")
