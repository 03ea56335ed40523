"""One writer for all who wait: few commits, every answer after its commit, errors to everyone."""

import asyncio
import threading

import pytest

from helpers.submissions import submission
from shoal.collector.store import GroupCommit, Outcome, Store, StoreUnavailableError
from shoal.exceptions import ParameterError, StoreError

STORED, DUPLICATE, CONFLICT, OVER_LIMIT = Outcome


class SlowStore:
    """A store whose commits wait until they are let through, and that counts them."""

    def __init__(self, store):
        self._store = store
        self.groups = []
        self.started = threading.Event()
        self.let_through = threading.Event()
        self.errors = []

    def check_submission(self, one):
        self._store.check_submission(one)

    def append(self, group):
        self.groups.append(len(group))
        self.started.set()
        assert self.let_through.wait(60)
        if self.errors:
            raise self.errors.pop()
        return self._store.append(group)


@pytest.fixture
def slow(store):
    return SlowStore(store)


async def one_is_written(slow, writer, first):
    """Submit one, and return when the writer is busy with it."""
    task = asyncio.create_task(writer.submit(first))
    while not slow.started.is_set():
        await asyncio.sleep(0.001)
    return task


async def others_wait(writer, group):
    """Submit more while the writer is busy, and return when all of them wait."""
    tasks = [asyncio.create_task(writer.submit(one)) for one in group]
    await asyncio.sleep(0)
    assert writer.n_waiting == len(group)
    return tasks


def test_all_that_wait_are_one_group(slow, store, campaign):
    async def run():
        async with GroupCommit(slow) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, [submission(campaign, n) for n in range(1, 300)])
            slow.let_through.set()
            return await asyncio.gather(first, *tasks)

    assert asyncio.run(run()) == [STORED] * 300
    assert slow.groups == [1, 299]
    assert store.count(campaign) == 1200


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [({"group_submissions": 4}, [1, 4, 4, 2]), ({"group_bytes": 30}, [1, 3, 3, 3, 1])],
)
def test_groups_are_bounded(slow, campaign, limits, sizes):
    async def run():
        async with GroupCommit(slow, **limits) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, [submission(campaign, n) for n in range(1, 11)])
            slow.let_through.set()
            return await asyncio.gather(first, *tasks)

    assert asyncio.run(run()) == [STORED] * 11
    assert slow.groups == sizes


def test_a_submission_larger_than_a_group_is_stored_alone(slow, store, campaign):
    async def run():
        slow.let_through.set()
        async with GroupCommit(slow, group_bytes=8, waiting_bytes=8) as writer:
            return await writer.submit(submission(campaign, 0, n_reports=50))

    assert asyncio.run(run()) is STORED
    assert store.count(campaign) == 50


def test_one_key_twice_in_a_group(slow, store, campaign):
    async def run():
        async with GroupCommit(slow) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            same, other = submission(campaign, 1), submission(campaign, 1, body=b"\0" * 8)
            tasks = await others_wait(writer, [same, same, other, submission(campaign, 2)])
            slow.let_through.set()
            return await asyncio.gather(first, *tasks)

    assert asyncio.run(run()) == [STORED, STORED, DUPLICATE, CONFLICT, STORED]
    assert store.count(campaign) == 12


def test_an_answer_comes_after_its_commit(store, campaign):
    """Whoever is answered finds the report from a connection of its own."""
    url = store._database.url.render_as_string(hide_password=False)

    async def run():
        with Store.open(url) as other:
            async with GroupCommit(store) as writer:
                for number in range(5):
                    assert await writer.submit(submission(campaign, number)) is STORED
                    assert other.count(campaign) == 4 * (number + 1)

    asyncio.run(run())


def test_a_group_that_fails_is_answered_and_can_be_sent_again(slow, store, campaign):
    group = [submission(campaign, number) for number in range(1, 20)]

    async def run():
        async with GroupCommit(slow) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, group)
            slow.errors = [StoreUnavailableError("full", retry_after=30)]
            slow.let_through.set()
            with pytest.raises(StoreUnavailableError, match="full"):
                await first
            assert await asyncio.gather(*tasks) == [STORED] * 19
            slow.errors = [StoreUnavailableError("full", retry_after=30)]
            answers = await asyncio.gather(
                *(writer.submit(one) for one in group), return_exceptions=True
            )
            assert [error.retry_after for error in answers] == [30] * 19
            assert len({id(error) for error in answers}) == 19
            again = (writer.submit(one) for one in [submission(campaign, 0), *group])
            return await asyncio.gather(*again)

    assert asyncio.run(run()) == [STORED] + [DUPLICATE] * 19
    assert store.count(campaign) == 80


