"""What was acknowledged is there once, whatever is killed: the writer, or PostgreSQL under it.

A killed process takes nothing with it that it has handed to the system, so this cannot notice a
missing flush of the disk: `test_flushes.py` counts those.
"""

import multiprocessing
import os
import signal
import time

import pytest

from helpers.campaigns import signed_campaign
from helpers.durability import AcknowledgedLog, check_durability, write_forever
from shoal.collector.store import Store

CAMPAIGN = "homes"
MANY = 150  # acknowledgements of a round, before something is killed
ROUNDS = [2, pytest.param(20, marks=pytest.mark.full)]
PROCESSES = multiprocessing.get_context("fork")  # a new interpreter would load for seconds
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture
def log(tmp_path):
    opened = AcknowledgedLog(tmp_path / "acknowledged")
    yield opened
    opened.close()


@pytest.fixture
def writer(database_url, tmp_path):
    """Return what starts a process that writes; whatever runs at the end is killed."""
    with Store.open(database_url) as store:
        store.add_campaign(signed_campaign(CAMPAIGN))
    started = []

    def start():
        arguments = (database_url, CAMPAIGN, tmp_path / "acknowledged")
        process = PROCESSES.Process(target=write_forever, args=arguments, daemon=True)
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()
        process.close()


def wait_for(log, number, process):
    """Wait until so many are acknowledged."""
    deadline = time.monotonic() + 60
    while len(log.numbers()) < number:
        assert process.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def check(database_url, log):
    with Store.open(database_url) as store:
        result = check_durability(store.blocks(CAMPAIGN), log)
        assert store.count(CAMPAIGN) == 4 * result.n_stored
    assert result.holds, result
    return result


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_killed_writer_loses_nothing(database_url, writer, log, rounds):
    for round_number in range(1, rounds + 1):
        process = writer()
        wait_for(log, MANY * round_number, process)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert check(database_url, log).n_acknowledged >= MANY * round_number


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_killed_database_loses_nothing(database_url, postgres, writer, log, rounds):
    """By SIGKILL of all its processes, and by SIGQUIT, which is `pg_ctl -m immediate`."""
    process = writer()
    for round_number in range(1, rounds + 1):
        wait_for(log, MANY * round_number, process)
        if round_number % 2:
            postgres.kill()
        else:
            os.kill(postgres.pid, signal.SIGQUIT)
            while postgres.running:
                time.sleep(0.01)
        postgres.start()
    wait_for(log, MANY * (rounds + 1), process)
    process.kill()
    process.join()
    assert check(database_url, log).n_acknowledged >= MANY * (rounds + 1)


def test_the_check_notices_what_is_lost_or_doubled(database_url, log):
    from helpers.durability import REPORTS, body_of, key_of
    from shoal.collector.store import Submission

    with Store.open(database_url) as store:
        store.add_campaign(signed_campaign(CAMPAIGN))
        for number in range(5):
            log.note(number)
            sent = Submission(CAMPAIGN, key_of(number).encode(), body_of(number), REPORTS)
            store.append([sent] if number != 3 else [])
        store.append([Submission(CAMPAIGN, b"another key, same reports", body_of(1), REPORTS)])
        store.append([Submission(CAMPAIGN, b"never sent", body_of(10**9), REPORTS)])
        result = check_durability(store.blocks(CAMPAIGN), log)
    assert result[2:] == ([3], [1], [10**9])
    assert not result.holds
