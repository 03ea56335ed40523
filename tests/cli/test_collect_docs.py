"""The page of the collector: its commands run, and its table is what the code computes."""

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal._build import load_class
from shoal._registry import METHODS
from shoal.cli import app
from shoal.cli.collect import COMMANDS
from shoal.collector.store import Store, Submission

PAGE = (Path(__file__).parents[2] / "docs/collector.md").read_text(encoding="utf-8")
LINES = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]
# Run in a process of its own, by the demo; and the demo itself.
ELSEWHERE = ("shoal collect serve", "shoal collect demo")
COLUMNS = (1, 2, 3, 8)


def run(line):
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def send_reports():
    """Store what devices of two towns would send."""
    with Store.open("sqlite:///reports.db") as store:
        mechanism = store.campaign("homes").campaign.mechanism.set_params(random_state=0)
        records = np.repeat([[4.0, 4.0], [16.0, 16.0]], 150, axis=0)
        body = mechanism.encode(mechanism.fit_transform(records))
        store.append([Submission("homes", b"0123456789abcdef", body, 300)])


def test_commands_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public_key = ""
    for line in LINES:
        typed = line.replace("$PUBLIC_KEY", public_key)
        if line.startswith("export "):
            monkeypatch.setenv(*line.removeprefix("export ").split("="))
        elif line.startswith("shoal collect serve"):
            send_reports()
        elif line.startswith("shoal collect analyze"):
            assert "300 reports" in run(f"{typed} --here")  # no server runs: no worker either
        elif not line.startswith(ELSEWHERE):
            shown = run(typed)
            found = re.search(r"ship this key with the app: (\S+)", shown)
            public_key = found[1] if found else public_key
    assert '"revision": 2' in run("shoal collect status --json")
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with redirect_stdout(StringIO()) as shown:
        exec(compile(block, "page", "exec"), {})
    assert "epsilon = 2" in shown.getvalue()


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith(ELSEWHERE)])
def test_commands_that_run_elsewhere_have_these_options(line):
    words = shlex.split(line)
    shown = run(" ".join([*words[:3], "--help"]))
    for option in words[3:]:
        assert not option.startswith("--") or option in shown


def test_every_command_is_on_the_page():
    table = PAGE.split("| command | what it does |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    assert {*COMMANDS, "key", "token"} <= named


def test_bytes_of_a_report():
    rows = [
        f"| `{method.class_name}` | "
        + " | ".join(_width(method, columns) for columns in COLUMNS)
        + " |"
        for method in METHODS
        if method.location.startswith("shoal.mechanisms:") and not method.kwargs
    ]
    section = PAGE.split("## Bytes of a report")[1].split("##")[0]
    assert re.findall(r"^\| `.*$", section, re.MULTILINE) == rows


def _width(method, columns):
    if not method.min_columns <= columns <= method.max_columns:
        return ""
    mechanism = load_class(method.location)(1.0, bounds=([0.0] * columns, [1.0] * columns))
    return str(mechanism.report_format().width)
