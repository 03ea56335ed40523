"""Jobs: claimed once, claimed again when a worker died, versions and publications kept."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from helpers.campaigns import signed_campaign
from helpers.submissions import submission
from shoal.collector.store import AnalysisState, Store
from shoal.exceptions import ParameterError, StoreError

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is moved."""

    time = NOW

    def __call__(self):
        return self.time

    def pass_by(self, seconds):
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def timed(store, clock):
    """Return a store of the same database whose time is that of the test; no job is left in it."""
    own = Store(store._database, clock)
    clock.pass_by(1000)  # all leases of other tests are over
    while (job := own.claim_analysis()) is not None:
        own.finish_analysis(job, error="of another test")
    clock.time = NOW
    return own


def add(store, campaign, **parameters):
    store.append([submission(campaign, len(store.analyses(campaign)))])
    return store.add_analysis(campaign, "noise-aware", parameters, 7, store.snapshot(campaign))


def test_an_analysis_from_the_queue_to_its_publication(timed, campaign, clock):
    version = add(timed, campaign, n_clusters=3, levels=[0.5, None])
    asked = timed.analysis(campaign, version)
    assert (version, asked.state, asked.attempts) == (1, AnalysisState.QUEUED, 0)
    assert asked.parameters == {"n_clusters": 3, "levels": [0.5, None]}
    assert (asked.method, asked.seed, asked.created) == ("noise-aware", 7, NOW)
    assert asked.document == timed.campaign(campaign).digest
    assert asked.snapshot == timed.snapshot(campaign)
    claimed = timed.claim_analysis()
    assert (claimed.campaign, claimed.version) == (campaign, 1)
    assert timed.analysis(campaign, 1).state is AnalysisState.RUNNING
    assert timed.claim_analysis() is None
    with pytest.raises(StoreError, match=r"version 1 of .* is running"):
        timed.publish(campaign, 1)
    clock.pass_by(5)
    assert timed.finish_analysis(claimed, release='{"centers": []}')
    done = timed.analysis(campaign, 1)
    assert (done.state, done.release) == (AnalysisState.DONE, '{"centers": []}')
    assert done.finished == NOW + timedelta(seconds=5)
    assert timed.published(campaign) is None
    timed.publish(campaign, 1)
    published = timed.published(campaign)
    assert published.analysis == done
    assert published.envelope == timed.campaign(campaign).envelope


def test_versions_count_up_in_each_campaign(timed, campaign, counted):
    assert [add(timed, campaign) for _ in range(3)] == [1, 2, 3]
    assert [analysis.version for analysis in timed.analyses(campaign)] == [1, 2, 3]
    assert timed.analyses(counted) == []
    assert timed.analysis(campaign, 4) is None


def test_jobs_are_taken_in_order_and_failures_are_kept(timed, campaign):
    for _ in range(2):
        add(timed, campaign)
    first, second = timed.claim_analysis(), timed.claim_analysis()
    assert (first.version, second.version) == (1, 2)
    assert timed.finish_analysis(first, error="too few reports")
    failed = timed.analysis(campaign, 1)
    assert (failed.state, failed.error, failed.release) == (
        AnalysisState.FAILED,
        "too few reports",
        None,
    )
    with pytest.raises(StoreError, match="is failed"):
        timed.publish(campaign, 1)
    with pytest.raises(StoreError, match="is not there"):
        timed.publish(campaign, 9)
    with pytest.raises(ParameterError, match="either release or error"):
        timed.finish_analysis(second)


def test_a_job_of_a_dead_worker_is_claimed_again(timed, campaign, clock):
    add(timed, campaign)
    dead = timed.claim_analysis(lease=60)
    clock.pass_by(50)
    assert timed.renew_analysis(dead, lease=60)
    clock.pass_by(50)
    assert timed.claim_analysis() is None
    clock.pass_by(10)
    heir = timed.claim_analysis()
    assert (heir.version, heir.attempts) == (dead.version, 2)
    assert heir.lease != dead.lease
    # Should the first one come back, it has lost its job.
    assert not timed.renew_analysis(dead)
    assert not timed.finish_analysis(dead, release="{}")
    assert timed.finish_analysis(heir, release='{"by": "heir"}')
    assert not timed.finish_analysis(heir, release="{}")
    assert timed.analysis(campaign, 1).release == '{"by": "heir"}'


def test_a_job_that_ends_its_workers_fails(timed, campaign, clock):
    add(timed, campaign)
    for _ in range(3):
        assert timed.claim_analysis(lease=1).version == 1
        clock.pass_by(1)
    assert timed.claim_analysis() is None
    failed = timed.analysis(campaign, 1)
    assert failed.state is AnalysisState.FAILED
    assert failed.error == "3 workers ended before it was done"


def test_publications_are_kept(timed, campaign, clock):
    for number in (1, 2):
        add(timed, campaign)
        timed.finish_analysis(timed.claim_analysis(), release=f'{{"version": {number}}}')
    for version in (1, 2, 1):
        timed.publish(campaign, version)
        clock.pass_by(60)
    assert timed.published(campaign).analysis.version == 1
    assert timed.published(campaign, 2).analysis.release == '{"version": 2}'
    assert timed.published(campaign, 3) is None
    assert timed.publications(campaign) == [
        (1, NOW),
        (2, NOW + timedelta(seconds=60)),
        (1, NOW + timedelta(seconds=120)),
    ]


def test_a_result_comes_with_the_document_that_it_answers(timed, campaign):
    before = timed.campaign(campaign)
    add(timed, campaign)
    timed.add_campaign(signed_campaign(campaign, revision=2, title="Where people sleep"))
    timed.finish_analysis(timed.claim_analysis(), release="{}")
    timed.publish(campaign, 1)
    assert timed.published(campaign).envelope == before.envelope
    assert timed.published(campaign).analysis.document == before.digest
    assert timed.campaign(campaign).digest != before.digest


def test_workers_at_the_same_time_take_different_jobs(timed, campaign):
    for _ in range(6):
        add(timed, campaign)
    url = timed._database.url.render_as_string(hide_password=False)
    taken = []
    start = threading.Barrier(3)

    def work():
        with Store.open(url, clock=timed._clock) as own:
            start.wait()
            while (job := own.claim_analysis()) is not None:
                taken.append(job.version)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [1, 2, 3, 4, 5, 6]


def test_askers_at_the_same_time_get_different_versions(timed, campaign):
    snapshot = timed.snapshot(campaign)
    url = timed._database.url.render_as_string(hide_password=False)
    versions = []
    start = threading.Barrier(3)

    def ask():
        with Store.open(url) as own:
            start.wait()
            versions.extend(
                own.add_analysis(campaign, "density", {}, None, snapshot) for _ in range(4)
            )

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 13))
