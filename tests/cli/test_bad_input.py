"""Bad input to any command: one line, exit code 2, nothing written, nothing spent."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from shoal.cli import main
from shoal.privacy import Ledger

BOX = ("--bounds", "0:120,0:250")
COLUMNS = ("--columns", "age,weight")
HERE = (*COLUMNS, *BOX)
UNIT = ("--unit", "km")
FILES = {
    "people.csv": "age,weight\n30,70\n40,80\n50,65\n20,90\n",
    "words.csv": "age,weight\n30,Ann\n40,Bob\n",
    "holes.csv": "age,weight\n30,\n40,80\n",
    "ragged.csv": "age,weight\n30\n40,80\n",
    "empty.csv": "",
    "head.csv": "age,weight\n",
    "broken.json": "{",
    "other.json": '{"age": [0, 120]}',
    "note.txt": "not a folder\n",
}
# What each command needs beside the file; the audit makes its own records.
READERS = {
    "cluster": ("cluster", "{file}", *COLUMNS, "--out", "{out}", "--ledger", "people.ledger"),
    "perturb": (
        "perturb",
        "{file}",
        *COLUMNS,
        *UNIT,
        "--out",
        "{out}.csv",
        "--ledger",
        "people.ledger",
    ),
    "attack": (
        "attack",
        "{file}",
        *COLUMNS,
        "--out",
        "{out}",
        "--runs",
        "1",
        "--attacks",
        "centers",
    ),
    "audit": ("audit", "{target}", "--out", "{out}", "--runs", "100", "--jobs", "1"),
}
# A call, a keyword argument: nothing that somebody at a shell could do.
PYTHON = re.compile(r"\w\((?!s\))|\w=['\"(.]|=None\b")
TARGETS = {
    "cluster": "DPKMeans",
    "perturb": "Laplace",
    "attack": "DPKMeans",
    "audit": "DPKMeans",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, content in FILES.items():
        Path(name).write_text(content)
    Path("picture.csv").write_bytes(b"\x89PNG\xff\xfe")
    Path("a folder").mkdir()
    Ledger("people.ledger", epsilon=3.0, metric_epsilon=3.0, metric_unit="km")
    return tmp_path


def line(command, *more, file="people.csv", target=None, out="made"):
    words = [word.format(file=file, out=out, target=target) for word in READERS[command]]
    if command != "audit" and target is not None:
        words += ["--target", target]
    return [*words, *more]


def tree():
    """Read all files, but what Python keeps of modules that were imported."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in Path().rglob("*")
        if "__pycache__" not in path.parts
    }


def refused(arguments, monkeypatch, capsys):
    """Run a command that must fail, and give its one line."""
    before = tree()
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 2, shown.err
    assert shown.out == ""
    assert shown.err.startswith("shoal: ")
    assert shown.err.count("\n") == 1
    assert shown.err.endswith("\n")
    assert not PYTHON.search(shown.err), "the way out is an option, not Python"
    assert tree() == before, "nothing is written, and the ledger is as it was"
    return shown.err


@pytest.fixture
def says(monkeypatch, capsys):
    return lambda arguments: refused(arguments, monkeypatch, capsys)


def test_wrong_file(says, subtests):
    for file, words in [
        ("nosuch.csv", "No such file or directory"),
        ("nosuch.parquet", "No such file or directory"),
        ("picture.csv", "it is not text separated by commas"),
        ("empty.csv", "must hold at least one record"),
        ("head.csv", "must hold at least one record"),
        ("words.csv", "column 'weight' must hold numbers, got text"),
        ("holes.csv", "column 'weight' must hold finite numbers"),
        ("ragged.csv", "must have as many values in every line as in its first"),
    ]:
        with subtests.test(file=file, words=words):
            for command in ("cluster", "perturb", "attack"):
                message = says(line(command, *BOX, file=file))
                assert words in message
                assert "Ann" not in message
                assert "Bob" not in message


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cluster", "files of one kind are needed"),
        ("perturb", "files of one kind are needed"),
        ("attack", "Is a directory"),
    ],
)
def test_a_folder_without_data(command, words, says):
    assert words in says(line(command, *BOX, file="a folder"))


@pytest.mark.parametrize("command", ["cluster", "perturb", "attack"])
def test_missing_column(command, says):
    message = says(line(command, *BOX, "--columns", "age,height"))
    assert "must have one column 'height', got none of that name among its 2" in message
    assert "weight" not in message


