"""Mirror of src/anchored/audit/judges/ridge.py: left out, one by one, by another road."""

import torch

from anchored.audit.judges import Vectors
from anchored.audit.judges.ridge import balanced_ridge, closed_form, ridge
from anchored.ridge import fit_ridge


def clouds(counts, seed=0, distance=2.0):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return Vectors.check(distance * torch.eye(len(counts), 4)[y] + torch.randn(len(y), 4, generator=g), y, len(counts))


def test_a_left_out_sample_is_answered_like_by_a_model_of_the_others():
    vectors = clouds((200, 200, 200))
    said = ridge(vectors)
    for place in (0, 250, 599):
        kept = torch.arange(600) != place
        others = fit_ridge(vectors.X[kept], vectors.labels[kept], 3)
        alone = others.logits(vectors.X[place][None])[0]
        both = torch.stack([said[place], alone])
        both = torch.nn.functional.normalize(both - both.mean(dim=1, keepdim=True), dim=1)
        torch.testing.assert_close(both[0], both[1], atol=0.02, rtol=0)


def test_balanced_weights_see_the_rare_class_more_often():
    vectors = clouds((600, 600, 12), distance=1.5)
    rare = vectors.labels == 2
    margin = [f(vectors)[rare] for f in (balanced_ridge, ridge)]
    beaten = [(m[:, 2] - m[:, :2].amax(dim=1)).mean() / m.std() for m in margin]
    assert beaten[0] > beaten[1]


def test_samples_without_weight_are_asked_of_the_whole_model():
    vectors = clouds((60, 60))
    weights = torch.ones(120)
    weights[::4] = 0.0
    vectors = Vectors.check(vectors.X, vectors.labels, 2, weights=weights)
    used = weights > 0
    model = fit_ridge(vectors.X[used], vectors.labels[used], 2)
    said = closed_form(vectors, kernel=None)
    torch.testing.assert_close(said[~used], model.logits(vectors.X[~used]))
    torch.testing.assert_close(said[used], model.loo_logits)
