"""skorch: an anchored network as a scikit-learn classifier, in a pipeline and a search, with probabilities."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import anchored
from anchored.integrations import skorch

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
given = anchored.noise.symmetric(torch.tensor(y[:1300]), 0.3, 10, generator=torch.Generator().manual_seed(0)).labels


class Network(nn.Module):
    def __init__(self, scale=5.0):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        anchored.anchor_(self.body, 10, scale=scale)

    def forward(self, x):
        return self.body(x)


net = skorch.net(Network, "gce", max_epochs=15, lr=0.3, train_split=None, verbose=0, iterator_train__shuffle=True)
pipeline = make_pipeline(StandardScaler(), net)
search = GridSearchCV(pipeline, {"neuralnetclassifier__module__scale": [2.0, 8.0]}, cv=2, scoring="neg_log_loss")
search.fit(X[:1300], given.numpy())
likely = search.predict_proba(X[1300:])
assert np.allclose(likely.sum(axis=1), 1, atol=1e-5)
assert likely.min() >= 0
print("best:", search.best_params_)
print(f"accuracy on true labels: {np.mean(likely.argmax(axis=1) == y[1300:]):.3f}")
