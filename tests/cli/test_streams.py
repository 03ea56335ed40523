"""Folders and large files on the command line: streamed, with the same numbers, all or nothing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from shoal.cli import _input, main
from shoal.mechanisms import Laplace
from shoal.privacy import Ledger, Release
from shoal.tables import _staged_files, read_table

BOX = ("--columns", "age,height", "--bounds", "0:120,50:250")
UNIT = ("--unit", "km")
SECRET = 123456.789


def people(n=600):
    rng = np.random.default_rng(0)
    centers = np.repeat([[20.0, 120.0], [70.0, 190.0]], n // 2, axis=0)
    return centers + rng.normal(scale=3, size=(n, 2))


X = people()


def table_of(part, **more):
    return pa.table({"age": part[:, 0], "height": part[:, 1], **more})


def write_csv(path, part):
    lines = [f"{age!r},{height!r}\n" for age, height in part.tolist()]
    path.write_text("age,height\n" + "".join(lines))


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The same people in files of every kind, and a ledger."""
    monkeypatch.chdir(tmp_path)
    write_csv(Path("people.csv"), X)
    feather.write_feather(table_of(X), "people.feather")
    for kind in ("parquet", "csvs"):
        Path(kind).mkdir()
        for number, part in enumerate(np.split(X, [100, 100, 350])):
            path = Path(kind) / f"{number}.{kind.removesuffix('s')}"
            if kind == "csvs":
                write_csv(path, part)
            else:
                pq.write_table(table_of(part, word=["x"] * len(part)), path, row_group_size=70)
    Ledger("people.ledger", epsilon=3.0, metric_epsilon=3.0, metric_unit="km")
    return tmp_path


SOURCES = {
    "folder of Parquet": ("parquet",),
    "folder of CSV": ("csvs",),
    "Feather": ("people.feather",),
    "large CSV": ("people.csv",),
}


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def shoal(monkeypatch, capsys):
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


def values(folder):
    table = ds.dataset(folder).to_table()
    return np.column_stack([table.column(name).to_numpy() for name in table.column_names])


def tree(*left_out):
    found = [path for path in Path().rglob("*") if not path.match("crowd/*")]
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in found
        if path.name not in left_out
    }


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.usefixtures("large")
def test_perturb(source, shoal, monkeypatch):
    monkeypatch.setattr(_staged_files, "PARTITION_ROWS", 150)
    given = ("perturb", *SOURCES[source], *BOX, "-o", "out", *UNIT, "--ledger", "people.ledger")
    code, out, err = shoal(*given, "--epsilon", "2", "--seed", "4")
    assert (code, err) == (0, "")
    assert "600 reports: " in out
    assert "each report: metric privacy with epsilon = 2 per km" in out
    assert len(Ledger("people.ledger")) == 1
    reports = ds.dataset("out")
    assert reports.schema.names == ["age", "height"]
    mechanism = Laplace(2.0, bounds=([0, 50], [120, 250]), unit="km", random_state=4)
    names = ["age", "height"]
    path = SOURCES[source][0]
    same = mechanism.fit(pa.table({name: [60.0] for name in names})).transform(path, out="same")
    assert (values("out") == values(same.files)).all()
    # In the order of the records: noise of epsilon 2 is far smaller than the clusters' distance.
    assert np.abs(values("out") - X).max() < 15
    assert not (values("out") == X).any()


def test_perturb_says_the_same_in_json(shoal):
    code, out, _ = shoal("perturb", "csvs", *BOX, "-o", "out", "--json", "--target", "Duchi")
    found = json.loads(out)
    assert code == 0
    assert (found["reports"], found["columns"], found["file"]) == (600, 2, "out")
    assert found["guarantee"]["notion"] == "local"


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    # The bits of DPDensity from tables of every kind: tests/contracts/test_engines.py.
    "target",
    [pytest.param("DPDensity", marks=pytest.mark.full), "DPKMeans", "DPWaveCluster"],
)
def test_cluster_gives_the_same_bits(source, target, shoal, monkeypatch):
    words = ("--target", target, *BOX, "--seed", "3", "--epsilon", "2", "--json")
    code, out, _ = shoal("cluster", "people.csv", *words, "--out", "a", "--labels", "a.csv")
    assert code == 0
    monkeypatch.setattr(_input, "STREAMED_BYTES", 1000)
    paying = ("--ledger", "people.ledger")
    code, streamed, err = shoal(
        "cluster", *SOURCES[source], *words, "--out", "b", "--labels", "b.csv", *paying
    )
    assert (code, err) == (0, "")
    assert json.loads(streamed)["clusters"] == json.loads(out)["clusters"]
    one, other = (Release.load(f"{folder}/release.json") for folder in "ab")
    assert other.ledger.count == 1
    assert replace(other, ledger=None) == replace(one, ledger=None)
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert len(read_table("b.csv", columns=["cluster"]).X) == 600
    assert len(Ledger("people.ledger")) == 1


def damage_nan():
    pq.write_table(pa.table({"age": [SECRET, np.nan], "height": [1.0, 1.0]}), "parquet/9.parquet")


def damage_page():
    spoiled = bytearray(Path("parquet/3.parquet").read_bytes())
    spoiled[8:400] = bytes(255 - value for value in spoiled[8:400])
    Path("parquet/3.parquet").write_bytes(spoiled)


def damage_end():
    Path("parquet/3.parquet").write_bytes(Path("parquet/3.parquet").read_bytes()[:-50])


