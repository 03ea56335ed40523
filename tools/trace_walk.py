"""Count the files, functions and calls of shoal that a piece of work walks through.

``python tools/trace_walk.py``: a table of all flows, each done once before, so that imports and
what is computed once are not in it.
``python tools/trace_walk.py fit post``: those whose names begin with one of these words.
``python tools/trace_walk.py modules``: the modules of shoal that ``shoal cluster`` loads.
"""

import asyncio
import contextlib
import io
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import shoal

ROOT = f"{Path(shoal.__file__).parent}{os.sep}"
N = 3000
BOUNDS = (-1.0, 1.0)
SITE = "http://127.0.0.1"
Flow = Callable[[], AbstractContextManager[Callable[[], object]]]


class NotHereError(Exception):
    """What a flow needs is not on this machine."""


class Walk:
    """Calls of shoal's functions seen by a profile hook, and the deepest stack of its frames."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.calls = 0
        self.deepest = 0

    @property
    def files(self) -> set[str]:
        """Files of shoal of which a function was called."""
        return {file for file, _ in self.functions}

    def enter(self, frame: FrameType) -> None:
        """Count a call."""
        code = frame.f_code
        self.functions.add((code.co_filename, code.co_qualname))
        self.calls += 1
        depth, above = 0, frame
        while above is not None:
            depth += above.f_code.co_filename.startswith(ROOT)
            above = above.f_back  # type: ignore[assignment]
        self.deepest = max(self.deepest, depth)


class Hook:
    """Profile hook of all threads: it counts while there is a walk."""

    def __init__(self) -> None:
        self.walk: Walk | None = None

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Follow one event; code of a module that is being imported is none of shoal's calls."""
        code = frame.f_code
        if self.walk is None or event != "call" or not code.co_filename.startswith(ROOT):
            return
        if code.co_name != "<module>":
            self.walk.enter(frame)


HOOK = Hook()


def traced(call: Callable[[], object]) -> Walk:
    """Run a call under the hook, in this thread and in those that started under it."""
    HOOK.walk = walk = Walk()
    sys.setprofile(HOOK)
    try:
        call()
    finally:
        sys.setprofile(None)
        HOOK.walk = None
    return walk


def groups(columns: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return records of two groups."""
    rng = np.random.default_rng(0)
    centers = rng.choice([-0.5, 0.5], (N, 1))
    return np.clip(rng.normal(size=(N, columns)) * 0.2 + centers, -1, 1)


def people() -> tuple[Any, Any]:
    """Return a mixed table and its schema."""
    import pandas as pd

    from shoal import Category, Number, Schema

    rng = np.random.default_rng(0)
    count = 2000
    columns = {
        "age": rng.integers(0, 90, count).astype(float),
        "sex": rng.choice(["f", "m"], count),
        "income": rng.gamma(2, 1e4, count),
    }
    schema = Schema(
        [
            Number("age", minimum=0, maximum=100, missing="refuse"),
            Category("sex", categories=["f", "m"]),
            Number("income", minimum=0, maximum=200_000, missing="refuse"),
        ]
    )
    return pd.DataFrame(columns), schema


def fitted(name: str, records: Any, **settings: Any) -> Flow:
    """Return the flow of a fit with a ledger."""

    @contextmanager
    def flow() -> Iterator[Callable[[], object]]:
        chosen = {"random_state": 0, "ledger": shoal.Ledger(epsilon=10.0), **settings}
        model = getattr(shoal, name)(**chosen)
        yield lambda: model.fit(records)

    return flow


def kmeans(records: Any, **settings: Any) -> Flow:
    """Return the flow of a fit of DPKMeans."""
    return fitted("DPKMeans", records, n_clusters=3, **settings)


def arrow_file(**settings: Any) -> Flow:
    """Return the flow of a fit on a Parquet file."""

    @contextmanager
    def flow() -> Iterator[Callable[[], object]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from shoal.tables import ArrowTable

        with tempfile.TemporaryDirectory() as folder:
            records = groups(2)
            pq.write_table(pa.table(dict(zip("ab", records.T, strict=True))), f"{folder}/a.parquet")
            table = ArrowTable(f"{folder}/a.parquet", columns=["a", "b"], **settings)
            with kmeans(table, bounds=BOUNDS)() as call:
                yield call

    return flow


@contextmanager
def spark() -> Iterator[Callable[[], object]]:
    """Prepare a fit on a frame of Spark."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise NotHereError("needs pyspark") from None
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and (Path(home) / "bin" / "java").exists())):
        raise NotHereError("needs Java")
    import pandas as pd

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path(ROOT).parent), os.environ.get("PYTHONPATH", "")])
    )
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.createDataFrame(pd.DataFrame(groups(2), columns=["a", "b"]))
    with kmeans(frame, bounds=BOUNDS)() as call:
        yield call


