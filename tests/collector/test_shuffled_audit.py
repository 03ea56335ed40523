"""What a collected, shuffled campaign states is not below what its batches show.

Bounds have 99.9% confidence; seeds are fixed. The analyst's view is a batch in the order in which
the relay forwards it, which the collector opens before it sorts.
"""

import numpy as np
import pytest

from helpers.campaigns import SEALING_KEY, shuffled_campaign
from shoal.audit import audit_shuffled
from shoal.collector.analysis import queue_analysis, run_job
from shoal.collector.batch_intake import open_batch, store_batch
from shoal.collector.store import Store
from shoal.mechanisms import PartitionResponse
from shoal.privacy import Guarantee

SIZE, DELTA = 10, 0.01
RECORDS = ([0.1, 0.1], [0.9, 0.9], [0.5, 0.1])  # two of the victim, and that of all others
DEVICE = PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0]), n_clusters=5)
OPTIONS = {"records": RECORDS, "samples": 5_000, "random_state": 0}


@pytest.fixture(scope="module")
def campaign():
    return shuffled_campaign("homes", batch_size=SIZE, mechanism=DEVICE).campaign


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    """Return what the result of two collected batches states, all devices assumed honest."""
    signed = shuffled_campaign("homes", batch_size=SIZE, mechanism=DEVICE)
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('audit')}/reports.db") as store:
        store.add_campaign(signed)
        for number in (1, 2):
            reports = [DEVICE.encode(DEVICE.randomize(RECORDS[2])) for _ in range(SIZE)]
            body = b"".join(SEALING_KEY.public.seal(report, "homes") for report in reports)
            store_batch(store, signed.campaign, SEALING_KEY, number, body)
        asked = {"n_clusters": 1, "n_init": 1, "honest_share": 1.0, "delta": DELTA}
        version = queue_analysis(store, "homes", parameters=asked, seed=0)
        release = run_job(store, store.analysis("homes", version))
    return Guarantee.from_dict(release.values["collection"]["shuffled"]["guarantee"])


def seen_by_the_analyst(campaign, reports):
    """Return reports as they are after sealing, forwarding in this order, and opening."""
    encoded = [DEVICE.encode(report) for report in reports]
    body = b"".join(SEALING_KEY.public.seal(report, "homes") for report in encoded)
    opened = open_batch(campaign, SEALING_KEY, body).reports
    return DEVICE.report_format().decode(b"".join(report for _, report in opened))


def test_opening_keeps_the_order_of_a_relay(campaign):
    """So the audit may leave sealing out, which costs most of its time."""
    reports = DEVICE.report_format().decode(bytes([7, 1, 3, 0, 9, 2]))
    assert np.array_equal(seen_by_the_analyst(campaign, reports), reports)


def test_batches_show_no_more_than_is_stated(stated):
    audit = audit_shuffled(DEVICE, SIZE, DELTA, **OPTIONS)
    assert 0 < audit.epsilon <= stated.epsilon < stated.local_epsilon
    assert not audit.exceeds()


def test_a_relay_that_does_not_shuffle_is_noticed(stated):
    audit = audit_shuffled(DEVICE, SIZE, DELTA, shuffler=lambda batches, rng: batches, **OPTIONS)
    assert stated.epsilon < audit.epsilon <= stated.local_epsilon


def test_a_share_that_is_not_there_is_noticed(stated):
    """Nine of ten reports that the analyst made up: what is stated for ten is too little."""

    def without_the_made_up(batches, rng):
        return batches[:, :1]

    audit = audit_shuffled(DEVICE, SIZE, DELTA, shuffler=without_the_made_up, **OPTIONS)
    assert audit.epsilon > stated.epsilon
