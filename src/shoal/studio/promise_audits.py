"""Audits of the studio: a claim, what made-up tables show of it, and what is said of that."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from shoal._numbers import rounded_up
from shoal.audit import ReplayAudit
from shoal.experiments import PromiseAudit, Provenance, audit_promise, audit_report, draw_promise
from shoal.plotting import Picture
from shoal.studio.promise_settings import ALL_PAIRS, PromiseSettings

__all__ = ["Audited", "audit_settings"]

Progress = Callable[[int, int], None]
CONFIDENCE = 0.999
BOX = (-1.0, 1.0)
MAX_FINDINGS = 6
PLANTED_FACTOR = 2.0  # half the noise is twice the epsilon


@dataclass(frozen=True, eq=False)
class Audited:
    """A finished audit of a claim, for pages and files."""

    settings: PromiseSettings
    audit: PromiseAudit
    picture: Picture

    @property
    def planted(self) -> str:
        """What was planted, in words."""
        return _planted_words(self.settings) if self.settings.planted else ""

    def to_dict(self) -> dict[str, Any]:
        """Return what pages show."""
        audit = self.audit
        return {
            "settings": vars(self.settings),
            "planted": self.planted,
            "target": " ".join(audit.target.split()),
            "guarantee": audit.guarantee,
            "broken": audit.broken,
            "broken_by_sampling": audit.claimed is not None and audit.sampling.exceeds(),
            "verdict": audit.verdict,
            "measured": float(audit.sampling.epsilon),
            "claimed": audit.claimed,
            "unit": audit.unit,
            "sentence": self._sentence(),
            "false_alarms": _false_alarms(audit),
            "power": _power(self.settings),
            "worst": audit.sampling.worst,
            "event": audit.event,
            "searched": len(audit.searched),
            "replay": _replay(audit),
            "spec": self.picture.spec,
            "command": self.settings.command,
        }

    def report(self) -> bytes:
        """Return the page of ``shoal audit``."""
        made = Provenance(self.settings.command, None)
        with TemporaryDirectory() as folder:  # nothing of a true record is in it
            path = audit_report(
                Path(folder) / "report.html", self.audit, picture=self.picture, made=made
            )
            return path.read_bytes()

    def _sentence(self) -> str:
        audit = self.audit
        sure = f"{100 * audit.sampling.confidence:.10g}%"
        claim = (
            "nothing" if audit.claimed is None else f"{rounded_up(audit.claimed, 4)}{audit.unit}"
        )
        return (
            f"At {sure} confidence, epsilon is at least {audit.sampling.epsilon:.3g}{audit.unit}; "
            f"claimed: {claim}."
        )


def audit_settings(settings: PromiseSettings, progress: Progress) -> Audited:
    """Audit the claim of a method on made-up neighbors.

    Parameters
    ----------
    settings : PromiseSettings
        Which method, and how thoroughly.
    progress : callable
        ``progress(done, total)``.

    Returns
    -------
    audited : Audited
        Claim, bound, worst pair and replay.
    """
    settings.check_columns(settings.columns)
    target, claim = settings.build(BOX), None
    if settings.planted:
        claim = target.fit(np.zeros((1, settings.columns))).guarantee_
        target = settings.build(BOX, PLANTED_FACTOR * settings.epsilon)
    audit = audit_promise(
        target,
        columns=settings.columns,
        claim=claim,
        confidence=CONFIDENCE,
        n_jobs=settings.n_jobs,
        progress=progress,
        **settings.drawn,
    )
    if settings.planted:  # whoever reads the report by itself must know
        audit = replace(audit, target=f"{audit.target}. {_planted_words(settings)}")
    return Audited(settings, audit, draw_promise(audit))


def _planted_words(settings: PromiseSettings) -> str:
    epsilon = settings.epsilon
    return (
        f"A bug was planted for this audit: {settings.method} ran with the noise of epsilon "
        f"{PLANTED_FACTOR * epsilon:g}, half of what the claim of {rounded_up(epsilon)} needs"
    )


def _false_alarms(audit: PromiseAudit) -> str:
    wrong = 1.0 - audit.sampling.confidence
    words = (
        "False alarms: sampling calls a valid promise broken in at most 1 of "
        f"{round(1 / wrong):,} audits."
    )
    if audit.replay is not None:
        words += " The replay does not depend on chance: what it finds is certain."
    return words


def _power(settings: PromiseSettings) -> str:
    drawn = settings.drawn
    if settings.declared.notion != "central":
        words = f"{drawn['samples']:,} reports of each of two records were compared."
        more = (
            " A quick audit detects only large errors; a thorough one draws twenty times as many "
            "reports."
        )
        return words + (more if settings.effort == "quick" else "")
    pairs = len(drawn.get("pairs", range(ALL_PAIRS)))
    words = (
        f"{drawn['runs']:,} fits on each of two tables were compared, on the worst of {pairs} "
        f"pair{'s' * (pairs > 1)}; with so few, no bound can exceed about "
        f"{np.log(drawn['runs'] / 15):.1f}."
    )
    if settings.effort == "quick":
        words += (
            " Sampling in a quick audit has little power: a bound near 0 says nothing. The replay "
            "below looks at every noisy value and does not depend on the number of fits."
        )
    return words


def _replay(audit: PromiseAudit) -> dict[str, Any] | None:
    replay = audit.replay
    if replay is None:
        return None
    budget = "nothing" if replay.budget is None else f"{replay.budget:.4g}"
    return {
        "measure": replay.privacy_measure,
        "pairs": len(replay.pairs),
        "worst": replay.worst,
        "rows": [
            {
                "value": str(index),
                "part": release.part,
                "noise": release.noise,
                "declared": f"{release.declared:.4g}",
                "measured": f"{release.loss:.4g}",
                "over": bool(release.loss > release.declared * (1 + 1e-9)),
            }
            for index, release in enumerate(replay.pairs[replay.worst].releases, start=1)
        ],
        "total": f"{replay.loss:.4g}",
        "claimed": budget,
        "broken": replay.broken,
        "findings": _findings(replay),
    }


def _findings(replay: ReplayAudit) -> list[str]:
    """Return each finding once, with the number of pairs that show it."""
    counts = Counter(finding for pair in replay.pairs.values() for finding in pair.findings)
    shown = [
        f"{finding} ({count} of {len(replay.pairs)} pairs)" for finding, count in counts.items()
    ]
    left = len(shown) - MAX_FINDINGS
    return [*shown[:MAX_FINDINGS], *([f"and {left} more"] if left > 0 else [])]
