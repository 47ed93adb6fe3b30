"""Plain PyTorch: digits with 40 % wrong labels, a ResNet-like network, one call to anchor it."""

import torch
from sklearn.datasets import load_digits
from torch import nn

from anchored import anchor_, losses, noise

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16, torch.tensor(y)
train, test = slice(0, 1300), slice(1300, None)
given = noise.symmetric(y[train], 0.4, 10, generator=torch.Generator().manual_seed(0)).labels


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU())
        self.fc = nn.Linear(64 * 16, 10)

    def forward(self, x):
        return self.fc(self.body(x).flatten(1))


def accuracy(model, loss, epochs=15):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(epochs):
        for batch in torch.randperm(1300).split(64):
            optimizer.zero_grad()
            loss(model(X[train][batch]), given[batch]).backward()
            optimizer.step()
    return (model.eval()(X[test]).argmax(dim=1) == y[test]).float().mean().item()


plain = accuracy(Network(), nn.CrossEntropyLoss())
model = anchor_(Network(), 10, example=X[:16], scale=5.0)  # the example shows that the features are non-negative
print(model.fc)
anchored = accuracy(model, losses.get("gce"))
print(f"linear classifier, cross entropy: {plain:.3f}")
print(f"anchored, generalised cross entropy: {anchored:.3f}")

# Everything that decides the logits is in the state dict: prototypes, scale and normalisation.
other = anchor_(Network(), 10)
other.load_state_dict(model.state_dict())
assert torch.equal(other.eval()(X[test]), model(X[test]))
assert anchored > plain
