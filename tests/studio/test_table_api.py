"""A table is opened in memory, and described by words alone: no value decides or shows anything."""

import gzip
import os
import pickle
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.studio import studio_here
from helpers.written_files import written_files
from shoal.datasets import make_customers
from shoal.exceptions import DataError
from shoal.privacy import Ledger, PureEvent
from shoal.schema import Category, Field, Number, Schema
from shoal.studio.opening import GENERATED, open_file
from shoal.studio.table_api import MAX_SCHEMA_BYTES
from shoal.tables import write_table

FILE = {"Content-Type": "application/octet-stream"}
SECRET = "S3CRET"
AGES = {"minimum": "0", "maximum": "120"}
CSV = f"customer,age,city,note\n1,34,Turku,{SECRET}\n2,,Oulu,x\n"
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Category("city", ["Turku"]),
        Field("note", role="ignore"),
    ]
)

SCHEMA_OF_BOTH = Schema.from_names(["age", "city"])


@pytest.fixture(scope="module")
def here():
    with studio_here(max_body_bytes=100_000) as opened:
        yield opened


def upload(client, content, name="people.csv", **more):
    query = "".join(f"&{key}={value}" for key, value in more.items())
    body = content.encode() if isinstance(content, str) else content
    return client.post(f"/api/tables/upload?name={quote(name)}{query}", content=body, headers=FILE)


def opened_table(here, content=CSV, **more):
    answer = upload(here.client, content, **{"header": "true", **more})
    assert answer.status_code == 200, answer.text
    return here.workspace.get(answer.json()["id"])


def said(here, table, path, **given):
    answer = here.client.post(f"/api/tables/{table.id}/{path}", json=given)
    return answer.json().get("detail", answer.status_code)


