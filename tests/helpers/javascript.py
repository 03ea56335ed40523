"""Reports that the JavaScript client draws, for the same checks that Python's reports pass."""

import contextlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

CLIENT = Path(__file__).parents[2] / "clients" / "js"
OLDEST_NODE = 20


def node_or_skip():
    """Return the path of Node, or skip the test and say why."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node: the JavaScript client is not tested; install nodejs, 20 or later")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip().lstrip("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node {version.strip()} is too old for the JavaScript client: install 20")
    return node


class JavaScriptReports:
    """A Node process that draws reports by the client's own modules, or by a changed copy."""

    def __init__(self, process):
        self._process = process

    def draw(self, mechanism, records, each, *, seed="0"):
        """Return ``each`` reports of every record, decoded; a seed of None is the secure source."""
        document, format = mechanism.to_dict(), mechanism.report_format()
        job = {
            "mechanism": document,
            "format": format.to_dict(),
            "records": records,
            "each": each,
            "seed": seed,
        }
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        wanted = len(records) * each * format.width
        drawn = self._process.stdout.read(wanted)
        if len(drawn) != wanted:
            raise RuntimeError("Node stopped: its reason is above")
        return format.decode(drawn)

    def reports_of(self, mechanism, *, seed="0"):
        """Return a function of a record and a number, as ``audit_mechanism`` takes it."""
        calls = iter(range(10**9))

        def draw(record, n):
            words = None if seed is None else f"{seed}:{next(calls)}"
            return self.draw(mechanism, [np.asarray(record).tolist()], n, seed=words)

        return draw


@contextlib.contextmanager
def javascript_reports(folder=CLIENT / "src"):
    """Start Node on modules of the client; it is gone afterwards."""
    script = CLIENT / "test" / "helpers" / "drawReports.js"
    process = subprocess.Popen(
        [node_or_skip(), str(script), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield JavaScriptReports(process)
    finally:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()


def planted(folder, module, right, wrong):
    """Copy the client's modules to a folder, with one piece of code exchanged for another."""
    shutil.copytree(CLIENT / "src", folder, dirs_exist_ok=True)
    text = (folder / module).read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{module} must hold {right!r} once"
    (folder / module).write_text(text.replace(right, wrong), encoding="utf-8")
    return folder
