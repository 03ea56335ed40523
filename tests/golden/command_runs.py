"""The command line: what each command prints and writes, as text and with ``--json``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from golden.engine_runs import engine_records, write_parts
from golden.paper_runs import small_kccm
from golden.seams import cheap_comparison, study_of_command, without_pictures
from golden.table import NAMES, run, write_people
from shoal import privacy
from shoal.campaigns import SigningKey, open_campaign
from shoal.cli import app
from shoal.collector.store import Store, Submission
from shoal.privacy import Ledger
from shoal.schema import Category, Number, Schema
from shoal.tables import read_table


def shoal(note, name, *arguments, files=()):
    """Run a command in the folder of the run, and note what it prints and writes."""
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    found = {"exit": result.exit_code, "error": result.stderr}
    try:
        found["output"] = json.loads(result.stdout)
    except ValueError:
        found["output"] = result.stdout
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        found["exception"] = f"{type(result.exception).__name__}: {result.exception}"
    note(name, found)
    for folder in files:
        note.files(f"{name}, {folder}", folder)


PEOPLE = ["people.csv", "--columns", "age,height", "--bounds", "0:120,50:250"]


@run("cli-cluster")
def cli_cluster(note):
    write_people()
    shoal(note, "new ledger", "ledger", "people.ledger", "--epsilon", 9, "--table", "people")
    words = ["--ledger", "people.ledger", "--table", "people", "--who", "ann", "--seed", 1]
    four = ["--set", "n_clusters=4", "--epsilon", 2]
    for name, more in {
        "kmeans": [*four, "--labels", "labels.csv"],
        "lloyd": [*four, "--set", "method=lloyd"],
        "private-bounds": [*four[:2], "--bounds", "private"],
        "wavecluster": ["--target", "DPWaveCluster", "--set", "grid=16"],
        "users": [*four, "--user-column", "person", "--records-per-user", 2],
        "json": [*four, "--json"],
    }.items():
        paying = words if name in ("kmeans", "wavecluster") else words[-2:]
        shoal(note, name, "cluster", *PEOPLE, *more, *paying, "--out", name, files=[name])
    note("labels", read_table("labels.csv", columns=["cluster"]))
    shoal(note, "ledger", "ledger", "people.ledger")
    paid = ["--release", "kmeans/release.json"]
    shoal(note, "ledger of a release", "ledger", "people.ledger", *paid)


@run("cli-cluster-folder")
def cli_cluster_folder(note):
    X = engine_records(600)
    for kind in ("parquet", "csv"):
        write_parts(kind, X)
        words = ["--columns", ",".join(NAMES), "--bounds", "-20,20", "--seed", 2, "--epsilon", 2]
        shoal(note, kind, "cluster", kind, *words, "--out", f"{kind}-out", files=[f"{kind}-out"])
    pd.DataFrame(X).to_csv("bare.csv", header=False, index=False)
    words = ["--no-header", "--columns", "a,-,c", "--bounds", "-20,20", "--seed", 2]
    shoal(note, "no header", "cluster", "bare.csv", *words, "--out", "bare", files=["bare"])


@run("cli-perturb")
def cli_perturb(note):
    write_people(n=40)
    Path("out").mkdir()
    for target in (
        "Laplace",
        "PlanarLaplace",
        "KdLaplace",
        "Piecewise",
        "Hybrid",
        "Duchi",
        "SquareWave",
    ):
        words = ["--target", target, "--epsilon", 2, "--seed", 3]
        shoal(note, target, "perturb", *PEOPLE, *words, "-o", f"out/{target}.csv")
    limits = ["--epsilon", 9, "--metric-epsilon", 9, "--metric-unit", "km"]
    shoal(note, "ledger", "ledger", "l", *limits)
    paying = ["--ledger", "l", "--unit", "km", "--who", "ann", "--seed", 4, "--json"]
    shoal(note, "json", "perturb", *PEOPLE, *paying, "-o", "out/paid.parquet")
    write_parts("parquet", engine_records(200))
    words = ["--columns", ",".join(NAMES), "--bounds", "-20,20", "--seed", 4]
    shoal(note, "folder", "perturb", "parquet", *words, "-o", "out/folder")
    note.files("files", "out")
    shoal(note, "spent", "ledger", "l", "--json")


@run("cli-audit", quick=False)
def cli_audit(note):
    words = ["--epsilon", 2, "--samples", 4000, "--seed", 1, "--jobs", note.jobs]
    shoal(note, "Duchi", "audit", "Duchi", *words, "--out", "duchi", files=["duchi"])
    few = ["--set", "n_clusters=1", "--set", "method=lloyd", "--set", "max_iter=1"]
    few += ["--runs", 100, "--jobs", note.jobs, "--seed", 1, "--columns", 1]
    shoal(note, "DPKMeans", "audit", "DPKMeans", *few, "--out", "kmeans", files=["kmeans"])
    shoal(note, "json", "audit", "Laplace", *words, "--json", "--out", "json")


@run("cli-attack", quick=False)
def cli_attack(note):
    write_people()
    quick = ["--runs", 1, "--seed", 1]
    for name, more in {
        "kmeans": ["--set", "n_clusters=4", "--attacks", "centers,yeom", "--guess", "height"],
        "laplace": ["--target", "Laplace", "--label", "group", "--attacks", "yeom,label-only"],
        "kd-laplace": ["--target", "KdLaplace", "--attacks", "yeom", "--guess", "age"],
        "json": ["--attacks", "centers", "--json"],
    }.items():
        shoal(note, name, "attack", *PEOPLE, *more, *quick, "--out", name, files=[name])


@run("cli-compare", quick=False)
def cli_compare(note):
    write_people()
    words = ["--clusters", 4, "--jobs", note.jobs, "--label", "group"]
    with cheap_comparison():
        one = ["--epsilon", "2", "--runs", 1]
        shoal(note, "all", "compare", *PEOPLE, *words, *one, "--out", "all", files=["all"])
        few = ["--only", "DPKMeans-grid,Duchi", "--runs", 5, "--epsilon", "0.5,8"]
        shoal(note, "few", "compare", *PEOPLE, *words, *few, "--out", "few", files=["few"])
        shoal(note, "json", "compare", *PEOPLE, *words, *few, "--json", "--out", "few")


@run("cli-compare-private-copy", quick=False)
def cli_compare_private_copy(note):
    write_people()
    shoal(note, "ledger", "ledger", "people.ledger", "--epsilon", 9)
    words = ["--only", "DPKMeans-lloyd,Laplace", "--runs", 2, "--clusters", 2, "--jobs", note.jobs]
    words += ["--seed", 3, "--private-copy", 2, "--ledger", "people.ledger", "--who", "ann"]
    with cheap_comparison():
        shoal(note, "copy", "compare", *PEOPLE, *words, "--out", "copy", files=["copy"])
    shoal(note, "spent", "ledger", "people.ledger", "--json")


@run("cli-datasets")
def cli_datasets(note):
    shoal(note, "list", "datasets")
    shoal(note, "iris", "datasets", "iris")
    shoal(note, "json", "datasets", "seeds", "--json")
    shoal(note, "unknown", "datasets", "irises")


@run("cli-demo", quick=False)
def cli_demo(note):
    words = ["--records", 300, "--repeats", 1, "--seed", 1]
    shoal(note, "demo", "demo", *words, "--out", "demo", files=["demo"])
    words = ["--records", 200, "--repeats", 1, "--seed", 2]
    shoal(note, "json", "demo", *words, "--json", "--out", "demo-json")


@run("cli-reproduce", quick=False)
def cli_reproduce(note):
    words = ["--quick", "--jobs", note.jobs, "--seed", 1]
    with study_of_command(small_kccm()), without_pictures():
        shoal(note, "kccm", "reproduce", "kccm", *words, "--out", "out")


@run("cli-ledger")
def cli_ledger(note):
    words = ["--epsilon", 3, "--metric-epsilon", 2, "--metric-unit", "km"]
    shoal(note, "new", "ledger", "people.ledger", *words, "--table", "people")
    book = Ledger("people.ledger")
    book.spend(privacy.PureEvent(epsilon=0.75), purpose="clusters [of] people")
    book.spend(privacy.MetricEvent(epsilon=0.5, unit="km"), purpose="reports")
    shoal(note, "shown", "ledger", "people.ledger", "--html", "ledger.html")
    shoal(note, "json", "ledger", "people.ledger", "--json")
    users = ["--user-column", "person", "--rows-per-user", 5]
    shoal(note, "users", "ledger", "users.ledger", "--epsilon", 2, *users)
    shoal(note, "missing", "ledger", "none.ledger")
    note.files("files", ".")


@run("cli-bad-input")
def cli_bad_input(note):
    """One clear line for what is wrong."""
    write_people()
    for place, arguments in enumerate(
        [
            ["cluster", "people.csv", "--columns", "age"],
            ["cluster", *PEOPLE[:-1], "5,1"],
            ["cluster", *PEOPLE, "--set", "k=2"],
            ["cluster", *PEOPLE, "--epsilon", "0"],
            ["cluster", "none.csv", *PEOPLE[1:]],
            ["cluster", "people.csv", "--columns", "weight", "--bounds", "0,1"],
            ["perturb", *PEOPLE, "--target", "DBSCAN", "-o", "r.csv"],
            ["audit", "KMeans"],
            ["attack", *PEOPLE, "--attacks", "bribes"],
            ["compare", *PEOPLE, "--only", "Gauss"],
            ["ledger", "people.csv"],
        ]
    ):
        shoal(note, f"{place} {arguments[0]}", *arguments)


# --- one JSON document of each command ------------------------------------------------------------
SCHEMA = Schema(
    [Number("age", minimum=0, maximum=120), Category("group", ["a", "b"], role="describe")]
)
KEY = SigningKey(bytes(range(32)))
ADDRESS = "https://collect.example.org"


@run("json-predict")
def json_predict(note):
    write_people()
    shoal(note, "clusters", "cluster", *PEOPLE, "--seed", 1, "--json", "--out", "c")
    shoal(note, "labels", "predict", "c", "people.csv", "--json")
    note("file", read_table("labels.csv", columns=["cluster"]))


@run("json-profile")
def json_profile(note):
    write_people(n=400)
    SCHEMA.save("s.json")
    some = ["--columns", "age", "--bounds", "0:120", "--seed", 1, "--epsilon", 4]
    shoal(note, "clusters", "cluster", "people.csv", *some, "--set", "n_clusters=2", "--out", "c")
    words = ["--release", "c", "--schema", "s.json", "--seed", 2, "--epsilon", 4]
    with without_pictures():
        shoal(note, "json", "profile", "people.csv", *words, "--json", "--out", "c", files=["c"])


@run("json-plan")
def json_plan(note):
    SCHEMA.save("s.json")
    words = ["--schema", "s.json", "--n", 2000, "--k", 3, "--epsilons", "0.5,2", "--seed", 1]
    with without_pictures():
        shoal(note, "central", "plan", *words, "--json")


@run("json-plan-local", quick=False)
def json_plan_local(note):
    SCHEMA.save("s.json")
    words = ["--schema", "s.json", "--k", 2, "--epsilons", "4", "--seed", 1]
    with without_pictures():
        shoal(note, "local", "plan", "--model", "local", *words, "--json")


@run("json-schema")
def json_schema(note):
    write_people(n=400)
    shoal(note, "template", "schema", "people.csv", "--header", "--json", "--out", "t.json")
    note.files("template, file", ".")
    template = Schema([Number("age", minimum=0), Category("group")])
    Path("open.json").write_text(json.dumps(template.to_dict()))
    learn = ["--from-frictionless", "open.json", "--private", 3, "--delta", 1e-6, "--seed", 1]
    shoal(note, "learned", "schema", "people.csv", *learn, "--json", "--out", "l.json")
    shoal(note, "checked", "schema", "people.csv", "--check", "t.json", "--json")


@run("json-collect")
def json_collect(note):
    """From the document of a campaign to its analysis and its export."""
    KEY.save("signing.pem")
    texts = ["--title", "Where people live", "--purpose", "Plan bus lines."]
    place = ["--columns", "x,y", "--bounds", "0:20,0:10", "--closes", "2099-01-01"]
    kind = ["--epsilon", 4, "--clusters", 2, "--url", ADDRESS]
    shoal(note, "new", "collect", "new", "homes", *texts, *place, *kind, "--json")
    document = Path("homes.campaign.json")
    note("document", document.read_bytes())
    public = ["--db", "reports.db", "--public-key", str(KEY.public)]
    shoal(note, "add", "collect", "add", document, *public, "--json")
    campaign = open_campaign(document.read_bytes(), KEY.public).campaign
    rng = np.random.default_rng(0)
    X = np.where(rng.random((600, 1)) < 0.5, [5.0, 2.0], [15.0, 8.0]) + rng.normal(size=(600, 2))
    mechanism = campaign.mechanism.set_params(random_state=1)
    body = mechanism.encode(mechanism.fit_transform(X))
    note("reports", body)
    with Store.open("sqlite:///reports.db") as store:
        store.append([Submission("homes", b"0123456789abcdef", body, 600)])
    db = ["--db", "reports.db", "--json"]
    shoal(note, "analyze", "collect", "analyze", "homes", "--here", "--seed", 3, *db)
    shoal(note, "status", "collect", "status", "homes", *db)
    shoal(note, "publish", "collect", "publish", "homes", 1, "--db", "reports.db")
    shoal(note, "all", "collect", "status", *db)
    shoal(note, "export", "collect", "export", "homes", "--out", "out", *db, files=["out"])
    shoal(note, "page", "collect", "page", document, "--public-key", str(KEY.public), "--json")
    shoal(note, "keys", "collect", "key", "list", *db)
    shoal(note, "tokens", "collect", "token", "list", *db)
