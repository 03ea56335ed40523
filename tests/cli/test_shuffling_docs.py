"""The page of shuffled campaigns: its commands run, and its numbers are what the code computes."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.collector import REPORT
from shoal.campaigns import SealingKey
from shoal.cli import app
from shoal.collector.batch_intake import GRACE, store_batch
from shoal.collector.store import Store
from shoal.mechanisms import PartitionResponse

PAGE = (Path(__file__).parents[2] / "docs/shuffling.md").read_text(encoding="utf-8")
LINES = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]
ELSEWHERE = ("shoal collect serve", "shoal collect shuffle")  # they run until they are stopped
SQUARE = ([0.0, 0.0], [1.0, 1.0])


def run(line):
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def forward_a_batch():
    """Store what a relay would forward: mostly nothing, since sealing takes its time."""
    key = SealingKey.load("sealing.pem")
    with Store.open("sqlite:///reports.db") as store:
        campaign = store.campaign("homes").campaign
        sealed = [key.public.seal(REPORT, "homes") for _ in range(100)]
        missing = bytes(campaign.body_bytes) * (campaign.shuffler.batch_size - len(sealed))
        store_batch(store, campaign, key, 1, b"".join(sealed) + missing)


def test_commands_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public_key = ""
    for line in LINES:
        typed = line.replace("$PUBLIC_KEY", public_key)
        if line.startswith("export "):
            monkeypatch.setenv(*line.removeprefix("export ").split("="))
        elif line.startswith("shoal collect serve"):
            forward_a_batch()
        elif line.startswith("shoal collect analyze"):
            shown = " ".join(run(f"{typed} --here --set n_init=1").split())
            assert "at least 80 reports of every batch of 1,000" in shown
        elif not line.startswith(ELSEWHERE):
            shown = run(typed)
            found = re.search(r"ship this key with the app: (\S+)", shown)
            public_key = found[1] if found else public_key


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith(ELSEWHERE)])
def test_commands_that_run_elsewhere_have_these_options(line):
    words = shlex.split(line)
    shown = run(" ".join([*words[:3], "--help"]))
    for option in words[3:]:
        assert not option.startswith("--") or option in shown


def test_the_table_is_what_the_code_computes():
    rows = re.findall(r"^\| (?:batches of )?([0-9,]+), (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for size, which, numbers in rows:
        n = int(size.replace(",", "")) // (2 if "half" in which else 1)
        reports = 2 if "two reports" in which else 1
        found = [
            PartitionResponse(epsilon, bounds=SQUARE).shuffled(n, 1e-6, reports_per_device=reports)
            for epsilon in (1.0, 2.0, 4.0, 6.0)
        ]
        assert [f"{float(f'{one.epsilon:.3g}'):g}" for one in found] == numbers.split(" | ")


def test_the_days_of_grace_are_those_of_the_code():
    assert f"until {GRACE.days} days after the closing time" in PAGE
