"""Mirror of src/anchored/audit/judges/neighbours.py: the search against a loop, and the approximate one against it."""

import importlib
import math

import torch

from anchored.audit.judges import Vectors

judge = importlib.import_module("anchored.audit.judges.neighbours")


def vectors(n=60, d=3, seed=0):
    g = torch.Generator().manual_seed(seed)
    return Vectors.check(torch.randn(n, d, generator=g), torch.arange(n) % 3, 3)


def unit(given):
    return torch.nn.functional.normalize(given.standardised, dim=1)


def test_the_second_space_is_half_whitened():
    g = torch.Generator().manual_seed(0)
    given = Vectors.check(torch.randn(500, 4, generator=g) @ torch.randn(4, 4, generator=g), torch.arange(500) % 2, 2)
    plain, half = judge.spaces(given)
    rows = given.standardised.double()
    torch.testing.assert_close(plain @ plain.T, unit(given) @ unit(given).T)
    # Its products are those of the features through the inverse square root of their deviations' matrix.
    root = torch.linalg.eigh(rows.T @ rows / 500)
    middle = root.eigenvectors @ torch.diag(root.eigenvalues**-0.5) @ root.eigenvectors.T
    wanted = rows @ middle @ rows.T
    size = wanted.diagonal().sqrt()
    torch.testing.assert_close((half @ half.T).double(), wanted / size[:, None] / size, atol=1e-4, rtol=0)


def test_many_columns_are_cut_off(monkeypatch):
    monkeypatch.setattr("anchored.methods.axes.AXES", 3)
    assert [space.shape for space in judge.spaces(vectors(d=8))] == [(60, 3), (60, 3)]


def test_the_search_is_what_a_loop_finds():
    given = vectors()
    rows = given.standardised.double()
    index, similarity = judge.nearest(given, 4, unit(given))
    for i in range(60):
        cosines = {j: float(rows[i] @ rows[j] / rows[i].norm() / rows[j].norm()) for j in range(60) if j != i}
        best = sorted(cosines, key=cosines.get, reverse=True)[:4]
        assert index[i].tolist() == best
        assert all(abs(float(similarity[i, m]) - cosines[j]) < 1e-5 for m, j in enumerate(best))


def test_blocks_change_nothing(monkeypatch):
    whole = judge.nearest(vectors(), 5, unit(vectors()))
    monkeypatch.setattr("anchored.methods.nearest._BLOCK_NUMBERS", 7 * 60)
    assert torch.equal(whole[0], judge.nearest(vectors(), 5, unit(vectors()))[0])


def test_copies_are_no_neighbours():
    base = vectors(20)
    twice = Vectors.check(torch.cat([base.X, base.X]), torch.cat([base.labels, base.labels]), 3)
    index, _ = judge.nearest(twice, 3, unit(twice))
    assert not bool((index % 20 == torch.arange(40)[:, None] % 20).any())


def test_the_votes_are_the_formula():
    given = vectors(10)
    index, similarity = judge.nearest(given, 3, unit(given))
    shares = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    for width in (math.inf, 0.2):
        found = judge._votes(given, index, similarity, width, shares)
        for i in range(10):
            votes = shares.tolist()
            for j, s in zip(index[i].tolist(), similarity[i].tolist(), strict=True):
                votes[int(given.labels[j])] += 1.0 if math.isinf(width) else math.exp((s - 1) / width)
            torch.testing.assert_close(found[i], torch.tensor(votes, dtype=torch.float64).log())


def test_the_approximate_search_finds_most_neighbours(monkeypatch):
    g = torch.Generator().manual_seed(0)
    y = torch.arange(3000) % 10
    given = Vectors.check(4 * torch.eye(10, 12)[y] + torch.randn(3000, 12, generator=g), y, 10)
    exact, _ = judge.nearest(given, 10, unit(given))
    monkeypatch.setattr(judge, "_EXACT", 100)
    about, near = judge.nearest(given, 10, unit(given))
    found = (exact[:, :, None] == about[:, None, :]).any(dim=2).double().mean()
    assert found > 0.8
    assert bool(torch.isfinite(near).all())
    assert not bool((about == torch.arange(3000)[:, None]).any())


def test_fewer_samples_than_neighbours():
    few = Vectors.check(torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 0.1]]), torch.tensor([0, 1, 0, 1]), 2)
    assert bool(torch.isfinite(judge.neighbours(few)).all())


def test_neighbours_of_a_part_are_those_among_all():
    given = vectors(80)
    part = torch.arange(0, 80, 3)
    everyone, some = judge.nearest(given, 5, unit(given)), judge.nearest(given, 5, unit(given), part)
    assert torch.equal(some[0], everyone[0][part])
    assert torch.equal(some[1], everyone[1][part])


def test_settings_chosen_on_a_part_judge_all(monkeypatch):
    monkeypatch.setattr(judge, "_MOST_SCORED", 30)
    g = torch.Generator().manual_seed(0)
    y = torch.arange(300) % 3
    found = judge.neighbours(Vectors.check(3 * torch.eye(3)[y] + torch.randn(300, 3, generator=g), y, 3))
    assert (found.argmax(dim=1) == y).double().mean() > 0.85


def test_some_rows_alone_find_what_they_find_among_all(monkeypatch):
    monkeypatch.setattr(judge, "_EXACT", 100)
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(3000, 6, generator=generator)
    vectors = Vectors.check(X, torch.arange(3000) % 3, 3)
    rows = judge.spaces(vectors)[0]
    part = torch.tensor([2999, 0, 17, 1500])
    (index, similarity), (some, near) = judge.nearest(vectors, 5, rows), judge.nearest(vectors, 5, rows, part)
    assert torch.equal(some, index[part])
    torch.testing.assert_close(near, similarity[part])
