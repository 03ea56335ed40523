"""A campaign's document: strict, signed over its exact bytes, and never weaker than before."""

import base64
import contextlib
import copy
import json
import re
import stat
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from shoal.campaigns import (
    Campaign,
    PublicKey,
    SealingKey,
    Shuffler,
    SigningKey,
    open_campaign,
    sign_campaign,
)
from shoal.campaigns.keys import SMALL_ORDER
from shoal.exceptions import CampaignError, ParameterError
from shoal.mechanisms import KdLaplace, Laplace, PartitionResponse, Piecewise, PlanarLaplace
from shoal.schema import Category, Number, Schema

BOX = ([0.0, 0.0], [1.0, 1.0])
SCHEMA = Schema(
    [Number("age", minimum=0, maximum=100), Category("city", categories=["A", "B", "C"])]
)
KEY = SigningKey(bytes(range(32)))


def campaign(**changed):
    return Campaign(
        **{
            "id": "homes",
            "title": "Where people live",
            "purpose": "Plan bus lines.",
            "mechanism": PartitionResponse(1.0, bounds=BOX),
            "closes": datetime(2030, 1, 1, tzinfo=UTC),
            "reports_url": "https://example.org/v1/campaigns/homes/reports",
            "results_url": "https://example.org/v1/campaigns/homes/results",
            **changed,
        }
    )


def changed_payload(envelope, change):
    """Return an envelope whose document was changed, with the old signature."""
    plain = json.loads(envelope)
    document = json.loads(base64.b64decode(plain["payload"]))
    change(document)
    plain["payload"] = base64.b64encode(json.dumps(document).encode()).decode()
    return json.dumps(plain).encode()


@pytest.mark.parametrize(
    "mechanism",
    [
        PartitionResponse(1.0, bounds=BOX, n_clusters=8),
        PartitionResponse(2.0, schema=SCHEMA),
        Piecewise(2.0, schema=SCHEMA, columns="sample"),
        Laplace(level=1.0, radius=0.1, bounds=BOX),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_a_document_holds_all_that_client_and_server_need(mechanism):
    written = campaign(mechanism=mechanism, reports_per_device=3, origins=("https://a.example",))
    signed = open_campaign(sign_campaign(written, KEY), str(KEY.public))
    assert signed.campaign == written
    assert signed.campaign.report_format == mechanism.report_format()
    assert signed.campaign.guarantee.epsilon == 3 * mechanism.guarantee_.epsilon
    report = signed.campaign.mechanism.randomize(
        [0.2, 0.7] if mechanism.schema is None else SOMEONE
    )
    assert len(mechanism.encode(report)) == written.to_dict()["report_format"]["bytes"]


SOMEONE = {"age": 30, "city": "B"}


def test_the_signature_is_of_the_exact_bytes_by_another_implementation_of_dsse():
    plain = json.loads(sign_campaign(campaign(), KEY))
    payload = base64.b64decode(plain["payload"])
    kind = "application/vnd.shoal.campaign+json"
    message = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    signature = base64.b64decode(plain["signatures"][0]["sig"])
    assert plain["payloadType"] == kind
    assert KEY.public.verify(signature, message)
    assert not KEY.public.verify(signature, message[:-1] + b" ")


def test_every_bit_of_the_document_counts():
    plain = json.loads(sign_campaign(campaign(), KEY))
    payload = base64.b64decode(plain["payload"])
    for position in range(0, len(payload), 97):
        turned = bytearray(payload)
        turned[position] ^= 1
        forged = {**plain, "payload": base64.b64encode(bytes(turned)).decode()}
        with pytest.raises(CampaignError, match="signed by"):
            open_campaign(json.dumps(forged).encode(), KEY.public)


def test_a_document_of_another_signer_or_with_a_weaker_epsilon_is_refused():
    envelope = sign_campaign(campaign(), KEY)
    with pytest.raises(CampaignError, match="signed by"):
        open_campaign(envelope, SigningKey.new().public)
    # The name of the key in the envelope decides nothing.
    forged = json.loads(sign_campaign(campaign(), SigningKey.new()))
    forged["signatures"][0]["keyid"] = str(KEY.public)
    with pytest.raises(CampaignError, match="signed by"):
        open_campaign(json.dumps(forged).encode(), KEY.public)

    def weaken(document):
        document["mechanism"]["parameters"]["epsilon"] = 50.0

    with pytest.raises(CampaignError, match="signed by"):
        open_campaign(changed_payload(envelope, weaken), KEY.public)


@pytest.mark.parametrize(
    "envelope",
    [b"", b"{}", b"[]", b"null", b"\xff", b'{"payload": 1, "payloadType": 2, "signatures": 3}'],
)
def test_what_is_no_envelope_is_refused_in_one_line(envelope):
    with pytest.raises(CampaignError, match="a campaign must be the signed document") as error:
        open_campaign(envelope, KEY.public)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.replace('"payload":', '"payload": "AAAA", "payload":').encode(),
        lambda text: re.sub("[AQgw]==", lambda sig: chr(ord(sig[0][0]) + 1) + "==", text).encode(),
        lambda text: text.encode() + b"{}",
    ],
    ids=["other letters", "two payloads", "bits beyond the end", "more text"],
)
def test_an_envelope_has_one_text(written):
    envelope = sign_campaign(campaign(), KEY).decode()
    with pytest.raises(CampaignError, match="a campaign must be the signed document"):
        open_campaign(written(envelope), KEY.public)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"more": 1},
        {"mechanism": None},
        {"closes": "2030-01-01"},
        {"closes": "2030-1-1T0:0:0Z"},
        {"mechanism": {**campaign().to_dict()["mechanism"], "mechanism": []}},
        {"guarantee_text": "no privacy loss at all"},
        {"report_format": {"bytes": 100}},
        {"reports_per_device": 2},  # without the promise that follows from it
    ],
    ids=str,
)
def test_a_document_is_read_strictly_also_when_it_is_signed(change):
    plain = {**campaign().to_dict(), **change}
    with pytest.raises(ParameterError):
        Campaign.from_dict(plain)


