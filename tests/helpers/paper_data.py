"""What the tests of the published methods share."""

import os
from pathlib import Path

import numpy as np
import pytest

DATA = os.environ.get("SHOAL_DATA")
TARGETS = Path(DATA).resolve().parent / "targets" if DATA else None

needs_files = pytest.mark.skipif(
    not DATA, reason="set SHOAL_DATA to the folder of data files to run this"
)
needs_targets = pytest.mark.skipif(
    TARGETS is None or not TARGETS.is_dir(),
    reason="set SHOAL_DATA to a data folder with the published figures in ../targets to run this",
)

FINE = 2.0**-20


def rounded(method):
    """Report one record n times, on a fine lattice: low bits of doubles are not what is sought."""

    def reports(record, n):
        return np.round(method.transform(np.tile(record, (n, 1))) / FINE) * FINE

    return reports
