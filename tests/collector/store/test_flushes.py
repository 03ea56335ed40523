"""Every commit flushes the log of SQLite, and many who wait share one flush."""

import pytest

from helpers.flushes import COMMITS, WAITING, count_flushes


@pytest.fixture(scope="module")
def flushes(tmp_path_factory):
    return count_flushes(tmp_path_factory.mktemp("flushes"))


def test_every_commit_is_flushed(flushes):
    assert flushes["commits"] >= COMMITS


def test_many_who_wait_cost_few_flushes(flushes):
    """All submit before the writer's first commit ends, or soon after: a handful of groups."""
    assert 1 <= flushes["waiting"] <= WAITING // 10


def test_the_counter_sees_a_missing_flush(flushes):
    """With `synchronous=NORMAL`, which no store accepts, commits are not flushed."""
    assert flushes["planted"] < COMMITS // 2