def test_a_commit_whose_answer_was_lost_is_not_stored_twice(store, campaign, monkeypatch):
    """The commit takes place, then the connection breaks."""
    dialect = store._database._engine.dialect
    commit = dialect.do_commit

    def commit_and_break(connection):
        commit(connection)
        raise dialect.loaded_dbapi.OperationalError("server closed the connection unexpectedly")

    async def run():
        group = [submission(campaign, number) for number in range(5)]
        async with GroupCommit(store) as writer:
            with monkeypatch.context() as broken:
                broken.setattr(dialect, "do_commit", commit_and_break)
                answers = await asyncio.gather(*map(writer.submit, group), return_exceptions=True)
            assert {type(answer) for answer in answers} == {StoreUnavailableError}
            assert "server closed" not in str(answers[0])
            return await asyncio.gather(*map(writer.submit, group))

    assert set(asyncio.run(run())) <= {STORED, DUPLICATE}
    assert store.count(campaign) == 20
    assert len(b"".join(store.blocks(campaign))) == 40


@pytest.mark.parametrize("limits", [{"waiting_submissions": 3}, {"waiting_bytes": 24}])
def test_too_many_that_wait_are_refused_at_once(slow, store, campaign, limits):
    async def run():
        async with GroupCommit(slow, **limits) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, [submission(campaign, n) for n in (1, 2, 3)])
            with pytest.raises(StoreUnavailableError, match="3 submissions wait") as refused:
                await writer.submit(submission(campaign, 4))
            assert refused.value.retry_after >= 1
            slow.let_through.set()
            await asyncio.gather(first, *tasks)
            assert await writer.submit(submission(campaign, 4)) is STORED

    asyncio.run(run())
    assert store.count(campaign) == 20


def test_stopping_stores_all_that_waits_and_takes_no_more(slow, store, campaign):
    async def run():
        writer = GroupCommit(slow, group_submissions=2).start()
        assert writer.is_running
        first = await one_is_written(slow, writer, submission(campaign, 0))
        tasks = await others_wait(writer, [submission(campaign, n) for n in range(1, 8)])
        stopped = asyncio.create_task(asyncio.to_thread(writer.stop))
        while writer.is_running:
            await asyncio.sleep(0.001)
        with pytest.raises(StoreUnavailableError, match="its writer has ended"):
            await writer.submit(submission(campaign, 9))
        slow.let_through.set()
        await stopped
        return await asyncio.gather(first, *tasks)

    assert asyncio.run(run()) == [STORED] * 8
    assert store.count(campaign) == 32


def test_whoever_gives_up_does_not_harm_the_others(slow, store, campaign):
    """The first is being written when it gives up; the second still waits and is left out."""

    async def run():
        async with GroupCommit(slow) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, [submission(campaign, n) for n in (1, 2, 3)])
            first.cancel()
            tasks[0].cancel()
            await asyncio.sleep(0)
            slow.let_through.set()
            assert await asyncio.gather(*tasks[1:]) == [STORED, STORED]
            again = [submission(campaign, n) for n in (0, 1)]
            return [await writer.submit(one) for one in again]

    assert asyncio.run(run()) == [DUPLICATE, STORED]
    assert slow.groups[:2] == [1, 2]
    assert store.count(campaign) == 16


def test_a_database_that_came_back_with_other_settings_does_not_end_the_writer(
    slow, store, campaign
):
    async def run():
        async with GroupCommit(slow) as writer:
            slow.let_through.set()
            slow.errors = [StoreError("fsync must be on, got off")]
            with pytest.raises(StoreUnavailableError, match="cannot be used as it is") as refused:
                await writer.submit(submission(campaign, 0))
            assert refused.value.retry_after >= 10
            assert writer.is_running
            assert await writer.submit(submission(campaign, 0)) is STORED

    asyncio.run(run())
    assert store.count(campaign) == 4


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_that_nobody_foresaw_leaves_nobody_waiting(slow, store, campaign):
    async def run():
        async with GroupCommit(slow) as writer:
            first = await one_is_written(slow, writer, submission(campaign, 0))
            tasks = await others_wait(writer, [submission(campaign, n) for n in (1, 2, 3)])
            slow.errors = [RuntimeError("a bug")]
            slow.let_through.set()
            answers = await asyncio.gather(first, *tasks, return_exceptions=True)
            assert {type(answer) for answer in answers} == {StoreUnavailableError}
            assert not writer.is_running
            with pytest.raises(StoreUnavailableError):
                await writer.submit(submission(campaign, 9))

    asyncio.run(run())
    assert store.count(campaign) == 0


def test_a_broken_submission_is_refused_before_it_waits(store, campaign):
    async def run():
        async with GroupCommit(store) as writer:
            with pytest.raises(ParameterError, match="body must hold"):
                await writer.submit(submission(campaign, 0)._replace(n_reports=3))
            with pytest.raises(StoreError, match="no campaign 'nowhere'"):
                await writer.submit(submission("nowhere", 0))
            assert await writer.submit(submission(campaign, 0)) is STORED

    asyncio.run(run())
