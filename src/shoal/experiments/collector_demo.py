"""A collection from end to end on the own machine: made-up records, real devices, a real server.

Every record is on a device of its own, with its own file, and leaves it as one report over HTTP:
straight to the server, or sealed to a relay that shuffles. One device may be a web page in a
browser. An analyst asks the server for clusters and publishes them; every device fetches the result
and finds its own cluster. Records, true centers and labels are known here only because they are
made up.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.campaigns import Campaign, SignedCampaign, SigningKey, open_campaign, sign_campaign
from shoal.client import Device
from shoal.datasets import Dataset, make_gaussians
from shoal.experiments.browser_device import BrowserDevice, PageVisit
from shoal.experiments.collector_analyst import Analyst, Refusal, try_again, try_wrong_reports
from shoal.experiments.collector_rows import (
    BOUNDS,
    COLLECTED,
    EPSILON,
    N_CLUSTERS,
    SIDE,
    EpsilonRow,
    measure_rows,
    pair_centers,
    published_centers,
    true_centers,
)
from shoal.experiments.device_fleet import DeviceFleet, TakingPart
from shoal.experiments.shuffled_part import (
    HONEST_SHARE,
    DemoRelay,
    Seen,
    ShuffledPart,
    Wiretap,
    stored_by_relay,
    wait_for_batches,
)
from shoal.mechanisms import Mechanism, PartitionResponse, load_mechanism
from shoal.reports import label_on_device

if TYPE_CHECKING:
    from shoal.collector import Store

__all__ = ["CollectorDemo", "PageDevice", "run_collector_demo"]

CAMPAIGN = "homes"
COLUMNS = ("east (km)", "north (km)")
SEED = 7  # of the records; devices draw their noise securely
FIRST = 0  # the device that is looked at
DIGITS = 2  # of what is typed into the page
StepProgress = Callable[[str, int, int], None]


class PageDevice(NamedTuple):
    """The device of a demo that is a web page, compared with Python on the same record.

    Parameters
    ----------
    visit : PageVisit or None
        What the page showed; None if it failed before.
    problem : str or None
        Why it failed, in which case a device in Python sent a report instead.
    expected : int
        Published cluster of the record, as Python finds it.

    Examples
    --------
    >>> from shoal.experiments import PageDevice
    >>> PageDevice(visit=None, problem="no browser was found", expected=2).problem
    'no browser was found'
    """

    visit: PageVisit | None
    problem: str | None
    expected: int

    @property
    def agrees(self) -> bool:
        """Whether the page and Python found the same cluster."""
        return self.visit is not None and self.visit.cluster == self.expected


@dataclass(frozen=True, eq=False)
class CollectorDemo:
    """The result of a collection of reports from end to end.

    Parameters
    ----------
    campaign : Campaign
        The campaign: what devices were asked to report.
    digest : str
        Digest of the campaign's document.
    records, clusters : ndarray
        The synthetic records and their true clusters.
    true_centers, centers : ndarray of shape (k, 2)
        Means of the true clusters, and the published center nearest to each.
    reports : ndarray of shape (n, 2)
        What the server stores: the partition and the color that each device reported.
    labels : ndarray of shape (n,)
        Published cluster that each device found for its record, as an index of ``centers``.
    rows : tuple of EpsilonRow
        Results of this collection, and of other epsilons for comparison.
    refusals : tuple of Refusal
        Forbidden requests that were tried, and how they were refused.
    seconds : dict of str to float
        Duration of each step.
    shuffled : ShuffledPart, default=None
        Result of the relay that shuffles reports, if there was one.
    page : PageDevice, default=None
        The last device, if it was a web page.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> import numpy as np
    >>> from shoal.campaigns import Campaign
    >>> from shoal.experiments import CollectorDemo, EpsilonRow
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2099, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> centers = np.array([[1.0, 1.0], [9.0, 9.0]])
    >>> run = CollectorDemo(
    ...     campaign=campaign,
    ...     digest="ab" * 32,
    ...     records=np.repeat(centers, 2, axis=0),
    ...     clusters=np.array([0, 0, 1, 1]),
    ...     true_centers=centers,
    ...     centers=centers + np.array([3.0, 4.0]),
    ...     reports=np.zeros((4, 2)),
    ...     labels=np.array([0, 0, 1, 1]),
    ...     rows=(EpsilonRow(1.0, "collected", 1.25, 0.875, informative=True),),
    ...     refusals=(),
    ...     seconds={"reports": 1.5},
    ... )
    >>> run.distances.tolist()
    [5.0, 5.0]
    """

    campaign: Campaign
    digest: str
    records: Floats
    clusters: Ints
    true_centers: Floats
    centers: Floats
    reports: Floats
    labels: Ints
    rows: tuple[EpsilonRow, ...]
    refusals: tuple[Refusal, ...]
    seconds: dict[str, float]
    shuffled: ShuffledPart | None = None
    page: PageDevice | None = None

    @property
    def bounds(self) -> tuple[list[float], list[float]]:
        """The public bounds."""
        return [0.0, 0.0], [SIDE, SIDE]

    @property
    def distances(self) -> Floats:
        """Distance of each true center from its published one, in km."""
        return np.asarray(np.linalg.norm(self.true_centers - self.centers, axis=1))

    @property
    def collected(self) -> EpsilonRow:
        """The row of this collection."""
        return next(row for row in self.rows if row.source == COLLECTED)


def run_collector_demo(
    address: str,
    store: "Store",
    folder: Path,
    *,
    fleet: DeviceFleet,
    n_devices: int,
    progress: StepProgress,
    name: str = CAMPAIGN,
    relay: DemoRelay | None = None,
    page: BrowserDevice | None = None,
) -> CollectorDemo:
    """Run a collection on synthetic records: devices report, an analyst publishes, devices label.

    Parameters
    ----------
    address : str
        Address of a running collector on this machine, such as ``"http://127.0.0.1:8000"``.
    store : Store
        Database of the collector, to create the campaign and the credentials.
    folder : Path
        Folder for the campaign's document, its key, and the files of the devices.
    fleet : DeviceFleet
        The devices.
    n_devices : int
        Number of devices, each with one record.
    progress : callable
        Called as ``progress(step, done, total)``.
    name : str, default="homes"
        Id of the campaign; it must be new in this database.
    relay : DemoRelay, default=None
        Relay to start, which shuffles reports on their way to the collector. None sends them
        straight to the collector.
    page : BrowserDevice, default=None
        Web page that takes the place of the last device.

    Returns
    -------
    demo : CollectorDemo
        What devices, server and analyst saw, beside the truth.

    Raises
    ------
    ReleaseError
        If the server refuses the analyst, or batches do not arrive.

    Examples
    --------
    ``shoal collect demo`` starts a collector and runs this. Without TLS, the collector must be on
    this machine:

    >>> import contextlib, tempfile
    >>> from pathlib import Path
    >>> from shoal.collector import Store
    >>> from shoal.exceptions import ParameterError
    >>> from shoal.experiments import DeviceFleet, run_collector_demo
    >>> with contextlib.ExitStack() as stack:
    ...     folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    ...     store = stack.enter_context(Store.open(f"sqlite:///{folder}/reports.db"))
    ...     fleet = stack.enter_context(DeviceFleet(24))
    ...     try:
    ...         run_collector_demo(
    ...             "http://collect.example.org",
    ...             store,
    ...             folder,
    ...             fleet=fleet,
    ...             n_devices=24,
    ...             progress=lambda step, done, total: None,
    ...         )
    ...     except ParameterError as refused:
    ...         print(str(refused).partition(",")[0])
    reports_url must be an https address without a query (http only on the own machine)
    """
    clock = _Clock()
    data = _records(n_devices)
    asked = _ask(address, store, folder, name, relay=relay, page=page)
    clock.lap("campaign")
    first, seen = _first_report(asked, data.X[FIRST], relay)
    if page is not None:
        page.open(asked.campaign.results_url, asked.given, data.X[-1])
    others = dict(enumerate(data.X[1:], start=1))
    own = others.pop(n_devices - 1) if page is not None else None
    fleet.report(asked.given, others, lambda done: progress("reports", 1 + done, n_devices))
    problem = None if page is None else page.wait_until_sent()
    if problem is not None and own is not None:  # a device in Python takes its place
        fleet.report(asked.given, {n_devices - 1: own}, lambda _: None)
        others[n_devices - 1] = own
    clock.lap("reports")
    refusals = [*_try_wrong(asked, data.X[FIRST]), *try_again(first, data.X[FIRST], data.X[-1])]
    progress("analysis", 0, 1)
    waiting = 0 if relay is None else n_devices % relay.batch_size
    if relay is not None:
        wait_for_batches(store, asked.campaign, n_devices // relay.batch_size)
    release = asked.analyst.publish_clusters(
        n_devices - waiting, {} if relay is None else {"honest_share": HONEST_SHARE}
    )
    clock.lap("analysis")
    labels = fleet.label(asked.given, others, lambda done: progress("labels", 1 + done, n_devices))
    labels[FIRST] = first.label(data.X[FIRST])
    visit, problem = _visited(page, problem)
    labels.setdefault(n_devices - 1, int(label_on_device(release, data.X[-1])))
    clock.lap("labels")
    progress("comparison", 0, 1)
    truth = true_centers(data)
    order = pair_centers(truth, release)
    found = [labels[number] for number in range(n_devices)]
    stored = b"".join(store.blocks(name))
    demo = CollectorDemo(
        campaign=asked.campaign,
        digest=asked.signed.digest,
        records=data.X,
        clusters=np.asarray(data.y),
        true_centers=truth,
        centers=published_centers(release)[order],
        reports=asked.campaign.mechanism.decode(stored),
        labels=np.argsort(order)[np.asarray(found)],
        rows=measure_rows(data, release, found),
        refusals=tuple(refusals),
        seconds=clock.laps,
        shuffled=None
        if seen is None
        else ShuffledPart.of_release(release, seen, n_waiting=waiting, stored=stored),
        page=None if page is None else PageDevice(visit, problem, found[-1]),
    )
    clock.lap("comparison")
    return demo


def _records(n_devices: int) -> Dataset:
    """Return made-up homes; the last one is as short as somebody would type it."""
    data = make_gaussians(
        n_devices, n_clusters=N_CLUSTERS, bounds=BOUNDS, separation=3.2, random_state=SEED
    )
    data.X[-1] = data.X[-1].round(DIGITS)
    return data


class _Asked(NamedTuple):
    """A campaign that is open: its document, who analyzes it, what devices and relay are given."""

    signed: SignedCampaign
    analyst: Analyst
    given: TakingPart
    collector_key: str

    @property
    def campaign(self) -> Campaign:
        return self.signed.campaign


def _ask(
    address: str,
    store: "Store",
    folder: Path,
    name: str,
    *,
    relay: DemoRelay | None,
    page: BrowserDevice | None,
) -> _Asked:
    """Sign a campaign that closes an hour from now, open it at the collector, start the relay."""
    base = f"{address}/v1/campaigns/{name}"
    document = base if relay is None else f"{relay.address}/v1/campaigns/{name}"
    campaign = Campaign(
        id=name,
        title="Where people live",
        purpose="Show what a collection is, with made-up homes.",
        mechanism=_mechanism(),
        closes=datetime.now(UTC) + timedelta(hours=1),
        reports_url=f"{document}/reports",
        results_url=f"{base}/results",
        origins=() if page is None else (page.origin,),
        shuffler=None if relay is None else relay.shuffler,
    )
    key = SigningKey.new()
    key.save(folder / "signing.pem")
    signed = open_campaign(sign_campaign(campaign, key), key.public)
    (folder / "campaign.json").write_bytes(signed.envelope)
    store.add_campaign(signed)
    expires = datetime.now(UTC) + timedelta(hours=1)
    token = store.add_token("demo", ["read", "analyze", "publish"], expires)
    ingest_key = collector_key = store.add_ingest_key(name)
    if relay is not None:
        ingest_key = relay.start(str(key.public), collector_key)
    (folder / "devices").mkdir(exist_ok=True)
    given = TakingPart(str(folder / "devices"), document, str(key.public), ingest_key)
    return _Asked(signed, Analyst(base, token), given, collector_key)


def _mechanism() -> Mechanism:
    """Return the mechanism, with names that a page can show."""
    plain = PartitionResponse(EPSILON, bounds=BOUNDS, n_clusters=N_CLUSTERS).to_dict()
    return load_mechanism({**plain, "columns": len(COLUMNS), "names": list(COLUMNS)})


def _first_report(
    asked: _Asked, record: Floats, relay: DemoRelay | None
) -> tuple[Device, Seen | None]:
    """Send the first report; where it goes to a relay, note what it is to whoever it passes."""
    wire = Wiretap()
    device = asked.given.open_device(FIRST, transport=wire)
    device.join(asked.given.document)
    report = device.report(record).report
    if relay is None:
        return device, None
    stored = stored_by_relay(relay.database, wire.body)
    return device, Seen(record.tolist(), report, wire.body, stored)


def _try_wrong(asked: _Asked, record: Floats) -> list[Refusal]:
    return try_wrong_reports(
        asked.analyst,
        asked.signed,
        record,
        collector_key=asked.collector_key,
        relay_key=asked.given.ingest_key,
    )


def _visited(
    page: BrowserDevice | None, problem: str | None
) -> tuple[PageVisit | None, str | None]:
    """Let the page find its cluster, unless it has failed before."""
    if page is None or problem is not None:
        return None, problem
    found = page.find_cluster()
    return (None, found) if isinstance(found, str) else (found, None)


class _Clock:
    """How long each step took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._start = time.monotonic()

    def lap(self, step: str) -> None:
        now = time.monotonic()
        self.laps[step], self._start = now - self._start, now
