"""Files of numpy and columns of lists on the command line: names, refusals, a screen that reads."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.cli import _input as given_files
from shoal.cli import main
from shoal.privacy import Ledger, Release
from shoal.tables import read_table

ROWS, WIDTH = 600, 100
SIDES = np.where(np.random.default_rng(0).random((ROWS, 1)) < 0.5, -0.5, 0.5)
X = (SIDES + np.random.default_rng(1).normal(0.0, 0.05, (ROWS, WIDTH))).astype(np.float32)
BOX = ("--bounds", "-1,1", "--set", "n_clusters=2", "--epsilon", "1000", "--seed", "0")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("words.npy", X)
    np.savez("words.npz", words=np.array(["w"] * ROWS), vectors=X)
    np.savez("two.npz", first=X, second=X)
    people = [f"p{number // 2}" for number in range(ROWS)]
    lists = pa.array(list(X), pa.list_(pa.float32()))
    pq.write_table(pa.table({"who": people, "v": lists, "w": X[:, 0]}), "words.parquet")
    Ledger("words.ledger", epsilon=5000.0)


@pytest.fixture
def shoal(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return run


@pytest.mark.parametrize(
    ("data", "columns", "streamed"),
    [
        ("words.npz", (), False),
        ("two.npz::second", (), False),
        ("words.parquet", ("--columns", "v"), False),
        ("words.parquet", ("--columns", "v"), True),
    ],
)
def test_the_release_of_an_array_in_a_file(shoal, monkeypatch, data, columns, streamed):
    monkeypatch.setattr(given_files, "STREAMED_BYTES", 0 if streamed else 1 << 26)
    code, _, err = shoal("cluster", "words.npy", *BOX, "--out", "a", "--labels", "a.csv")
    assert code == 0, err
    code, _, err = shoal("cluster", data, *BOX, *columns, "--out", "b", "--labels", "b.csv")
    assert code == 0, err
    first, second = (Release.load(f"{out}/release.json") for out in "ab")
    first, second = (replace(one, ledger=None) for one in (first, second))
    assert first.to_json() == second.to_json()
    assert first.values["columns"] is None
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    head = Path("b/centers.csv").read_text().splitlines()[0].split(",")
    assert head[:2] == (["v 1", "v 2"] if columns else ["column 1", "column 2"])


def test_a_screen_of_many_columns(shoal):
    code, shown, err = shoal("cluster", "words.npy", *BOX)
    assert code == 0, err
    table = shown[: shown.index("central differential privacy")]
    assert "…" not in table
    assert "noisy_size" in table
    assert "radius" in table
    assert "column 4" in table
    assert "column 5" not in table
    assert "and 96 more columns in centers.csv" in " ".join(table.split())
    assert max(map(len, table.splitlines())) <= 80


def test_named_columns_and_users(shoal):
    names = ",".join(f"x{number}" for number in range(WIDTH))
    code, shown, err = shoal("cluster", "words.npy", *BOX, "--columns", names, "--json")
    assert code == 0, err
    assert {"x0", "x99", "noisy_size"} <= set(json.loads(shown)["clusters"][0])
    assert Release.load("shoal-cluster/release.json").values["columns"][:2] == ["x0", "x1"]
    code, shown, err = shoal(
        "cluster", "words.parquet", *BOX, "--columns", "v", "--user-column", "who", "--json"
    )
    assert code == 0, err
    assert "any one user" in json.loads(shown)["guarantee"]["text"]


@pytest.mark.parametrize(
    ("data", "options", "text"),
    [
        ("two.npz", (), "must hold one table of numbers, got first, second: choose one, as in"),
        ("none.npy", (), "No such file"),
        ("two.npz::third", (), "got none of that name"),
        ("words.npy", ("--columns", "a,b"), "--columns must name all 100 columns of an array"),
        ("words.npy", ("--user-column", "who"), "--user-column must come with a CSV file or"),
        ("words.npy", ("--no-header",), "--no-header must come with a CSV file"),
        ("words.npy", ("--out", "words.npy"), "words.npy"),
        ("words.parquet", ("--columns", "v,w"), "'v' must hold numbers, got lists: choose columns"),
        ("words.npz::vectors", ("--labels", "words.npz"), "ends in .csv or .parquet"),
    ],
)
def test_refusals(shoal, data, options, text):
    before = Path("words.ledger").read_bytes()
    code, shown, err = shoal("cluster", data, *BOX, "--ledger", "words.ledger", *options)
    assert (code, shown) == (2, "")
    assert text in err
    assert err.count("\n") == 1
    assert Path("words.ledger").read_bytes() == before


def test_reports(shoal):
    for data, options in {"words.npz": (), "words.parquet": ("--columns", "v")}.items():
        given = ("--bounds", "-1,1", "--out", f"{data}.csv", "--seed", "0")
        code, _, err = shoal("perturb", data, *given, *options)
        assert code == 0, err
    names = [f"v {number}" for number in range(1, WIDTH + 1)]
    reports = read_table("words.parquet.csv", columns=names).X
    others = [f"column {number}" for number in range(1, WIDTH + 1)]
    assert (reports == read_table("words.npz.csv", columns=others).X).all()
    assert reports.shape == X.shape
