"""Write the tables of measured results into the pages, from the files that commands wrote.

`python tools/result_tables.py` fills each place between `<!-- table: NAME -->` and `<!-- end -->`
of the pages; `--check` only says which are out of date, and fails if one is.

`python tools/result_tables.py --keep FILE --as NAME --command "shoal reproduce kccm --quick"` keeps
what a command wrote as docs/_data/NAME.csv, under the command, the version and the date. FILE is a
CSV file, or the JSON of `shoal reproduce --json`, of which the verdicts are kept.
"""

import argparse
import csv
import datetime
import io
import json
import math
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = "docs/_data"
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
OUTCOMES = (
    "reproduced",
    "not reproduced",
    "undecided",
    "only as published",
    "cannot be private",
)
SOURCES = {
    "kd-laplace": "verdicts_kd_laplace",
    "kccm": "verdicts_kccm",
    "wavecluster": "verdicts_wavecluster",
}

Row = dict[str, str]
Cells = list[list[str]]


@dataclass(frozen=True)
class Results:
    """Rows of a file, and how they came about."""

    file: str
    origin: dict[str, str]  # command, version and date; empty for the files of benchmarks/
    rows: list[Row]


@dataclass(frozen=True)
class Table:
    """A table of a page: the files it is made from, and its cells, headings first."""

    page: str
    files: tuple[str, ...]
    cells: Callable[[Sequence[Results]], Cells]


def read_results(file: str, root: Path = ROOT) -> Results:
    """Read a CSV file whose first lines may be comments such as ``# command: make bench``."""
    text = (root / file).read_text(encoding="utf-8")
    origin = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return Results(file, origin, list(csv.DictReader(io.StringIO(body))))


def _verdict_counts(results: Sequence[Results]) -> Cells:
    cells = [["source", "claims", *OUTCOMES]]
    for source, one in zip(SOURCES, results, strict=True):
        found = [row["outcome"] for row in one.rows]
        cells.append([f"`{source}`", str(len(found)), *(str(found.count(o)) for o in OUTCOMES)])
    return cells


def _verdicts(results: Sequence[Results]) -> Cells:
    rows = results[0].rows
    cells = [["claim", "what the source says", "verdict"]]
    return cells + [[row["claim"], row["text"], f"**{row['outcome']}**"] for row in rows]


def _peers(results: Sequence[Results]) -> Cells:
    rows = results[0].rows
    epsilons = sorted({float(row["epsilon"]) for row in rows})
    cells = [["table", "n, columns, k", "method", *(f"{e:g}" for e in epsilons), "seconds a fit"]]
    for name, method in dict.fromkeys((row["set"], row["method"]) for row in rows):
        own = [row for row in rows if (row["set"], row["method"]) == (name, method)]
        costs = {float(row["epsilon"]): _mean(row["cost"], row["error"]) for row in own}
        shape = ", ".join(own[0][key] for key in ("n", "columns", "k"))
        seconds = statistics.median(float(row["seconds"]) for row in own)
        cells.append([name, shape, method, *(costs[e] for e in epsilons), f"{seconds:.2f}"])
    return cells


def _fits(measure: str, *, by: tuple[str, ...]) -> Callable[[Sequence[Results]], Cells]:
    """Make a table of means over seeds from a file with a row a fit, epsilons across."""

    def cells(results: Sequence[Results]) -> Cells:
        rows = results[0].rows
        epsilons = sorted({float(row["epsilon"]) for row in rows})
        found = [[*by, *(f"{e:g}" for e in epsilons), "seconds a fit"]]
        for key in dict.fromkeys(tuple(row[name] for name in by) for row in rows):
            own = [row for row in rows if tuple(row[name] for name in by) == key]
            line = list(key)
            for epsilon in epsilons:
                values = [float(row[measure]) for row in own if float(row["epsilon"]) == epsilon]
                line.append(_mean(statistics.mean(values), _error(values)))
            seconds = statistics.median(float(row["seconds"]) for row in own)
            found.append([*line, f"{seconds:.2f}"])
        return found

    return cells


def _strict_local(epsilon: str) -> Callable[[Sequence[Results]], Cells]:
    methods = ("one_round", "two_rounds", "laplace", "piecewise", "blind", "central")

    def cells(results: Sequence[Results]) -> Cells:
        rows = [row for row in results[0].rows if row["epsilon"] == epsilon]
        found = [["set", *(method.replace("_", " ") for method in methods)]]
        for name in dict.fromkeys(row["set"] for row in rows):
            own = {row["method"]: row for row in rows if row["set"] == name}
            if "one_round" in own:  # others hold figures of the prototype only
                known = [own.get(method) for method in methods]
                found.append(
                    [name, *(_mean(row["cost"], row["error"]) if row else "" for row in known)]
                )
        return found

    return cells


def _poisoning(results: Sequence[Results]) -> Cells:
    chosen = {"mechanism": "PartitionResponse", "devices": "10000", "epsilon": "4"}
    rows = [row for row in results[0].rows if all(row[k] == v for k, v in chosen.items())]
    analyses = ("trusting", "contamination 0.01", "contamination 0.05")
    found = [["set", "liars who plant a cluster", *analyses, "runs"]]
    for name, share in sorted({(row["set"], row["share"]) for row in rows}, key=_by_share):
        own = {
            row["analysis"]: row
            for row in rows
            if (row["set"], row["share"]) == (name, share) and row["lie"] in ("none", "plant")
        }
        known = [own.get(analysis) for analysis in analyses]
        shifts = [
            _mean(row["shift_typical"], row["shift_typical_error"]) if row else "" for row in known
        ]
        percent = f"{float(share):.1%}".replace(".0%", "%")
        found.append([name, percent, *shifts, own["trusting"]["seeds"]])
    return found


