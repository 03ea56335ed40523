"""The page of a collection from end to end: picture, tables, what was stored and refused."""

from pathlib import Path

import numpy as np

from shoal._numbers import rounded_up
from shoal.experiments.collector_demo import CollectorDemo, PageDevice
from shoal.experiments.collector_rows import N_CLUSTERS, SIDE
from shoal.experiments.provenance import Provenance
from shoal.experiments.report import Report
from shoal.experiments.shuffled_part import ShuffledPart
from shoal.plotting import Picture

__all__ = [
    "CENTER_HEADINGS",
    "PROMISE_HEADINGS",
    "ROW_HEADINGS",
    "batch_lines",
    "center_cells",
    "collector_report",
    "demo_verdict",
    "page_lines",
    "promise_cells",
    "row_cells",
    "stored_lines",
]

#: Column headings of the table of :func:`center_cells`.
CENTER_HEADINGS = ("true east (km)", "north", "published east (km)", "north", "distance (km)")
SEEN_HEADINGS = ("", "the device", "the relay", "the analyst")
#: Column headings of the table of :func:`promise_cells`.
PROMISE_HEADINGS = ("who must be trusted", "epsilon", "delta", "honest reports in a batch")
#: Column headings of the table of :func:`row_cells`.
ROW_HEADINGS = ("reports", "better than blind", "epsilon", "cost", "AMI")


def collector_report(
    path: Path, demo: CollectorDemo, *, picture: Picture, made: Provenance
) -> Path:
    """Write the result of a collection as an HTML report.

    Parameters
    ----------
    path : Path
        File to write.
    demo : CollectorDemo
        The result of the collection.
    picture : Picture
        Chart from :func:`shoal.plotting.draw_collection`.
    made : Provenance
        Command and seed of the collection.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    Of a collection with four devices, which :func:`run_collector_demo` would have run.

    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from shoal.campaigns import Campaign
    >>> from shoal.experiments import CollectorDemo, EpsilonRow, Provenance, collector_report
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.plotting import draw_collection
    >>> campaign = Campaign(
    ...     id="homes",
    ...     title="Where people live",
    ...     purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [10.0, 10.0])),
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
    ...     centers=centers,
    ...     reports=np.zeros((4, 2)),
    ...     labels=np.array([0, 0, 1, 1]),
    ...     rows=(EpsilonRow(1.0, "collected from the devices", 1.25, 0.875, informative=True),),
    ...     refusals=(),
    ...     seconds={"reports": 1.5},
    ... )
    >>> made = Provenance("shoal collect demo", None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "page.html")
    ...     collector_report(page, run, picture=draw_collection(run), made=made).name
    'page.html'
    """
    report = Report("A collection from end to end")
    report.lead(_lead(demo))
    report.verdict(demo_verdict(demo), bad=not demo.collected.informative)
    report.picture(picture, says="Records, reports, and published centers beside the true ones")
    if demo.shuffled is not None:
        _add_shuffled(report, demo, demo.shuffled)
    if demo.page is not None:
        _add_page(report, demo, demo.page)
    report.section("Centers beside the truth")
    report.table(CENTER_HEADINGS, center_cells(demo), text=0)
    report.section("What epsilon buys with this many devices")
    report.table(ROW_HEADINGS, row_cells(demo), text=2)
    report.text(
        "Cost is that of the centers on the true records; 1 is k-means without privacy. AMI is the "
        "adjusted mutual information between the labels that devices find and the true clusters. "
        "Better than blind: held-out reports can tell the estimate from evenly spread records. A "
        "small epsilon needs more devices: shoal plan --model local says how many."
    )
    report.section("What was stored")
    report.points(stored_lines(demo))
    report.section("What was tried and refused")
    report.points(f"{one.tried}: {one.answer}" for one in demo.refusals)
    report.section("What is promised" + ("" if demo.shuffled is None else " without any trust"))
    report.text(f"To each {demo.campaign.unit}, for all its reports: {demo.campaign.guarantee}.")
    report.text(
        "The limit of one report is kept by the devices. A server cannot check it, and it cannot "
        "check that a report was drawn as the document says: devices that lie can move centers."
    )
    report.section("Times")
    report.points(f"{step}: {seconds:.1f} s" for step, seconds in demo.seconds.items())
    return report.provenance(made).write(path)


def _lead(demo: CollectorDemo) -> str:
    shuffled, page = demo.shuffled, demo.page
    one = "" if page is None or page.visit is None else ", one of them a web page in a browser"
    way = "to a real server with a database"
    if shuffled is not None:
        way = (
            "to a real relay, sealed so that the relay cannot read it; the relay shuffled full "
            "batches and passed them on to a real server with a database"
        )
    return (
        f"{len(demo.records):,} devices, all on this machine{one}, each with one made-up home in a "
        f"box of {SIDE:g} x {SIDE:g} km. Each reported once over HTTP {way}; an analyst asked for "
        f"{N_CLUSTERS} clusters and published them; each device fetched the result and found its "
        "own cluster. Records and true centers are known here only because they are made up."
    )


