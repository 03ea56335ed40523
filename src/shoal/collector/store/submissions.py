"""Append submissions: every key once, all of a group in one commit."""

from collections.abc import Sequence

from sqlalchemy import Connection

from shoal.collector.store._base import CampaignKey, StoreBase
from shoal.collector.store._rows import CampaignRows, open_rows
from shoal.exceptions import ParameterError
from shoal.service import Outcome, Submission

__all__ = ["SubmissionStore"]


class SubmissionStore(StoreBase):
    """The part of the store that accepts submissions of reports."""

    def check_submission(self, submission: Submission) -> None:
        """Refuse a submission that cannot be stored, before it is queued with others."""
        campaign = self._campaign_key(submission.campaign)
        length = submission.n_reports * campaign.width
        if submission.n_reports < 1 or len(submission.body) != length:
            raise ParameterError(
                f"body must hold n_reports reports of {campaign.width} bytes, got "
                f"{len(submission.body)} bytes for {submission.n_reports} reports"
            )
        if not submission.key:
            raise ParameterError("key must not be empty: pass an idempotency key")

    def append(self, group: Sequence[Submission]) -> list[Outcome]:
        """Store submissions in one transaction, and return the outcome of each.

        When it returns, all of them are on the disk. If it raises an error, none is, with one
        exception: if the connection is lost during the commit, it is unknown whether the commit
        took place. It is always right to send the same submissions again.

        Parameters
        ----------
        group : sequence of Submission
            Submissions to any campaigns. Of two with the same key, the first counts.

        Returns
        -------
        outcomes : list of Outcome
            Outcomes in the order of `group`.

        Raises
        ------
        StoreUnavailableError
            If the database is locked, full or unreachable.
        ParameterError
            If a submission is invalid; none of the group is stored.
        """
        for submission in group:
            self.check_submission(submission)
        if not group:
            return []
        try:
            with self._database.write() as connection:
                return self._append_in(connection, group, all_new=True)
        except _NotAllNewError:
            with self._database.write() as connection:
                return self._append_in(connection, group, all_new=False)

    def _append_in(
        self, connection: Connection, group: Sequence[Submission], *, all_new: bool
    ) -> list[Outcome]:
        """Append inside a transaction, campaign by campaign.

        The campaigns come in one order, or two writers would wait for each other.
        """
        parts: dict[str, list[int]] = {}
        for place, submission in enumerate(group):
            parts.setdefault(submission.campaign, []).append(place)
        outcomes = [Outcome.STORED] * len(group)
        for name in sorted(parts):
            part = _Part(
                connection,
                self._campaign_key(name, connection),
                [group[place] for place in parts[name]],
            )
            decided = part.append_new() if all_new else part.append_any()
            for place, outcome in zip(parts[name], decided, strict=True):
                outcomes[place] = outcome
        return outcomes


class _NotAllNewError(Exception):
    """Some of a group are stored already, or devices must be counted: look at each."""


class _Part:
    """The submissions of a group that are of one campaign."""

    def __init__(
        self, connection: Connection, campaign: CampaignKey, part: Sequence[Submission]
    ) -> None:
        self._rows = open_rows(connection, campaign)
        self._campaign = campaign
        self._part = part
        self._keys = [campaign.hash_key(submission.key) for submission in part]

    def append_new(self) -> list[Outcome]:
        """Store all, if all are new and nobody counts devices: two statements, the usual case."""
        n_reports = sum(submission.n_reports for submission in self._part)
        epoch, device_limit = self._rows.tally(len(self._part), n_reports)
        bodies = [submission.body for submission in self._part]
        if device_limit is not None or self._rows.insert(epoch, self._keys, bodies) < len(bodies):
            raise _NotAllNewError
        return [Outcome.STORED] * len(bodies)

    def append_any(self) -> list[Outcome]:
        """Look for every submission, and store those that are new.

        From the first statement on, writers of this campaign wait for this transaction, so what is
        found is all there is.
        """
        epoch, device_limit = self._rows.tally(0, 0)
        outcomes = self._decide(device_limit)
        new = [index for index, outcome in enumerate(outcomes) if outcome is Outcome.STORED]
        if new:
            self._rows.tally(len(new), sum(self._part[index].n_reports for index in new))
            bodies = [self._part[index].body for index in new]
            self._rows.insert(epoch, [self._keys[index] for index in new], bodies)
        return outcomes

    def _decide(self, device_limit: int | None) -> list[Outcome]:
        """Say what becomes of each submission, one after the other."""
        stored = self._rows.find(self._keys, [len(one.body) for one in self._part])
        allowance = None
        if device_limit is not None:
            allowance = _Allowance(self._rows, self._campaign, self._part, device_limit)
        new: dict[bytes, bytes] = {}
        outcomes = []
        for index, (key, submission) in enumerate(zip(self._keys, self._part, strict=True)):
            if index in stored or key in new:
                same = submission.body == stored.get(index, new.get(key))
                outcomes.append(Outcome.DUPLICATE if same else Outcome.CONFLICT)
            elif allowance is None or allowance.take(submission):
                new[key] = submission.body
                outcomes.append(Outcome.STORED)
            else:
                outcomes.append(Outcome.OVER_LIMIT)
        if allowance is not None:
            allowance.save()
        return outcomes


class _Allowance:
    """How many reports the devices of a group may still send."""

    def __init__(
        self,
        rows: CampaignRows,
        campaign: CampaignKey,
        part: Sequence[Submission],
        device_limit: int,
    ) -> None:
        self._rows = rows
        self._limit = device_limit
        self._hashes = {one.device: campaign.hash_device(one.device or b"") for one in part}
        self._counts = rows.device_counts(list(self._hashes.values()))
        self._changed: dict[bytes, int] = {}

    def take(self, submission: Submission) -> bool:
        """Count the reports of a submission for its device, if they are within its limit."""
        device = self._hashes[submission.device]
        total = self._counts.get(device, 0) + submission.n_reports
        if total > self._limit:
            return False
        self._counts[device] = self._changed[device] = total
        return True

    def save(self) -> None:
        """Store the counts that changed."""
        self._rows.set_device_counts(self._changed)
