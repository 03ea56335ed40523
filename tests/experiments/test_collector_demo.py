"""The page of a collection: numbers of the demo, in words and tables."""

import base64
import io
import math
import threading
import warnings
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from helpers.collector import running_collector
from shoal.campaigns import Campaign
from shoal.collector.worker import Worker
from shoal.experiments import (
    CENTER_HEADINGS,
    ROW_HEADINGS,
    CollectorDemo,
    DeviceFleet,
    EpsilonRow,
    PageDevice,
    PageVisit,
    Provenance,
    ShuffledPart,
    center_cells,
    collector_report,
    demo_verdict,
    page_lines,
    promise_cells,
    row_cells,
    run_collector_demo,
    stored_lines,
)
from shoal.experiments.collector_analyst import Refusal
from shoal.experiments.collector_rows import BOUNDS, COLLECTED, pair_centers
from shoal.experiments.shuffled_part import Seen
from shoal.mechanisms import PartitionResponse
from shoal.plotting import draw_collection
from shoal.privacy import Adjacency, Guarantee, Release
from shoal.service import EventLog

CENTERS = np.array([[1.0, 1.0], [9.0, 9.0]])


def demo(*, informative=True):
    """Return what a run with four devices might have given."""
    rows = (
        EpsilonRow(0.0, "none", 5.0, 0.5, informative=False),
        EpsilonRow(4.0, COLLECTED, 1.25, 0.875, informative=informative),
        EpsilonRow(math.inf, "plain", 1.0, 1.0, informative=True),
    )
    return CollectorDemo(
        campaign=Campaign(
            id="homes",
            title="Homes",
            purpose="A test.",
            mechanism=PartitionResponse(4.0, bounds=BOUNDS, n_clusters=2),
            closes=datetime(2099, 1, 1, tzinfo=UTC),
            reports_url="https://example.org/v1/campaigns/homes/reports",
            results_url="https://example.org/v1/campaigns/homes/results",
        ),
        digest="ab" * 32,
        records=np.repeat(CENTERS, 2, axis=0),
        clusters=np.array([0, 0, 1, 1]),
        true_centers=CENTERS,
        centers=CENTERS + np.array([3.0, 4.0]),
        reports=np.zeros((4, 2)),
        labels=np.array([0, 0, 1, 1]),
        rows=rows,
        refusals=(Refusal("A raw record", "status 422"),),
        seconds={"reports": 1.5},
    )


def test_distances_and_tables():
    one = demo()
    assert one.distances.tolist() == [5.0, 5.0]
    assert center_cells(one)[0] == ["1.00", "1.00", "4.00", "5.00", "5.00"]
    assert len(CENTER_HEADINGS) == len(center_cells(one)[0])
    blind, collected, plain = row_cells(one)
    assert collected == [COLLECTED, "yes", "4", "1.25", "0.875"]
    assert [blind[1:3], plain[1:3]] == [["-", "-"], ["-", "-"]], "without reports, no epsilon"
    assert len(ROW_HEADINGS) == len(collected)


def test_the_verdict_says_when_reports_were_too_few():
    assert "5.00 km from the true ones" in demo_verdict(demo())
    assert "0.875" in demo_verdict(demo())
    assert "cannot be told from those of evenly spread records" in demo_verdict(
        demo(informative=False)
    )


def test_the_page(tmp_path):
    one = demo(informative=False)
    made = Provenance("shoal collect demo", None, date="2026-01-31", version="1.0")
    path = collector_report(tmp_path / "report.html", one, picture=draw_collection(one), made=made)
    page = path.read_text(encoding="utf-8")
    assert 'class="verdict bad"' in page
    assert "4 reports of 2 bytes: 8 bytes of reports in 4 rows" in page
    assert "A raw record: status 422" in page
    assert str(one.campaign.guarantee) in page
    assert "reports: 1.5 s" in page
    assert stored_lines(one)[1].startswith("no record")


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """Run a collection without a relay, with a collector in this process."""
    folder = tmp_path_factory.mktemp("demo")
    steps = []
    with (
        running_collector(f"sqlite:///{folder}/reports.db") as collector,
        DeviceFleet(24) as fleet,
    ):
        worker = Worker(collector.store, log=EventLog(io.StringIO()))
        thread = threading.Thread(target=worker.run_forever)
        thread.start()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its noise has no seed
                result = run_collector_demo(
                    collector.address,
                    collector.store,
                    folder,
                    fleet=fleet,
                    n_devices=24,
                    progress=lambda *step: steps.append(step),
                )
        finally:
            worker.stop()
            thread.join()
        yield result, steps, collector.store.count("homes")


