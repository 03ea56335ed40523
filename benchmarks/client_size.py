"""What a device carries: sizes, import times and the time of one report of shoal-device and shoal.

`python benchmarks/client_size.py` makes two environments (a registry of packages is needed), or
takes those of `--light` and `--whole`, which hold one distribution each. Times of imports and first
reports are those of the processor, which a busy machine changes less; every time but that of the
first report is the best of several runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TURNS = 9
MEGABYTE = 2**20
TOOLS = {"pip", "setuptools", "wheel", "_distutils_hack", "pkg_resources"}
IMPORTS = ("import numpy", "import shoal.mechanisms", "from shoal.client import Device")
TIMED = "import time; start = time.process_time(); {}; print(time.process_time() - start)"

REPORTS = """
import json, time
from shoal import mechanisms as m
from shoal.schema import Category, Flag, Number, Schema

schema = Schema([
    Number("age", minimum=0, maximum=120),
    Number("income", minimum=0, maximum=1e6),
    Category("city", ["A", "B", "C"]),
    Flag("member"),
])
record = {"age": 41.0, "income": 5e4, "city": "B", "member": True}
names = ["PartitionResponse", "Piecewise", "SquareWave", "Hybrid", "Duchi", "Laplace"]
cases = {name: (getattr(m, name)(2.0, bounds=([0.0] * 2, [1.0] * 2)), [0.2, 0.7]) for name in names}
for name, columns in (("PlanarLaplace", 2), ("SphericalLaplace", 3)):
    box = [0.0] * columns, [1.0] * columns
    cases[name] = getattr(m, name)(2.0, bounds=box), [0.5] * columns
for name in names:
    cases[f"{name}, schema"] = getattr(m, name)(2.0, schema=schema), record
times = {}
for name, (mechanism, x) in cases.items():
    start = time.process_time()
    mechanism.randomize(x)
    first = best = time.process_time() - start
    for _ in range(300):
        start = time.perf_counter()
        mechanism.randomize(x)
        best = min(best, time.perf_counter() - start)
    times[name] = first, best
print(json.dumps(times))
"""


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--light", type=Path, help="an environment with shoal-device")
    parser.add_argument("--whole", type=Path, help="an environment with shoal")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        light = given.light or install(Path(folder) / "light", ROOT / "clients/python")
        whole = given.whole or install(Path(folder) / "whole", ROOT)
        environments = {"shoal-device": light, "shoal": whole}
        for name, place in environments.items():
            parts = sizes(place)
            print(f"{name}: {sum(parts.values()):.1f} MB installed")
            for part, megabytes in sorted(parts.items(), key=lambda one: -one[1])[:8]:
                print(f"  {part:<24}{megabytes:>8.1f}")
        print(f"\n{'best import, ms':<40}" + "".join(f"{name:>14}" for name in environments))
        for statement in IMPORTS:
            best = import_times(statement, environments)
            print(f"{statement:<40}" + "".join(f"{best[name] * 1e3:>14.0f}" for name in best))
        print(f"\n{'one report, us: first, best':<28}" + "".join(f"{n:>18}" for n in environments))
        times = {name: json.loads(run(place, REPORTS)) for name, place in environments.items()}
        for case in times["shoal"]:
            pairs = (times[name][case] for name in environments)
            print(f"{case:<28}" + "".join(f"{a * 1e6:>10.0f}{b * 1e6:>8.0f}" for a, b in pairs))


def install(place: Path, project: Path) -> Path:
    """Make an environment with one distribution."""
    venv.create(place, with_pip=True)
    command = [place / "bin/python", "-m", "pip", "install", "--quiet", str(project)]
    subprocess.run(command, check=True)
    return place


def sizes(place: Path) -> dict[str, float]:
    """Return the megabytes of each installed package, without those that install."""
    (packages,) = place.glob("lib/python*/site-packages")
    parts = {}
    for part in packages.iterdir():
        name = part.name.partition("-")[0]
        if name not in TOOLS:
            files = [file for file in [part, *part.rglob("*")] if file.is_file()]
            held = sum(file.stat().st_size for file in files if file.suffix != ".pyc")
            parts[name] = parts.get(name, 0.0) + held / MEGABYTE
    return parts


def import_times(statement: str, environments: dict[str, Path]) -> dict[str, float]:
    """Return the seconds of the best import in each environment."""
    best = dict.fromkeys(environments, float("inf"))
    for _ in range(TURNS):
        for name, place in environments.items():
            best[name] = min(best[name], float(run(place, TIMED.format(statement))))
    return best


def run(place: Path, code: str) -> str:
    """Run code with the Python of an environment, which keeps its bytecode."""
    done = subprocess.run(
        [place / "bin/python", "-I", "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