def damage_type():
    pq.write_table(pa.table({"age": [f"{SECRET}"], "height": [1.0]}), "parquet/9.parquet")


def damage_column():
    pq.write_table(pa.table({"age": [SECRET]}), "parquet/9.parquet")


def damage_kind():
    Path("parquet/9.csv").write_text("age,height\n1,2\n")


def no_records():
    for file in Path("parquet").iterdir():
        pq.write_table(table_of(X[:0]), file)


def as_it_is():
    pass


@pytest.mark.parametrize(
    ("prepare", "more", "words"),
    [
        (damage_nan, (), "X must hold finite numbers"),
        (damage_page, (), "file 4 of 'parquet': it is damaged"),
        (damage_end, (), "file 4 of 'parquet': it is damaged"),
        (damage_type, (), "column 'age' must hold numbers"),
        (damage_column, (), "must have one column 'height'"),
        (damage_kind, (), "files of one kind are needed"),
        (no_records, (), "X must hold at least one record"),
        (as_it_is, ("--columns", "age,weight"), "must have one column 'weight', got none"),
        (as_it_is, ("--columns", "age,word"), "column 'word' must hold numbers"),
        (as_it_is, ("--bounds", "0:1,0:1,0:1"), "bounds must have"),
        (as_it_is, ("--epsilon", "0"), "epsilon must be"),
        (as_it_is, ("--epsilon", "4"), "asked epsilon"),
        (as_it_is, ("--out", "parquet/out"), "--out must lie outside the folder of the records"),
        (as_it_is, ("--out", "."), ""),
        (as_it_is, ("--ledger", "none"), "there is no ledger"),
    ],
)
def test_bad_input(prepare, more, words, shoal):
    prepare()
    Path("release.json").mkdir()  # in the way of a release into this folder
    before = tree()
    given = (*BOX, "--ledger", "people.ledger", "--out", "out")
    for command, unit in (("cluster", ()), ("perturb", UNIT)):
        code, out, err = shoal(command, "parquet", *given, *unit, *more)
        assert (code, out) == (2, "")
        assert err.startswith("shoal: ")
        assert err.count("\n") == 1
        assert words in err
        assert "123456" not in err
        assert tree() == before, "nothing is written, and the ledger is as it was"


def test_bad_places(shoal, subtests):
    for arguments, words in [
        (("perturb", "parquet", "-o", "out.csv"), "--out must be a folder for the reports of"),
        (
            ("perturb", "people.feather", "-o", "out.parquet"),
            "--out must be a folder for the reports",
        ),
        (("perturb", "parquet", "-o", "csvs"), "out must be a new folder, or an empty one"),
        (("perturb", "parquet", "-o", "no/out"), "No such file or directory"),
        (("perturb", "csvs", "-o", "out", "--target", "KdLaplace"), "X must be in memory"),
        (("cluster", "parquet", "--labels", "parquet/labels.csv"), "--labels must lie outside"),
        (("perturb", "none.feather", "-o", "out"), "no such file or folder"),
    ]:
        with subtests.test(arguments=arguments, words=words):
            before = tree()
            unit = UNIT if arguments[0] == "perturb" else ()
            code, out, err = shoal(*arguments, *BOX, *unit, "--ledger", "people.ledger")
            assert (code, out) == (2, "")
            assert words in err
            assert err.count("\n") == 1
            assert tree() == before


def test_small_files_are_read_as_before(shoal):
    code, _, _ = shoal("perturb", "people.csv", *BOX, "-o", "out.csv", "--seed", "1")
    assert code == 0
    expected = Laplace(1.0, bounds=([0, 50], [120, 250]), random_state=1).fit_transform(X)
    assert (expected == read_table("out.csv", columns=["age", "height"]).X).all()


def many_people(files):
    """Many files that take little of the disk: two ages and heights."""
    Path("crowd").mkdir()
    pq.write_table(table_of(np.repeat(people(2), 30_000, axis=0)), "crowd/0.parquet")
    for number in range(1, files):
        shutil.copy("crowd/0.parquet", f"crowd/{number}.parquet")


@pytest.mark.full
@pytest.mark.parametrize("command", [pytest.param("perturb", marks=pytest.mark.full), "cluster"])
def test_interrupt(command):
    many_people(400)
    # What is spent before the noise stays spent: a fit may have come so far.
    paying = "people.ledger" if command == "cluster" else ""
    before = tree(paying)
    given = ["crowd", *BOX, "--ledger", "people.ledger", "--out", "out"]
    given += UNIT if command == "perturb" else ()
    process = subprocess.Popen(
        [sys.executable, "-c", "from shoal.cli import main; main()", command, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    end = time.monotonic() + 60
    # Reports of a first file, or the folder of the release, are there out of sight.
    while not [*Path().glob(".out.*/reports/*"), *Path().glob("out/.shoal-*")]:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "shoal: stopped by Ctrl-C\n")
    assert tree(paying) == before, "nothing is left"


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on the size of files")
def test_a_disk_that_takes_no_more():
    """The system itself refuses to write on; no ledger pays, and nothing is left."""
    many_people(2)
    before = tree()
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
    )
    given = ["perturb", "crowd", *BOX, *UNIT, "--ledger", "people.ledger", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", f"{limit} from shoal.cli import main; main()", *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("shoal: reports cannot be written to ")
    assert done.stderr.endswith(": File too large; none is left there\n")
    assert tree() == before