@pytest.mark.parametrize("command", READERS)
def test_epsilon(command, says):
    for epsilon in ("0", "-1", "nan"):
        message = says(line(command, *BOX, "--epsilon", epsilon, target=TARGETS[command]))
        assert "epsilon must be" in message


@pytest.mark.parametrize("command", READERS)
def test_unknown_target(command, says):
    message = says(line(command, *BOX, target="DPKMean"))
    assert "target must be one of" in message
    assert "got 'DPKMean'" in message


def test_bounds(says, subtests):
    for bounds, words in [
        ("120:0,0:250", "low < high"),
        ("1,0", "low < high"),
        ("0,1,2", "--bounds must be LOW,HIGH"),
        ("low,high", "--bounds must be LOW,HIGH"),
        ("nosuch.json", "No such file or directory"),
        ("broken.json", "with other content"),
    ]:
        with subtests.test(bounds=bounds, words=words):
            for command in READERS:
                assert words in says(line(command, "--bounds", bounds, target=TARGETS[command]))


@pytest.mark.parametrize("command", ["cluster", "perturb", "attack"])
def test_bounds_are_needed(command, says):
    assert "needs public bounds: pass --bounds LOW,HIGH" in says(line(command))


@pytest.mark.parametrize("command", ["cluster", "perturb", "attack"])
def test_bounds_of_other_columns(command, says):
    assert "bounds must have" in says(line(command, "--bounds", "0:120,0:250,0:1"))
    message = says(line(command, "--bounds", "other.json"))
    assert "without column 'weight'" in message


@pytest.mark.parametrize("command", READERS)
def test_settings(command, says):
    target = TARGETS[command]
    assert "must be name=value" in says(line(command, *BOX, "--set", "seven", target=target))
    message = says(line(command, *BOX, "--set", "color=red", target=target))
    assert f"--set must name a parameter of {target}, got 'color': it can set " in message
    message = says(line(command, *BOX, "--set", "user_ids=age", target=target))
    assert "got 'user_ids'" in message
    assert "--user-column" in message
    for name, option in (("ledger", "--ledger"), ("random_state", "--seed")):
        message = says(line(command, *BOX, "--set", f"{name}=1", target=target))
        assert f"--set must not name {name}, got it: use {option}" in message


@pytest.mark.parametrize("command", READERS)
def test_unwritable_output(command, says):
    message = says(line(command, *BOX, target=TARGETS[command], out="note.txt/made"))
    assert ("can be written" if command == "perturb" else "must be a writable folder") in message
    assert "note.txt" in message


@pytest.mark.parametrize("command", ["cluster", "attack", "audit"])
def test_a_file_where_the_folder_should_be(command, says):
    message = says(line(command, *BOX, target=TARGETS[command], out="note.txt"))
    assert "--out must be a writable folder" in message


@pytest.mark.parametrize("command", ["cluster", "perturb"])
def test_wrong_ledger(command, says):
    for ledger in ("nosuch.ledger", "note.txt", "a folder"):
        assert ledger in says(line(command, *BOX, "--ledger", ledger))


@pytest.mark.parametrize("command", ["cluster", "perturb"])
def test_more_than_is_left(command, says):
    assert "asked epsilon" in says(line(command, *BOX, "--epsilon", "4"))


def test_datasets_and_ledger(says, subtests):
    for arguments, words in [
        (["datasets", "nosuch"], "got 'nosuch'"),
        (["datasets", "--download"], "--download must come with the name"),
        (["datasets", "iris", "--download"], "which comes with scikit-learn"),
        (["datasets", "iris", "--to", "made"], "--to must come with --download"),
        (["datasets", "gowalla", "--download"], "gowalla cannot be downloaded"),
        (["ledger", "nosuch.ledger"], "there is no ledger"),
        (["ledger", "note.txt"], "is not a ledger"),
        (["ledger", "a folder"], "Is a directory"),
        (["ledger", "a folder", "--epsilon", "1"], "Is a directory"),
        (["ledger", "new.ledger", "--epsilon", "0"], "epsilon must be"),
        (["ledger", "new.ledger", "--delta", "1e-6"], "--epsilon must be given"),
        (["ledger", "note.txt/new.ledger", "--epsilon", "1"], "Not a directory"),
    ]:
        with subtests.test(arguments=arguments, words=words):
            assert words in says(arguments)


