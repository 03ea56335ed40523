"""Run inside a fresh environment: use the installed shoal with one extra.

``python -I smoke.py EXTRA`` from an empty folder. It asserts that shoal comes from the environment,
loads every public name that this extra allows, asserts that packages of other extras are refused
with one line, and uses the extra once. Nothing of the source tree is imported.
"""

import importlib
import importlib.metadata
import json
import os
import pkgutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import shoal

# Packages of shoal that are servers; all others load with shoal alone.
SERVERS = {"collector", "service", "shuffler", "studio"}
SCRIPTS = Path(sysconfig.get_path("scripts"))
PEOPLE = "age,height\n" + "".join(f"{20 + i % 50},{150 + i * 7 % 50}\n" for i in range(500))


def assert_installed() -> None:
    """Refuse a shoal that is not the one of this environment."""
    packages = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(shoal.__file__).resolve().is_relative_to(packages), shoal.__file__
    assert importlib.metadata.version("shoal-dp") == shoal.__version__
    assert not any(Path.cwd().glob("src")), "run it from an empty folder"


def load_names(extra: str) -> int:
    """Load every name that a public package exports, and return how many there are."""
    served = extra in ("serve", "all")
    loaded = 0
    for module in pkgutil.iter_modules(shoal.__path__):
        if module.name.startswith("_") or (module.name in SERVERS and not served):
            continue
        package = importlib.import_module(f"shoal.{module.name}")
        loaded += sum(getattr(package, name) is not None for name in package.__all__)
    return loaded + sum(getattr(shoal, name) is not None for name in shoal.__all__)


def run(*words: str) -> str:
    """Run a command of the environment and return what it printed."""
    command = [str(SCRIPTS / words[0]), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def use_shoal() -> None:
    """Cluster an array and a CSV file, perturb a record, read a release again."""
    import numpy as np

    records = np.random.default_rng(0).normal([[2.0, 2.0]] * 500 + [[-2.0, 0.0]] * 500, 0.5)
    model = shoal.DPKMeans(2, epsilon=1.0, bounds=(-5.0, 5.0)).fit(records)
    assert model.guarantee_.holds
    assert shoal.Laplace(epsilon=1.0, bounds=(-5.0, 5.0)).randomize(records[0]).shape == (2,)
    Path("release.json").write_text(model.release_.to_json(), encoding="utf-8")
    assert shoal.load_release("release.json").predict(records).tolist() == model.labels_.tolist()
    assert run("shoal", "--version").strip() == f"shoal {shoal.__version__}"
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    shared = ("--columns", "age,height", "--bounds", "0:120,50:250")
    said = run("shoal", "cluster", "people.csv", *shared, "--epsilon", "1", "--k", "2", "--json")
    assert json.loads(said)


def use_plot() -> None:
    """Draw a release as a picture."""
    shoal.load_release("release.json").plot(path="release.png")
    assert Path("release.png").read_bytes().startswith(b"\x89PNG")


def use_arrow() -> None:
    """Cluster a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    from shoal.tables import ArrowTable

    table = pa.table({"age": [20.0 + i % 50 for i in range(500)], "height": [170.0] * 500})
    pyarrow.parquet.write_table(table, "people.parquet")
    people = ArrowTable("people.parquet", columns=["age", "height"])
    bounds = ([0.0, 50.0], [120.0, 250.0])
    assert shoal.DPKMeans(2, epsilon=1.0, bounds=bounds).fit(people).guarantee_.holds


def use_frame() -> None:
    """Cluster a data frame, and show a release as one."""
    import pandas as pd

    frame = pd.read_csv("people.csv")
    bounds = ([0.0, 50.0], [120.0, 250.0])
    release = shoal.DPKMeans(2, epsilon=1.0, bounds=bounds).fit(frame).release_
    Path("frame.json").write_text(release.to_json(), encoding="utf-8")
    assert len(shoal.load_release("frame.json").to_frame())


def use_spark() -> None:
    """Cluster a DataFrame of Spark, which needs Java."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = spark.getOrCreate()
    try:
        rows = [(20.0 + i % 50, 150.0 + i % 40) for i in range(500)]
        people = session.createDataFrame(rows, ["age", "height"])
        bounds = ([0.0, 50.0], [120.0, 250.0])
        assert shoal.DPKMeans(2, epsilon=1.0, bounds=bounds).fit(people).guarantee_.holds
    finally:
        session.stop()


def use_serve() -> None:
    """Start the collector, ask its health and stop it; find the pages that the wheel carries."""
    command = [str(SCRIPTS / "shoal"), "collect", "serve", "--port", "0", "--db", "reports.db"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ready, place = server.stdout.readline().split()
            assert ready == "ready"
            with urlopen(f"{place}/healthz", timeout=10) as answer:
                assert answer.status == 200
        finally:
            server.terminate()
    folder = Path(shoal.__file__).parent
    assert (folder / "browser_client/shoal-report.js").is_file()
    assert list((folder / "studio").rglob("*.html")), "the pages of the studio"


def use_attacks() -> None:
    """Load the toolbox by attacking reports with shadow models."""
    import numpy as np

    records = np.random.default_rng(0).uniform(0, 1, (200, 2))
    mechanism = shoal.Laplace(epsilon=1.0, bounds=(0.0, 1.0))
    classes = (records[:, 0] > 0.5).astype(int)
    attacked = shoal.membership_inference(mechanism, records, y=classes, runs=2, random_state=0)
    assert "art" in sys.modules
    assert str(attacked)


USES: dict[str, Callable[[], None]] = {
    "none": use_shoal,
    "plot": use_plot,
    "arrow": use_arrow,
    "frame": use_frame,
    "spark": use_spark,
    "serve": use_serve,
    "attacks": use_attacks,
}


def assert_refused(extra: str) -> None:
    """Use what is not installed: one line must say which extra brings it."""
    from shoal.exceptions import MissingPackageError

    for name in {"plot", "attacks"} - ({"plot", "attacks"} if extra == "all" else {extra}):
        try:
            USES[name]()
        except MissingPackageError as missing:
            said = str(missing)
        else:
            said = "it worked"
        assert f"shoal[{name}]" in said, f"{name} without its extra: {said}"


def main(extra: str) -> None:
    """Check the environment of one extra, and print how many names were loaded."""
    assert_installed()
    names = load_names(extra)
    use_shoal()
    uses = [name for name in USES if name != "none" and extra in (name, "all")]
    for name in uses:
        USES[name]()
    assert_refused(extra)
    print(f"{extra}: {names} public names, used: {', '.join(['shoal', *uses])}")


if __name__ == "__main__":
    main(sys.argv[1])