def _add_shuffled(report: Report, demo: CollectorDemo, shuffled: ShuffledPart) -> None:
    """Add who sees what, with bytes of this run, and what the relay adds to the promise."""
    report.section("Who sees what: one report on its way")
    report.table(SEEN_HEADINGS, seen_cells(demo, shuffled), text=len(SEEN_HEADINGS))
    report.section("What the relay adds to the promise")
    report.table(PROMISE_HEADINGS, promise_cells(demo, shuffled), text=1)
    report.text(f"With trust in the relay: {shuffled.promise['text']}.")
    report.section("Batches")
    report.points(batch_lines(shuffled))


def _add_page(report: Report, demo: CollectorDemo, page: PageDevice) -> None:
    """Add what the page in the browser did and showed."""
    report.section("The device that is a web page")
    report.points(page_lines(demo, page))
    if page.visit is not None and page.visit.screenshot is not None:
        says = "The web component in the browser, after it found its cluster (the home is made up)"
        report.image(page.visit.screenshot, says=says)


def seen_cells(demo: CollectorDemo, shuffled: ShuffledPart) -> list[list[str]]:
    """Return what device, relay and analyst see of one report, as text with bytes of this run."""
    seen, size = shuffled.seen, shuffled.promise["batch_size"]
    width = demo.campaign.report_format.width
    record = ", ".join(f"{number:.3f}" for number in seen.record)
    opened = [_hex(one) for one in shuffled.opened]
    return [
        ["record", f"{record} (made up)", "nothing", "nothing"],
        [
            "report",
            f"{width} bytes: {_hex(seen.report)}",
            "nothing: it is sealed to the analyst's key",
            f"one of {size:,} in a batch, in the order of their bytes, not of arrival: "
            f"{', '.join(opened)}, ...",
        ],
        [
            "sealed report",
            f"{len(seen.sent)} bytes: {_hex(seen.sent)}",
            f"the same {len(seen.stored['body'])} bytes: {_hex(seen.stored['body'])}",
            "opened, and not stored",
        ],
        [
            "kept beside it",
            "the report, so that it is the same when sent again",
            f"a hash of its key: {_hex(seen.stored['key'])}, and one of key and bytes: "
            f"{_hex(seen.stored['tag'])}; the sealed report is forgotten with its batch",
            "a hash of the one-time key that it was sealed with",
        ],
        ["address", "its own", "while connected; never stored", "that of the relay"],
        ["time", "its own", "while connected; never stored", "when the batch came"],
        [
            "own cluster",
            f"the center in line {demo.labels[0] + 1} of the table of centers",
            "nothing",
            "nothing; that somebody fetches the results, as everybody may",
        ],
    ]


def promise_cells(demo: CollectorDemo, shuffled: ShuffledPart) -> list[list[str]]:
    """Return the local and the amplified guarantee as rows of text.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shoal.experiments import ShuffledPart, promise_cells
    >>> from shoal.experiments.shuffled_part import Seen
    >>> from shoal.privacy import Guarantee
    >>> run = SimpleNamespace(campaign=SimpleNamespace(guarantee=Guarantee("local", epsilon=4.0)))
    >>> promise = {"guarantee": None, "honest_reports": 450, "batch_size": 500}
    >>> shuffled = ShuffledPart(2, 5, promise, Seen([2.0, 3.0], b"", b"", {}), [])
    >>> promise_cells(run, shuffled)[0]
    ['nobody: relay, analyst and all others may collude', '4', '0', '-']
    """
    local, claim = demo.campaign.guarantee, shuffled.promise
    shown = local if shuffled.amplified is None else shuffled.amplified
    return [
        [
            "nobody: relay, analyst and all others may collude",
            rounded_up(local.epsilon, 3),
            "0",
            "-",
        ],
        [
            "the relay, and enough honest devices in each batch",
            rounded_up(shown.epsilon, 3),
            rounded_up(shown.delta),
            f"{claim['honest_reports']:,} of {claim['batch_size']:,}",
        ],
    ]


def batch_lines(shuffled: ShuffledPart) -> list[str]:
    """Return sentences on what the relay did with the reports.

    Examples
    --------
    >>> from shoal.experiments import ShuffledPart, batch_lines
    >>> from shoal.experiments.shuffled_part import Seen
    >>> promise = {"batch_size": 500, "operator": "a relay", "dropped": {"damaged": 1}}
    >>> shuffled = ShuffledPart(2, 5, promise, Seen([2.0, 3.0], b"", b"", {}), [])
    >>> batch_lines(shuffled)[0]
    '2 batches of 500 reports, shuffled by a relay; 1 of them could not be used'
    """
    claim = shuffled.promise
    dropped = sum(claim["dropped"].values())
    return [
        f"{shuffled.n_batches} batches of {claim['batch_size']:,} reports, shuffled by "
        f"{claim['operator']}; {dropped:,} of them could not be used",
        f"{shuffled.n_waiting:,} more wait at the relay for a full batch: none is forwarded early, "
        "and what fills none is deleted when the campaign closes; it is in no result, and its "
        "devices find their clusters all the same",
    ]


