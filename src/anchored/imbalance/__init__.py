"""Unbalanced classes: how many samples each class keeps, which ones, and in what order they are seen.

The alphabet: ``n`` samples, ``k`` classes, ``n_j`` samples of class j, ``rho`` the ratio of the
largest class to the smallest.
"""

from anchored.imbalance._order import RankSampler, Sampling, class_probabilities, epoch_order
from anchored.imbalance._sizes import Shots, counts, shots, subset

__all__ = ["RankSampler", "Sampling", "Shots", "class_probabilities", "counts", "epoch_order", "shots", "subset"]
