"""Small adapters to the frameworks that people train with; each imports its framework only when it is used.

Heads and losses are ordinary torch modules, so most frameworks need nothing from here. ``hf`` makes a loss fit Hugging
Face's ``Trainer`` and brings back a saved model with its head, ``lightning`` reports margins, angles and noise after
each validation, ``skorch`` builds a scikit-learn estimator whose ``predict_proba`` gives probabilities, ``trackers``
sends numbers to TensorBoard, MLflow or W&B. ``docs/frameworks`` has a page and an example for each.
"""

from anchored.integrations import hf, lightning, skorch, trackers
from anchored.integrations.geometry import Geometry

__all__ = ["Geometry", "hf", "lightning", "skorch", "trackers"]
