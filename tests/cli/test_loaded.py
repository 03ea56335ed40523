"""What a command loads: the packages that it needs, and no others."""

import functools
import os
import subprocess
import sys

import pytest

LINES = "".join(f"{20 + i % 40},{50 + i % 30}\n" for i in range(200))
GIVEN = ("--columns", "age,weight", "--bounds", "0:120,0:250")
# Runs a command, then prints the modules of shoal that are loaded.
RUN = """
import sys
from shoal.cli import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    print(" ".join(name for name in sys.modules if name.partition(".")[0] == "shoal"))
"""
MAX_MODULES = 213  # with those of the ledger that a command keeps, and the form of releases
LEAVES = {"cli", "exceptions"}
# Whoever reads records, and makes them noisy.
RECORDS = {"noise", "privacy", "schema", "tables"}


CLUSTER = ("cluster", "people.csv", *GIVEN, "--set", "n_clusters=2")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Run commands, each of them once."""
    return functools.cache(functools.partial(run, tmp_path_factory.mktemp("loaded")))


def run(folder, *arguments):
    """Run a command in a process of its own; give the modules of shoal that it loaded."""
    (folder / "people.csv").write_text("age,weight\n" + LINES)
    result = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    return set(result.stdout.splitlines()[-1].split())


def packages(modules):
    """Name the packages of modules; those of the root whose names begin with _ are for all."""
    names = {name.split(".")[1] for name in modules if "." in name}
    return {name for name in names if not name.startswith("_")} - LEAVES


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("--help",), set()),
        (("ledger", "people.ledger", "--epsilon", "2"), {"privacy"}),
        pytest.param(("datasets", "iris"), {"datasets"}, marks=pytest.mark.full),
        (
            ("perturb", "people.csv", *GIVEN, "-o", "reports.csv"),
            {*RECORDS, "mechanisms", "partitions"},
        ),
        (CLUSTER, {*RECORDS, "cluster", "density", "engines", "labels", "plotting", "reports"}),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_packages(loaded, arguments, needed):
    assert packages(loaded(*arguments)) == needed


def test_cluster_loads_few_modules(loaded):
    """Pictures apart, which are loaded when the release is on the disk, and other commands."""
    others = ("shoal.plotting", "shoal.cli.collect")
    modules = {name for name in loaded(*CLUSTER) if not name.startswith(others)}
    assert len(modules) <= MAX_MODULES
