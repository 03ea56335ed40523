"""A relay that is killed loses nothing that it acknowledged, and forwards nothing twice.

Devices are HTTP clients in a process of their own, which note every acknowledgement and send what
was not acknowledged again. The collector fails at random: before and after it has stored a batch.
"""

import asyncio
import multiprocessing
import signal
import time
from pathlib import Path

import httpx
import pytest

from helpers.campaigns import KEY
from helpers.durability import AcknowledgedLog, key_of, send_forever
from helpers.relay import BatchCollector, body_of, relayed_campaign
from helpers.relay_promises import lost_or_twice
from helpers.stub_collector import serving
from shoal.shuffler import Settings, serve

BATCH = 50
EACH = 130  # acknowledgements between two kills: no whole number of batches
PROCESSES = multiprocessing.get_context("fork")  # a new interpreter would load for seconds
PATIENCE = 60
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def run_relay(folder: Path, to: str, port: int, ready) -> None:
    """Run a relay until it is killed; send its port when it is ready."""
    settings = Settings(str(folder / "relay.db"), to, port=port, retry_seconds=0.05)
    serve(
        str(folder / "homes.campaign.json"),
        str(KEY.public),
        folder / "relay.keys",
        settings,
        announce=lambda address: ready.send(int(address.rpartition(":")[2])),
    )


def run_devices(port: int, digest: str, path: Path) -> None:
    """Send reports until this process is killed."""

    async def run() -> None:
        log = AcknowledgedLog(path)
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:

            async def submit(number: int) -> bool:
                headers = {
                    "Content-Type": "application/octet-stream",
                    "Idempotency-Key": key_of(number),
                    "Shoal-Campaign": digest,
                }
                try:
                    answer = await client.post(
                        "/v1/campaigns/homes/reports", content=body_of(number), headers=headers
                    )
                except httpx.TransportError:
                    return False
                assert answer.status_code in {200, 201, 503}, answer.text
                return answer.status_code != 503

            await send_forever(submit, log)

    asyncio.run(run())


class Relay:
    """A relay and its devices, each a process that can be killed."""

    def __init__(self, folder: Path, to: str):
        self.folder, self.to, self.port = folder, to, 0
        signed = relayed_campaign(BATCH)
        (folder / "homes.campaign.json").write_bytes(signed.envelope)
        self.log = AcknowledgedLog(folder / "acknowledged")
        self.start()
        arguments = (self.port, signed.digest, folder / "acknowledged")
        self.devices = PROCESSES.Process(target=run_devices, args=arguments, daemon=True)
        self.devices.start()

    def start(self):
        ours, theirs = PROCESSES.Pipe(duplex=False)
        arguments = (self.folder, self.to, self.port, theirs)
        self.relay = PROCESSES.Process(target=run_relay, args=arguments, daemon=True)
        self.relay.start()
        assert ours.poll(PATIENCE)
        self.port = ours.recv()

    def kill(self, process):
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL

    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.relay.is_alive()
            assert self.devices.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def close(self):
        for process in (self.devices, self.relay):
            process.kill()
            process.join()
        self.log.close()


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.full)])
def test_a_killed_relay_loses_and_doubles_nothing(tmp_path, kills):
    collector = BatchCollector(failing=0.3, seed=1)
    with serving(collector) as address:
        relay = Relay(tmp_path, address)
        try:
            for number in range(1, kills + 1):
                relay.wait_for(lambda least=EACH * number: len(relay.log.numbers()) >= least)
                relay.kill(relay.relay)
                relay.start()
            least, batches = EACH * (kills + 1), len(collector.batches) + 2
            relay.wait_for(
                lambda: len(relay.log.numbers()) >= least and len(collector.batches) >= batches
            )
            relay.kill(relay.devices)
            relay.kill(relay.relay)
        finally:
            relay.close()
    found = lost_or_twice(relay.log.numbers(), collector, tmp_path / "relay.db", BATCH)
    print(f"{kills} kills:", found)  # noqa: T201
    wrong = ("lost", "twice", "acknowledged twice", "incomplete batches", "conflicts")
    assert [name for name in wrong if found[name]] == []
    assert found["acknowledged"] >= least
    assert found["failures of the collector"] > 1
    assert found["duplicate batches"] > 0  # a batch that was stored, and not acknowledged
