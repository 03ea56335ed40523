"""The limit of a table: set once, before anything is spent; a file brings its own."""

import pytest

from helpers.studio import studio_here
from shoal.privacy import Ledger, PrivacyUnit, PureEvent
from shoal.schema import Category, Field, Number, Schema

SCHEMA = Schema((Number("age", minimum=0, maximum=100), Category("city", ("A", "B"))))
USERS = Schema((*SCHEMA.fields, Field("person", role="user")))


def add(workspace, name="people.csv", schema=SCHEMA):
    return workspace.add(name, "upload", {"age": ["3"], "city": ["A"]}, schema)


def test_a_limit_is_set_before_anything_is_spent_and_then_raised_with_a_reason_only():
    with studio_here() as (workspace, _, client, _):
        table = add(workspace)
        path = f"/api/tables/{table.id}/ledger"
        assert client.get(path).json() == {"ledger": None}
        assert client.post(path, json={"epsilon": 20.0}).json()["ledger"]["epsilon"] == 20.0
        assert client.post(path, json={"epsilon": 2.0, "delta": 1e-6}).status_code == 200  # a slip
        assert (table.ledger.limits.epsilon, table.ledger.table) == (2.0, "people")
        table.ledger.spend(PureEvent(epsilon=0.5), purpose="counts", columns=["age"])
        refused = client.post(path, json={"epsilon": 3.0, "delta": 1e-6})
        assert refused.status_code == 422
        assert table.ledger.limits.epsilon == 2.0
        raised = {"epsilon": 3.0, "delta": 1e-6, "reason": "a second study"}
        (change,) = client.post(path, json=raised).json()["ledger"]["changes"]
        assert (change["number"], change["reason"]) == (2, "a second study")
        assert table.ledger.remaining == 2.5
        lowered = client.post(path, json={"epsilon": 1.0, "delta": 1e-6, "reason": "less"})
        assert (lowered.status_code, table.ledger.limits.epsilon) == (422, 3.0)
        assert client.post(path, json={"epsilon": 3.0, "delta": 1e-6}).status_code == 200
        told = client.get(path).json()["ledger"]
        assert (told["entries"], told["list"][0]["price"], told["list"][0]["columns"]) == (
            1,
            "epsilon 0.5",
            ["age"],
        )


def test_a_file_that_is_opened_again_is_charged_to_the_same_limit():
    with studio_here() as (workspace, _, client, _):
        first = add(workspace)
        client.post(f"/api/tables/{first.id}/ledger", json={"epsilon": 2.0})
        first.ledger.spend(PureEvent(epsilon=1.5))
        workspace.forget(first.id)
        again = add(workspace)
        path = f"/api/tables/{again.id}/ledger"
        refused = client.post(path, json={"epsilon": 3.0})
        assert (refused.status_code, again.ledger) == (422, None)
        assert "opened before, with a limit of epsilon 2 " in refused.json()["detail"]
        assert client.post(path, json={"epsilon": 2.0}).json()["ledger"]["remaining"] == 0.5
        people = add(workspace, schema=USERS)  # a promise to others than before
        path = f"/api/tables/{people.id}/ledger"
        assert client.post(path, json={"epsilon": 2.0}).status_code == 422
        other = add(workspace, name="patients.csv")
        path = f"/api/tables/{other.id}/ledger"
        assert client.post(path, json={"epsilon": 3.0}).json()["ledger"]["remaining"] == 3.0


def test_two_tabs_cannot_set_two_limits_for_one_file():
    with studio_here() as (workspace, _, client, _):
        one, two = add(workspace), add(workspace)
        client.post(f"/api/tables/{one.id}/ledger", json={"epsilon": 2.0})
        path = f"/api/tables/{two.id}/ledger"
        assert client.post(path, json={"epsilon": 5.0}).status_code == 422
        assert client.post(path, json={"epsilon": 2.0}).status_code == 200
        assert one.ledger is two.ledger


def test_users_of_the_schema_are_whom_the_limit_protects():
    with studio_here() as (workspace, _, client, _):
        table = add(workspace, schema=USERS)
        client.post(f"/api/tables/{table.id}/ledger", json={"epsilon": 1.0})
        assert table.ledger.limits.privacy_unit == PrivacyUnit.user("person")
        unit = table.privacy_unit
        table.ledger.spend(PureEvent(epsilon=1.0), privacy_unit=unit)
        assert table.ledger.remaining == 0.0


@pytest.mark.parametrize("epsilon", [0, -1, "1", True, None])
def test_a_wrong_limit_is_refused(epsilon):
    with studio_here() as (workspace, _, client, _):
        table = add(workspace)
        answer = client.post(f"/api/tables/{table.id}/ledger", json={"epsilon": epsilon})
        assert answer.status_code == 422
        assert table.ledger is None


def test_a_file_brings_its_limit_and_is_read_anew(tmp_path):
    file = tmp_path / "people.ledger"
    other = Ledger(file, epsilon=3.0, table="people", who="elsewhere")
    other.spend(PureEvent(epsilon=1.0), purpose="counts")
    with studio_here(ledger=file) as (workspace, _, client, _):
        table = add(workspace)
        path = f"/api/tables/{table.id}/ledger"
        assert client.post(path, json={"epsilon": 9.0}).status_code == 422  # it has another limit
        assert client.post(path, json={}).json()["ledger"]["remaining"] == 2.0
        other.spend(PureEvent(epsilon=0.5), purpose="more")
        told = client.get(path).json()["ledger"]
        assert (told["remaining"], told["list"][-1]["who"]) == (1.5, "elsewhere")
        assert client.get("/api/ledger").json()["ledger"]["entries"] == 2


def test_a_file_for_another_table_is_refused_unless_both_are_named_the_same(tmp_path):
    file = tmp_path / "people.ledger"
    Ledger(file, epsilon=3.0, table="patients")
    with studio_here(ledger=file) as (workspace, _, client, _):
        table = add(workspace)
        path = f"/api/tables/{table.id}/ledger"
        refused = client.post(path, json={})
        assert refused.status_code == 422
        assert "patients" in refused.json()["detail"]
        assert client.post(path, json={"name": "patients"}).status_code == 200


def test_a_new_file_gets_the_limit_and_the_users(tmp_path):
    file = tmp_path / "new.ledger"
    with studio_here(ledger=file) as (workspace, _, client, _):
        table = add(workspace, schema=USERS)
        path = f"/api/tables/{table.id}/ledger"
        assert client.get("/api/ledger").json() == {"file": "new.ledger", "ledger": None}
        assert client.post(path, json={}).status_code == 422
        assert not file.exists()
        assert client.post(path, json={"epsilon": 2.0}).status_code == 200
        assert Ledger(file).limits.privacy_unit == PrivacyUnit.user("person")
        assert client.post(path, json={"epsilon": 4.0}).status_code == 422
