"""Mirror of src/anchored/_random.py: streams repeat, differ by purpose, and leave the global generator alone."""

import torch

from anchored._random import generator_or_default, per_index_uniform, seed_of, stream


def test_the_same_purpose_gives_the_same_numbers():
    assert torch.equal(torch.rand(5, generator=stream(3, "noise")), torch.rand(5, generator=stream(3, "noise")))


def test_purposes_seeds_and_types_give_different_streams():
    seeds = {
        seed_of(seed, *purpose)
        for seed in range(4)
        for purpose in [("order",), ("order", 0), ("order", "0"), ("order0",), ("init",), ()]
    }
    assert len(seeds) == 24


def test_seeds_fit_torch():
    assert all(0 <= seed_of(0, "x", i) < 2**63 for i in range(1000))


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    torch.rand(3, generator=stream(0, "x"))
    generator_or_default(None)
    assert torch.equal(before, torch.random.get_rng_state())


def test_no_generator_means_the_same_answer_every_time():
    assert torch.equal(
        torch.rand(3, generator=generator_or_default(None)), torch.rand(3, generator=generator_or_default(None))
    )
    own = torch.Generator()
    assert generator_or_default(own) is own


def by_hand(seed, index, draws, *purpose):
    """Splitmix64 in Python's own unbounded integers, one number at a time."""
    mask = 2**64 - 1

    def mix(x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    rows = []
    for i in index:
        word = mix(((i + 1) * 0x9E3779B97F4A7C15 + seed_of(seed, *purpose)) & mask)
        rows.append([(mix((word + j * 0x9E3779B97F4A7C15) & mask) >> 11) / 2**53 for j in range(1, draws + 1)])
    return rows


def test_numbers_per_index_agree_with_splitmix64_in_plain_integers():
    index = [0, 1, 2, 59_999, 2**40 + 5, 2**62]
    got = per_index_uniform(7, torch.tensor(index), 5, "crop", 3)
    assert got.tolist() == by_hand(7, index, 5, "crop", 3)


def test_a_samples_numbers_do_not_depend_on_its_company():
    index = torch.randperm(1000, generator=stream(0, "x"))
    whole = per_index_uniform(1, index, 4, "augmentation", 2)
    for start in (0, 17, 998):
        assert torch.equal(
            per_index_uniform(1, index[start : start + 5], 4, "augmentation", 2), whole[start : start + 5]
        )


def test_numbers_per_index_are_uniform_and_independent_of_each_other():
    n = 40_000
    u = per_index_uniform(0, torch.arange(n), 3, "augmentation", 0)
    later = per_index_uniform(0, torch.arange(n), 3, "augmentation", 1)
    assert u.min() >= 0
    assert u.max() < 1
    # Kolmogorov-Smirnov: 1.95 / sqrt(n) is exceeded once in a thousand.
    steps = torch.arange(1, n + 1, dtype=torch.float64) / n
    for column in u.unbind(dim=1):
        assert (column.sort().values - steps).abs().max() < 1.95 / n**0.5
    pairs = torch.stack([u[:, 0], u[:, 1], u[:, 2], later[:, 0], u[:, 0].roll(1), u[:, 0].roll(2)])
    correlation = torch.corrcoef(pairs) - torch.eye(6, dtype=torch.float64)
    assert correlation.abs().max() < 4.5 / n**0.5
