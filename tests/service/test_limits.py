"""Rate limits: buckets that fill again, tables that stay small, addresses that nobody keeps."""

import asyncio

import httpx
import pytest

from helpers.campaigns import signed_campaign
from helpers.collector import REPORT, is_problem
from shoal.collector import Settings, Store, create_app
from shoal.service import BucketTable, ClientAddresses, EventLog


def scope(address="203.0.113.9", **headers):
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "client": (address, 4711), "headers": named}


def test_a_bucket_is_empty_after_a_burst_and_fills_again():
    now = [0.0]
    table = BucketTable(2.0, 3.0, clock=lambda: now[0])
    assert [table.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert table.take("b") == 0.0
    now[0] = 0.5
    assert [table.take("a"), table.take("a")] == [0.0, 0.5]
    now[0] = 100.0
    assert [table.take("a") for _ in range(4)][2:] == [0.0, 0.5]


def test_looking_takes_nothing():
    table = BucketTable(1.0, 1.0, clock=lambda: 0.0)
    assert [table.wait("a"), table.wait("a"), table.take("a"), table.wait("a")] == [0, 0, 0, 1]


def test_the_table_stays_small():
    table = BucketTable(1.0, 1.0, max_keys=10, clock=lambda: 0.0)
    for number in range(1000):
        table.take(str(number))
    assert len(table) == 10


def test_a_client_is_a_keyed_hash_that_another_process_does_not_share():
    one, other = ClientAddresses(0), ClientAddresses(0)
    name = one.find(scope())
    assert name == one.find(scope())
    assert name != one.find(scope("203.0.113.10"))
    assert name != other.find(scope())
    assert b"203" not in name


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
def test_the_own_machine_is_not_limited(address):
    assert ClientAddresses(0).find(scope(address)) is None


def test_a_household_is_one_client():
    clients = ClientAddresses(0)
    first, second, other = ("2001:db8::1", "2001:db8::2", "2001:db8:1::1")
    assert clients.find(scope(first)) == clients.find(scope(second)) != clients.find(scope(other))


def test_a_forwarded_address_counts_behind_trusted_proxies_only():
    sent = scope("10.0.0.1", x_forwarded_for="198.51.100.1, 198.51.100.2")
    for trusted, address in ((0, "10.0.0.1"), (1, "198.51.100.2"), (2, "198.51.100.1")):
        clients = ClientAddresses(trusted)
        assert clients.find(sent) == clients.find(scope(address, x_forwarded_for=address)), trusted


@pytest.mark.parametrize(
    ("plain", "written"), [("198.51.100.2", "198.51.100.2:{}"), ("2001:db8::1", "[2001:db8::1]:{}")]
)
def test_another_port_is_not_another_client(plain, written):
    """Some proxies add it, and it changes with every connection."""
    clients = ClientAddresses(1)
    name = clients.find(scope("10.0.0.1", x_forwarded_for=plain))
    for port in (4711, 4712):
        assert clients.find(scope("10.0.0.1", x_forwarded_for=written.format(port))) == name


@pytest.fixture
def ask(tmp_path):
    """Return what sends requests from an address to an application with strict limits."""

    def run(coroutine, **limits):
        async def inside():
            url = f"sqlite:///{tmp_path}/reports.db"
            settings = Settings(url, **limits)
            with Store.open(url) as store:
                store.add_campaign(signed_campaign("homes", open_intake=True))
                store.add_campaign(signed_campaign("keyed"))
                app = create_app(store, settings, log=EventLog())

                def client(address):
                    transport = httpx.ASGITransport(app, client=(address, 4711))
                    return httpx.AsyncClient(transport=transport, base_url="http://collector")

                async with app.router.lifespan_context(app):
                    return await coroutine(client, store)

        return asyncio.run(inside())

    return run


def headers(store, number):
    return {
        "Content-Type": "application/octet-stream",
        "Idempotency-Key": f"key-of-a-test-{number:06d}",
        "Shoal-Campaign": store.campaign("homes").digest,
    }


def test_a_client_that_asks_too_often_waits(ask, capsys):
    async def run(client, _store):
        async with client("203.0.113.9") as busy, client("203.0.113.10") as other:
            answers = [await busy.get("/v1/campaigns/homes") for _ in range(6)]
            assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
            assert is_problem(answers[-1], "too-many-requests")
            assert int(answers[-1].headers["retry-after"]) >= 1
            assert (await busy.get("/healthz")).status_code == 200
            assert (await other.get("/v1/campaigns/homes")).status_code == 200

    ask(run, client_rate=1.0)
    assert "203.0.113" not in capsys.readouterr().err


def test_a_campaign_that_gets_too_much_waits(ask, capsys):
    async def run(client, store):
        async with client("127.0.0.1") as device:
            url = "/v1/campaigns/homes/reports"
            answers = [
                await device.post(url, content=REPORT, headers=headers(store, number))
                for number in range(4)
            ]
            assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
            assert is_problem(answers[-1], "too-many-requests")
            assert store.count("homes") == 2

    ask(run, campaign_rate=1.0)
    assert capsys.readouterr().err


def test_wrong_credentials_are_limited(ask, capsys):
    async def run(client, store):
        token = store.add_token("Ada", ["read"], store.campaign("homes").campaign.closes)
        async with client("203.0.113.9") as attacker, client("203.0.113.10") as analyst:
            url = "/v1/campaigns/homes/count"
            wrong = {"Authorization": "Bearer shoal_token_000000000000_guess"}
            answers = [await attacker.get(url, headers=wrong) for _ in range(11)]
            assert [answer.status_code for answer in answers] == [401] * 10 + [429]
            right = {"Authorization": f"Bearer {token}"}
            neighbor = await attacker.get(url, headers=right)
            assert neighbor.status_code == 200, "behind the same address, and not locked out"
            near = {"Authorization": f"Bearer {token[:-1]}-"}
            guesses = [await attacker.get(url, headers=near) for _ in range(11)]
            assert [guess.status_code for guess in guesses] == [401] * 10 + [429]
            assert (await attacker.get(url, headers=right)).status_code == 429
            assert (await analyst.get(url, headers=right)).status_code == 200
            keyed = await attacker.post("/v1/campaigns/keyed/reports", headers=wrong)
            assert keyed.status_code == 429

    ask(run, failure_rate=0.001)
    assert "guess" not in capsys.readouterr().err


def test_too_many_requests_at_a_time(ask, capsys, monkeypatch):
    async def run(client, store):
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()
        count = store.count

        def slow(campaign):
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
            return count(campaign)

        monkeypatch.setattr(store, "count", slow)
        token = store.add_token("Ada", ["read"], store.campaign("homes").campaign.closes)
        right = {"Authorization": f"Bearer {token}"}
        async with client("127.0.0.1") as analyst:
            url = "/v1/campaigns/homes/count"
            waiting = [asyncio.create_task(analyst.get(url, headers=right)) for _ in range(2)]
            await asyncio.sleep(0.1)
            refused = await analyst.get("/v1/campaigns/homes")
            assert is_problem(refused, "unavailable")
            assert refused.headers["retry-after"] == "1"
            assert (await analyst.get("/healthz")).status_code == 200
            gate.set()
            assert [(await one).status_code for one in waiting] == [200, 200]

    ask(run, max_requests=2)
    assert capsys.readouterr().err


def test_one_client_holds_no_more_than_its_share(ask, capsys):
    """Bodies that never come, from one address, keep nobody else from being answered."""

    async def run(client, store):
        gate = asyncio.Event()

        async def never():
            await gate.wait()
            yield b"{}"

        async with client("203.0.113.7") as greedy, client("203.0.113.8") as other:
            url = "/v1/campaigns/homes/analyses"
            held = [asyncio.create_task(greedy.post(url, content=never())) for _ in range(8)]
            await asyncio.sleep(0.1)
            assert (await other.get("/v1/campaigns/homes")).status_code == 200
            assert is_problem(await greedy.get("/v1/campaigns/homes"), "too-many-requests")
            gate.set()
            statuses = [(await one).status_code for one in held]
            assert sorted(statuses) == [401] * 2 + [429] * 6
            assert (await greedy.get("/v1/campaigns/homes")).status_code == 200

    ask(run, max_requests=16)
    assert capsys.readouterr().err