def signed_text(change):
    """Return a document that its author wrote by hand, signed as it is."""
    plain = campaign().to_dict()
    change(plain["mechanism"])
    payload = json.dumps(plain).replace('"beyond"', "1e400").encode()
    return sign_campaign(SimpleNamespace(to_bytes=lambda: payload), KEY)


@pytest.mark.parametrize(
    "change",
    [
        lambda mechanism: mechanism["parameters"]["bounds"][1].append([2.0]),
        lambda mechanism: mechanism["parameters"].update(bounds=[[0.0, [[]]], [1.0, 1.0]]),
        lambda mechanism: mechanism["parameters"].update(first_partition="device"),
        lambda mechanism: mechanism["parameters"].update(first_partition=1e22),
        lambda mechanism: mechanism["parameters"].update(first_partition="beyond"),
        lambda mechanism: mechanism["guarantee"].update(epsilon="beyond"),
    ],
)
def test_a_signed_document_of_odd_values_is_refused_as_any_other(change):
    """Not by an error of numpy, which nobody who fetches a document waits for."""
    with pytest.raises(CampaignError, match="a campaign must be the signed document") as error:
        open_campaign(signed_text(change), KEY.public)
    assert "\n" not in str(error.value)


def test_names_of_columns_cannot_drive_a_terminal():
    plain = campaign(mechanism=Piecewise(1.0, bounds=BOX)).to_dict()
    plain["mechanism"].update(columns=2, names=["east", "\x1b[2Jnorth"])
    with pytest.raises(ParameterError, match="names must have no control characters"):
        Campaign.from_dict(plain)


