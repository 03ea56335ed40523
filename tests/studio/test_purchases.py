"""What is bought once: by key, by the ledger that was shown, and across a lost process."""

import os
import shlex
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from helpers.studio import START, client, studio_process
from helpers.studio_tables import USERS, people
from shoal.privacy import GDPEvent, Ledger, PrivacyUnit, PureEvent, Release
from shoal.service import RefusedError
from shoal.studio.prices import trial_ledger
from shoal.studio.purchases import Purchases
from shoal.tables import write_table

SETTINGS = {"method": "DPKMeans", "epsilon": 0.5, "k": 2, "profile": 0.25}


def buy(purchases, ledger, price, *, fail=False):
    """Spend epsilon 0.1 and return the number of entries."""

    def release():
        ledger.spend(PureEvent(epsilon=0.1))
        if fail:
            raise RuntimeError
        return len(ledger.entries)

    return purchases.buy(
        ledger, "copy", {}, 0, key=price.key, entries=price.entries, release=release
    )


def test_the_ledger_that_was_shown_is_the_one_that_is_charged():
    held = [Ledger(epsilon=1.0), Ledger(epsilon=1.0)]
    purchases = Purchases("table", lambda: held[0])
    price = purchases.price(held[0], "copy", {}, 0)
    held.reverse()
    with pytest.raises(RefusedError, match="changed"):
        buy(purchases, held[1], price)
    assert len(held[0]) == len(held[1]) == 0
    held.reverse()
    assert buy(purchases, held[0], price) == 1
    assert buy(purchases, held[0], price) == 1  # the same again costs nothing
    assert len(held[0]) == purchases.count == 1


def test_another_purchase_has_another_key():
    ledger = Ledger(epsilon=1.0)
    one, two = (Purchases(table, lambda: ledger) for table in ("one", "two"))
    asked = [
        one.price(ledger, "copy", {"epsilon": 0.1}, 0),
        one.price(ledger, "release", {"epsilon": 0.1}, 0),
        one.price(ledger, "copy", {"epsilon": 0.2}, 0),
        one.price(ledger, "copy", {"epsilon": 0.1}, 1),
        two.price(ledger, "copy", {"epsilon": 0.1}, 0),
    ]
    assert len({price.key for price in asked}) == len(asked)


def test_what_failed_after_its_charge_is_not_bought_and_not_charged_again():
    ledger = Ledger(epsilon=1.0)
    purchases = Purchases("table", lambda: ledger)
    price = purchases.price(ledger, "copy", {}, 0)
    with pytest.raises(RuntimeError):
        buy(purchases, ledger, price, fail=True)
    with pytest.raises(RefusedError, match="spent since"):
        buy(purchases, ledger, price)
    assert (len(ledger), purchases.count) == (1, 0)


def test_a_trial_is_the_same_ledger_and_charges_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger", epsilon=2.0, delta=1e-6)
    ledger.spend(GDPEvent(mu=0.2))
    ledger.spend(PureEvent(epsilon=0.1), purpose="counts")
    trial = trial_ledger(ledger)
    assert (trial.used, trial.remaining) == (ledger.used, ledger.remaining)
    assert trial.spent == ledger.spent
    event = PureEvent(epsilon=0.3)
    trial.spend(event)
    assert len(ledger) == 2
    ledger.spend(event)
    assert (trial.used, trial.remaining) == (ledger.used, ledger.remaining)


@pytest.fixture
def files(tmp_path):
    """Write a table, its schema and its ledger."""
    columns = people()
    rows = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    write_table(tmp_path / "people.csv", list(columns), rows)
    USERS.save(tmp_path / "people.schema.json")
    users = PrivacyUnit.user("person")
    Ledger(tmp_path / "people.ledger", epsilon=2.0, table="people", privacy_unit=users)
    return tmp_path


@contextmanager
def studio_of(files, wheel):
    """Start a studio with the ledger, open the table in it; yields client, path and process."""
    with (
        studio_process(wheel, "--ledger", str(files / "people.ledger")) as (address, process),
        client(address.rstrip("/")) as api,
    ):
        content = (files / "people.csv").read_bytes()
        opened = api.post("/api/tables/upload?name=people.csv&header=true", content=content)
        path = f"/api/tables/{opened.json()['id']}"
        schema = (files / "people.schema.json").read_bytes()
        assert api.post(f"{path}/schema", content=schema).status_code == 200
        assert api.post(f"{path}/ledger", json={}).status_code == 200
        yield api, path, process


def order(api, path):
    """Order a release; returns its price and the job."""
    price = api.post(f"{path}/release/price", json={"settings": SETTINGS}).json()
    asked = {"settings": SETTINGS, "key": price["key"], "entries": price["entries"]}
    return price, api.post(f"{path}/release", json=asked).json()


@pytest.mark.full
def test_a_studio_that_is_killed_in_a_purchase_tells_the_truth_afterwards(files, wheel):
    ledger = Ledger(files / "people.ledger")
    with studio_of(files, wheel) as (api, path, process):
        order(api, path)
        while not ledger.entries:
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
        process.wait()
    spent = len(ledger.entries)
    with studio_of(files, wheel) as (api, path, _):
        told = api.get("/api/ledger").json()["ledger"]
        assert (told["entries"], told["remaining"]) == (spent, ledger.remaining)
        assert api.get(f"{path}/releases").json() == []
        price, job = order(api, path)
        assert (price["entries"], price["bought"]) == (spent, False)
        while job["state"] == "running":
            time.sleep(0.02)
            job = api.get(f"/api/jobs/{job['id']}").json()
        assert job["state"] == "done"
    assert len(ledger.entries) == spent + 2


@pytest.mark.full
def test_the_command_and_the_code_that_are_shown_do_the_same(files, wheel):
    with studio_of(files, wheel) as (api, path, _):
        price = api.post(f"{path}/release/price", json={"settings": SETTINGS}).json()
    kept = {**os.environ, "PYTHONPATH": str(wheel)}
    for line in price["command"].splitlines():
        command = [sys.executable, "-c", START, *shlex.split(line)[1:]]
        subprocess.run(command, check=True, cwd=files, env=kept, stdout=subprocess.DEVNULL)
    ledger = Ledger(files / "people.ledger")
    shown = [one["price"] for one in price["spends"]]
    assert [entry.price for entry in ledger.entries] == shown
    subprocess.run([sys.executable, "-c", price["snippet"]], check=True, cwd=files, env=kept)
    assert [entry.price for entry in ledger.entries] == [*shown, *shown]
    promised = str(Release.load(files / "release.json").guarantee)
    assert promised == price["guarantees"][0]
    assert promised == str(Release.load(files / "people-clusters/release.json").guarantee)
