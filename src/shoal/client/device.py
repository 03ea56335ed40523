"""A device that takes part in campaigns: one file, one report a value, the same bytes until sent.

What is promised (proofs/reports.md, "Sent again"): a value that never changes costs epsilon once,
however often it is asked for and sent; w different values cost w epsilon. *That* a value changed
shows, for whoever knows that two reports come from one device, and is not hidden.

The order is: see that the campaign is open and the budget allows it, draw, keep, send. Nothing is
sent that is not on the disk; nothing that a server answers changes what is sent. Wherever the
device stops, it goes on with the same bytes and the same idempotency key.
"""

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from shoal.campaigns import Campaign, PublicKey
from shoal.client.agreements import TOKEN_BYTES, Agreements, Followed, check_open
from shoal.client.budget import as_limits, charge, epsilon_spent, slack_spent
from shoal.client.delivery import Retries, acknowledged, ask, refusal
from shoal.client.device_file import Agreed, DeviceFile, KeptReport, Published
from shoal.client.published import fetch_results, label_record
from shoal.client.receipts import CampaignStatus, Receipt, SentReports
from shoal.client.transport import Request, Transport, UrlTransport
from shoal.exceptions import CampaignError, DeliveryError, ParameterError
from shoal.privacy import Limits

__all__ = ["Device"]

INGEST_KEY = re.compile(r"[!-~]{1,512}")
CHANGED = 412  # the collector has another document


