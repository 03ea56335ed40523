"""What audits cost: seconds of the default audits, and what they find.

`python benchmarks/audits.py [--jobs 2] [--only lloyd,planar]` audits every default of ours;
`make bench` prints the cheap ones alone.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

from shoal import audit_estimator, audit_mechanism, replay_estimator
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    KdLaplace,
    Laplace,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)

BOX = {"bounds": (-1.0, 1.0)}
ESTIMATORS = {
    "auto": DPKMeans(3, **BOX),
    "auto-delta": DPKMeans(3, delta=1e-6, **BOX),
    "grid": DPKMeans(3, method="grid", **BOX),
    "lloyd": DPKMeans(3, method="lloyd", **BOX),
    "lloyd-delta": DPKMeans(3, method="lloyd", delta=1e-6, **BOX),
    "ball": DPKMeans(3, method="ball", **BOX),
    "kccm": DPKMeans(3, method="kccm", **BOX),
    **{
        f"wave-{technique}": DPWaveCluster(technique=technique, **BOX)
        for technique in ("oneshot", "thr", "thr-em", "qt", "baseline", "density")
    },
}
MECHANISMS = {
    "planar": (PlanarLaplace(2.0, **BOX), 2),
    "spherical": (SphericalLaplace(2.0, **BOX), 3),
    "laplace": (Laplace(2.0, **BOX), 2),
    "laplace-resample": (Laplace(2.0, truncate="resample", **BOX), 2),
    "kd-laplace": (KdLaplace(2.0, **BOX), 2),
    "piecewise": (Piecewise(2.0, **BOX), 2),
    "duchi": (Duchi(2.0, **BOX), 2),
    "hybrid": (Hybrid(2.0, **BOX), 2),
    "square-wave": (SquareWave(2.0, **BOX), 2),
}
MAX_SECONDS, MAX_SECONDS_PLANAR = 180, 5


def notes() -> Iterator[str]:
    """Yield a line each for the planar Laplace, and for a replay."""
    mechanism, columns = MECHANISMS["planar"]
    yield _mechanism("planar", mechanism, columns)
    yield _replay("lloyd", ESTIMATORS["lloyd"])


def _mechanism(name: str, mechanism: Any, columns: int) -> str:
    start = time.perf_counter()
    found = audit_mechanism(mechanism, columns=columns)
    seconds = time.perf_counter() - start
    limit = MAX_SECONDS_PLANAR if name == "planar" else MAX_SECONDS
    return _line(name, found, seconds, limit)


def _estimator(name: str, estimator: Any, jobs: int) -> str:
    start = time.perf_counter()
    found = audit_estimator(estimator, n_jobs=jobs)
    return _line(name, found, time.perf_counter() - start, MAX_SECONDS)


def _replay(name: str, estimator: Any) -> str:
    start = time.perf_counter()
    found = replay_estimator(estimator)
    seconds = time.perf_counter() - start
    return f"replay of {name:<16} {seconds:6.1f} s   {str(found).splitlines()[0]}"


def _line(name: str, found: Any, seconds: float, limit: int) -> str:
    verdict = "BROKEN" if found.exceeds() else "kept"
    met = "met" if seconds <= limit else "MISSED"
    return (
        f"audit of {name:<17} {seconds:6.1f} s (limit {limit} {met})   claimed {found.claimed:.4g}"
        f", at least {found.epsilon:.4g}: {verdict}   ({found.worst})"
    )


def main() -> None:
    """Print one line an audit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default=",".join([*MECHANISMS, *ESTIMATORS]))
    words = parser.parse_args()
    for name in words.only.split(","):
        if name in MECHANISMS:
            print(_mechanism(name, *MECHANISMS[name]), flush=True)
        else:
            print(_replay(name, ESTIMATORS[name]), flush=True)
            print(_estimator(name, ESTIMATORS[name], words.jobs), flush=True)


if __name__ == "__main__":
    main()