def png():
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("photo.png", png(), "it is not text separated by commas"),
        ("photo.csv", png(), "it is not text separated by commas"),
        ("empty.csv", b"", "at least one record"),
        ("blank.csv", b"\n\n", "at least one record"),
        ("names.csv", b"a,b\n", "at least one record"),
        ("ragged.csv", f"a,b\n1,2\n{SECRET}\n".encode(), "as many values in every line"),
        ("latin.csv", f"a,b\n1,{SECRET}é\n".encode("latin-1"), "not text separated by commas"),
        ("cut.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-12], "not text separated by commas"),
        ("text.parquet", CSV.encode(), "not a Parquet file"),
        ("twice.csv", b"a,a\n1,2\n", "different names"),
        ("unnamed.csv", b"a,\n1,2\n", "none of them empty"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_and_not_kept(here, name, content, words):
    before = here.workspace.tables
    answer = upload(here.client, content, name, header="true")
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert words in detail
    assert "\n" not in detail
    assert SECRET not in answer.text
    assert here.workspace.tables == before


def test_a_parquet_file_that_is_cut_is_refused(here, tmp_path):
    whole = write_table(tmp_path / "p.parquet", ["age"], [[1.5]] * 500).read_bytes()
    before = here.workspace.tables
    answer = upload(here.client, whole[: len(whole) // 2], "p.parquet")
    assert "not a Parquet file" in answer.json()["detail"]
    assert here.workspace.tables == before
    told = upload(here.client, whole, "p.parquet").json()
    assert (told["unnamed"], list(told["lacking"])) == (False, ["age"])


def test_a_file_that_is_too_large_is_refused(here):
    before = here.workspace.tables
    answer = upload(here.client, b"a,b\n" + b"1,2\n" * 30_000)
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
    chunks = (b"1,2\n" * 1000 for _ in range(40))  # without a length in its head
    answer = here.client.post("/api/tables/upload?name=x.csv", content=chunks, headers=FILE)
    assert answer.status_code == 413
    assert here.workspace.tables == before


def test_a_small_file_that_unpacks_to_more_than_memory_holds_is_refused(here, tmp_path):
    before = here.workspace.tables
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)
    rows = pa.table({"a": pa.array(np.full(500_000, 1.5))})
    pq.write_table(rows, tmp_path / "p.parquet", compression="zstd")
    for name, content in (
        ("bomb.csv.gz", packed),
        ("bomb.parquet", (tmp_path / "p.parquet").read_bytes()),
    ):
        assert len(content) < 20_000
        answer = upload(here.client, content, name)
        assert answer.status_code == 422
        assert "bytes once it is unpacked" in answer.json()["detail"]
    assert here.workspace.tables == before


def test_the_curator_says_whether_the_first_line_holds_names(here):
    told = upload(here.client, "Turku, 3 \nOulu,4\n", "data.csv.x").json()
    assert (told["unnamed"], told["schema"]) == (True, None)
    table = here.workspace.get(told["id"])
    path = f"/api/tables/{table.id}/first-line"
    assert here.client.get(path).json() == {"values": ["Turku", "3"]}
    assert "first answer" in said(here, table, "schema", **SCHEMA.to_dict())
    assert "each of 2 columns" in said(here, table, "names", header=False, names="city")
    assert "different" in said(here, table, "names", header=False, names="a, a")
    assert said(here, table, "names", header=False, names="-, age") == 200
    assert table.columns == {"age": [" 3 ", "4"]}
    refused = here.client.get(path).json()["detail"]
    assert "Turku" not in refused
    assert "have names" in said(here, table, "names", header=True)


def test_kinds_are_suggested_by_names_alone(here):
    """The same names, and every value another: the same questions, with nothing filled in."""
    other = "customer,age,city,note\nyes,2020-01-01,3.5,7\nno,2021-01-01,4.5,8\nno,,5.5,9\n"
    forms = []
    for content in (CSV, other):
        table = opened_table(here, content)
        forms.append(here.client.get(f"/api/tables/{table.id}/fields").json()["fields"])
    assert forms[0] == forms[1]
    assert [form["suggested"] for form in forms[0]] == ["u", "n", "c", "t"]
    assert all(form["kind"] == "" and form["answers"] == {} for form in forms[0])


class Untouchable:
    """A column that cannot be looked at."""

    def __getattribute__(self, name):
        raise AssertionError(f"somebody looked at records: {name}")

    def __len__(self):
        raise AssertionError("somebody counted records")

    def __iter__(self):
        raise AssertionError("somebody read records")

    __getitem__ = __array__ = __bool__ = __iter__


def test_nothing_that_describes_a_table_reads_it(here):
    table = opened_table(here)
    table.columns = dict.fromkeys(table.columns, Untouchable())
    assert said(here, table, "schema", **SCHEMA.to_dict()) == 200
    answers = {"minimum": "0", "maximum": "99"}
    assert said(here, table, "fields", name="age", kind="n", answers=answers) == 200
    assert said(here, table, "settings", user="note", records_per_user=3, n_guess=70) == 200
    for path in ("", "/fields", "/schema.json"):
        assert here.client.get(f"/api/tables/{table.id}{path}").status_code == 200
    assert here.client.get("/api/session").status_code == 200


def test_no_value_is_in_any_answer(here):
    table = opened_table(here)
    said(here, table, "schema", **SCHEMA.to_dict())
    paths = [
        f"/api/tables/{table.id}{path}" for path in ("", "/fields", "/schema.json", "/first-line")
    ]
    assert SECRET not in "".join(here.client.get(path).text for path in (*paths, "/api/session"))
    assert SECRET not in repr(table)


def test_how_many_rows_there_are_decides_nothing(here, tmp_path):
    """Nor what they hold: a table is what its names and its schema say, and no more."""
    SCHEMA_OF_BOTH.save(tmp_path / "people.csv.json")
    seen = []
    for rows in (["30,A"] * 7, ["4,B"] * 3):
        text = "\n".join(["age,city", *rows, ""])
        (tmp_path / "people.csv").write_text(text)
        cells = [row.split(",") for row in rows]
        packed = write_table(tmp_path / "p.parquet", ["age", "city"], np.array(cells, dtype=object))
        named = here.workspace.get(upload(here.client, text).json()["id"])
        said(here, named, "names", header=False, names="age, city")
        tables = [
            named,
            opened_table(here, text),
            here.workspace.get(upload(here.client, packed.read_bytes(), "p.parquet").json()["id"]),
            open_file(here.workspace, tmp_path / "people.csv", tmp_path / "people.csv.json"),
        ]
        for table in tables:
            said(here, table, "fields", name="age", kind="n", answers=AGES)
            said(here, table, "fields", name="city", kind="c", answers={"categories": "A, B"})
        answers = [
            here.client.get(f"/api/tables/{table.id}{path}").text.replace(table.id, "")
            for table in tables
            for path in ("", "/fields", "/schema.json", "/explore", "/trade-off", "/shapes")
        ]
        seen.append(answers)
    assert seen[0] == seen[1]
    assert all("5000" in text for text in seen[0][::6])  # the usual guess


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_table_is_never_pickled(here, protocol):
    """No other process is sent one, and no file."""
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(opened_table(here), protocol)


@pytest.mark.parametrize(
    "name", ["/home/ada/people.csv", "C:\\ada\\people.csv", "\u202epeople.csv"]
)
def test_of_a_file_only_its_name_is_kept(here, name):
    assert upload(here.client, CSV, name).json()["name"] == "people.csv"


def test_fields_are_described_one_by_one(here):
    table = opened_table(here)
    ages = {"minimum": "0", "maximum": "1,000", "unit": "years"}
    assert said(here, table, "fields", name="age", kind="n", answers=ages) == 200
    assert table.schema["age"] == Number("age", minimum=0, maximum=1000, unit="years")
    assert said(here, table, "fields", name="customer", kind="u") == 200
    assert "another column" in said(here, table, "fields", name="note", kind="u")
    assert "the highest age must be above 0" in said(
        here, table, "fields", name="age", kind="n", answers={"minimum": "0", "maximum": "0"}
    )
    assert "of that name" in said(here, table, "fields", name="ages", kind="n")
    told = here.client.get(f"/api/tables/{table.id}").json()
    assert (told["lacking"], told["complete"], told["user"], told["schema_from"]) == (
        {"city": "a type", "note": "a type"},
        False,
        "customer",
        "curator",
    )
    for name in ("city", "note"):
        assert said(here, table, "fields", name=name, kind="i") == 200
    assert here.client.get(f"/api/tables/{table.id}").json()["complete"]


def test_a_schema_is_saved_as_the_library_saves_it_and_loaded_again(here, tmp_path):
    table, again = (
        opened_table(here),
        opened_table(here, name="fölks.csv.gz", content=gzip.compress(CSV.encode())),
    )
    assert said(here, table, "schema", **SCHEMA.to_dict()) == 200
    saved = here.client.get(f"/api/tables/{table.id}/schema.json")
    assert saved.headers["content-disposition"] == 'attachment; filename="people.schema.json"'
    SCHEMA.save(tmp_path / "schema.json")
    assert saved.content == (tmp_path / "schema.json").read_bytes()
    path = f"/api/tables/{again.id}/schema"
    told = here.client.post(
        path, content=b"\xef\xbb\xbf" + saved.content, headers=FILE
    )  # with a mark
    assert told.json()["schema_from"] == "file"
    assert again.schema == table.schema == SCHEMA
    other = {"fields": [{"name": "size", "type": "number"}]}
    assert "none named 'size'" in said(here, again, "schema", **other)
    for wrong in (b"{", b'{"fields": 1}', b"[]", b"\xff", b'{"fields": [], "fields": []}'):
        assert here.client.post(path, content=wrong, headers=FILE).status_code == 422
    assert again.schema == SCHEMA


def test_a_file_name_makes_no_header(here):
    """A file of this machine may have any name, line breaks included."""
    table = here.workspace.add('a\r\nSet-Cookie: "b\x7fé.csv', "file", {"age": ["3"]}, SCHEMA)
    saved = here.client.get(f"/api/tables/{table.id}/schema.json")
    name = "a__Set-Cookie: _b__.schema.json"
    assert saved.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert "set-cookie" not in saved.headers


def test_documents_of_others_are_taken(here):
    table = opened_table(here)
    resource = {"path": "people.csv", "schema": {"fields": [{"name": "city", "type": "string"}]}}
    assert said(here, table, "schema", resources=[resource]) == 200
    assert table.schema.all_columns == ("city",)


@pytest.mark.parametrize(
    "document", [{"fields": [{"name": "a", "type": ["number"]}]}, {"tables": 7}, {"fields": 7}]
)
def test_a_document_of_another_shape_is_refused_in_one_line(here, document):
    answer = here.client.post("/api/tables/schema", json={"schema": document})
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


def test_settings_are_kept_and_checked(here):
    table = opened_table(here)
    said(here, table, "schema", **SCHEMA.to_dict())
    table.cache["explored"] = "old"
    assert said(here, table, "settings", trust_model="local", n_guess=70) == 200
    assert (table.trust_model, table.n_guess, table.cache) == ("local", 70, {})
    table.cache["explored"] = "of another schema"
    older = {"minimum": "0", "maximum": "130"}
    assert said(here, table, "fields", name="age", kind="n", answers=older) == 200
    assert table.cache == {}
    assert said(here, table, "settings", user="note", records_per_user=4) == 200
    assert (table.privacy_unit.kind, table.privacy_unit.max_rows) == ("user", 4)
    assert said(here, table, "settings", user="city") == 200
    assert (table.schema["note"].role, table.schema.user.name) == ("ignore", "city")
    assert said(here, table, "settings", user="") == 200
    assert table.schema.user is None
    for wrong in (
        {"n_guess": 0},
        {"records_per_user": 0},
        {"user": "size"},
        {"trust_model": "all"},
    ):
        assert said(here, table, "settings", **wrong) != 200
    for wrong in ({"n_guess": 1.5}, {"n_guess": "70"}, {"n_guesses": 70}):
        assert here.client.post(f"/api/tables/{table.id}/settings", json=wrong).status_code == 422
    assert (table.trust_model, table.n_guess, table.schema.user) == ("local", 70, None)


@pytest.mark.parametrize("bought", ["release", "copy", "purchase"])
def test_a_description_stays_once_something_was_bought(here, bought):
    table = opened_table(here)
    said(here, table, "schema", **SCHEMA.to_dict())
    if bought == "release":
        table.releases.append({})
    elif bought == "copy":
        table.copy = object()
    else:
        ledger = table.ledger = Ledger(epsilon=1.0)
        price = table.purchases.price(ledger, "release", {}, 0)
        table.purchases.buy(
            ledger, "release", {}, 0, key=price.key, entries=0, release=lambda: "bought"
        )
    assert said(here, table, "schema", **SCHEMA.to_dict()) == 200  # the same
    ages = {"minimum": "0", "maximum": "99"}
    for answer in (
        said(here, table, "schema", fields=[{"name": "city", "type": "string"}]),
        said(here, table, "fields", name="age", kind="n", answers=ages),
        said(here, table, "settings", user="note"),
        said(here, table, "settings", records_per_user=2),
    ):
        assert "open the file again" in answer
    assert table.schema == SCHEMA
    assert said(here, table, "settings", n_guess=12) == 200


def test_a_ledger_never_promises_to_others_than_it_said(here):
    table = opened_table(here)
    said(here, table, "schema", **SCHEMA.to_dict())
    table.ledger = Ledger(epsilon=1.0)
    assert said(here, table, "settings", user="note") == 200
    assert table.ledger is None  # unused: its limit is set anew
    table.ledger = Ledger(epsilon=1.0, privacy_unit=table.privacy_unit)
    table.ledger.spend(PureEvent(epsilon=0.1), privacy_unit=table.privacy_unit)
    for changes in ({"user": ""}, {"records_per_user": 2}):
        assert "open the file again" in said(here, table, "settings", **changes)
    assert (table.schema.user.name, table.records_per_user) == ("note", 1)


@pytest.mark.parametrize("name", [*GENERATED, "iris"])
def test_a_data_set_comes_with_its_public_schema(here, name):
    number = {} if name == "iris" else {"n": 60}
    told = here.client.post("/api/tables/dataset", json={"name": name, **number}).json()
    assert (told["complete"], told["schema_from"], told["source"]) == (True, "dataset", "dataset")
    table = here.workspace.get(told["id"])
    assert table.schema.encode(table.columns).shape[0] == (150 if name == "iris" else 60)
    assert table.n_guess == (5000 if name == "iris" else 60)


def test_data_sets_that_cannot_be_opened_are_not_offered(here, monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    start = here.client.get("/api/start").json()
    assert {one["name"] for one in start["generated"]} == set(GENERATED)
    assert all(one["bundled"] for one in start["datasets"])
    for wrong in (
        {"name": "s1"},
        {"name": "no"},
        {"name": "iris", "n": 5},
        {"name": "line", "n": 0},
    ):
        assert here.client.post("/api/tables/dataset", json=wrong).status_code == 422


def test_a_table_may_begin_without_records(here):
    told = here.client.post("/api/tables/schema", json={"names": "age, city"}).json()
    assert (told["source"], told["has_records"], list(told["lacking"])) == (
        "made-up",
        False,
        ["age", "city"],
    )
    given = {"name": "plan", "schema": SCHEMA.to_dict()}
    told = here.client.post("/api/tables/schema", json=given).json()
    assert (told["name"], told["complete"]) == ("plan", True)
    for wrong in ({}, {"names": ""}, {"names": "a, a"}, {**given, "names": "a"}, {"schema": {}}):
        assert here.client.post("/api/tables/schema", json=wrong).status_code == 422


def test_a_file_of_this_machine_is_opened_with_or_without_its_schema(here, tmp_path):
    (tmp_path / "people.csv").write_text(CSV)
    SCHEMA.save(tmp_path / "people.schema.json")
    asked = open_file(here.workspace, tmp_path / "people.csv")
    assert (asked.name, asked.source, asked.unnamed) == ("people.csv", "file", True)
    for schema in (SCHEMA, tmp_path / "people.schema.json"):
        table = open_file(here.workspace, tmp_path / "people.csv", schema)
        assert (set(table.columns), table.schema) == ({"age", "city", "note"}, SCHEMA)
    with pytest.raises(DataError, match="one column 'size'"):
        open_file(here.workspace, tmp_path / "people.csv", Schema([Number("size")]))


def test_what_is_sent_is_written_to_no_file(tmp_path):
    """Not even for a moment: of three megabytes, which a spooled file would not keep in memory."""
    content = make_customers(40_000, random_state=0).to_csv(tmp_path / "c.csv").read_bytes()
    assert len(content) > 2**21
    schema = make_customers(1, random_state=0).schema
    with studio_here() as here:
        here.client.get("/api/start")
        with written_files() as written:
            table = opened_table(here, content)
            assert said(here, table, "schema", **schema.to_dict()) == 200
            large = b" " * (MAX_SCHEMA_BYTES + 1)
            path = f"/api/tables/{table.id}/schema"
            assert here.client.post(path, content=large, headers=FILE).status_code == 413
            chunks = (b" " * 2**20 for _ in range(6))  # without a length in its head
            assert here.client.post(path, content=chunks, headers=FILE).status_code == 413
        assert written == []
        assert here.workspace.tables == (table,)
    assert here.workspace.tables == ()  # the studio has ended
    with written_files() as written, Path(os.devnull).open("w"):
        assert written == [os.devnull], "the watch sees files that are written"
