"""scikit-learn's own estimator checks, all of them, on the estimator as it comes; no failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchored.estimator import AnchoredClassifier


@parametrize_with_checks([AnchoredClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
