"""Fabric: data-parallel training of an anchored model in two processes; each sees the same prototypes."""

import torch
from lightning_fabric import Fabric
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import anchored


def main():
    fabric = Fabric(accelerator="cpu", devices=2, strategy="ddp")
    fabric.launch()
    fabric.seed_everything(0, verbose=False)
    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
    given = anchored.noise.symmetric(y, 0.4, 10, generator=torch.Generator().manual_seed(0)).labels

    # In several processes the sign of the features is settled before: by structure, as here, by example= or features=.
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    anchored.anchor_(model, 10, scale=5.0)
    loss = anchored.losses.get("nce+rce")
    model, optimizer = fabric.setup(model, torch.optim.Adam(model.parameters(), lr=3e-3))
    loader = fabric.setup_dataloaders(DataLoader(TensorDataset(X[:1300], given[:1300]), 32, shuffle=True))
    for epoch in range(15):
        loader.sampler.set_epoch(epoch)
        for x, label in loader:
            optimizer.zero_grad()
            fabric.backward(loss(model(x), label))
            optimizer.step()

    head = next(module for module in model.modules() if isinstance(module, anchored.AnchoredHead))
    everywhere = fabric.all_gather(head.prototypes)
    assert torch.equal(everywhere[0], everywhere[1])
    right = (model.eval()(X[1300:]).argmax(dim=1) == y[1300:]).float().mean()
    fabric.print(f"{fabric.world_size} processes, accuracy on true labels: {right:.3f}")


if __name__ == "__main__":
    main()
