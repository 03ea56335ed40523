"""Analyses: jobs that workers claim, their results by version, and what was published of them.

A worker holds a job by a lease that it renews while it works. When a worker dies, its lease ends
and another takes the job; should the first one come back, its result is refused.
"""

import enum
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, update

from shoal.collector.store._base import StoreBase
from shoal.collector.store.models import analyses, campaigns, documents, publications, snapshots
from shoal.collector.store.reading import Snapshot
from shoal.exceptions import ParameterError, StoreError

__all__ = ["Analysis", "AnalysisState", "AnalysisStore", "Publication"]

LEASE_SECONDS = 60
MAX_ATTEMPTS = 3  # a job that ends its worker this often will end the next one, too

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class AnalysisState(enum.Enum):
    """Where a job is.

    Examples
    --------
    >>> AnalysisState("done").is_finished
    True
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"

    @property
    def is_finished(self) -> bool:
        """Whether it will not change any more."""
        return self in {AnalysisState.DONE, AnalysisState.FAILED}


@dataclass(frozen=True)
class Analysis:
    """One analysis of a campaign: what was asked, and what came of it.

    Parameters
    ----------
    campaign : str
        Id of the campaign.
    version : int
        Counts up from 1 in each campaign.
    document : str
        Digest of the campaign's document that it answers.
    method : str
        Name of the method.
    parameters : dict
        Its parameters, as JSON knows them.
    seed : int or None
        Of the method's own randomness.
    snapshot : Snapshot
        The reports it reads.
    state : AnalysisState
        Where it is.
    created : datetime
        When it was asked for.
    finished : datetime or None
        When it was done or failed.
    attempts : int
        How many workers have claimed it.
    release : str or None
        The result, as the worker wrote it.
    error : str or None
        Why it failed, in one line.
    lease : str or None
        Proof of the worker that holds it.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> asked = Analysis(
    ...     "homes", 1, "0" * 64, "noise-aware", {"n_clusters": 3}, 0, Snapshot(1, 0, "0" * 64),
    ...     AnalysisState.QUEUED, datetime(2030, 1, 1, tzinfo=UTC),
    ... )
    >>> asked.state.is_finished
    False
    """

    campaign: str
    version: int
    document: str
    method: str
    parameters: dict[str, Json]
    seed: int | None
    snapshot: Snapshot
    state: AnalysisState
    created: datetime
    finished: datetime | None = None
    attempts: int = 0
    release: str | None = None
    error: str | None = None
    lease: str | None = None


@dataclass(frozen=True)
class Publication:
    """A result that was published, with the document that it answers.

    Parameters
    ----------
    analysis : Analysis
        The result.
    published : datetime
        When it was published last.
    envelope : bytes
        The signed document of the campaign that the reports were sent under.

    See Also
    --------
    Analysis : With an example.
    """

    analysis: Analysis
    published: datetime
    envelope: bytes


class AnalysisStore(StoreBase):
    """The part of the store that holds analyses: jobs and their results."""

    def add_analysis(
        self,
        campaign: str,
        method: str,
        parameters: Mapping[str, Json],
        seed: int | None,
        snapshot: Snapshot,
    ) -> int:
        """Queue an analysis, and return its version.

        Parameters
        ----------
        campaign : str
            Identifier of the campaign.
        method : str
            Name of the method.
        parameters : mapping
            Parameters of the method, as JSON values.
        seed : int or None
            Seed of the method.
        snapshot : Snapshot
            Reports to read, from ``ReportReader.snapshot``.

        Returns
        -------
        version : int
            1 for the first of the campaign.
        """
        number = self._campaign_key(campaign).number
        text = json.dumps(dict(parameters), allow_nan=False, sort_keys=True)
        with self._database.write() as connection:
            # Whoever asks at the same time waits here, so no version is given twice.
            connection.execute(
                select(campaigns.c.number).where(campaigns.c.number == number).with_for_update()
            )
            of_campaign = analyses.c.campaign == number
            latest = connection.scalar(select(func.max(analyses.c.version)).where(of_campaign))
            version = (latest or 0) + 1
            connection.execute(
                insert(analyses).values(
                    campaign=number,
                    version=version,
                    revision=select(func.max(documents.c.revision))
                    .where(documents.c.campaign == number)
                    .scalar_subquery(),
                    method=method,
                    parameters=text,
                    seed=seed,
                    epoch=snapshot.last,
                    state=AnalysisState.QUEUED.value,
                    created=self._now(),
                    attempts=0,
                )
            )
        return version

    def claim_analysis(self, lease: int = LEASE_SECONDS) -> Analysis | None:
        """Claim the oldest job that no worker holds, for a number of seconds.

        Parameters
        ----------
        lease : int, default=60
            Number of seconds; renew the lease by :meth:`renew_analysis` well before it ends.

        Returns
        -------
        analysis : Analysis or None
            The job, with the `lease` that is needed to finish it; None if there is none.
        """
        now = self._now()
        free = or_(
            analyses.c.state == AnalysisState.QUEUED.value,
            and_(
                analyses.c.state == AnalysisState.RUNNING.value,
                analyses.c.lease_ends <= now,
            ),
        )
        oldest = (
            select(analyses.c.number, analyses.c.attempts)
            .where(free)
            .order_by(analyses.c.number)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        with self._database.write() as connection:
            while (job := connection.execute(oldest).one_or_none()) is not None:
                this = update(analyses).where(analyses.c.number == job.number)
                if job.attempts < MAX_ATTEMPTS:
                    connection.execute(
                        this.values(
                            state=AnalysisState.RUNNING.value,
                            attempts=job.attempts + 1,
                            lease=secrets.token_hex(16),
                            lease_ends=now + lease,
                        )
                    )
                    return _one(connection, analyses.c.number == job.number)
                connection.execute(
                    this.values(
                        state=AnalysisState.FAILED.value,
                        finished=now,
                        lease=None,
                        error=f"{job.attempts} workers ended before it was done",
                    )
                )
        return None

    def renew_analysis(self, analysis: Analysis, lease: int = LEASE_SECONDS) -> bool:
        """Renew the lease of a job; if False, another worker has it, and this one must stop."""
        return self._change(analysis, lease_ends=self._now() + lease)

    def finish_analysis(
        self, analysis: Analysis, *, release: str | None = None, error: str | None = None
    ) -> bool:
        """Store the result of a claimed job, or the reason why there is none.

        Parameters
        ----------
        analysis : Analysis
            The job, as returned by :meth:`claim_analysis`.
        release : str or None, default=None
            Result, as JSON.
        error : str or None, default=None
            Error message, in one line and without values of reports.

        Returns
        -------
        kept : bool
            False if the lease had ended and another worker has the job: nothing was stored.
        """
        if (release is None) == (error is None):
            raise ParameterError("finish_analysis needs either release or error")
        state = AnalysisState.FAILED if release is None else AnalysisState.DONE
        return self._change(
            analysis,
            state=state.value,
            finished=self._now(),
            release=release,
            error=error,
            lease=None,
            lease_ends=None,
        )

    def analysis(self, campaign: str, version: int) -> Analysis | None:
        """Return the analysis of a version, or None if there is none."""
        number = self._campaign_key(campaign).number
        chosen = and_(analyses.c.campaign == number, analyses.c.version == version)
        with self._database.read() as connection:
            return _one(connection, chosen)

    def analyses(self, campaign: str) -> list[Analysis]:
        """Return all analyses of a campaign, oldest first."""
        number = self._campaign_key(campaign).number
        with self._database.read() as connection:
            rows = connection.execute(_ANALYSES.where(analyses.c.campaign == number))
            return [_analysis(row) for row in rows]

    def publish(self, campaign: str, version: int) -> None:
        """Publish a finished analysis; earlier publications are kept."""
        found = self.analysis(campaign, version)
        if found is None or found.state is not AnalysisState.DONE:
            state = "not there" if found is None else found.state.value
            raise StoreError(
                f"only an analysis that is done can be published: version {version} of "
                f"{campaign!r} is {state}"
            )
        number = self._campaign_key(campaign).number
        row = {"campaign": number, "version": version, "published": self._now()}
        with self._database.write() as connection:
            connection.execute(insert(publications), row)

    def published(self, campaign: str, version: int | None = None) -> Publication | None:
        """Return the last publication, or that of a version; None if it was never published."""
        number = self._campaign_key(campaign).number
        chosen = select(publications).where(publications.c.campaign == number)
        if version is not None:
            chosen = chosen.where(publications.c.version == version)
        with self._database.read() as connection:
            row = connection.execute(
                chosen.order_by(publications.c.number.desc()).limit(1)
            ).one_or_none()
            if row is None:
                return None
            of_version = and_(analyses.c.campaign == number, analyses.c.version == row.version)
            found = _one(connection, of_version)
            envelope = connection.scalar(
                select(documents.c.envelope)
                .join(
                    analyses,
                    and_(
                        analyses.c.campaign == documents.c.campaign,
                        analyses.c.revision == documents.c.revision,
                    ),
                )
                .where(of_version)
            )
        if found is None or envelope is None:
            return None
        return Publication(found, datetime.fromtimestamp(row.published, UTC), envelope)

    def publications(self, campaign: str) -> list[tuple[int, datetime]]:
        """Return versions and times of all publications, oldest first."""
        number = self._campaign_key(campaign).number
        chosen = select(publications).where(publications.c.campaign == number)
        with self._database.read() as connection:
            rows = connection.execute(chosen.order_by(publications.c.number)).all()
        return [(row.version, datetime.fromtimestamp(row.published, UTC)) for row in rows]

    def _change(self, analysis: Analysis, **values: str | int | None) -> bool:
        """Change a job that this worker still holds."""
        number = self._campaign_key(analysis.campaign).number
        held = and_(
            analyses.c.campaign == number,
            analyses.c.version == analysis.version,
            analyses.c.state == AnalysisState.RUNNING.value,
            analyses.c.lease == analysis.lease,
        )
        with self._database.write() as connection:
            return connection.execute(update(analyses).where(held).values(**values)).rowcount == 1


_ANALYSES = (
    select(
        analyses,
        campaigns.c.id.label("campaign_id"),
        documents.c.digest.label("document"),
        snapshots.c.n_reports.label("n_reports"),
        snapshots.c.digest.label("snapshot_digest"),
    )
    .join(campaigns, campaigns.c.number == analyses.c.campaign)
    .join(
        documents,
        and_(
            documents.c.campaign == analyses.c.campaign,
            documents.c.revision == analyses.c.revision,
        ),
    )
    .join(
        snapshots,
        and_(snapshots.c.campaign == analyses.c.campaign, snapshots.c.epoch == analyses.c.epoch),
    )
    .order_by(analyses.c.number)
)


def _one(connection: Connection, chosen: ColumnElement[bool]) -> Analysis | None:
    """Return the one analysis that is chosen, or None."""
    row = connection.execute(_ANALYSES.where(chosen)).one_or_none()
    return None if row is None else _analysis(row)


def _analysis(row: Row[Any]) -> Analysis:
    """Return an analysis as it is stored."""
    finished = row.finished
    return Analysis(
        campaign=row.campaign_id,
        version=row.version,
        document=row.document,
        method=row.method,
        parameters=json.loads(row.parameters),
        seed=row.seed,
        snapshot=Snapshot(row.epoch, row.n_reports, row.snapshot_digest),
        state=AnalysisState(row.state),
        created=datetime.fromtimestamp(row.created, UTC),
        finished=None if finished is None else datetime.fromtimestamp(finished, UTC),
        attempts=row.attempts,
        release=row.release,
        error=row.error,
        lease=row.lease,
    )