@contextmanager
def profile() -> Iterator[Callable[[], object]]:
    """Prepare a profile of clusters of a mixed table."""
    columns, schema = people()
    model = shoal.DPKMeans(3, schema=schema, random_state=0).fit(columns)
    with fitted("ClusterProfile", columns, release=model.release_, schema=schema)() as call:
        yield call


def signed(mechanism: Any) -> tuple[bytes, Any]:
    """Return the signed document of a campaign and its public key."""
    from shoal.campaigns import Campaign, SigningKey, sign_campaign

    key, address = SigningKey(bytes(range(32))), f"{SITE}/v1/campaigns/homes"
    campaign = Campaign(
        id="homes",
        title="Where people live",
        purpose="Plan bus lines.",
        mechanism=mechanism,
        closes=datetime(2099, 1, 1, tzinfo=UTC),
        reports_url=f"{address}/reports",
        results_url=f"{address}/results",
        open_intake=True,
    )
    return sign_campaign(campaign, key), key.public


def device(method: str) -> Flow:
    """Return the flow of a device that draws a report, or sends one, too."""

    @contextmanager
    def flow() -> Iterator[Callable[[], object]]:
        from shoal.client import Answer, Device, Request
        from shoal.mechanisms import Laplace

        document, key = signed(Laplace(1.0, bounds=([0.0, 0.0], [1.0, 1.0])))

        def answer(request: Request) -> Answer:
            if request.method == "GET":
                return Answer(200, {}, document)
            return Answer(201, {}, b'{"stored": 1, "duplicate": false}')

        with tempfile.TemporaryDirectory() as folder:
            taking_part = Device(f"{folder}/device.db", public_key=key, transport=answer)
            taking_part.join(f"{SITE}/v1/campaigns/homes")
            yield lambda: getattr(taking_part, method)([0.3, 0.7])

    return flow


@contextmanager
def collected(reports: int) -> Iterator[Any]:
    """Open a store with a campaign and some reports."""
    from shoal.campaigns import open_campaign
    from shoal.collector import Store
    from shoal.collector.store import Submission
    from shoal.mechanisms import PartitionResponse

    mechanism = PartitionResponse(6.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    campaign = open_campaign(*signed(mechanism))
    mechanism.set_params(random_state=0)
    records = groups(2)[:reports] / 2 + 0.5
    body = mechanism.report_format().encode(mechanism.fit_transform(records))
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/a.db") as store:
        store.add_campaign(campaign)
        store.append([Submission("homes", b"a key of reports", body, reports)])
        yield store


@contextmanager
def served(app: Any, **headers: str) -> Iterator[Callable[..., Any]]:
    """Serve an application in this thread; yields a function that sends a request to it."""
    import httpx

    with asyncio.Runner() as runner:
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=SITE, headers=headers
        )
        lifespan = app.router.lifespan_context(app)

        def send(method: str, path: str, **content: Any) -> Any:
            answer = runner.run(client.request(method, path, **content))
            if answer.is_error:
                raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
            return answer

        runner.run(lifespan.__aenter__())
        try:
            yield send
        finally:
            runner.run(client.aclose())
            runner.run(lifespan.__aexit__(None, None, None))


@contextmanager
def post() -> Iterator[Callable[[], object]]:
    """Prepare a submission to a collector that took one before."""
    from shoal.collector import Settings, create_app
    from shoal.service import EventLog

    with collected(2) as store, open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        body = next(iter(store.blocks("homes")))
        app = create_app(store, Settings("sqlite://"), log=EventLog(nowhere))
        digest = store.campaign("homes").digest
        common = {"Content-Type": "application/octet-stream", "Shoal-Campaign": digest}
        with served(app, **common) as send:

            def submit(key: str) -> object:
                headers = {"Idempotency-Key": key}
                return send("POST", "/v1/campaigns/homes/reports", content=body, headers=headers)

            submit("a-key-of-one-submission")
            yield lambda: submit("a-key-of-another-one")


@contextmanager
def analysis() -> Iterator[Callable[[], object]]:
    """Prepare an analysis of stored reports."""
    from shoal.collector.analysis import queue_analysis, run_job

    with collected(300) as store:
        version = queue_analysis(store, "homes", "noise-aware", {"n_clusters": 2}, seed=0)
        job = store.analysis("homes", version)
        yield lambda: run_job(store, job)