class Device:
    """A device that takes part in signed campaigns: it reports values and finds their clusters.

    A value is perturbed once, and the same report is sent until it arrives.

    Parameters
    ----------
    path : path-like
        File with the state of this device, created if it does not exist, readable by its owner
        only. Several processes and threads may share it. It contains no record.
    public_key : PublicKey or str, default=None
        Key with which documents of campaigns must be signed. It comes with the app and is stored in
        the file; None takes the stored one.
    ingest_key : str or mapping, default=None
        Secret that the collector requires beside a report, unless the campaign is open to all; or
        one for each campaign, by its identifier.
    epsilon_limit : float or Limits, default=None
        Largest epsilon that all campaigns together may ever spend on this device.
        ``Limits(epsilon=..., metric_epsilon=..., metric_unit=...)`` allows reports of metric
        mechanisms, which are counted separately. None allows a single campaign, with its own
        guarantee: only the app can decide what several may spend together.
    transport : Transport, default=None
        Sends requests; None is ``UrlTransport()``.
    retries : Retries, default=Retries()
        Number of attempts to reach a collector, and waiting times.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from shoal.campaigns import Campaign, SigningKey, sign_campaign
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2130, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> with TemporaryDirectory() as folder:
    ...     device = Device(Path(folder) / "device.db", public_key=key.public)
    ...     joined = device.join_envelope(sign_campaign(campaign, key))
    ...     first, again = device.draw([0.2, 0.7]), device.draw([0.2, 0.7])
    >>> first, again.report == first.report, again.duplicate
    (Receipt(campaign='homes', duplicate=False, sent=False), True, True)
    """

    def __init__(
        self,
        path: "str | os.PathLike[str]",
        *,
        public_key: PublicKey | str | None = None,
        ingest_key: str | Mapping[str, str] | None = None,
        epsilon_limit: float | Limits | None = None,
        transport: Transport | None = None,
        retries: Retries | None = None,
    ) -> None:
        pinned = PublicKey.from_text(public_key) if isinstance(public_key, str) else public_key
        self._ingest_key = _checked_keys(ingest_key)
        self._limits = as_limits(epsilon_limit)
        self._transport = UrlTransport() if transport is None else transport
        self._retries = Retries() if retries is None else retries
        self._file = DeviceFile(path, pinned)
        self._agreements = Agreements(
            self._file, self._transport, self._retries, several=self._limits is not None
        )

    def join(self, url: str) -> Campaign:
        """Fetch a campaign's document, check it, and agree to it.

        Parameters
        ----------
        url : str
            Address of the document: https, or http for localhost. It is read again when
            the collector answers that the document has changed.

        Returns
        -------
        campaign : Campaign
            The campaign that was joined: show its title, purpose and ``guarantee`` to the user.

        Raises
        ------
        CampaignError
            If the document is not signed by the stored key, the campaign is closed or of an
            unknown version, or it protects less than the one agreed to before; the message lists
            all reasons.
        DeliveryError
            If the document cannot be fetched.
        """
        return self._agreements.join(url)

    def join_envelope(self, envelope: bytes, *, url: str | None = None) -> Campaign:
        """Join a campaign whose document came with the app.

        Parameters
        ----------
        envelope : bytes
            Signed document, as written by ``shoal collect new``.
        url : str, default=None
            Address of later revisions of the document; None never looks for one.

        Returns
        -------
        campaign : Campaign
            The campaign that was joined.

        Raises
        ------
        CampaignError
            As for :meth:`join`.
        """
        return self._agreements.join_envelope(envelope, url)

    def draw(self, x: Any, *, campaign: str | None = None) -> Receipt:
        """Draw and store the report of a value, or return the stored one; nothing is sent.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record, in any form that ``campaign.mechanism.randomize`` accepts. Two records are
            the same value if they are equal in every column after clipping to the bounds: round
            them first if small differences should not count.
        campaign : str, default=None
            Identifier of the campaign; None takes the one that was joined last, or the only one.

        Returns
        -------
        receipt : Receipt
            Receipt with the bytes of the report; :meth:`send_pending` sends them.

        Raises
        ------
        BudgetExceededError
            If this value was not reported before and no report is left; nothing was drawn.
        CampaignError
            If this value was not reported before and the campaign is closed, by the clock of this
            device.
        """
        kept, duplicate = self._drawn(x, campaign)
        return _receipt(kept, duplicate=duplicate)

    def report(self, x: Any, *, campaign: str | None = None) -> Receipt:
        """Report a value: draw its report if there is none yet, and send it if it has not arrived.

        Parameters
        ----------
        x, campaign
            As for :meth:`draw`.

        Returns
        -------
        receipt : Receipt
            Receipt of a report that the collector has stored.

        Raises
        ------
        BudgetExceededError, CampaignError
            As for :meth:`draw`; CampaignError also if the collector has a new document that
            protects less.
        DeliveryError
            If the report did not arrive. It stays stored, and the next attempt sends the same.
        """
        kept, duplicate = self._drawn(x, campaign)
        if not kept.acknowledged:
            kept = self._send(kept)
        return _receipt(kept, duplicate=duplicate)

    def send_pending(self) -> SentReports:
        """Send all stored reports that have not arrived; call it from a scheduler or at the start.

        Returns
        -------
        outcome : SentReports
            Number of reports that arrived and that are still pending, with the reasons.
        """
        with self._file.transaction(write=False) as rows:
            pending = [report for report in rows.reports() if not report.acknowledged]
        reasons: dict[str, None] = {}
        unreachable: set[str] = set()
        sent = 0
        for report in pending:
            if report.campaign in unreachable:
                continue
            try:
                self._send(report)
                sent += 1
            except (DeliveryError, CampaignError) as failure:
                reasons[str(failure)] = None
                if not getattr(failure, "final", True):
                    unreachable.add(report.campaign)  # others would wait as long
        return SentReports(sent, len(pending) - sent, tuple(reasons))

    def label(self, x: Any, *, campaign: str | None = None, refresh: bool = False) -> int:
        """Find the published cluster of the true record; the label stays on the device.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record.
        campaign : str, default=None
            As for :meth:`draw`.
        refresh : bool, default=False
            Whether to look for newer results; otherwise results that were fetched before are used.

        Returns
        -------
        label : int
            Cluster of the record, from :func:`shoal.labels.label_on_device`.

        Raises
        ------
        CampaignError
            If there are no results yet, or they belong to a document that this device did not agree
            to.
        DeliveryError
            If the results cannot be fetched.
        """
        agreed = self._agreements.find(campaign)
        with self._file.transaction(write=False) as rows:
            published = rows.results(agreed.id)
        if published is None or refresh:
            published = self._fetched(agreed)
        return label_record(published, self._agreements.open(agreed).campaign, x)

    def status(self) -> tuple[CampaignStatus, ...]:
        """Return the campaigns of this device, with the epsilon spent in each.

        Returns
        -------
        status : tuple of CampaignStatus
            Status of each campaign, sorted by identifier; without records or reports.
        """
        with self._file.transaction(write=False) as rows:
            campaigns, reports = rows.campaigns(), rows.reports()
        found = []
        for agreed in campaigns:
            mine = [report for report in reports if report.campaign == agreed.id]
            arrived = sum(report.acknowledged for report in mine)
            followed = self._agreements.open(agreed)
            found.append(
                CampaignStatus(
                    replace(followed.campaign),
                    followed.digest,
                    len(mine),
                    arrived,
                    float(epsilon_spent(mine)),
                    float(slack_spent(mine)),
                )
            )
        return tuple(found)

    def __repr__(self) -> str:
        return f"Device({str(self._file.path)!r}, public_key={str(self._file.public_key)!r})"

    def __reduce__(self) -> NoReturn:
        raise ParameterError("a device must not be pickled: open its file again, it is shared")

    def _fetched(self, agreed: Agreed) -> Published:
        """Fetch results and keep them, if they answer a document that was agreed to."""
        campaign = self._agreements.open(agreed).campaign
        published = fetch_results(campaign, self._transport, self._retries)
        if not self._agreements.holds(published) and agreed.url is not None:
            self._agreements.renew(agreed)  # they may answer a later document
        if not self._agreements.holds(published):
            raise CampaignError(
                f"results of campaign {agreed.id!r} must answer a document that this device agreed "
                "to, got another: no label was made"
            )
        with self._file.transaction(write=True) as rows:
            rows.keep_results(published)
        return published

    def _drawn(self, x: Any, name: str | None) -> tuple[KeptReport, bool]:
        """Return the report of a value, and whether it was drawn before."""
        chosen = self._agreements.find(name).id
        with self._file.transaction(write=True) as rows:  # nobody else draws meanwhile
            agreed = next(one for one in rows.campaigns() if one.id == chosen)
            followed = self._agreements.open(agreed)
            campaign = followed.campaign
            value = rows.name_value(chosen, campaign.mechanism.clip_record(x).tobytes())
            kept = rows.find(chosen, followed.mechanism, value)
            if kept is not None:
                return kept, True
            check_open(campaign)
            charge(campaign, rows.reports(), self._limits)
            one = campaign.mechanism.guarantee_
            body = campaign.mechanism.encode(campaign.mechanism.randomize(x))
            shuffler = campaign.shuffler
            kept = KeptReport(
                key=secrets.token_urlsafe(TOKEN_BYTES),
                campaign=chosen,
                mechanism=followed.mechanism,
                value=value,
                body=body,
                sealed=None if shuffler is None else shuffler.seal(body, chosen),
                notion=one.notion,
                unit=one.unit,
                epsilon=float(one.epsilon),
                slack=float(one.slack),
                acknowledged=0,
            )
            rows.keep(kept)
        return kept, False

    def _send(self, kept: KeptReport) -> KeptReport:
        """Send a report that is on the disk, and note that it has arrived."""
        agreed = self._agreements.find(kept.campaign)
        followed = self._agreements.open(agreed)
        if not self._delivered(kept, agreed, followed):
            followed = self._agreements.renew(agreed)
            if not self._delivered(kept, agreed, followed):
                raise DeliveryError(
                    f"{followed.campaign.reports_url} must take the document that it was fetched "
                    "with, got status 412 again: the report is kept",
                    final=True,
                )
        with self._file.transaction(write=True) as rows:
            rows.acknowledge(kept.key)
        return kept._replace(acknowledged=1)

    def _delivered(self, kept: KeptReport, agreed: Agreed, followed: Followed) -> bool:
        """Return True once a report has arrived, False where the collector has a new document."""
        campaign = followed.campaign
        check_open(campaign)
        if followed.mechanism != kept.mechanism:
            raise DeliveryError(
                f"a report of campaign {campaign.id!r} was drawn by the mechanism of an earlier "
                "document, and means nothing to the one of today: it is kept, and not sent",
                final=True,
            )
        headers = {
            "Content-Type": "application/octet-stream",
            "Idempotency-Key": kept.key,
            "Shoal-Campaign": followed.digest,
        }
        ingest_key = self._ingest_key_of(campaign.id)
        if ingest_key is not None and not campaign.open_intake:
            headers["Authorization"] = f"Bearer {ingest_key}"
        if campaign.device_ids:
            headers["Shoal-Device"] = agreed.device_id
        body = kept.body if kept.sealed is None else kept.sealed
        request = Request("POST", campaign.reports_url, headers, body)
        answer = ask(self._transport, request, self._retries)
        if answer.status == CHANGED:
            return False
        if not acknowledged(answer):
            raise refusal(request, answer)
        return True

    def _ingest_key_of(self, campaign: str) -> str | None:
        keys = self._ingest_key
        return keys.get(campaign) if isinstance(keys, Mapping) else keys


def _checked_keys(ingest_key: str | Mapping[str, str] | None) -> str | Mapping[str, str] | None:
    """Refuse what cannot be in a header, without repeating it."""
    keys = ingest_key.values() if isinstance(ingest_key, Mapping) else [ingest_key]
    for key in keys:
        if key is not None and not (isinstance(key, str) and INGEST_KEY.fullmatch(key)):
            raise ParameterError("ingest_key must be visible letters without spaces, got another")
    return ingest_key


def _receipt(kept: KeptReport, *, duplicate: bool) -> Receipt:
    return Receipt(kept.campaign, kept.body, duplicate=duplicate, sent=bool(kept.acknowledged))
