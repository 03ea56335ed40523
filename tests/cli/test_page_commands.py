"""Commands that pages show run as they are written, one after another in a folder of their own.

Those of the collector's pages run in test_collect_docs.py and test_shuffling_docs.py.
"""

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.cli import schema as schema_module
from shoal.client.commands import main as client
from shoal.datasets import make_customers
from shoal.schema import Number, Schema
from shoal.tables import write_table

ROOT = Path(__file__).parents[2]
PAGES = {
    page.relative_to(ROOT).as_posix(): [
        line.removeprefix("$ ").partition("   #")[0].strip()
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
# Tests of their own run these: they serve until they are stopped, or make up all their records.
ELSEWHERE = ("shoal collect", "shoal studio", "shoal demo", "shoal reproduce")
SLOW = ("shoal attack", "shoal audit", "shoal compare", "shoal plan")
FEWER = {
    "shoal attack": "--runs 2 --attacks centers",
    "shoal audit": "--runs 100 --jobs 1",
    "shoal compare": "--runs 2 --jobs 1 --no-attacks",
}
# Of other programs; whatever a page shows beside these is run, or its options are looked up.
OTHERS = (
    "pip install",
    "export",
    "docker compose",
    "mkdir",
    "openssl",
    "git grep",
    "make",
    "echo",
    "source",
)
REFUSED = "--k 4 --ledger spent.jsonl"  # a page shows how a ledger refuses it
NUMBER = ["n", "0", "250", "", "n", "n", ""]
ANSWERS = {  # to `shoal schema`, after whether the first line holds the names
    "gym.csv": [*NUMBER, *NUMBER, "c", "weights, spinning, yoga, swimming", "n", "0.1"],
    "people.csv": [*NUMBER, *NUMBER],
    "customers.csv": [
        "u",
        *(["n", "0", "250", "", "n", "y", ""] * 3),
        *("c", "female, male, other", "", ""),
        *("c", "Aldford, Carrow", "", ""),
        *("d", "", "2010-01-01", "2025-12-31", "", ""),
        *("y", "", ""),
        "t",
    ],
}


def in_process(*, slow):
    """Return the commands of each page that run here, and those that take their time if asked."""
    found = {}
    for page, lines in PAGES.items():
        run = [line for line in lines if line.startswith("shoal ")]
        run = [line for line in run if not line.startswith(ELSEWHERE)]
        quick = [line for line in run if not line.startswith(SLOW)]
        if run if slow else quick:
            found[page] = run if slow else quick
    return [pytest.param(page, lines, id=page) for page, lines in found.items()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write the files that pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(schema_module, "on_terminal", lambda: True)
    rng = np.random.default_rng(0)
    people = rng.normal([40.0, 170.0], [15.0, 12.0], size=(600, 2))
    write_table("people.csv", ["age", "height"], people)
    write_table("visits.csv", ["person", "age", "height"], np.c_[np.arange(600) // 2, people])
    write_table("places.csv", ["lon", "lat"], rng.normal([-74.0, 40.7], 0.05, size=(600, 2)))
    limits = {"age": (0, 120), "height": (50, 250)}
    fields = [Number(name, minimum=low, maximum=high) for name, (low, high) in limits.items()]
    Schema(fields).save("people.json")
    customers = make_customers(600, random_state=0)
    customers.schema.save("s.json")
    rows = np.array(list(zip(*customers.table.values(), strict=True)), dtype=object)
    write_table("customers.csv", list(customers.table), rows)


def run_lines(page, lines):
    """Run commands; `new.csv` begins as the file that was clustered last."""
    if page == "docs/start.md":  # it makes the table that it clusters
        code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        exec(compile(code[1], page, "exec"), {})
    for line in lines:
        command, *words = shlex.split(line)[1:]
        if command == "cluster" and words[0].endswith(".csv"):
            rows = Path(words[0]).read_text("utf-8").splitlines(keepends=True)
            Path("new.csv").write_text("".join(rows[:20]), "utf-8")
        words += shlex.split(FEWER.get(f"shoal {command}", ""))
        answers = ["", *ANSWERS[words[0]]] if command == "schema" else []
        text = "".join(f"{answer}\n" for answer in answers)
        result = CliRunner().invoke(app, [command, *words], input=text)
        if line.endswith(REFUSED):
            assert "nothing was recorded" in str(result.exception)
        else:
            assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception}"
            assert result.output, line


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("page", "lines"), in_process(slow=False))
def test_commands_of_pages(page, lines):
    run_lines(page, lines)


@pytest.mark.full
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("page", "lines"), in_process(slow=True))
def test_commands_of_pages_with_those_that_take_their_time(page, lines):
    run_lines(page, lines)


def help_of(words, capsys):
    """Return the help of a command that runs elsewhere."""
    if words[0] == "shoal-device":
        with pytest.raises(SystemExit):
            client(["--help"])
        return capsys.readouterr().out
    named = itertools.takewhile(lambda word: not word.startswith("--"), words[1:])
    return CliRunner().invoke(app, [*named, "--help"], env={"COLUMNS": "200"}).output


def test_commands_that_run_elsewhere_have_these_options(capsys):
    lines = {line for lines in PAGES.values() for line in lines}
    for line in sorted(lines):
        found = re.search(r"\bshoal(-device)? .*", line)
        if found and f"{found[0]} ".startswith((*ELSEWHERE, "shoal-device")):
            words = shlex.split(found[0])
            shown = help_of(words, capsys)
            assert all(word in shown for word in words if word.startswith("--")), line


def test_every_command_is_run_or_looked_up():
    known = ("shoal ", "shoal-device ", *OTHERS)
    assert [line for lines in PAGES.values() for line in lines if not line.startswith(known)] == []
