"""For 1 to 100 columns: the ledger's record is the claim, and the draws add up to it."""

from typing import Any

import numpy as np
import pytest

from contracts.promises import noise_pays_for
from shoal.cluster import DPKMeans
from shoal.privacy import Ledger
from subjects import subject

METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "auto, delta": {"delta": 1e-6},
    "grid": {"method": "grid"},
    "centered": {"method": "centered"},
    "centered, delta": {"method": "centered", "delta": 1e-6},
    "centered, rounds": {"method": "centered", "n_public": 10**5},
    "centered, one mean": {"method": "centered", "n_public": 1},
    "ball": {"method": "ball"},
    "ball, delta": {"method": "ball", "delta": 1e-6},
    "mixed": {"method": "mixed"},
    "mixed, delta": {"method": "mixed", "delta": 1e-6},
    "mixed, rounds": {"method": "mixed", "n_public": 10**5},
    "lloyd": {"method": "lloyd", "max_iter": 3},
    "lloyd, analytic": {"method": "lloyd", "split": "analytic", "max_iter": 3},
    "lloyd, delta": {"method": "lloyd", "max_iter": 3, "delta": 1e-6},
    "kccm": {"method": "kccm", "max_iter": 4},
    "kccm, average": {"method": "kccm", "max_iter": 4, "noise": "average"},
    "kccm, gaussian": {"method": "kccm", "max_iter": 4, "noise": "gaussian", "delta": 1e-6},
}
MANY_CELLS = 12  # from here on a grid takes a while: every fourth number of columns will do
# Around the most columns of a grid, and the ends.
FEW = (*range(1, 5), 10, 11, 32, 33, 100)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "columns",
    [pytest.param(FEW, id="few"), pytest.param(range(1, 101), id="all", marks=pytest.mark.full)],
)
def test_record_and_draws_are_the_claim(method, columns):
    kwargs = METHODS[method]
    gridded = kwargs.get("method", "auto") in ("auto", "grid")
    for d in columns:
        if kwargs.get("method") == "grid" and d > 32:
            break
        if gridded and MANY_CELLS < d <= 32 and d % 4:
            continue
        ledger = Ledger(epsilon=1.5, delta=kwargs.get("delta", 0.0))
        model = DPKMeans(
            2, epsilon=1.5, bounds=(-1.0, 1.0), ledger=ledger, random_state=d, **kwargs
        )
        row = subject("DPKMeans", make=lambda model=model, **_: model, table=np.zeros((3, d)))
        noise_pays_for(row)
        assert ledger.used == pytest.approx(1.0, rel=1e-9)
        assert ledger.used <= 1 + 1e-12
