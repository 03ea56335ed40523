"""The JavaScript client: its size, and how long reports take in Node and in Chromium.

`python benchmarks/javascript_client.py` needs Node, `npm ci` in clients/js, and Chromium. A report
is drawn, with words from the secure source, and written as bytes; nothing is kept or sent. Python
draws the same reports, one record at a time as a device does, for comparison.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from shoal import mechanisms as m
from shoal.schema import Category, Number, Schema

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "clients" / "js"
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browser import chromium, serving_files, visiting  # noqa: E402

SQUARE, CUBE = ([0.0] * 2, [1.0] * 2), ([0.0] * 3, [1.0] * 3)
SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B", "C"])])
CASES = {
    "PartitionResponse": (m.PartitionResponse(2.0, bounds=SQUARE), [0.2, 0.7]),
    "PartitionResponse, schema": (
        m.PartitionResponse(2.0, schema=SCHEMA),
        {"age": 41.0, "city": "B"},
    ),
    "Piecewise": (m.Piecewise(2.0, bounds=SQUARE), [0.2, 0.7]),
    "SquareWave": (m.SquareWave(2.0, bounds=SQUARE), [0.2, 0.7]),
    "Hybrid": (m.Hybrid(2.0, bounds=SQUARE), [0.2, 0.7]),
    "Duchi": (m.Duchi(2.0, bounds=SQUARE), [0.2, 0.7]),
    "Laplace": (m.Laplace(2.0, bounds=SQUARE), [0.2, 0.7]),
    "Laplace, redrawn": (m.Laplace(2.0, bounds=SQUARE, truncate="resample"), [0.2, 0.7]),
    "PlanarLaplace": (m.PlanarLaplace(2.0, bounds=SQUARE), [0.2, 0.7]),
    "SphericalLaplace": (m.SphericalLaplace(2.0, bounds=CUBE), [0.2, 0.7, 0.5]),
    "Laplace, 16 columns": (m.Laplace(2.0, bounds=([0.0] * 16, [1.0] * 16)), [0.5] * 16),
}
IN_NODE = """
import { measure } from %s;
import { readFileSync } from "node:fs";
const { cases, count } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await measure(%s, cases, count)));
"""


def main() -> None:
    """Print sizes and times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", type=int, default=10_000, help="Reports in Node.")
    parser.add_argument("--chromium", type=int, default=1_000, help="Reports in Chromium.")
    parser.add_argument("--python", type=int, default=1_000, help="Reports in Python.")
    asked = parser.parse_args()
    subprocess.run(["npm", "run", "--silent", "size"], cwd=CLIENT, check=True)
    cases = [
        {
            "name": name,
            "mechanism": mechanism.to_dict(),
            "format": mechanism.report_format().to_dict(),
            "record": record,
        }
        for name, (mechanism, record) in CASES.items()
    ]
    columns = {
        f"Node, {asked.node} reports": in_node(cases, asked.node),
        f"Chromium, {asked.chromium}": in_chromium(cases, asked.chromium),
        f"Python, {asked.python}": in_python(asked.python),
    }
    print("| mechanism | " + " | ".join(f"{title}: s (reports/s)" for title in columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    counts = (asked.node, asked.chromium, asked.python)
    for name in CASES:
        shown = (
            f"{times[name]:.2f} ({count / times[name]:,.0f})"
            for times, count in zip(columns.values(), counts, strict=True)
        )
        print(f"| {name} | {' | '.join(shown)} |")


def in_node(cases: list[dict], count: int) -> dict[str, float]:
    """Return the seconds of each case in Node."""
    places = (CLIENT / "test" / "helpers" / "measure.js").as_uri(), f"{(CLIENT / 'src').as_uri()}/"
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", IN_NODE % tuple(map(json.dumps, places))],
        input=json.dumps({"cases": cases, "count": count}),
        capture_output=True,
        text=True,
        check=True,
    )
    return {one["name"]: one["seconds"] for one in json.loads(done.stdout)}


def in_chromium(cases: list[dict], count: int) -> dict[str, float]:
    """Return the seconds of each case in a page of Chromium."""
    folders = {"/src/": CLIENT / "src", "/helpers/": CLIENT / "test" / "helpers"}
    with chromium() as browser, serving_files(folders) as files, visiting(browser) as visit:
        files.texts["/"] = "<!doctype html><title>Times of reports</title>"
        page = visit.open(f"{files.address}/")
        page.set_default_timeout(600_000)
        found = page.evaluate(
            """async ({cases, count}) => {
                const {measure} = await import("/helpers/measure.js");
                return measure("/src/", cases, count);
            }""",
            {"cases": cases, "count": count},
        )
    return {one["name"]: one["seconds"] for one in found}


def in_python(count: int) -> dict[str, float]:
    """Return the seconds of each case in Python, one record at a time."""
    seconds = {}
    for name, (mechanism, record) in CASES.items():
        start = time.perf_counter()
        for _ in range(count):
            mechanism.encode(mechanism.randomize(record))
        seconds[name] = time.perf_counter() - start
    return seconds


if __name__ == "__main__":
    main()
