"""Dense prediction: a label per pixel, a quarter of them wrong; losses take maps as torch's cross entropy does."""

import torch
from torch import nn

import anchored

generator = torch.Generator().manual_seed(0)
torch.manual_seed(0)


def scenes(n):
    """Images (n, 3, 16, 16) of noisy colours, and the class (n, 16, 16) of each pixel: four tiles of four classes."""
    tiles = torch.randint(4, (n, 2, 2), generator=generator)
    labels = tiles.repeat_interleave(8, dim=1).repeat_interleave(8, dim=2)
    colours = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])[labels].movedim(-1, 1)
    return colours + 0.7 * torch.randn(n, 3, 16, 16, generator=generator), labels


images, truth = scenes(64)
given = anchored.noise.symmetric(truth.flatten(), 0.25, 4, generator=generator).labels.view_as(truth)
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 4, 1)
)
anchored.anchor_(model, 4, scale=5.0)  # the 1x1 convolution becomes an AnchoredConv
loss, optimizer = anchored.losses.get("gce"), torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(60):
    optimizer.zero_grad()
    loss(model(images), given).backward()  # logits (64, 4, 16, 16), labels (64, 16, 16)
    optimizer.step()
images, truth = scenes(32)
right = (model(images).argmax(dim=1) == truth).float().mean()
print(model[-1])
print(f"pixels right: {right:.3f}")
assert right > 0.85