OWN = """
import numpy as np
from sklearn.base import BaseEstimator

from shoal import Laplace


class Plain(BaseEstimator):
    def __init__(self, epsilon=1.0, bounds=None, random_state=None):
        self.epsilon, self.bounds, self.random_state = epsilon, bounds, random_state

    def fit(self, X, y=None):
        return self


class Unpromised(Plain):
    def fit_transform(self, X, y=None):
        return np.asarray(X)

    transform = fit_transform


unbounded = Laplace(1.0)
broken = None
"""


def test_the_way_out_is_an_option(says, subtests):
    for arguments, words in [
        (["compare", "people.csv", *COLUMNS], "pass --bounds LOW,HIGH"),
        (["compare", "people.csv", *HERE, "--only", "own_code:broken"], "must be an estimator"),
        (["compare", "people.csv", *HERE, "--only", "own_code:Plain"], "cluster_centers_"),
        (["compare", "people.csv", *HERE, "--only", "own_code:Nothing"], "can be imported"),
        (["compare", "people.csv", *HERE, "--only", "DPKMeans,no_code:A"], "can be imported"),
        (["audit", "own_code:unbounded"], "pass --bounds LOW,HIGH"),
        (["audit", "own_code:Plain", "--bounds", "0,1", "--epsilon", "1"], "guarantee_"),
        (["audit", "DPKMeans", "--samples", "1000"], "pass --runs instead"),
        (["audit", "Laplace", "--runs", "1000"], "pass --samples instead"),
        (
            ["cluster", "people.csv", *HERE, "--target", "DPWaveCluster", "--bounds", "private"],
            "LOW",
        ),
        (
            ["perturb", "people.csv", *HERE, *UNIT, "--out", "r.csv", "--ledger", "plain.ledger"],
            "--metric",
        ),
        (["ledger", "people.ledger", "--epsilon", "7"], "omit the limits to open it"),
    ]:
        with subtests.test(arguments=arguments, words=words):
            Path("own_code.py").write_text(OWN)
            Path("__pycache__").mkdir(exist_ok=True)  # the only thing that importing it may leave
            Ledger("plain.ledger", epsilon=3.0)
            assert words in says(arguments)


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", "from shoal.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def stopped(process, ready):
    """Send Ctrl-C once the command is where it should be, and give what it says."""
    end = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    return err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_interrupt_while_reading():
    """A pipe that nobody ends keeps the command reading for as long as it takes."""
    os.mkfifo("pipe.csv")
    before = Path("people.ledger").read_bytes()
    process = start("cluster", "pipe.csv", *COLUMNS, *BOX, "--ledger", "people.ledger")
    # Opening waits for the reader.
    with open("pipe.csv", "w", encoding="utf-8") as pipe:  # noqa: PTH123 - as a pipe
        pipe.write("age,weight\n")
        pipe.flush()
        assert stopped(process, lambda: True) == "shoal: stopped by Ctrl-C\n"
    assert Path("people.ledger").read_bytes() == before
    assert not Path("shoal-cluster").exists()


def crowd(n_samples):
    people = np.random.default_rng(0).uniform([0, 0], [120, 250], size=(n_samples, 2))
    np.savetxt("crowd.csv", people, delimiter=",", header="age,weight", comments="")


@pytest.mark.full
def test_interrupt_in_the_middle_of_a_fit():
    """What is spent before the noise stays spent; no file of the release is left."""
    crowd(5000)
    many = ("--set", "n_clusters=5000", "--set", "method=lloyd", "--set", "max_iter=50")
    process = start("cluster", "crowd.csv", *COLUMNS, *BOX, "--ledger", "people.ledger", *many)
    out = Path("shoal-cluster")
    err = stopped(process, lambda: out.exists() and any(out.iterdir()))
    assert err == "shoal: stopped by Ctrl-C\n"
    assert not out.exists()
    assert not any(path.name.endswith(".part") for path in Path().rglob("*"))
    assert len(Ledger("people.ledger").entries) <= 1


@pytest.mark.full
def test_interrupt_in_the_middle_of_attacks():
    crowd(2000)
    process = start(
        "attack", "crowd.csv", *COLUMNS, *BOX, "--runs", "100000", "--attacks", "centers"
    )
    err = stopped(process, Path("shoal-attack").exists)
    assert err == "shoal: stopped by Ctrl-C\n"
    assert not Path("shoal-attack").exists()
