"""What is known of the steps of a pipeline, as text, HTML and plain values."""

import html
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["PipelineReport", "StepReport", "Verdict"]

Verdict = Literal[
    "reads records",
    "may read records",
    "lets records through",
    "vouched for",
    "one record at a time",
    "private",
    "after the noise",
]

FAILED: tuple[Verdict, ...] = ("reads records", "may read records", "lets records through")
LIMIT = "What was done to the table before this pipeline cannot be seen from here."


@dataclass(frozen=True)
class StepReport:
    """Whether one step of a pipeline reads the records.

    Parameters
    ----------
    step : str
        Name of the step, as ``set_params`` writes it: ``"columns__numbers__scale"``.
    kind : str
        Class of the step.
    verdict : str
        ``"reads records"``: the fit on synthetic tables showed it. ``"may read records"``: nothing
        was seen, but the code of the step is unknown. ``"lets records through"``: it passes raw
        records on next to reports. ``"vouched for"``: by the caller. ``"one record at a time"``:
        its output for a record depends on that record alone. ``"private"``: it has a guarantee.
        ``"after the noise"``: it sees reports only.
    reason : str
        How that is known.
    remedy : str
        What to use instead; empty if nothing is wrong.

    Examples
    --------
    >>> StepReport("scale", "StandardScaler", "reads records", "seen", "bounds=").ok
    False
    """

    step: str
    kind: str
    verdict: Verdict
    reason: str
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether this step leaves the guarantee as it is."""
        return self.verdict not in FAILED


@dataclass(frozen=True)
class PipelineReport:
    """The steps of a pipeline and whether they read records; prints as a table.

    Parameters
    ----------
    steps : tuple of StepReport
        The steps, in the order in which records pass through them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer
    >>> from shoal import DPKMeans, check_pipeline
    >>> report = check_pipeline(make_pipeline(Normalizer(), DPKMeans(3, bounds=(0.0, 1.0))))
    >>> [step["verdict"] for step in report.to_dict()["steps"]]
    ['one record at a time', 'private']
    """

    steps: tuple[StepReport, ...]

    @property
    def private(self) -> bool:
        """Whether any step has a privacy guarantee."""
        return any(step.verdict == "private" for step in self.steps)

    @property
    def ok(self) -> bool:
        """Whether a step has a guarantee and no other step weakens it."""
        return self.private and all(step.ok for step in self.steps)

    @property
    def summary(self) -> str:
        """The report in one sentence."""
        if not self.private:
            return "no step is private: end with an estimator of shoal, such as DPKMeans"
        failed = [step.step for step in self.steps if not step.ok]
        if failed:
            return f"the promise does not cover {', '.join(failed)}"
        several = sum(step.verdict == "private" for step in self.steps)
        if several > 1:
            return f"no step reads records before the noise; the epsilons of {several} steps add up"
        return "no step reads records before the noise"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that JSON and data frames can hold.

        Returns
        -------
        plain : dict
            ``"ok"``, ``"summary"`` and ``"steps"``, a list with one dict per step.
        """
        steps = [asdict(step) for step in self.steps]
        return {"ok": self.ok, "summary": self.summary, "steps": steps}

    def __str__(self) -> str:
        rows = [("step", "class", "verdict"), *((s.step, s.kind, s.verdict) for s in self.steps)]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [f"{'ok' if self.ok else 'not ok'}: {self.summary}"]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
        for step in self.steps:
            if not step.ok:
                lines.append(f"{step.step}: {step.reason}; instead: {step.remedy}")
        return "\n".join([*lines, LIMIT])

    def _repr_html_(self) -> str:
        names = ("step", "class", "verdict", "why", "private way")
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"]
        for one in self.steps:
            mark = f"{one.verdict}" if one.ok else f"<strong>{one.verdict}</strong>"
            texts = [html.escape(text) for text in (one.step, one.kind, one.reason, one.remedy)]
            cells = (*texts[:2], mark, *texts[2:])
            rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        caption = f"{'ok' if self.ok else 'not ok'}: {html.escape(self.summary)}"
        return f"<table><caption>{caption}</caption>{''.join(rows)}</table><p>{LIMIT}</p>"
