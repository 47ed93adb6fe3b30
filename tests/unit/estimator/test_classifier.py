"""Mirror of src/anchored/estimator/classifier.py: beyond scikit-learn's own checks; those are in tests/contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from anchored import methods
from anchored._errors import InputError
from anchored.data import Dataset, Split, TensorInputs
from anchored.estimator import AnchoredClassifier
from anchored.noise import symmetric
from anchored.runs import complete
from anchored.runs import fit as train


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def blobs():
    """Three well separated classes in the plane, named."""
    X, y = make_blobs(90, centers=[[-4, 0], [4, 0], [0, 6]], random_state=0)
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def images():
    """Digits 0 to 2 as one-channel bytes."""
    digits = load_digits(n_class=3)
    return (digits.images[:150, None] * 15).astype(np.uint8), digits.target[:150]


def quick(**parameters):
    return AnchoredClassifier(**({"epochs": 3, "random_state": 0} | parameters))


def test_learns_iris(iris):
    assert AnchoredClassifier(random_state=0).fit(*iris).score(*iris) > 0.95


def test_it_is_the_training_path_and_nothing_else(iris):
    X, y = iris
    model = quick(method="ce", batch_size=32, lr=0.01).fit(X, y)
    data = Dataset("iris", TensorInputs(torch.from_numpy(X)), torch.from_numpy(y), ("0", "1", "2"))
    settings = {
        "method": {"name": "ce"},
        "optimizer": {"lr": 0.01},
        "train": {"epochs": 3, "batch_size": 32, "seed": 0, "precision": "64"},
    }
    by_hand = train(Split(data), settings).model
    np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(torch.from_numpy(X)).numpy())


def test_classes_are_names(blobs):
    X, y = blobs
    model = quick(epochs=40).fit(X, y)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert model.model_.class_names == ("ant", "bee", "cat")
    assert model.predict([[-4.0, 0.0], [0.0, 6.0]]).tolist() == ["ant", "cat"]


def test_probabilities_are_the_softmax_of_the_decision(blobs):
    X, y = blobs
    model = quick().fit(X, y)
    decision = model.decision_function(X)
    by_hand = np.exp(decision) / np.exp(decision).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), by_hand, rtol=1e-12)


def test_the_decision_between_two_classes_is_the_log_odds(blobs):
    X, y = blobs
    two = y != "cat"
    model = quick().fit(X[two], y[two])
    p = model.predict_proba(X)
    assert model.decision_function(X).shape == (90,)
    np.testing.assert_allclose(model.decision_function(X), np.log(p[:, 1] / p[:, 0]), atol=1e-8)


def test_attributes_tell_what_happened(iris):
    model = quick(epochs=4, noise_rate=0.3).fit(*iris)
    assert model.n_iter_ == len(model.history_) == model.config_.train.epochs == 4
    assert model.noise_rate_ == 0.3
    assert model.config_.method.name == "ce+fnpal"


@pytest.mark.parametrize("weights", [np.arange(60) % 4, np.arange(60) % 3 * 0.5])
def test_a_weight_is_a_number_of_copies(blobs, weights):
    X, y = blobs[0][:60], blobs[1][:60]
    copies = np.repeat(np.arange(60), (2 * weights).astype(int))
    weighted = quick(epochs=10, class_weight="balanced").fit(X, y, sample_weight=2 * weights)
    repeated = quick(epochs=10, class_weight="balanced").fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7)


def test_one_weight_for_all_changes_nothing(blobs):
    plain, doubled = quick().fit(*blobs), quick().fit(*blobs, sample_weight=1.0)
    np.testing.assert_allclose(plain.predict_proba(blobs[0]), doubled.predict_proba(blobs[0]), rtol=1e-9)


def test_a_class_of_weight_zero_is_not_a_class(blobs):
    X, y = blobs
    model = quick().fit(X, y, sample_weight=(y != "bee").astype(float))
    assert model.classes_.tolist() == ["ant", "cat"]


def test_class_weights_by_name_are_sample_weights(blobs):
    X, y = blobs
    by_name = quick(class_weight={"ant": 3.0, "bee": 0.5}).fit(X, y)
    each = np.select([y == "ant", y == "bee"], [3.0, 0.5], 1.0)
    by_sample = quick(method="ce+fnpal").fit(X, y, sample_weight=each)
    np.testing.assert_allclose(by_name.predict_proba(X), by_sample.predict_proba(X), rtol=1e-9)


def test_auto_sees_rare_classes_unless_weights_were_given(blobs):
    X, y = blobs
    few = np.flatnonzero((y != "cat") | (np.cumsum(y == "cat") <= 2))
    assert quick().fit(X[few], y[few]).config_.method.name == "balanced-softmax+pal"
    assert quick(class_weight="balanced").fit(X[few], y[few]).config_.method.name == "ce+fnpal"


def test_the_same_seed_is_the_same_model_and_another_is_another(blobs):
    X, y = blobs
    one, same, other = (quick(random_state=seed).fit(X, y).decision_function(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_random_state_is_drawn_from(blobs):
    X, y = blobs
    model = quick(random_state=np.random.RandomState(3))
    first, second = model.fit(X, y).decision_function(X), model.fit(X, y).decision_function(X)
    again = quick(random_state=np.random.RandomState(3)).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("random_state", [None, 0])
def test_the_global_generator_of_torch_is_left_alone(blobs, random_state):
    module = nn.Sequential(nn.Linear(2, 8), nn.Dropout())
    before = torch.get_rng_state()
    quick(random_state=random_state, module=module).fit(*blobs).predict(blobs[0])
    assert torch.equal(torch.get_rng_state(), before)


def test_noise_rate_auto_estimates_the_rate_and_goes_by_it():
    X, y = make_blobs(600, centers=[[-4, 0], [4, 0], [0, 6]], random_state=0)
    noisy = symmetric(torch.from_numpy(y), 0.3, 3, generator=torch.Generator().manual_seed(0)).labels.numpy()
    model = quick(epochs=10, noise_rate="auto").fit(X, noisy)
    assert model.noise_rate_ == pytest.approx(0.3, abs=0.06)
    assert model.config_.train.labels == "cleaned"
    assert model.score(X, y) > 0.95
    named = quick(method="ce+fnpal", epochs=10, noise_rate="auto").fit(X, noisy)
    assert named.config_.method.noise_rate == pytest.approx(named.noise_rate_, abs=1e-4)
    assert named.config_.train.labels == "given"


@pytest.mark.parametrize("noise_rate", ["auto", None])
def test_label_issues_are_the_flipped_rows_of_x(noise_rate):
    X, y = make_blobs(400, centers=[[-4, 0], [4, 0], [0, 6]], random_state=0)
    noisy = symmetric(torch.from_numpy(y), 0.2, 3, generator=torch.Generator().manual_seed(0)).labels.numpy()
    names = np.array(["ash", "birch", "cedar"])
    weights = np.ones(400)
    weights[:50] = 0.0  # these rows are not there, and the others keep their numbers
    model = quick(epochs=10, noise_rate=noise_rate).fit(X, names[noisy], sample_weight=weights)
    issues = model.label_issues_
    flipped = {i for i in range(50, 400) if noisy[i] != y[i]}
    assert len(flipped & set(issues.column("index"))) > 0.9 * len(flipped)
    assert len(set(issues.column("index")) - flipped) < 0.1 * len(flipped)
    assert issues.column("rank") == list(range(1, len(issues) + 1))
    for issue in issues[:20]:
        assert issue.given == names[noisy[issue.index]]
        assert issue.suggested == names[y[issue.index]]


def test_label_issues_need_a_fitted_model():
    assert not hasattr(quick(), "label_issues_")


def test_too_few_samples_to_estimate_a_rate_go_by_the_usual_one(blobs):
    X, y = blobs[0][:40], blobs[1][:40]
    assert quick(noise_rate="auto").fit(X, y).noise_rate_ == quick().fit(X, y).noise_rate_


def test_an_own_module_is_trained_as_a_copy(blobs):
    module = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
    before = {name: value.clone() for name, value in module.state_dict().items()}
    model = quick(module=module, epochs=100).fit(*blobs)
    assert model.score(*blobs) > 0.95
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert not torch.equal(model.model_.classifier.backbone.module[0].weight.float(), module[0].weight)
    np.testing.assert_array_equal(
        clone(model).fit(*blobs).decision_function(blobs[0]), model.decision_function(blobs[0])
    )


def test_a_saved_own_module_asks_for_itself_on_loading(blobs, tmp_path):
    model = quick(module=nn.Linear(2, 16)).fit(*blobs)
    model.model_.save(tmp_path)
    with pytest.raises(InputError, match="a module of your own"):
        type(model.model_).load(tmp_path)


@pytest.mark.parametrize(("kind", "width"), [(np.float64, torch.float64), (np.float32, torch.float32)])
def test_precision_is_that_of_the_data(blobs, kind, width):
    model = quick().fit(blobs[0].astype(kind), blobs[1])
    assert {value.dtype for value in model.model_.parameters()} == {width}
    assert quick(precision="32").fit(*blobs).config_.train.precision == "32"


def test_large_offsets_survive_single_precision(blobs):
    X, y = blobs
    shifted = X + 1.7e9  # seconds since 1970: a float of single precision resolves 128 of them
    model = quick(precision="32", epochs=40).fit(shifted, y)
    assert model.score(shifted, y) > 0.95


def test_further_settings_reach_the_run_and_named_parameters_win(blobs):
    settings = {"backbone": {"options": {"hidden": (8,)}}, "train": {"epochs": 9}, "optimizer": {"weight_decay": 0.5}}
    model = quick(settings=settings).fit(*blobs)
    assert model.config_.optimizer.weight_decay == 0.5
    assert model.n_iter_ == 3
    assert model.model_.classifier.backbone.feature_dim == 8


@pytest.mark.parametrize(("n", "epochs", "batch_size"), [(150, 100, 150), (201, 20, 64), (20_000, 20, 128)])
def test_automatic_length_and_batches(n, epochs, batch_size):
    data = Dataset("toy", TensorInputs(torch.zeros(n, 2)), torch.arange(n) % 2, ("a", "b"))
    config = complete(AnchoredClassifier(random_state=0)._settings(data, double=True), data)
    assert (config.train.epochs, config.train.batch_size) == (epochs, batch_size)


def test_grid_search_may_hand_over_numpy_numbers(blobs):
    model = quick(epochs=np.int64(2), lr=np.float32(0.01), batch_size=np.int32(16), random_state=np.int64(3)).fit(
        *blobs
    )
    assert model.n_iter_ == 2
    assert model.config_.train.seed == 3


def test_a_method_may_be_a_value(blobs):
    assert quick(method=methods.parse("NCE+RCE+FNPAL")).fit(*blobs).config_.method.name == "nce+rce+fnpal"


def test_data_frames_give_their_column_names(blobs):
    frame = pd.DataFrame(blobs[0], columns=["width", "height"])
    model = quick().fit(frame, pd.Series(blobs[1]))
    assert model.feature_names_in_.tolist() == ["width", "height"]
    assert model.model_.description["columns"] == ["width", "height"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["height", "width"]])


def test_images_are_learnt_from_bytes(images):
    X, y = images
    model = AnchoredClassifier(backbone="tiny", epochs=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.model_.normalization.divisor == 255
    assert model.config_.data.augment == ()
    assert model.config_.train.precision == "32"


def test_images_may_be_floats_or_other_whole_numbers(images):
    X, y = images
    for kind in (np.float64, np.int64):
        model = quick(backbone="tiny").fit(X.astype(kind), y)
        assert model.predict(X.astype(kind)).shape == (150,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.transpose(0, 2, 3, 1), r"pass X.transpose\(0, 3, 1, 2\)"),
        (lambda X: X[:, 0], r"pass X\[:, None\] for grey images"),
        (lambda X: X[None], "reshape it"),
    ],
)
def test_other_layouts_of_images_are_refused_with_the_way_out(images, change, message):
    X, y = images
    with pytest.raises(InputError, match=message):
        quick(backbone="tiny").fit(change(X), y[: len(change(X))])


def test_images_of_another_size_are_refused(images):
    X, y = images
    model = quick(backbone="tiny").fit(X, y)
    with pytest.raises(InputError, match=r"rows of shape \(1, 8, 8\) as in fit, got \(1, 8, 7\)"):
        model.predict(X[..., :7])


def test_pickling_keeps_the_answers(blobs):
    model = quick().fit(*blobs)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(blobs[0]), model.predict_proba(blobs[0])
    )


def test_answers_do_not_depend_on_how_many_rows_are_asked_at_once(blobs):
    model = quick().fit(*blobs)
    many = np.tile(blobs[0], (30, 1))
    np.testing.assert_allclose(model.predict_proba(many)[-90:], model.predict_proba(blobs[0]), rtol=1e-9)


def test_works_inside_a_pipeline_and_a_grid_search(blobs):
    pipeline = make_pipeline(StandardScaler(), quick())
    search = GridSearchCV(pipeline, {"anchoredclassifier__method": ["ce", "ce+fnpal"]}, cv=2).fit(*blobs)
    assert search.best_params_["anchoredclassifier__method"] in ("ce", "ce+fnpal")


def test_cross_validated_probabilities(blobs):
    p = cross_val_predict(quick(), *blobs, cv=2, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_can_be_calibrated_once_more_by_scikit_learn(blobs):
    model = CalibratedClassifierCV(quick(epochs=20), method="temperature", cv=2).fit(*blobs)
    assert model.score(*blobs) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "ce+fnpall"}, "unknown word 'fnpall'"),
        ({"noise_rate": 1.0}, r"noise_rate must lie in \[0, 1\)"),
        ({"noise_rate": "some"}, "noise_rate must lie in"),
        ({"epochs": 0}, "epochs must be at least 1, got 0; or pass 'auto'"),
        ({"batch_size": "all"}, "batch_size must be a whole number"),
        ({"lr": -1.0}, "lr must lie in"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dictionary"),
        ({"class_weight": {"ant": 0.0}}, "class_weight must be positive, got 0.0 for class 'ant'"),
        ({"precision": "16"}, "train.precision"),
        ({"settings": {"train": {"epoch": 3}}}, "did you mean 'epochs'"),
        ({"settings": 3}, "settings must be a nested dictionary or None, got int"),
    ],
)
def test_bad_parameters_are_refused_in_fit(blobs, parameters, message):
    with pytest.raises(InputError, match=message):
        quick(**parameters).fit(*blobs)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(90), "every sample_weight is zero"),
        (np.r_[-1.0, np.ones(89)], "must not be negative, got -1.0 for row 0"),
        (np.ones(89), r"sample_weight must be \(90,\)"),
    ],
)
def test_bad_weights_are_refused(blobs, weights, message):
    with pytest.raises(InputError, match=message):
        quick().fit(*blobs, sample_weight=weights)


def test_one_class_is_refused(blobs):
    with pytest.raises(InputError, match="got one class only, 'ant'"):
        quick().fit(blobs[0], np.full(90, "ant"))


def test_an_unfitted_model_says_so(blobs):
    with pytest.raises(NotFittedError):
        quick().predict(blobs[0])


def test_labels_about_which_nothing_can_be_known_are_not_flagged():
    rng = np.random.default_rng(0)
    model = AnchoredClassifier(random_state=0).fit(rng.normal(size=(600, 5)), rng.integers(4, size=600))
    assert np.isnan(model.noise_rate_)
    assert len(model.label_issues_) == 0


def test_a_handful_of_rows_is_judged_by_leaving_each_out():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = 4 * np.eye(3)[y] + rng.normal(size=(150, 3))
    given = np.where(np.arange(150) % 10 == 0, (y + 1) % 3, y)
    model = AnchoredClassifier(random_state=0).fit(X, given)
    assert model.config_.method.name == "kernel-ridge"
    assert model.noise_rate_ == pytest.approx(0.1, abs=0.05)
    assert all(row.index % 10 == 0 for row in model.label_issues_[:10])


def test_a_search_reaches_into_the_settings():
    X, y = np.repeat(np.eye(3), 12, axis=0), np.repeat([0, 1, 2], 12)
    given = {"train": {"batch_size": 36}}
    model = AnchoredClassifier(method="ce", settings=given, random_state=0)
    assert model.get_params()["settings__train__batch_size"] == 36
    search = GridSearchCV(model, {"settings__train__epochs": [3]}, cv=2).fit(X, y)
    assert search.best_params_ == {"settings__train__epochs": 3}
    assert search.best_estimator_.config_.train.epochs == 3
    assert search.best_estimator_.config_.train.batch_size == 36
    assert given == {"train": {"batch_size": 36}}
    assert AnchoredClassifier().set_params(settings__train__ema=0.9).settings == {"train": {"ema": 0.9}}


def test_a_warm_start_begins_with_what_was_learnt():
    X, y = np.repeat(np.eye(3), 12, axis=0), np.repeat([0, 1, 2], 12)
    cold = AnchoredClassifier("ce", epochs=3, lr=0.01, random_state=0, warm_start=True)
    first = [cold.fit(X, y).history_[0]["train_loss"], cold.fit(X, y).history_[0]["train_loss"]]
    assert first[1] < first[0]
    again = AnchoredClassifier("ce", epochs=3, lr=0.01, random_state=0)
    assert again.fit(X, y).history_ == again.fit(X, y).history_
    cold.fit(X[:, :2], y)  # other rows: begins anew
    assert cold.n_features_in_ == 2


def test_early_stopping_can_be_asked_for_and_left_out():
    X, y = np.repeat(np.eye(3), 12, axis=0), np.repeat([0, 1, 2], 12)
    settings = {"data": {"hold_out": 0.2}}
    told = AnchoredClassifier("ce", early_stopping=4, epochs=5, settings=settings, random_state=0).fit(X, y)
    assert told.config_.train.early_stop == 4
    never = AnchoredClassifier("ce", early_stopping=False, epochs=5, settings=settings, random_state=0).fit(X, y)
    assert never.config_.train.early_stop is None
    with pytest.raises(InputError, match="early_stopping"):
        AnchoredClassifier("ce", early_stopping=-1).fit(X, y)
