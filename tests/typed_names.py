"""What a type checker knows of shoal: classes and signatures, not ``Any``.

`make types` reads this file, nothing runs it. A name that became ``Any`` fails twice: its type is
not the one asserted, and a wrong use of it is no error, so that the mark of the error is unused.
`make test-full` reads the same from what mypy prints (test_types.py).
"""

from typing import assert_type

import numpy as np

import shoal
from shoal import DPKMeans
from shoal.privacy import Entry, Guarantee


def known_names() -> None:
    """Name classes, attributes and functions as users do."""
    records = np.zeros((9, 2))
    model = shoal.DPKMeans(3, bounds=(-1.0, 1.0))
    assert_type(model, DPKMeans)
    assert_type(model.fit(records, sample_weight=None, user_ids=None), DPKMeans)
    assert_type(shoal.Laplace(1.0, bounds=(-1.0, 1.0)).guarantee_, Guarantee)
    assert_type(shoal.Ledger(epsilon=1.0).entries, tuple[Entry, ...])


def unknown_names() -> None:
    """Name what is not there: each line is an error."""
    shoal.DPKMeans(clusters=3)  # type: ignore[call-arg]
    shoal.DPKMeans(3).fit(np.zeros((9, 2)), weights=None)  # type: ignore[call-arg]
    shoal.audit_estimator(model=None)  # type: ignore[call-arg]
    shoal.DPKmeans  # type: ignore[attr-defined]  # noqa: B018
