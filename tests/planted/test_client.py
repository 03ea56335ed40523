"""Bugs planted in the device's code: each check that holds without them must go red."""

import secrets
from dataclasses import replace

import numpy as np
import pytest

from helpers.stub_collector import (
    BOX,
    HOME,
    OTHER_KEY,
    URL,
    WORK,
    StubCollector,
    joined,
    make_campaign,
    make_device,
    revised,
)
from shoal.campaigns import Campaign, PublicKey, SealingKey, Shuffler
from shoal.client import Request, device_file
from shoal.client import device as device_module
from shoal.client.device import Device
from shoal.client.device_file import DeviceFile, Rows
from shoal.exceptions import BudgetExceededError, CampaignError, DeliveryError
from shoal.mechanisms import Laplace, PartitionResponse


@pytest.fixture(autouse=True)
def no_disk_to_wait_for(monkeypatch):
    monkeypatch.setattr(device_file, "SYNCHRONOUS", "OFF")


SEALING_KEY = SealingKey(bytes(range(32)))
SHUFFLER = Shuffler("X", 10, str(SEALING_KEY.public))


def retries_send_the_same(path):
    collector = StubCollector(make_campaign(reports_per_device=9, shuffler=SHUFFLER))
    collector.plan = [503, OSError("gone"), 503, 503]
    for _ in range(2):
        try:
            joined(path, collector).report(HOME)
        except DeliveryError:
            continue
    assert len(collector.sent) > 3
    assert len(set(collector.sent)) == 1


def a_shuffler_gets_nothing_that_it_can_read(path):
    campaign = make_campaign(shuffler=SHUFFLER)
    collector = StubCollector(campaign)
    report = joined(path, collector).report(HOME).report
    ((_, body),) = collector.sent
    assert report not in body
    assert SEALING_KEY.open(body, campaign.id) == report


def reports_are_kept_before_they_are_sent(path):
    collector = StubCollector(make_campaign())
    found = []

    def look(request):
        with DeviceFile(path, None).transaction(write=False) as rows:
            found.extend((report.key, report.body) for report in rows.reports())
        return collector.store(request)

    collector.plan = [look]
    joined(path, collector).report(HOME)
    assert found == collector.sent


def the_budget_is_kept(path):
    collector = StubCollector(make_campaign(reports_per_device=2))
    device = joined(path, collector)
    device.report(HOME)
    device.report(WORK)
    with pytest.raises(BudgetExceededError):
        joined(path, collector).report([0.5, 0.5])


def downgrades_are_refused(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    collector.publish(revised(campaign, mechanism=PartitionResponse(9.0, bounds=BOX)))
    with pytest.raises(CampaignError):
        device.join(URL)
    device.report(HOME)
    assert device.status()[0].epsilon == 1.0


def the_file_holds_no_record(path):
    joined(path).report(HOME)
    value = np.array(HOME)
    assert value.tobytes() not in path.read_bytes()


def other_signers_are_refused(path):
    collector = StubCollector(make_campaign(), key=OTHER_KEY)
    with pytest.raises(CampaignError):
        make_device(path, collector).join(URL)


def all_reports_are_promised_with_their_slack(path):
    campaign = make_campaign(mechanism=Laplace(0.5, bounds=BOX), reports_per_device=3)
    device = joined(path, StubCollector(campaign))
    for value in (HOME, WORK):
        device.report(value)
    (status,) = device.status()
    one = campaign.mechanism.guarantee_.slack
    assert (status.slack, status.campaign.guarantee.slack) == (2 * one, 3 * one)


CHECKS = [
    all_reports_are_promised_with_their_slack,
    retries_send_the_same,
    a_shuffler_gets_nothing_that_it_can_read,
    reports_are_kept_before_they_are_sent,
    the_budget_is_kept,
    downgrades_are_refused,
    the_file_holds_no_record,
    other_signers_are_refused,
]


def fresh_report_for_every_call(monkeypatch):
    """What was kept is not found again."""
    monkeypatch.setattr(Rows, "find", lambda *anything: None)
    right = Rows.name_value
    monkeypatch.setattr(
        Rows, "name_value", lambda self, *value: right(self, *value)[:8] + secrets.token_bytes(8)
    )


def fresh_key_for_every_attempt(monkeypatch):
    right = Request

    def renamed(method, url, headers, *rest):
        return right(method, url, {**headers, "Idempotency-Key": secrets.token_hex(16)}, *rest)

    monkeypatch.setattr(device_module, "Request", renamed)


def sealed_for_every_attempt(monkeypatch):
    def sealed_again(method, url, headers, body, *rest):
        body = SHUFFLER.seal(b"ab", "homes") if method == "POST" else body
        return Request(method, url, headers, body, *rest)

    monkeypatch.setattr(device_module, "Request", sealed_again)


def not_sealed(monkeypatch):
    monkeypatch.setattr(Shuffler, "seal", lambda self, report, campaign: report + bytes(48))


def sent_before_it_is_kept(monkeypatch):
    right = Device._drawn

    def forgetful(self, x, name):
        with monkeypatch.context() as patch:
            patch.setattr(Rows, "keep", lambda *anything: None)
            return right(self, x, name)

    monkeypatch.setattr(Device, "_drawn", forgetful)


def slack_of_one_report_for_all(monkeypatch):
    right = Campaign.guarantee.fget
    monkeypatch.setattr(
        Campaign,
        "guarantee",
        property(lambda self: replace(right(self), slack=self.mechanism.guarantee_.slack)),
    )


def not_charged(monkeypatch):
    monkeypatch.setattr(device_module, "charge", lambda *anything: None)


def spent_is_forgotten(monkeypatch):
    monkeypatch.setattr(Rows, "reports", lambda self, campaign=None: [])


def downgrade_accepted(monkeypatch):
    monkeypatch.setattr(Campaign, "weaker_than", lambda self, earlier: ())


def record_in_the_file(monkeypatch):
    monkeypatch.setattr(Rows, "name_value", lambda self, campaign, value: value)


def signature_not_checked(monkeypatch):
    monkeypatch.setattr(PublicKey, "verify", lambda *anything: True)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_checks_hold(tmp_path, check):
    check(tmp_path / "device.db")


@pytest.mark.parametrize(
    ("bug", "check"),
    [
        (fresh_report_for_every_call, retries_send_the_same),
        (fresh_key_for_every_attempt, retries_send_the_same),
        (sealed_for_every_attempt, retries_send_the_same),
        (not_sealed, a_shuffler_gets_nothing_that_it_can_read),
        (sent_before_it_is_kept, reports_are_kept_before_they_are_sent),
        (slack_of_one_report_for_all, all_reports_are_promised_with_their_slack),
        (not_charged, the_budget_is_kept),
        (spent_is_forgotten, the_budget_is_kept),
        (downgrade_accepted, downgrades_are_refused),
        (record_in_the_file, the_file_holds_no_record),
        (signature_not_checked, other_signers_are_refused),
    ],
    ids=lambda one: one.__name__,
)
def test_a_planted_bug_is_noticed(tmp_path, monkeypatch, bug, check):
    bug(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(tmp_path / "device.db")
