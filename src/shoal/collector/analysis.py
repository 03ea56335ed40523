"""Analyses of stored reports: asked for once, repeatable to the last bit, published by version.

A job holds all that its result depends on: the document of the campaign, the snapshot of the
reports with the digest of their bytes, the method, its parameters with the defaults written out,
and the seed of the estimator. The seed is drawn once when the job is asked for; nothing private
depends on it, since everything here is post-processing of reports.
"""

import json
import secrets
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from shoal import _numbers
from shoal._report_channel import PartitionChannel
from shoal._typing import Floats
from shoal.campaigns import Campaign, SignedCampaign
from shoal.collector.relay_trust import Assumed, shuffled_promise
from shoal.collector.store import Analysis, BatchTotals, Publication, Snapshot, Store
from shoal.exceptions import ParameterError, StoreError
from shoal.privacy import Release
from shoal.reports import CountedReports, analyze_reports, check_analysis

__all__ = [
    "Reports",
    "queue_analysis",
    "read_reports",
    "result_document",
    "run_analysis",
    "run_job",
    "stored_reports",
]

SEEDS = 2**31 - 1  # what numpy's RandomState takes
NOTHING: Mapping[str, Any] = MappingProxyType({})
Reports = Floats | CountedReports


def queue_analysis(
    store: Store,
    campaign: str,
    method: str = "noise-aware",
    parameters: Mapping[str, Any] = NOTHING,
    *,
    seed: int | None = None,
) -> int:
    """Check an analysis and queue it for a worker process, on the reports stored so far.

    Parameters
    ----------
    store : Store
        Database of the collector.
    campaign : str
        Identifier of the campaign.
    method : str, default="noise-aware"
        Name of a method, a key of ``ANALYSES``.
    parameters : mapping, default={}
        Parameters of the method; defaults are stored too, so that the analysis can be repeated. For
        a shuffled campaign also ``honest_share``, the share of each batch that is assumed to come
        from honest devices (0 claims only the local guarantee), and ``delta``, by default 1e-6.
    seed : int, default=None
        Seed of the estimator; None draws one, which is stored.

    Returns
    -------
    version : int
        Version number of the analysis.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or there are no reports; nothing is queued.
    StoreError
        If there is no such campaign.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.collector.analysis import queue_analysis
    >>> from shoal.collector.store import Store, Submission
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2030, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> signed = open_campaign(sign_campaign(campaign, key), key.public)
    >>> report = campaign.mechanism.encode(campaign.mechanism.randomize([0.3, 0.7]))
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     Store.open(f"sqlite:///{folder}/reports.db") as store,
    ... ):
    ...     store.add_campaign(signed)
    ...     _ = store.append([Submission("homes", b"a key of a device", report, 1)])
    ...     version = queue_analysis(store, "homes", parameters={"n_clusters": 2})
    ...     store.analysis("homes", version).state.value
    'queued'
    """
    asked = store.campaign(campaign).campaign
    assumed, others = Assumed.taken_from(parameters, asked)
    checked = check_analysis(method, others, mechanism=asked.mechanism)
    if assumed is not None:
        checked |= assumed.to_dict()
    if seed is not None and _numbers.count("seed", seed, least=0) > SEEDS:
        raise ParameterError(f"seed must be at most {SEEDS}, got {seed}")
    if not store.count(campaign):
        raise ParameterError(f"campaign {campaign!r} must have reports to analyze, got none yet")
    snapshot = store.snapshot(campaign)
    chosen = secrets.randbelow(SEEDS) if seed is None else seed
    return store.add_analysis(campaign, method, checked, chosen, snapshot)


def run_job(store: Store, job: Analysis) -> Release:
    """Read the reports of a job and analyze them.

    Parameters
    ----------
    store : Store
        Of the collector.
    job : Analysis
        As the store returns it.

    Returns
    -------
    release : Release
        Every run of the same job gives the same bytes of JSON, with the same versions of software.

    Raises
    ------
    StoreError
        If the stored reports are not those of the job's snapshot.

    See Also
    --------
    queue_analysis : With an example.
    """
    revisions = store.revisions(job.campaign)
    answered = [one for one in revisions if one.digest == job.document]
    if not answered:
        raise StoreError(f"the document of analysis {job.version} is not in this database")
    (signed,) = answered
    reports = read_reports(store, signed.campaign, job.snapshot)
    batches = None
    if signed.campaign.shuffler is not None:
        batches = store.batch_totals(job.campaign, job.snapshot)
    return run_analysis(signed, reports, job, weakest=_weakest(revisions, signed), batches=batches)