def page_lines(demo: CollectorDemo, page: PageDevice) -> list[str]:
    """Return sentences on what the web page showed, beside the truth.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shoal.experiments import PageDevice, page_lines
    >>> page = PageDevice(visit=None, problem="no browser was found", expected=2)
    >>> page_lines(SimpleNamespace(), page)
    ['left out: no browser was found; a device in Python reported in its place']
    """
    visit = page.visit
    if visit is None:
        return [f"left out: {page.problem}; a device in Python reported in its place"]
    label, cluster = int(demo.labels[-1]), int(demo.clusters[-1])
    east, north = visit.record
    return [
        f"typed in: {east:g}, {north:g}, a made-up home; sent, sealed: {_hex(visit.report)}",
        f"shown in the browser: {visit.label}; a device in Python finds "
        f"{'the same' if page.agrees else 'another'}",
        f"its center is in line {label + 1} of the table of centers; the home's true cluster is "
        f"in {'the same line' if label == cluster else f'line {cluster + 1}'}",
    ]


def _hex(data: bytes) -> str:
    """Return bytes as groups of letters that a narrow column can break."""
    return data.hex(" ", 4)


def demo_verdict(demo: CollectorDemo) -> str:
    """Return the main result of the collection in one sentence.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from shoal.experiments import EpsilonRow, demo_verdict
    >>> row = EpsilonRow(0.1, "collected", cost=5.0, agreement=0.1, informative=False)
    >>> run = SimpleNamespace(collected=row, distances=np.array([5.0]), reports=range(24))
    >>> demo_verdict(run).partition(",")[0]
    '24 reports at epsilon 0.1 cannot be told from those of evenly spread records'
    """
    row, far = demo.collected, demo.distances
    if not row.informative:
        return (
            f"{len(demo.reports):,} reports at epsilon {rounded_up(row.epsilon)} cannot be told "
            "from those "
            "of evenly spread records, and the release says so: ask more devices."
        )
    return (
        f"Published centers lie {np.median(far):.2f} km from the true ones (median; largest "
        f"{far.max():.2f} km) at {row.cost:.2f} times the cost of k-means without privacy. AMI of "
        f"the labels that devices found and the true clusters: {row.agreement:.3f}."
    )


def center_cells(demo: CollectorDemo) -> list[list[str]]:
    """Return true and published centers as rows of text.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from shoal.experiments import center_cells
    >>> true, found = np.array([[1.0, 1.0]]), np.array([[4.0, 5.0]])
    >>> run = SimpleNamespace(true_centers=true, centers=found, distances=np.array([5.0]))
    >>> center_cells(run)
    [['1.00', '1.00', '4.00', '5.00', '5.00']]
    """
    every = np.column_stack([demo.true_centers, demo.centers, demo.distances])
    return [[f"{number:.2f}" for number in line] for line in every]


def row_cells(demo: CollectorDemo) -> list[list[str]]:
    """Return the results for each epsilon as rows of text.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shoal.experiments import EpsilonRow, row_cells
    >>> row = EpsilonRow(4.0, "collected", cost=1.25, agreement=0.875, informative=True)
    >>> row_cells(SimpleNamespace(rows=(row,)))
    [['collected', 'yes', '4', '1.25', '0.875']]
    """
    return [
        [
            row.source,
            ("yes" if row.informative else "no") if row.has_reports else "-",
            rounded_up(row.epsilon) if row.has_reports else "-",
            f"{row.cost:.2f}",
            f"{row.agreement:.3f}",
        ]
        for row in demo.rows
    ]


def stored_lines(demo: CollectorDemo) -> list[str]:
    """Return sentences on what the server stores.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shoal.experiments import stored_lines
    >>> campaign = SimpleNamespace(report_format=SimpleNamespace(width=2))
    >>> run = SimpleNamespace(reports=range(4), campaign=campaign, shuffled=None, digest="ab" * 32)
    >>> stored_lines(run)[0].partition(",")[0]
    '4 reports of 2 bytes: 8 bytes of reports in 4 rows'
    """
    n, width, shuffled = len(demo.reports), demo.campaign.report_format.width, demo.shuffled
    bytes_of_reports = f"{n:,} reports of {width} bytes: {n * width:,} bytes of reports in"
    if shuffled is None:
        rows = f"{n:,} rows, each with a keyed hash of its idempotency key"
        order = "rows lie in the order of that hash"
    else:
        rows = f"{shuffled.n_batches} rows, one for each batch, and a keyed hash of each seal"
        order = "the reports of a batch lie in the order of their bytes"
    return [
        f"{bytes_of_reports} {rows}",
        f"no record, no identifier of a device, no address, no time of arrival; {order}",
        f"the signed document that all of them answer, digest {demo.digest[:16]}...",
    ]
