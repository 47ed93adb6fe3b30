"""scikit-learn's own estimator checks, all of them, on the estimator as it comes; no failure is expected."""

from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchored.estimator import AnchoredClassifier


@parametrize_with_checks([AnchoredClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_tags_promise_dense_finite_input_and_nothing_more():
    tags = get_tags(AnchoredClassifier())
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_class
    assert tags.target_tags.required
    refused = (tags.input_tags.sparse, tags.input_tags.allow_nan)
    excuses = (tags.classifier_tags.poor_score, tags.non_deterministic, tags.no_validation)
    assert not any(refused + excuses)
