"""What the tests of the attacks share."""

import functools
import importlib.util

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from shoal.audit.attacks import _forests

# Looked for and not imported: an import of its own would write to the home directory.
needs_toolbox = pytest.mark.skipif(
    importlib.util.find_spec("art") is None,
    reason="install shoal[attacks] (adversarial-robustness-toolbox) to run this",
)


def few_trees(monkeypatch, trees=10):
    """Let forests have ten trees, where how well they are attacked is not what is tested."""
    small = functools.partial(RandomForestClassifier, n_estimators=trees)
    monkeypatch.setattr(_forests, "RandomForestClassifier", small)


def coin_classes(n, seed=0):
    """Records and classes that have nothing to do with them: a forest learns these by heart."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (n, 2)), rng.integers(2, size=n)