def test_a_seed_or_ledger_has_no_place_in_a_document():
    plain = campaign().to_dict()
    plain["mechanism"]["parameters"]["random_state"] = 0
    with pytest.raises(ParameterError, match="random_state"):
        Campaign.from_dict(plain)
    with pytest.raises(ParameterError, match="random_state"):
        campaign(mechanism=PartitionResponse(1.0, bounds=BOX, random_state=0))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"mechanism": PartitionResponse(1.5, bounds=BOX)}, "epsilon of a report"),
        ({"reports_per_device": 2}, "epsilon of all reports"),
        ({"mechanism": Laplace(1.0, bounds=BOX)}, "its promise is metric"),
        ({"mechanism": PartitionResponse(1.0, bounds=([0.0], [1.0]))}, "another record"),
        ({"mechanism": PartitionResponse(1.0, schema=SCHEMA)}, "another record"),
        ({"mechanism": PartitionResponse(0.5, bounds=BOX)}, "come from another mechanism"),
        ({"mechanism": Piecewise(1.0, bounds=BOX)}, "come from another mechanism"),
        ({"device_ids": True}, "a number of the device"),
        ({"purpose": "Sell it."}, "another purpose"),
        ({"unit": "person"}, "that of a person"),
        ({"id": "jobs"}, "another campaign"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_weaker_document_is_known_as_one(change, reason):
    earlier, later = campaign(), campaign(**change, revision=2)
    assert any(reason in one for one in later.weaker_than(earlier))


def test_the_slack_of_metric_reports_adds_up_and_is_compared():
    planar = campaign(mechanism=PlanarLaplace(0.5, bounds=BOX), reports_per_device=3)
    one = planar.mechanism.guarantee_.slack
    assert one > 0
    assert planar.guarantee.slack == 3 * one
    wide = PlanarLaplace(0.5, bounds=([0.0, 0.0], [2.0, 2.0]))
    wider = campaign(mechanism=wide, reports_per_device=3, revision=2)
    reasons = " ".join(wider.weaker_than(planar))
    assert "slack of a report" in reasons
    assert "slack of all reports" in reasons


@pytest.mark.parametrize("times", [None, 0.0, 0.5, 2.0])
def test_a_slack_that_is_not_the_mechanisms_is_refused(times):
    plain = campaign(mechanism=PlanarLaplace(0.5, bounds=BOX)).to_dict()
    Campaign.from_dict(plain)
    for promises in ([plain["mechanism"]], [plain], [plain, plain["mechanism"]]):
        lied = copy.deepcopy(plain)
        for promise in promises:
            held = lied["guarantee"] if promise is plain else lied["mechanism"]["guarantee"]
            slack = held.pop("slack")
            if times is not None:
                held["slack"] = times * slack
        if times == 2.0 and len(promises) == 2:
            assert Campaign.from_dict(lied).guarantee.slack == 2 * plain["guarantee"]["slack"]
            continue  # a promise that is weaker than the mechanism's is kept
        with pytest.raises(ParameterError):
            Campaign.from_dict(lied)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Piecewise(1, bounds=BOX), Piecewise(1.0, bounds=BOX)),
        (Piecewise(1.0, bounds=BOX), Piecewise(1.0, bounds=([-0.0, 0.0], [1.0, 1.0]))),
        (Laplace(level=1, radius=2, bounds=BOX), Laplace(level=1.0, radius=2.0, bounds=BOX)),
    ],
    ids=["1.0 for 1", "-0.0 for 0.0", "level"],
)
def test_equal_numbers_in_another_writing_are_another_mechanism(before, after):
    """Devices find the report of a value by the text of its mechanism, and would draw again."""
    earlier, later = campaign(mechanism=before), campaign(mechanism=after, revision=2)
    assert later.weaker_than(earlier) == ("its reports come from another mechanism",)
    assert earlier.mechanism_digest == campaign(mechanism=before, revision=2).mechanism_digest


def test_a_document_that_asks_for_no_more_may_follow():
    earlier = campaign(reports_per_device=2, device_ids=True)
    later = campaign(
        revision=2,
        title="Where people live, 2030",
        closes=datetime(2031, 1, 1, tzinfo=UTC),
        reports_per_device=1,
        device_ids=False,
    )
    assert later.weaker_than(earlier) == ()
    assert earlier.weaker_than(earlier) == ()


def test_an_older_or_silently_changed_revision_is_refused():
    old, new = campaign(), campaign(revision=2)
    assert any("older" in reason for reason in old.weaker_than(new))
    other = campaign(closes=datetime(2040, 1, 1, tzinfo=UTC))
    assert any("something else before" in reason for reason in other.weaker_than(old))


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "Homes"},
        {"id": "../homes"},
        {"title": ""},
        {"purpose": "a\x1b[2J"},
        {"reports_url": "http://example.org/reports"},
        {"results_url": "https://user@example.org/"},
        {"results_url": "https://:password@example.org/"},
        {"reports_url": " https://example.org/"},
        {"reports_url": "https://example.org/r\u00e9ports"},
        {"unit": "row"},
        {"reports_per_device": 0},
        {"reports_per_device": 10**7},
        {"revision": 0},
        {"device_ids": 1},
        {"origins": ("https://a.example/page",)},
        {"origins": ("*",)},
        {"closes": datetime(2030, 1, 1)},
        {"mechanism": PartitionResponse(1.0, bounds=(0.0, 1.0))},
        {"mechanism": KdLaplace(1.0, bounds=BOX)},
        {"mechanism": Piecewise(1.0, bounds=([1e15, 0.0], [1e15 + 1, 1.0]))},
        {"mechanism": None},
    ],
    ids=str,
)
def test_a_wrong_field_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))) as error:
        campaign(**wrong)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), "1", None])
def test_a_wrong_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        campaign(mechanism=PartitionResponse(epsilon, bounds=BOX))


def test_a_campaign_closes_at_its_time_in_any_zone():
    east = timezone(timedelta(hours=2))
    closing = campaign(closes=datetime(2030, 1, 1, 2, tzinfo=east))
    assert closing.closes == datetime(2030, 1, 1, tzinfo=UTC)
    assert closing.is_open(datetime(2029, 12, 31, 23, 59, tzinfo=UTC))
    assert not closing.is_open(closing.closes)


