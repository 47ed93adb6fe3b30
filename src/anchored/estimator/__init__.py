"""The library as scikit-learn estimators: a network, anchored least squares, and any regressor made a classifier."""

from anchored.estimator.classifier import AnchoredClassifier
from anchored.estimator.regression import AnchoredRegression
from anchored.estimator.ridge import AnchoredRidge

__all__ = ["AnchoredClassifier", "AnchoredRegression", "AnchoredRidge"]
