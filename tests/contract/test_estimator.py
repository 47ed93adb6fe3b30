"""scikit-learn's own estimator checks, all of them, on the estimators as they come; no failure is expected."""

import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchored.estimator import AnchoredClassifier, AnchoredRegression, AnchoredRidge


@parametrize_with_checks([AnchoredClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:.* columns do not vary and are left out:UserWarning")
@parametrize_with_checks(
    [
        AnchoredRidge(),
        AnchoredRidge(kernel="auto"),
        AnchoredRegression(),
        AnchoredRegression(LinearRegression()),
    ]
)
def test_scikit_learn_conventions_of_the_closed_form_and_of_regression(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [AnchoredClassifier(), AnchoredRidge(), AnchoredRegression()])
def test_the_tags_promise_sparse_input_gaps_and_texts_and_ask_for_no_excuse(estimator):
    tags = get_tags(estimator)
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_class
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    excuses = (tags.classifier_tags.poor_score, tags.non_deterministic, tags.no_validation)
    assert not any(excuses)