def test_a_mechanism_that_is_changed_later_does_not_change_the_document():
    mechanism = PartitionResponse(1.0, bounds=BOX)
    written = campaign(mechanism=mechanism)
    mechanism.set_params(epsilon=9.0)
    assert written.guarantee.epsilon == 1.0
    assert replace(written, revision=2).guarantee.epsilon == 1.0


def test_a_key_is_kept_from_others_and_never_replaced(tmp_path):
    path = tmp_path / "signing.pem"
    KEY.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load(path).public == KEY.public
    with pytest.raises(ParameterError, match="must not exist"):
        SigningKey.new().save(path)
    assert "0001" not in repr(KEY)
    (tmp_path / "other").write_text("no key")
    with pytest.raises(CampaignError, match="Ed25519"):
        SigningKey.load(tmp_path / "other")


def test_of_two_keys_at_the_same_moment_one_is_kept(tmp_path):
    """A document that is signed with a key that was replaced can never be revised."""
    path, saved, together = tmp_path / "signing.pem", [], threading.Barrier(4)

    def save():
        key = SigningKey.new()
        together.wait()
        with contextlib.suppress(ParameterError):
            key.save(path)
            saved.append(key.public)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert saved == [SigningKey.load(path).public]


@pytest.mark.parametrize("sign", [0, 0x80])
def test_a_key_that_anybody_can_sign_for_is_refused(sign):
    """Of zeros, as in an example: 64 zeros are a signature of every fourth text."""
    for point in SMALL_ORDER:
        with pytest.raises(ParameterError, match="that somebody owns, got a placeholder"):
            PublicKey(point[:-1] + bytes([point[-1] | sign]))
    with pytest.raises(ParameterError, match="public key"):
        PublicKey.from_text("ed25519:" + "A" * 43)


@pytest.mark.parametrize("text", ["", "ed25519:", "rsa:AAAA", "ed25519:" + "A" * 44, 3])
def test_a_public_key_has_one_text(text):
    with pytest.raises(ParameterError, match="public key"):
        PublicKey.from_text(text)


SHUFFLER = Shuffler("the university of X", 100, str(SealingKey(bytes(range(32))).public))


def test_a_shuffler_is_part_of_the_document():
    one = campaign(shuffler=SHUFFLER)
    assert Campaign.from_bytes(one.to_bytes()) == one
    assert one.body_bytes == one.report_format.width + 48
    assert campaign().body_bytes == campaign().report_format.width
    with pytest.raises(ParameterError, match="device_ids must be False"):
        campaign(shuffler=SHUFFLER, device_ids=True)
    with pytest.raises(ParameterError, match="shuffler must be a Shuffler"):
        campaign(shuffler=SHUFFLER.to_dict())
    plain = {**one.to_dict(), "shuffler": {"operator": "X"}}
    with pytest.raises(ParameterError, match="shuffler must have the fields"):
        Campaign.from_dict(plain)


@pytest.mark.parametrize(
    "changed",
    [
        None,
        replace(SHUFFLER, batch_size=99),
        replace(SHUFFLER, batch_size=101),
        replace(SHUFFLER, operator="the analyst"),
        replace(SHUFFLER, key=str(SealingKey(bytes(32)).public)),
    ],
)
def test_a_device_follows_no_other_shuffler(changed):
    earlier = campaign(shuffler=SHUFFLER)
    assert replace(earlier, revision=2).weaker_than(earlier) == ()
    (reason,) = replace(earlier, revision=2, shuffler=changed).weaker_than(earlier)
    assert "shuffled" in reason
    if changed is None:
        assert earlier.weaker_than(campaign())[-1].startswith("its reports are shuffled by others")


def test_a_device_follows_a_shuffler_nowhere_else_and_into_no_open_batches():
    earlier = campaign(shuffler=SHUFFLER)
    later = replace(earlier, revision=2, reports_url="https://us.example/reports")
    assert later.weaker_than(earlier) == (
        "its reports go elsewhere, not to the relay that was agreed to",
    )
    later = replace(earlier, revision=2, open_intake=True)
    assert later.weaker_than(earlier) == ("anybody may fill its batches, without a key",)
    assert replace(earlier, revision=3).weaker_than(later) == ()
    plain = campaign()
    moved = replace(plain, revision=2, reports_url="https://us.example/r", open_intake=True)
    assert moved.weaker_than(plain) == (), "without a relay, the collector sees all wherever it is"
