"""What can be audited and attacked, and how much is drawn for it."""

import shlex
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from shoal._build import build_estimator, load_class, parameter_names
from shoal._registry import METHODS, Method
from shoal.service import RefusedError

__all__ = [
    "ALL_PAIRS",
    "AUDITED",
    "EFFORTS",
    "FEW_PAIRS",
    "Effort",
    "PromiseSettings",
    "Runs",
    "set_options",
]

Effort = Literal["quick", "thorough"]
AUDITED = {method.name: method for method in METHODS if method.compared}
ALL_PAIRS = 20
# Small tables are fitted fast, and one record more shows most in them.
FEW_PAIRS = (
    "beside one equal record",
    "halfway between two others",
)


class Runs(NamedTuple):
    """How much is drawn, as keywords of audit_promise."""

    estimator: dict[str, Any]
    mechanism: dict[str, Any]
    n_jobs: int
    release_attacks: int
    report_attacks: int


# Quick answers in seconds. Thorough is what `shoal audit` does; fits of densities and waves take
# ten times as long as those of k-means, and get fewer.
EFFORTS: dict[Effort, Runs] = {
    "quick": Runs(
        {"pairs": FEW_PAIRS, "runs": 150, "search": 20, "repeats": 1},
        {"samples": 20_000, "search": 1_000},
        n_jobs=1,
        release_attacks=24,
        report_attacks=4,
    ),
    "thorough": Runs({"runs": 5_000}, {"samples": 400_000}, -1, 40, 20),
}
SLOW: dict[Effort, dict[str, Any]] = {
    "quick": {"pairs": FEW_PAIRS[:1], "runs": 100, "search": 20, "repeats": 1},
    "thorough": {"runs": 1_000, "search": 20},
}


@dataclass(frozen=True)
class PromiseSettings:
    """What is audited or attacked.

    Parameters
    ----------
    method : str
        One of :data:`AUDITED`.
    epsilon : float
        That it claims.
    clusters : int
        Where the method takes a number of clusters.
    columns : int
        Of the made-up records.
    effort : {"quick", "thorough"}
        How much is drawn.
    planted : bool, default=False
        Whether what runs has half of the noise that the claim needs, so that an audit finds it.
    """

    method: str
    epsilon: float
    clusters: int
    columns: int
    effort: Effort
    planted: bool = False

    @property
    def declared(self) -> Method:
        """The method, or a refusal."""
        if self.method not in AUDITED:
            raise RefusedError(
                "invalid-parameter", f"There is no method to audit named {self.method[:40]}."
            )
        return AUDITED[self.method]

    @property
    def kwargs(self) -> dict[str, Any]:
        """Parameters of the class."""
        taken = parameter_names(load_class(self.declared.location))
        chosen = {"n_clusters": self.clusters} if "n_clusters" in taken else {}
        return {**chosen, **self.declared.kwargs}

    def build(self, bounds: Any, epsilon: float | None = None) -> Any:
        """Make what is audited."""
        return build_estimator(
            self.declared.class_name,
            epsilon=self.epsilon if epsilon is None else epsilon,
            bounds=bounds,
            kwargs=self.kwargs,
        )

    def check_columns(self, columns: int) -> None:
        """Refuse a number of columns that the method is not for."""
        low, high = self.declared.min_columns, self.declared.max_columns
        if not low <= columns <= high:
            wanted = f"{low}" if low == high else f"{low} to {high}"
            raise RefusedError(
                "invalid-parameter", f"{self.method} takes {wanted} columns, got {columns}."
            )

    @property
    def drawn(self) -> dict[str, Any]:
        """How much an audit draws, as keywords of :func:`shoal.experiments.audit_promise`."""
        runs = EFFORTS[self.effort]
        if self.declared.notion != "central":
            return runs.mechanism
        return runs.estimator if self.declared.class_name == "DPKMeans" else SLOW[self.effort]

    @property
    def attack_runs(self) -> int:
        """How often an attack is run."""
        runs = EFFORTS[self.effort]
        central = self.declared.notion == "central"
        return runs.release_attacks if central else runs.report_attacks

    @property
    def n_jobs(self) -> int:
        """In how many processes."""
        return EFFORTS[self.effort].n_jobs

    @property
    def command(self) -> str:
        """The command of a terminal that audits the same thoroughly."""
        return shlex.join(
            [
                "shoal",
                "audit",
                self.declared.class_name,
                "--epsilon",
                f"{self.epsilon:g}",
                "--columns",
                str(self.columns),
                *set_options(self.kwargs),
            ]
        )


def set_options(kwargs: dict[str, Any]) -> list[str]:
    """Return parameters as options of the command line."""
    return [part for name, value in kwargs.items() for part in ("--set", f"{name}={value}")]
