"""Unbalanced classes: how many samples each class keeps, which ones, in what order they are seen.

The alphabet: ``n`` samples, ``k`` classes, ``n_j`` samples of class j, ``rho`` the ratio of the
largest class to the smallest.
"""

from anchored.imbalance._counts import counts
from anchored.imbalance._order import Sampling, class_probabilities, epoch_order
from anchored.imbalance._rank_sampler import RankSampler
from anchored.imbalance._shots import Shots, shots
from anchored.imbalance._subset import subset

__all__ = ["RankSampler", "Sampling", "Shots", "class_probabilities", "counts", "epoch_order", "shots", "subset"]
