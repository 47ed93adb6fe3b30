"""What the pictures of trained networks share: scikit-learn's digits, and a plain loop of SGD."""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from anchored import losses


def digits(generator: torch.Generator, *, n_class: int = 10) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return training images and labels, test images and labels; 70 % are for training, drawn by ``generator``."""
    X, y = (torch.as_tensor(each) for each in load_digits(n_class=n_class, return_X_y=True))
    order = torch.randperm(len(X), generator=generator)
    X, y, n = X[order].float() / 16, y[order], int(0.7 * len(X))
    return X[:n], y[:n], X[n:], y[n:]


def train(
    X: Tensor,
    given: Tensor,
    head: nn.Module,
    features: int,
    *,
    seed: int,
    loss: nn.Module | None = None,
    epochs: int = 60,
) -> nn.Sequential:
    """Train a body of two hidden layers and ``head`` on the labels as given; return both, one after the other."""
    loss = loss or losses.CrossEntropy()
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, features))
    net = nn.Sequential(body, head)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for batch in torch.randperm(len(X), generator=generator).split(64):
            optimiser.zero_grad()
            loss(net(X[batch]), given[batch]).backward()
            optimiser.step()
        schedule.step()
    return net
