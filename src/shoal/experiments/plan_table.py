"""A plan as a table of what each epsilon would buy: text, HTML, plain values, and a page."""

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.plotting import Picture

__all__ = ["PlanTable", "plan_report"]


class PlanTable(ABC):
    """Base class of plans: tables with one row per epsilon.

    Examples
    --------
    >>> from shoal.experiments import PlanTable, plan_shuffled
    >>> plan = plan_shuffled(n=100_000, epsilons=[1.0])
    >>> isinstance(plan, PlanTable), len(plan.rows)
    (True, 1)
    """

    question: ClassVar[str]
    rows: Sequence[Any]

    @property
    @abstractmethod
    def title(self) -> str:
        """What the plan is for, as a title."""

    @property
    @abstractmethod
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Explanations of the columns."""

    @abstractmethod
    def draw(self, path: Path | None = None) -> Picture:
        """Draw the plan; with a path, write the chart to a file too."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values that JSON can hold; infinity and NaN become None."""
        plain = asdict(self) | {"notes": list(self.notes)}  # type: ignore[call-overload]
        plain["rows"] = [{name: _finite(one) for name, one in row.items()} for row in plain["rows"]]
        return {name: _finite(one) for name, one in plain.items()}

    def __str__(self) -> str:
        lines = [list(self.headings), *(row.cells for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        table = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]
        return "\n".join([self.title, *table, *self.notes])

    def _repr_html_(self) -> str:
        lines = [
            f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in (("th", self.headings), *(("td", row.cells) for row in self.rows))
        ]
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        caption = html.escape(self.title)
        return f"<table><caption>{caption}</caption>{''.join(lines)}</table>{notes}"


def plan_report(path: Path, plan: PlanTable, *, made: Provenance) -> Path:
    """Write a plan as an HTML report with its chart, and the chart as PNG beside it.

    Parameters
    ----------
    path : Path
        File to write.
    plan : ReleasePlan, DevicePlan or ShuffledPlan
        A plan from :func:`plan_release`, :func:`plan_devices` or :func:`plan_shuffled`.
    made : Provenance
        Command and seed behind the numbers.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.experiments import Provenance, plan_report, plan_shuffled
    >>> plan = plan_shuffled(n=100_000, epsilons=[0.5, 1.0])
    >>> made = Provenance("shoal plan --model shuffled --n 100000", None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan_report(Path(folder) / "plan.html", plan, made=made).name
    'plan.html'
    """
    picture = plan.draw(path.with_suffix(".png"))
    report = Report(plan.question).lead(plan.title)
    report.table(plan.headings, [row.cells for row in plan.rows], text=0)
    report.picture(picture, says=plan.question)
    report.points(plan.notes)
    return report.provenance(made).write(path)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
