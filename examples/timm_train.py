"""timm: its optimizer, schedule, mixup and moving average around an anchored model, as its training script has them."""

import timm
import torch
from sklearn.datasets import load_digits
from timm.data import Mixup
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3
from torch.utils.data import DataLoader, TensorDataset

import anchored

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).reshape(-1, 1, 8, 8) / 8 - 1
X = torch.nn.functional.interpolate(X, size=(32, 32))
y = torch.tensor(y)
given = anchored.noise.symmetric(y[:1300], 0.2, 10, generator=torch.Generator().manual_seed(0)).labels
loader = DataLoader(TensorDataset(X[:1300], given), 50, shuffle=True, drop_last=True)

model = timm.create_model("test_resnet", num_classes=10, in_chans=1)
anchored.anchor_(model, scale=10.0, example=X[:8])
print(model.get_classifier())

epochs = 8
loss = anchored.losses.get("gce")  # takes the soft labels of mixup too
mixup = Mixup(mixup_alpha=0.2, num_classes=10)
optimizer = create_optimizer_v2(model, opt="adamw", lr=5e-3, weight_decay=0.02)
schedule = CosineLRScheduler(optimizer, t_initial=epochs, warmup_t=1, warmup_lr_init=1e-4)
average = ModelEmaV3(model, decay=0.98)
for epoch in range(epochs):
    schedule.step(epoch)
    model.train()
    for x, label in loader:
        x, soft = mixup(x, label)
        optimizer.zero_grad()
        loss(model(x), soft).backward()
        optimizer.step()
        average.update(model)

right = (average.module.eval()(X[1300:]).argmax(dim=1) == y[1300:]).float().mean()
assert torch.equal(average.module.get_classifier().prototypes, model.get_classifier().prototypes)
print(f"accuracy on true labels: {right:.3f}")