def _by_share(key: tuple[str, str]) -> tuple[str, float]:
    return key[0], float(key[1])


def _collector(results: Sequence[Results]) -> Cells:
    found = [["what", "figure", "unit", "command"]]
    for row in results[0].rows:
        found.append([row["what"], row["figure"], row["unit"], f"`{row['command']}`"])
    return found


def _mean(mean: str | float, error: str | float) -> str:
    """Format a mean with its standard error, if there is one."""
    mean, error = float(mean), float(error or math.nan)
    digits = 3 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def _error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def _kept(name: str) -> str:
    return f"{DATA}/{name}.csv"


EXPERIMENTS, BENCHMARKS = "docs/experiments.md", "docs/benchmarks.md"
TABLES = {
    "verdicts": Table(EXPERIMENTS, tuple(map(_kept, SOURCES.values())), _verdict_counts),
    **{
        f"verdicts-{source}": Table(EXPERIMENTS, (_kept(name),), _verdicts)
        for source, name in SOURCES.items()
    },
    "peers": Table(BENCHMARKS, (_kept("peers_kmeans"),), _peers),
    "wild": Table(BENCHMARKS, (_kept("wild_fits"),), _fits("ratio", by=("set", "delta"))),
    "shapes": Table(BENCHMARKS, (_kept("shape_fits"),), _fits("ari", by=("set",))),
    "strict-local-1": Table(
        BENCHMARKS, ("benchmarks/strict_local_figures.csv",), _strict_local("1")
    ),
    "strict-local-4": Table(
        BENCHMARKS, ("benchmarks/strict_local_figures.csv",), _strict_local("4")
    ),
    "poisoning": Table(BENCHMARKS, ("benchmarks/poisoning_figures.csv",), _poisoning),
    "collector": Table(BENCHMARKS, (_kept("collector_figures"),), _collector),
}


def render(name: str, root: Path = ROOT) -> str:
    """Format a table in Markdown, and under it where each of its files came from."""
    table = TABLES[name]
    results = [read_results(file, root) for file in table.files]
    heading, *rows = table.cells(results)
    lines = [heading, ["---"] * len(heading), *rows]
    text = "".join(f"| {' | '.join(_escaped(cells))} |\n" for cells in lines)
    origin = "".join(_origins(results))
    return f"\n{text}\n" + (f"{origin}\n" if origin else "")


def _escaped(cells: Sequence[str]) -> Iterator[str]:
    return (cell.replace("|", r"\|") for cell in cells)


def _origins(results: Sequence[Results]) -> Iterator[str]:
    """Say how the one file of a table came about; tables of several stand above those of each."""
    if len(results) > 1:
        return
    file, origin = results[0].file, results[0].origin
    if "command" in origin:
        yield f"`{origin['command']}`, "
    if "version" in origin:
        yield f"{origin['version']}, {origin['date']}: `{file}`."
    else:
        yield f"From `{file}`."
    yield f" {origin['note']}\n" if "note" in origin else "\n"


def filled(page: str, root: Path = ROOT) -> str:
    """Return a page with all its tables as the files have them."""
    text = (root / page).read_text(encoding="utf-8")
    return PLACE.sub(lambda place: place[1] + render(place[2], root) + place[3], text)


def pages_out_of_date(root: Path = ROOT) -> list[str]:
    """Return the pages of which a table differs from its files."""
    pages = dict.fromkeys(table.page for table in TABLES.values())
    return [page for page in pages if filled(page, root) != (root / page).read_text("utf-8")]


def keep(source: Path, name: str, command: str, root: Path = ROOT) -> Path:
    """Keep the results of a command, under the command, the version and the date."""
    from shoal import __version__

    text = source.read_text(encoding="utf-8")
    if source.suffix == ".json":
        verdicts = json.loads(text)["verdicts"]
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, ("claim", "text", "outcome"), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: one[k] for k in ("claim", "text", "outcome")} for one in verdicts)
        text = buffer.getvalue()
    today = datetime.datetime.now(datetime.UTC).date()
    origin = f"# command: {command}\n# version: shoal {__version__}\n# date: {today}\n"
    path = root / _kept(name)
    path.write_text(origin + text, encoding="utf-8")
    return path


def main() -> None:
    """Fill the tables, check them, or keep results for them."""
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("--check", action="store_true", help="change nothing")
    words.add_argument("--keep", type=Path, metavar="FILE", help="what a command wrote")
    words.add_argument("--as", dest="name", help="name of the kept file")
    words.add_argument("--command", help="the command that wrote it")
    options = words.parse_args()
    if options.keep is not None:
        if options.name is None or options.command is None:
            words.error("--keep needs --as NAME and --command COMMAND")
        print(keep(options.keep, options.name, options.command))
        return
    stale = pages_out_of_date()
    if options.check and stale:
        raise SystemExit(f"out of date: {', '.join(stale)}; run: python tools/result_tables.py")
    for page in stale:
        (ROOT / page).write_text(filled(page), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