@contextmanager
def studio() -> Iterator[Callable[[], object]]:
    """Prepare a release that is bought in the studio: its price, the order, the job."""
    from shoal.studio import StudioSettings, Workspace, create_studio

    workspace = Workspace(StudioSettings())
    columns, schema = people()
    with served(create_studio(workspace), **{"Shoal-Studio": "1"}) as send:
        table = workspace.add("people.csv", "upload", columns.to_dict("list"), schema)
        path = f"/api/tables/{table.id}"
        send("POST", f"{path}/ledger", json={"epsilon": 2.0, "delta": 0.0})
        settings = {"method": "DPKMeans", "epsilon": 0.5, "k": 2}

        def buy() -> None:
            asked = {"settings": settings, "repeat": 0}
            price = send("POST", f"{path}/release/price", json=asked).json()
            order = {**asked, "key": price["key"], "entries": price["entries"]}
            job = send("POST", f"{path}/release", json=order).json()
            workspace.jobs.get(job["id"]).finished.wait()
            state = send("GET", f"/api/jobs/{job['id']}").json()["state"]
            if state != "done":
                raise RuntimeError(f"the release ended as {state}")

        yield buy


def write_table(folder: str) -> Path:
    """Write a small table."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.4f},{y:.4f}" for x, y in rng.uniform(0, 1, (400, 2))]
    path = Path(folder) / "table.csv"
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    return path


def command(arguments: Sequence[str]) -> None:
    """Run a command line, and show nothing of it."""
    from shoal.cli import app

    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(arguments)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"shoal {arguments[0]} ended with {end.code}") from end


@contextmanager
def compare() -> Iterator[Callable[[], object]]:
    """Prepare a comparison by the command line, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_table(folder)
        arguments = ["compare", str(path), "--columns", "x,y", "--bounds", "0:1,0:1", "--runs", "1"]
        arguments += ["--epsilon", "1", "--clusters", "3", "--out", f"{folder}/out", "--seed", "0"]
        yield lambda: command([*arguments, "--only", "DPKMeans,Laplace"])


def modules() -> None:
    """Count the modules that `shoal cluster` loads."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_table(folder)
        arguments = ["cluster", str(path), "--columns", "x,y", "--bounds", "0:1,0:1"]
        command([*arguments, "--set", "n_clusters=3", "--seed", "0", "--out", f"{folder}/out"])
        loaded = [name for name in sys.modules if name == "shoal" or name.startswith("shoal.")]
        print(f"shoal cluster: {len(loaded)} modules of shoal")


def flows() -> dict[str, tuple[str, Flow]]:
    """Return all flows by name, with what the table calls them."""
    columns, schema = people()
    flat, wide = {"bounds": BOUNDS}, groups(8)
    return {
        "fit": ("DPKMeans(auto).fit(array)", kmeans(groups(2), **flat)),
        "fit-held": ("... Arrow file, held", arrow_file()),
        "fit-streamed": ("... Arrow file, streamed", arrow_file(memory=0)),
        "fit-spark": ("... Spark", spark),
        "fit-schema": ("... schema table (mixed)", kmeans(columns, schema=schema)),
        "fit-centered": ("... centered", kmeans(wide, method="centered", **flat)),
        "fit-ball": ("... ball", kmeans(wide, method="ball", **flat)),
        "density": ("DPDensity", fitted("DPDensity", groups(2), **flat)),
        "density-strata": ("... with strata", fitted("DPDensity", columns, schema=schema)),
        "wavecluster": ("DPWaveCluster", fitted("DPWaveCluster", groups(2), **flat)),
        "profile": ("ClusterProfile", profile),
        "copy": ("PrivateCopy", fitted("PrivateCopy", groups(2), epsilon=1.0, **flat)),
        "device": ("Device.draw", device("draw")),
        "device-report": ("Device.report", device("report")),
        "post": ("POST to the collector", post),
        "analysis": ("analysis of 300 reports", analysis),
        "studio": ("release bought in the studio", studio),
        "compare": ("shoal compare", compare),
    }


def main(names: Sequence[str]) -> None:
    """Print the table of the flows that were asked for."""
    if names == ["modules"]:
        modules()
        return
    known = flows()
    chosen = [one for one in known if not names or one.startswith(tuple(names))]
    if not chosen:
        raise SystemExit(f"names begin with {', '.join(known)} or are modules, got {names}")
    threading.setprofile(HOOK)
    print(f"{'flow':<16}{'':<30}{'files':>6}{'functions':>11}{'calls':>9}{'deepest':>9}")
    for name in chosen:
        title, flow = known[name]
        try:
            with flow() as call:
                call()
            with flow() as call:
                walk = traced(call)
        except NotHereError as reason:
            print(f"{name:<16}{title:<30}  skipped: {reason}")
            continue
        counts = f"{len(walk.files):>6}{len(walk.functions):>11,}{walk.calls:>9,}{walk.deepest:>9}"
        print(f"{name:<16}{title:<30}{counts}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
