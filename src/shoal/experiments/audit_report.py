"""What was claimed and what was measured, as one HTML page, and its picture."""

from pathlib import Path

import numpy as np

from shoal.audit import EstimatorAudit
from shoal.experiments.page import Page
from shoal.experiments.promise_audit import PromiseAudit
from shoal.experiments.provenance import Provenance
from shoal.plotting import Picture, draw_audit

__all__ = ["audit_report", "draw_promise"]


def audit_report(path: Path, audit: PromiseAudit, *, picture: Picture, made: Provenance) -> Path:
    """Write the page.

    Parameters
    ----------
    path : Path
        Where to.
    audit : PromiseAudit
        What was found.
    picture : Picture
        The worst pair, as :func:`draw_promise` draws it.
    made : Provenance
        Where the numbers come from.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If it cannot be written.
    """
    sampling = audit.sampling
    page = Page("Is the promise kept?")
    page.lead("Measured on made-up records: nobody's data was read, and nothing was spent.")
    page.verdict(audit.verdict, bad=audit.broken)
    page.text(f"Audited: {audit.target}.")
    page.text(f"Its promise: {audit.guarantee}.")
    page.section("What was measured")
    claim = "nothing" if audit.claimed is None else f"{audit.claimed:.4g}{audit.unit}"
    page.table(
        ["", "epsilon"],
        [
            ["claimed", claim],
            [
                f"measured, at least ({100 * sampling.confidence:.10g}% sure)",
                f"{sampling.epsilon:.4g}{audit.unit}",
            ],
        ],
    )
    page.picture(picture, says="The worst pair, the event that tells it apart, and the bounds")
    page.text(
        f"Worst pair: {sampling.worst}. The event: {audit.event}. It was chosen on one half of the "
        "releases and counted on the other, so the bound is true however many events were tried. "
        "A bound below the claim proves nothing; a bound above it proves the claim wrong."
    )
    _search(page, audit)
    _replay(page, audit)
    return page.provenance(made).write(path)


def draw_promise(audit: PromiseAudit, *, path: Path | None = None) -> Picture:
    """Draw the worst pair of an audit, its event, and its bounds.

    Parameters
    ----------
    audit : PromiseAudit
        What was found.
    path : Path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart; its records are made up.
    """
    sampling = audit.sampling
    if isinstance(sampling, EstimatorAudit):
        sides = "without the record", "with it"
        records, added = np.empty((0, 2)), np.empty((0, 2))
        if sampling.pair is not None:
            records, added = sampling.pair.records, sampling.pair.added[None]
        points = {f"records of both tables ({len(records)})": records, "the added record": added}
    else:
        sides = "one record", "another record"
        points = {sides[0]: sampling.pair.first[None], sides[1]: sampling.pair.second[None]}
    return draw_audit(
        points=points,
        sides=sides,
        evidence=sampling.evidence,
        searched=audit.searched,
        measured=sampling.epsilon,
        claimed=audit.claimed,
        unit=audit.unit,
        path=path,
    )


def _search(page: Page, audit: PromiseAudit) -> None:
    if not audit.searched:
        return
    page.section("Where was looked")
    page.text(
        "Estimates from few releases, good only to find the worst pair: some are above the claim "
        "by chance."
    )
    ranked = sorted(audit.searched.items(), key=lambda item: -item[1])
    page.table(["pair", f"estimate of epsilon{audit.unit}"], [[n, f"{v:.3g}"] for n, v in ranked])


def _replay(page: Page, audit: PromiseAudit) -> None:
    replay = audit.replay
    if replay is None:
        return
    page.section("What one record costs, release by release")
    page.text(
        "The estimator was fitted on a table, and again on the table with one record more, where "
        "it was shown the same noisy values. Whatever differed came from the record itself."
    )
    worst = replay.pairs[replay.worst]
    page.table(
        ["release", "law of its noise", f"declared ({replay.privacy_measure})", "what it told"],
        [
            [str(place), release.law, f"{release.declared:.4g}", f"{release.loss:.4g}"]
            for place, release in enumerate(worst.releases, start=1)
        ],
        text=2,
    )
    total = "" if replay.budget is None else f" of {replay.budget:.4g} claimed"
    page.text(f"Together {replay.loss:.4g}{total}, on the pair: {replay.worst}.")
    if replay.findings:
        page.section("What no promise allows")
        page.points(replay.findings)
