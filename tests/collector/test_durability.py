"""What a server acknowledged is there once, whatever is killed: the server, or its database.

A sender in a process of its own notes every acknowledgement, and sends what was not acknowledged
again, with the same key and the same bytes.
"""

import asyncio
import multiprocessing
import signal
import time

import httpx
import pytest

from helpers.campaigns import signed_campaign
from helpers.durability import (
    REPORTS,
    AcknowledgedLog,
    body_of,
    check_durability,
    key_of,
    send_forever,
)
from shoal.collector import Settings, Store, serve

CAMPAIGN = "homes"
MANY = 60  # acknowledgements of a round, before something is killed
ROUNDS = [1, pytest.param(20, marks=pytest.mark.full)]
PROCESSES = multiprocessing.get_context("fork")  # a new interpreter would load for seconds
PATIENCE = 60
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def run_server(url: str, port: int, ready) -> None:
    """Run a server until it is killed; send its port when it is ready."""
    settings = Settings(url, port=port, analysis_worker=False)
    serve(settings, announce=lambda address: ready.send(int(address.rpartition(":")[2])))


def run_sender(port: int, digest: str, path) -> None:
    """Send submissions until this process is killed."""

    async def run() -> None:
        log = AcknowledgedLog(path)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False
        ) as client:

            async def submit(number: int) -> bool:
                headers = {
                    "Content-Type": "application/octet-stream",
                    "Idempotency-Key": key_of(number),
                    "Shoal-Campaign": digest,
                }
                try:
                    answer = await client.post(
                        f"/v1/campaigns/{CAMPAIGN}/reports",
                        content=body_of(number),
                        headers=headers,
                    )
                except httpx.TransportError:
                    return False
                if answer.status_code in {200, 201}:
                    return answer.json()["stored"] == REPORTS
                assert answer.status_code == 503, answer.text
                assert "retry-after" in answer.headers
                return False

            await send_forever(submit, log)

    asyncio.run(run())


class Intake:
    """A server and a sender, each a process that can be killed."""

    def __init__(self, url, tmp_path):
        self.url = url
        self.log = AcknowledgedLog(tmp_path / "acknowledged")
        self.port = 0
        with Store.open(url) as store:
            store.add_campaign(signed_campaign(CAMPAIGN, open_intake=True))
            digest = store.campaign(CAMPAIGN).digest
        self.start()
        arguments = (self.port, digest, tmp_path / "acknowledged")
        self.sender = PROCESSES.Process(target=run_sender, args=arguments, daemon=True)
        self.sender.start()

    def start(self):
        ours, theirs = PROCESSES.Pipe(duplex=False)
        arguments = (self.url, self.port, theirs)
        self.server = PROCESSES.Process(target=run_server, args=arguments, daemon=True)
        self.server.start()
        assert ours.poll(PATIENCE)
        self.port = ours.recv()

    def kill(self, process):
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL

    def wait_for(self, number):
        deadline = time.monotonic() + PATIENCE
        while len(self.log.numbers()) < number:
            assert self.server.is_alive()
            assert self.sender.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def check(self, least):
        with Store.open(self.url) as store:
            result = check_durability(store.blocks(CAMPAIGN), self.log)
            assert store.count(CAMPAIGN) == REPORTS * result.n_stored
        assert result.holds, result
        assert result.n_acknowledged >= least

    def close(self):
        for process in (self.sender, self.server):
            process.kill()
            process.join()
        self.log.close()


@pytest.fixture
def intake(database_url, tmp_path):
    running = Intake(database_url, tmp_path)
    yield running
    running.close()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_killed_server_loses_nothing(intake, rounds):
    for number in range(1, rounds + 1):
        intake.wait_for(MANY * number)
        intake.kill(intake.server)
        intake.start()
    intake.wait_for(MANY * (rounds + 1))
    intake.kill(intake.sender)
    intake.kill(intake.server)
    intake.check(MANY * (rounds + 1))


@pytest.mark.full
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_killed_database_loses_nothing(intake, postgres, rounds):
    for number in range(1, rounds + 1):
        intake.wait_for(MANY * number)
        postgres.kill()
        postgres.start()
    intake.wait_for(MANY * (rounds + 1))
    intake.kill(intake.sender)
    intake.kill(intake.server)
    intake.check(MANY * (rounds + 1))
