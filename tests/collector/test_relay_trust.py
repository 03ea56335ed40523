"""What results of shuffled batches promise: no more than is proven, and with its conditions."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.campaigns import shuffled_campaign, signed_campaign
from helpers.collected import MECHANISMS, two_groups
from shoal.collector.analysis import queue_analysis, run_job
from shoal.collector.relay_trust import Assumed, shuffled_promise
from shoal.collector.store import BatchTotals, OpenedBatch, Store, Submission
from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace, PartitionResponse, load_mechanism
from shoal.privacy import Guarantee, Release

NAMES = (f"shuffled-{number}" for number in itertools.count())
SQUARE = ([0.0, 0.0], [1.0, 1.0])
ASKED = {"n_clusters": 2, "n_init": 1, "honest_share": 0.9}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("batches") / "reports.db"
    with Store.open(f"sqlite:///{path}") as opened:
        yield opened


def collect_batches(store, sizes, **changed):
    """Add a shuffled campaign with batches of which so many reports were kept."""
    signed = shuffled_campaign(next(NAMES), **changed)
    store.add_campaign(signed)
    campaign = signed.campaign
    mechanism = load_mechanism(campaign.mechanism.to_dict()).set_params(random_state=0)
    records = two_groups(mechanism, sum(sizes))
    encoded = campaign.report_format.encode(np.asarray(mechanism.fit_transform(records)))
    width = campaign.report_format.width
    reports = [encoded[start : start + width] for start in range(0, len(encoded), width)]
    numbered = enumerate(reports)
    for number, size in enumerate(sizes, 1):
        opened = [(f"{place}".encode(), one) for place, one in itertools.islice(numbered, size)]
        store.append_batch(campaign.id, number, OpenedBatch(f"{number:064}", opened, n_invalid=1))
    return signed


def analyzed(store, signed, **parameters):
    """Return the release of an analysis."""
    asked = {**ASKED, **parameters}
    version = queue_analysis(store, signed.campaign.id, parameters=asked, seed=1)
    job = store.analysis(signed.campaign.id, version)
    return Release.from_json(run_job(store, job).to_json())


def test_both_promises_stand_side_by_side(store):
    mechanism = MECHANISMS["partitions"]
    signed = collect_batches(store, [400, 300], mechanism=mechanism, batch_size=401)
    release = analyzed(store, signed)
    assert release.guarantee == signed.campaign.guarantee == mechanism.guarantee_
    promise = release.values["collection"]["shuffled"]
    expected = mechanism.shuffled(270, 1e-6)
    assert Guarantee.from_dict(promise["guarantee"]) == expected
    assert (promise["batches"], promise["fewest_kept"], promise["honest_reports"]) == (2, 300, 270)
    assert promise["dropped"] == {"unopened": 0, "invalid": 2, "repeated": 0}
    assert promise["assumed"] == {"honest_share": 0.9, "delta": 1e-6}
    text = promise["text"]
    for part in (
        "and delta = 1e-06",
        "at least 270 reports of every batch of 401",
        "the university of X",
        "does not collude with the analyst",
        "nobody can count them",
        f"Without any trust: {signed.campaign.guarantee}",
    ):
        assert part in text
    about = release.values["collection"]
    assert about["parameters"]["honest_share"] == 0.9


def test_fewer_reports_of_a_later_document_change_nothing(store):
    """Reports may have come under the earlier one, with more of them."""
    campaign = {"mechanism": MECHANISMS["partitions"], "batch_size": 401}
    signed = collect_batches(store, [400], reports_per_device=2, **campaign)
    store.add_campaign(shuffled_campaign(signed.campaign.id, revision=2, **campaign))
    release = analyzed(store, signed)
    assert release.guarantee == signed.campaign.guarantee
    promise = Guarantee.from_dict(release.values["collection"]["shuffled"]["guarantee"])
    assert promise.local_epsilon == signed.campaign.guarantee.epsilon


SHUFFLED = shuffled_campaign(batch_size=1000).campaign
TOTALS = BatchTotals(3, 2_990, 4, 5, 1, 990)


def promised(share=1.0, *, campaign=SHUFFLED, batches=TOTALS, n_reports=None, delta=1e-6):
    n_reports = batches.n_reports if n_reports is None else n_reports
    return shuffled_promise(campaign, batches, n_reports, Assumed(share, delta))


def test_the_fewest_kept_and_the_assumed_share_decide():
    shares = [1.0, 0.9, 0.5, 0.1]
    found = [promised(share) for share in shares]
    assert [one["honest_reports"] for one in found] == [990, 891, 495, 99]
    epsilons = [one["guarantee"]["epsilon"] for one in found]
    assert epsilons == sorted(epsilons)
    assert epsilons[0] == SHUFFLED.mechanism.shuffled(990, 1e-6).epsilon
    assert promised(delta=1e-9)["guarantee"]["epsilon"] > epsilons[0]


def test_the_sentence_claims_no_smaller_epsilon_than_was_proven():
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3):
        found = promised(share)
        written = float(found["text"].split("epsilon = ")[1].split()[0])
        assert 0 <= written / found["guarantee"]["epsilon"] - 1 < 1e-3
        assert f"e^{written:g}, plus" in found["text"]


def test_reports_of_a_device_add_up():
    found = promised(campaign=replace(SHUFFLED, reports_per_device=2))
    two = SHUFFLED.mechanism.shuffled(990, 1e-6, reports_per_device=2)
    assert Guarantee.from_dict(found["guarantee"]) == two
    assert two.epsilon > 2 * SHUFFLED.mechanism.shuffled(990, 1e-6).epsilon
    assert "all 2 records that a device reported on" in found["text"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"share": 0.0}, "of no report it is assumed"),
        ({"share": 0.001}, "of no report it is assumed"),
        ({"share": 0.0011}, "a crowd of 1 hides no report of local epsilon = 1"),
        ({"batches": TOTALS._replace(fewest=0)}, "of no report it is assumed"),
        ({"n_reports": 2_991}, "some reports were stored without the shuffler"),
        (
            {"campaign": replace(SHUFFLED, mechanism=Laplace(30.0, bounds=SQUARE))},
            "a crowd of 990 hides no report",
        ),
    ],
)
def test_nothing_is_claimed_where_nothing_is_gained(change, reason):
    found = promised(**change)
    assert found["guarantee"] is None
    assert found["text"].startswith("nothing is claimed for the shuffler: ")
    assert reason in found["text"]
    assert str(change.get("campaign", SHUFFLED).guarantee) in found["text"]


def test_a_metric_mechanism_is_amplified_over_its_box():
    campaign = replace(SHUFFLED, mechanism=Laplace(1.0, bounds=SQUARE))
    found = promised(campaign=campaign)
    assert found["guarantee"]["local_epsilon"] == pytest.approx(2**0.5)
    assert found["guarantee"]["epsilon"] < 2**0.5
    assert "metric privacy with epsilon = 1" in found["text"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "honest_share must be given for shuffled reports"),
        ({"honest_share": None}, "honest_share must be given"),
        ({"honest_share": 1.01}, "honest_share must be from 0 to 1"),
        ({"honest_share": -0.1}, "honest_share must be"),
        ({"honest_share": True}, "honest_share must be"),
        ({"honest_share": "0.9"}, "honest_share must be"),
        ({"honest_share": float("nan")}, "honest_share must be"),
        ({"honest_share": 0.9, "delta": 0.0}, "delta must be"),
        ({"honest_share": 0.9, "delta": 1.0}, "delta must be"),
        ({"honest_share": 0.9, "delta": 1e-200}, "delta must be at least"),
        ({"honest_share": 0.9, "n_honest": 3}, "parameters of noise-aware must be of"),
        ([], "parameters must be names and values"),
    ],
)
def test_bad_assumptions_are_refused_before_anything_is_queued(store, asked, message):
    signed = collect_batches(store, [5])
    with pytest.raises(ParameterError, match=message):
        queue_analysis(store, signed.campaign.id, parameters=asked)
    assert store.analyses(signed.campaign.id) == []


def test_a_plain_campaign_takes_no_assumptions(store):
    signed = signed_campaign(next(NAMES))
    store.add_campaign(signed)
    store.append([Submission(signed.campaign.id, b"a key of a device", b"\x07\x01", 1)])
    with pytest.raises(ParameterError, match="honest_share and delta must be left out"):
        queue_analysis(store, signed.campaign.id, parameters={"honest_share": 0.9, "delta": 1e-6})


def test_the_release_is_the_same_bytes_again(store):
    signed = collect_batches(store, [60], mechanism=PartitionResponse(2.0, bounds=SQUARE))
    version = queue_analysis(store, signed.campaign.id, parameters=ASKED, seed=3)
    job = store.analysis(signed.campaign.id, version)
    first = run_job(store, job).to_json()
    store.append_batch(signed.campaign.id, 2, OpenedBatch("f" * 64, [(b"later", b"\x00\x00")]))
    assert run_job(store, job).to_json() == first
    assert json.loads(first)["values"]["collection"]["shuffled"]["fewest_kept"] == 60
