"""Analyses of reports as pages read them: clusters, picture, promise, and how two of them differ.

All of it is post-processing of reports, for which nothing is spent.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal._cluster_table import cluster_table
from shoal.metrics import match_centers
from shoal.plotting import draw_release
from shoal.privacy import Release
from shoal.service import RefusedError

if TYPE_CHECKING:
    from shoal.collector.store import Analysis

__all__ = ["compare_analyses", "describe_analysis", "list_analysis"]

SAME = 0.05  # of the width of the box: centers this near are called the same


def list_analysis(job: "Analysis") -> dict[str, Any]:
    """Return what was asked for, and how far it is."""
    return {
        "version": job.version,
        "state": job.state.value,
        "method": job.method,
        "parameters": {name: value for name, value in job.parameters.items() if value is not None},
        "seed": job.seed,
        "reports": job.snapshot.n_reports,
        "created": job.created.isoformat(),
        "error": job.error,
        "waits": not job.attempts and not job.state.is_finished,
    }


def describe_analysis(job: "Analysis", columns: list[str]) -> dict[str, Any]:
    """Return an analysis that is done with its clusters, picture and promise."""
    release = _release(job)
    values = release.values
    table = cluster_table(release, columns)
    headings, rows = table.texts()
    drawn = draw_release(release, columns)
    shuffled = values.get("collection", {}).get("shuffled")
    return {
        **list_analysis(job),
        "clusters": len(table.values),
        "caption": table.caption,
        "headings": headings,
        "rows": rows,
        "picture": None if drawn is None else drawn.spec,
        "guarantee": str(release.guarantee),
        "shuffled": None if shuffled is None else shuffled["text"],
        "better_than_blind": values.get("better_than_blind"),
        "release": release.to_json(),
    }


def compare_analyses(earlier: "Analysis", later: "Analysis") -> dict[str, Any]:
    """Pair the centers of two analyses, and say how far each has moved.

    Distances are shares of the diagonal of the public box, so that they need no unit.
    """
    before, after = _release(earlier), _release(later)
    answer = {
        "earlier": list_analysis(earlier),
        "later": list_analysis(later),
        "better_than_blind": [one.values.get("better_than_blind") for one in (before, after)],
    }
    if "centers" not in before.values or "centers" not in after.values:
        return {**answer, "pairs": None, "words": "Only centers can be paired: compare the tables."}
    low, high = (np.asarray(after.values[end], dtype=np.float64) for end in ("low", "high"))
    widths = np.where(high > low, high - low, 1.0) * np.sqrt(low.size)
    first, second = (np.asarray(one.values["centers"]) / widths for one in (before, after))
    matched = match_centers(first, second)
    pairs = [
        {"earlier": int(a), "later": int(b), "shift": float(shift)}
        for a, b, shift in zip(*matched, strict=True)
    ]
    return {
        **answer,
        "pairs": pairs,
        "gone": sorted(set(range(len(first))) - set(matched.first.tolist())),
        "new": sorted(set(range(len(second))) - set(matched.second.tolist())),
        "words": _shift_words(matched.distances),
    }


def _shift_words(shifts: Any) -> str:
    same = int((shifts <= SAME).sum())
    return (
        f"{same} of {len(shifts)} paired centers have moved by at most {SAME:.0%} of the box; the "
        f"largest shift is {shifts.max():.1%}."
    )


def _release(job: "Analysis") -> Release:
    if job.release is None:
        raise RefusedError(
            "not-found", f"Version {job.version} has no result: it is {job.state.value}."
        )
    return Release.from_json(job.release)