def test_a_collection_without_a_relay(collected):
    one, steps, stored = collected
    assert stored == len(one.reports) == len(one.labels) == len(one.records) == 24
    assert (one.shuffled, one.page) == (None, None)
    raw, second, again = (refusal.answer for refusal in one.refusals)
    assert raw.startswith("status 422, A report is off the lattice")
    assert "nothing was drawn" in second
    assert again == "the same bytes as before, nothing spent"
    assert steps[0] == ("reports", 24, 24)
    assert one.collected.epsilon == 4.0


def shuffled(*, guarantee=True):
    promise = {
        "operator": "somebody else",
        "batch_size": 2,
        "batches": 2,
        "dropped": {"unopened": 1, "invalid": 0, "repeated": 0},
        "honest_reports": 1,
        "guarantee": None,
        "text": "words of the release",
    }
    if guarantee:
        promise["guarantee"] = Guarantee(
            "shuffled",
            epsilon=1.5,
            delta=1e-6,
            adjacency=Adjacency.SUBSTITUTE,
            local_epsilon=4.0,
            n_reports=1,
        ).to_dict()
    seen = Seen([1.0, 2.0], b"\x01\x02", bytes(50), {"key": b"k", "tag": b"t", "body": bytes(50)})
    return ShuffledPart(2, 3, promise, seen, [b"\x00\x07", b"\x01\x02"])


def test_the_page_of_a_shuffled_collection(tmp_path):
    visit = PageVisit([9.0, 9.5], b"\xab\xcd", "Your cluster: 1 of 2", b"PNG")
    one = replace(demo(), shuffled=shuffled(), page=PageDevice(visit, None, 1))
    made = Provenance("shoal collect demo", None, date="2026-01-31", version="1.0")
    path = collector_report(tmp_path / "report.html", one, picture=draw_collection(one), made=made)
    page = path.read_text(encoding="utf-8")
    assert "one of them a web page in a browser" in page
    assert "2 bytes: 0102<" in page
    assert "0007, 0102, ..." in page
    assert "With trust in the relay: words of the release." in page
    assert "3 more wait at the relay for a full batch" in page
    assert "sent, sealed: abcd" in page
    assert "Your cluster: 1 of 2; a device in Python finds the same" in page
    assert f"base64,{base64.b64encode(b'PNG').decode()}" in page


def test_promises_side_by_side():
    gain, none = shuffled(), shuffled(guarantee=False)
    local, amplified = promise_cells(demo(), gain)
    assert local[1:] == ["4", "0", "-"]
    assert amplified[1:] == ["1.5", "1e-06", "1 of 2"]
    assert promise_cells(demo(), none)[1][1:] == ["4", "0", "1 of 2"]


def test_a_page_that_was_left_out_says_why():
    one = PageDevice(None, "the browser ended", 0)
    assert not one.agrees
    assert page_lines(demo(), one) == [
        "left out: the browser ended; a device in Python reported in its place"
    ]
    other = PageVisit([1.0, 1.0], b"", "Your cluster: 0 of 2", None)
    assert "finds another" in page_lines(demo(), PageDevice(other, None, 1))[1]


def test_centers_are_paired_with_the_nearest():
    release = Release("K", {"centers": CENTERS[::-1] + 0.1}, Guarantee("local", epsilon=1.0))
    assert pair_centers(CENTERS, release).tolist() == [1, 0]