def run_analysis(
    signed: SignedCampaign,
    reports: Reports,
    job: Analysis,
    *,
    weakest: Campaign | None = None,
    batches: BatchTotals | None = None,
) -> Release:
    """Find the clusters behind reports of a campaign.

    Parameters
    ----------
    signed : SignedCampaign
        The document that the result answers.
    reports : ndarray of float64, shape (n, c), or CountedReports
        Those of the job's snapshot.
    job : Analysis
        Method, parameters, seed, and the snapshot.
    weakest : Campaign, default=None
        The document that promises least of those that reports came under; None takes `signed`.
    batches : BatchTotals, default=None
        Those of the snapshot, for a campaign with a shuffler.

    Returns
    -------
    release : Release
        Clusters, with all that labels on a device need, the promise of all reports of a device
        that holds whoever is trusted, and under ``"collection"`` what the result depends on; there
        ``"shuffled"`` is what batches promise beyond, and what must be trusted for it.

    See Also
    --------
    queue_analysis : With an example.
    """
    campaign = signed.campaign
    weakest = weakest or campaign
    seed = job.seed or 0
    assumed, parameters = Assumed.taken_from(job.parameters, campaign)
    # Of several threads, sums depend on who comes first; and the server needs the other cores.
    with threadpool_limits(1):
        release = analyze_reports(
            reports if isinstance(reports, CountedReports) else _reordered(reports, seed),
            job.method,
            parameters,
            mechanism=campaign.mechanism,
            random_state=seed,
        )
    collection = {
        "campaign": campaign.id,
        "revision": campaign.revision,
        "digest": signed.digest,
        **_asked(job),
    }
    if assumed is not None and batches is not None:
        n_reports = job.snapshot.n_reports
        collection["shuffled"] = shuffled_promise(weakest, batches, n_reports, assumed)
    return replace(
        release,
        values={**release.values, "collection": collection},
        guarantee=weakest.guarantee,
    )


def read_reports(store: Store, campaign: Campaign, snapshot: Snapshot) -> Reports:
    """Read the reports of a snapshot: counted if they are partition responses, else all of them.

    Parameters
    ----------
    store : Store
        Of the collector.
    campaign : Campaign
        Whose they are.
    snapshot : Snapshot
        Which of them.

    Returns
    -------
    reports : ndarray of float64, shape (n, c), or CountedReports
        In the order in which the store reads them, which is not that of arrival.

    Raises
    ------
    StoreError
        If they are not those of the snapshot.
    """
    blocks = stored_reports(store, campaign, snapshot)
    if isinstance(campaign.mechanism, PartitionChannel):
        return CountedReports.of_blocks(blocks, campaign.mechanism)
    reports = np.empty((snapshot.n_reports, len(campaign.report_format.columns)))
    filled = 0
    for block in blocks:
        end = filled + len(block)
        if end <= len(reports):  # if there are more, the store refuses them at the end
            reports[filled:end] = block
        filled = end
    return reports


def stored_reports(
    store: Store, campaign: Campaign, snapshot: Snapshot
) -> Generator[Floats, None, None]:
    """Yield the reports of a snapshot in blocks, as numbers.

    Parameters
    ----------
    store, campaign, snapshot
        As for :func:`read_reports`.

    Yields
    ------
    block : ndarray of float64, shape (n, c)
        Whole reports.
    """
    report_format = campaign.report_format
    for block in store.blocks(campaign.id, snapshot):
        yield report_format.decode(block)


def result_document(published: Publication) -> dict[str, Any]:
    """Return what a device is given: a release, and the signed document that it answers.

    Parameters
    ----------
    published : Publication
        From :meth:`Store.published`.

    Returns
    -------
    document : dict
        Plain values that JSON can hold: campaign, version, digest and envelope of the campaign's
        document, the release, and under ``"analysis"`` method, parameters, seed, number of reports
        and their digest.
    """
    job = published.analysis
    return {
        "campaign": job.campaign,
        "version": job.version,
        "digest": job.document,
        "envelope": json.loads(published.envelope),
        "analysis": _asked(job),
        "release": json.loads(job.release or "null"),
    }


def _reordered(reports: Floats, seed: int) -> Floats:
    """Return reports in an order that the database has no part in: sorted, then shuffled."""
    chosen = np.random.default_rng(seed).permutation(len(reports))
    return reports[np.lexsort(reports.T)[chosen]]


def _asked(job: Analysis) -> dict[str, Any]:
    """Return what a result depends on, beside the document and the software."""
    return {
        "method": job.method,
        "parameters": dict(job.parameters),
        "seed": job.seed,
        "n_reports": job.snapshot.n_reports,
        "snapshot": job.snapshot.digest,
    }


def _weakest(revisions: Sequence[SignedCampaign], answered: SignedCampaign) -> Campaign:
    """Return the document that promises least, of all up to one: reports may be of any of them."""
    last = answered.campaign.revision
    documents = [one.campaign for one in revisions if one.campaign.revision <= last]
    return max(documents, key=lambda one: (one.guarantee.epsilon, one.guarantee.slack))
