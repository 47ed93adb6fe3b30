"""Mirror of src/anchored/ridge/kernel.py: the kernel itself where every row is a landmark, candidates, chunks."""

import numpy as np
import torch
from sklearn.metrics.pairwise import rbf_kernel

from anchored.ridge import ArrayRows, Nystroem
from anchored.ridge.kernel import MappedRows, widths


def fitted(X, gamma=0.3, landmarks=None):
    mean, inverse = X.mean(axis=0), 1 / X.std(axis=0)
    return Nystroem.fit(X[:landmarks], mean, inverse, gamma), (X - mean) * inverse


def test_inner_products_are_the_kernel_if_every_row_is_a_landmark(data):
    X, _, _ = data
    kernel, Z = fitted(X)
    phi = kernel(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(phi @ phi.T, rbf_kernel(Z, gamma=0.3), atol=1e-6)


def test_few_landmarks_are_exact_on_themselves_and_never_larger_elsewhere(data):
    X, _, _ = data
    kernel, Z = fitted(X, landmarks=20)
    phi = kernel(torch.from_numpy(X)).numpy()
    true = rbf_kernel(Z, gamma=0.3)
    np.testing.assert_allclose((phi @ phi.T)[:20], true[:20], atol=1e-6)
    assert (np.linalg.eigvalsh(true - phi @ phi.T) > -1e-6).all()


def test_copies_among_the_landmarks_do_no_harm(data):
    X, _, _ = data
    kernel, _ = fitted(np.concatenate([X, X]))
    assert kernel.features <= len(X)
    assert torch.isfinite(kernel(torch.from_numpy(X))).all()


def test_mapped_rows_are_mapped_chunk_by_chunk(data):
    X, _, _ = data
    kernel, _ = fitted(X, landmarks=10)
    rows = MappedRows(ArrayRows(X), kernel)
    assert (rows.n, rows.d) == (80, kernel.features)
    np.testing.assert_allclose(rows.read(5, 9), kernel(torch.from_numpy(X))[5:9].numpy(), atol=1e-12)


def test_a_chunk_of_mapped_rows_has_room_for_the_raw_ones():
    wide = ArrayRows(np.zeros((4, 50_000)))
    kernel = Nystroem.fit(np.zeros((1, 50_000)), np.zeros(50_000), np.ones(50_000), 1.0)
    assert MappedRows(wide, kernel).chunk_rows() == wide.chunk_rows()


def test_the_candidates_span_the_median_distance(data):
    X, _, _ = data
    _, Z = fitted(X)
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2)[np.triu_indices(80, 1)]
    found = widths(X, X.mean(axis=0), 1 / X.std(axis=0))
    np.testing.assert_allclose(np.array(found) * 2 * np.median(squares), [0.25, 1, 4, 16, 64])
    assert widths(np.ones((3, 2)), np.zeros(2), np.ones(2))[1] == 0.5
