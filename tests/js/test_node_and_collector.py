"""A device in Node and the collector as it is: over HTTP, from the document to the label."""

import json
import subprocess

import numpy as np
import pytest

from helpers.campaigns import KEY
from helpers.collector import running_collector
from helpers.javascript import CLIENT, node_or_skip
from helpers.stub_collector import BOX, HOME, WORK, make_campaign, revised
from helpers.wording import reworded
from shoal.campaigns import Campaign, SealingKey, open_campaign, sign_campaign
from shoal.mechanisms import Laplace, Piecewise
from shoal.privacy import Guarantee, Release
from shoal.schema import Category, Number, Schema


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    node_or_skip()
    path = tmp_path_factory.mktemp("collector") / "reports.db"
    with running_collector(f"sqlite:///{path}", refresh_seconds=0.01) as running:
        yield running


@pytest.fixture
def take_part(collector, tmp_path):
    """Return a function that runs a device in Node; it has the same store each time."""

    def run(name, *, ingest_key="", **job):
        job["folder"] = str(tmp_path / "device")
        job["options"] = {"publicKey": str(KEY.public), "ingestKey": ingest_key}
        job["url"] = f"{collector.address}/v1/campaigns/{name}"
        script = CLIENT / "test" / "helpers" / "takePart.js"
        command = [node_or_skip(), "--no-warnings", str(script), json.dumps(job)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def add(collector, campaign):
    signed = open_campaign(sign_campaign(campaign, KEY), KEY.public)
    collector.store.add_campaign(signed)
    return signed


def publish(collector, name, centers):
    store = collector.store
    version = store.add_analysis(name, "kmeans", {}, 0, store.snapshot(name))
    values = {"metric": "euclidean", "centers": np.array(centers)}
    release = Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0))
    store.finish_analysis(store.claim_analysis(), release=release.to_json())
    store.publish(name, version)


def test_from_the_document_to_the_label(collector, take_part):
    signed = add(
        collector,
        make_campaign(collector.address, id="homes", reports_per_device=2, device_ids=True),
    )
    first = take_part("homes", records=[HOME])
    assert first["receipts"][0]["code"] == "delivery"
    assert "check ingestKey" in first["receipts"][0]["message"]
    assert first["status"] == [{"drawn": 1, "acknowledged": 0, "digest": signed.digest}]
    key = collector.store.add_ingest_key("homes")
    again = take_part(
        "homes", ingest_key=key, records=[HOME, WORK, HOME, [0.5, 0.5]], labeled=[HOME]
    )
    *receipts, refused = again["receipts"]
    assert [receipt["duplicate"] for receipt in receipts] == [True, False, True]
    assert [receipt["sent"] for receipt in receipts] == [True] * 3
    assert refused["code"] == "budget"
    assert "no results yet" in again["labels"][0]["message"]
    assert collector.store.count("homes") == 2
    stored = b"".join(collector.store.blocks("homes"))  # in any order
    sent = sorted(receipt["report"] for receipt in receipts[:2])
    assert sorted([stored[:2].hex(), stored[2:].hex()]) == sent
    publish(collector, "homes", [WORK, HOME])
    assert take_part("homes", labeled=[HOME, WORK])["labels"] == [1, 0]


def test_mixed_records_and_sealed_bytes(collector, take_part):
    schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    mechanism = Piecewise(4.0, schema=schema)
    campaign = make_campaign(collector.address, id="mixed", mechanism=mechanism, open_intake=True)
    add(collector, campaign)
    key = SealingKey(bytes(range(7, 39)))
    sealed = {"key": str(key.public), "id": "mixed", "report": "0102ff"}
    done = take_part("mixed", records=[{"city": "B", "age": 41}], sealed=sealed)
    assert done["receipts"][0]["sent"]
    report = bytes.fromhex(done["receipts"][0]["report"])
    assert b"".join(collector.store.blocks("mixed")) == report
    assert mechanism.decode(report).shape == (1, schema.space.columns)
    assert key.open(bytes.fromhex(done["sealed"]), "mixed") == b"\x01\x02\xff"


def test_a_device_follows_a_collector_whose_guarantee_is_reworded(collector, take_part):
    mechanism = Laplace(8.0, bounds=BOX, truncate="resample")
    campaign = make_campaign(collector.address, id="words", mechanism=mechanism, open_intake=True)
    add(collector, campaign)
    first = take_part("words", records=[HOME])["receipts"]
    with reworded():
        newer = revised(Campaign.from_bytes(campaign.to_bytes()))
        signed = add(collector, newer)
    done = take_part("words", records=[HOME])
    (again,) = done["receipts"]
    assert (again["report"], again["duplicate"]) == (first[0]["report"], True)
    assert done["status"] == [{"drawn": 1, "acknowledged": 1, "digest": signed.digest}]
