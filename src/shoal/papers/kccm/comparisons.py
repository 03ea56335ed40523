"""Every claim of the source, judged on every table and for every version of the method."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.papers.kccm import CLAIMS, FORMULAS, VARIANTS, Measurement, Verdict, judge_claims
from shoal.papers.kccm.cells import CORRECTED
from shoal.papers.kccm.plan import DATASET, TRIMMED
from shoal.papers.study import Records

__all__ = ["READINGS", "Comparison", "compare_all"]

# The method as published, by either formula, and the corrected one.
READINGS = (*FORMULAS, CORRECTED)


@dataclass(frozen=True)
class Comparison:
    """A claim on one table, for one version of the method.

    Parameters
    ----------
    reading : {"pseudo-code", "text", "corrected"}
        The version.
    dataset : str
        Name of the table.
    verdict : Verdict
        Over all settings of epsilon and k, each counting the same.
    held, settings : int
        In how many settings the claim holds by itself, and of how many.
    """

    reading: str
    dataset: str
    verdict: Verdict
    held: int
    settings: int

    @property
    def numbers(self) -> str:
        """The change of the cost, with its interval."""
        verdict = self.verdict
        return f"{verdict.change:+.1%} [{verdict.low:+.1%}, {verdict.high:+.1%}]"


def compare_all(records: Records) -> tuple[Comparison, ...]:
    """Judge all claims.

    Parameters
    ----------
    records : mapping of str to list of dict
        Records of the parts "epsilon", "k" and "published".

    Returns
    -------
    comparisons : tuple of Comparison
        Claims in the order of the source; for each both tables, and for each table the formulas of
        the source, then the corrected method.
    """
    judged: dict[tuple[str, str, str], Comparison] = {}
    for dataset in (DATASET, TRIMMED):
        for reading in READINGS:
            parts = ["epsilon", "k"] if reading == CORRECTED else ["published"]
            rows = [row for part in parts for row in records[part]]
            for found in _judged(rows, dataset, reading):
                judged[found.verdict.claim.text, dataset, reading] = found
    return tuple(
        judged[claim.text, dataset, reading]
        for claim in CLAIMS
        for dataset in (DATASET, TRIMMED)
        for reading in READINGS
    )


def _judged(rows: Iterable[Mapping[str, Any]], dataset: str, reading: str) -> Iterable[Comparison]:
    wanted = None if reading == CORRECTED else reading
    costs = [
        # The epsilon of the cell: of one setting, whatever its noise really spends.
        Measurement(
            row["variant"],
            row["k"],
            row["epsilon"],
            row["real_delta"],
            row["repeat"],
            row["nicv"],
            row["reference"],
            row["runs"],
            row["deviation"],
        )
        for row in rows
        if (row["dataset"], row["formula"]) == (dataset, wanted) and row["variant"] in VARIANTS
    ]
    verdicts = judge_claims(costs)
    settings = len(verdicts) // len(CLAIMS) - 1
    for place in range(0, len(verdicts), settings + 1):
        whole, *single = verdicts[place : place + settings + 1]
        held = sum(one.judgment == "holds" for one in single)
        yield Comparison(reading, dataset, whole, held, settings)
