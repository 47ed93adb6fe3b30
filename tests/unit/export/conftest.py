"""Small models with every kind of head, and backbones for every kind of input."""

import pytest
import torch

from anchored import AnchoredHead, CosineHead, LinearHead, backbones
from anchored.data import Normalization
from anchored.heads import ScaledHead, TauNormHead
from anchored.methods import Classifier
from anchored.runs import TrainedModel

K = 5
HEADS = {
    "linear": lambda d: LinearHead(d, K),
    "cosine": lambda d: CosineHead(d, K, scale=16.0),
    "anchored": lambda d: AnchoredHead(d, K, scale=2.0, features="nonnegative"),
    "anchored, not normalised": lambda d: AnchoredHead(d, K, normalize=False, features="nonnegative"),
    "scaled": lambda d: ScaledHead(LinearHead(d, K)),
    "tau-norm": lambda d: TauNormHead(CosineHead(d, K, scale=8.0), tau=0.7),
}
NAMES = ("a", "../../etc/passwd", "<b>é</b>", "T-shirt/top", "two\nlines")


def _model(backbone="tiny", shape=(4,), head="anchored", *, temperature=0.25, dtype=torch.float32, description=None):
    net = backbones.get(backbone, shape)
    pixels = len(shape) == 3
    normalization = Normalization(
        tuple(0.3 + 0.1 * i for i in range(shape[0])), (0.4,) * shape[0], 255.0 if pixels else 1.0
    )
    classifier = Classifier(net, HEADS[head](net.feature_dim)).to(dtype)
    return TrainedModel(classifier, normalization, NAMES, temperature, description)


@pytest.fixture
def make_model():
    """``make_model(backbone, shape, head, temperature=, dtype=, description=)``."""
    return _model


@pytest.fixture(params=HEADS)
def head(request):
    """The name of every kind of head in turn."""
    return request.param
