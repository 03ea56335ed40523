"""``shoal collect demo``: a collection from end to end, on this machine."""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from shoal.cli._output import output_folder
from shoal.cli.collect._database import database_url, open_store, require_server
from shoal.cli.collect._demo_processes import Servers, ended_by_signals, free_port
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.experiments import BrowserDevice, CollectorDemo, DemoRelay

__all__ = ["demo_command"]

MARK = "devices"  # a folder, made first, by which that of an earlier run is known
FILES = (
    "campaign.json",
    "signing.pem",
    "sealing.pem",
    "reports.db",
    "reports.db-wal",
    "reports.db-shm",
    "server.log",
    "relay.db",
    "relay.db-wal",
    "relay.db-shm",
    "relay.keys",
    "relay.log",
)
TITLES = {
    "reports": "devices report",
    "analysis": "analysis",
    "labels": "devices find their clusters",
    "comparison": "comparison",
}
NO_BROWSER = (
    "no browser was found, so the page is left out: install Chromium (apt-get install chromium), "
    "or set CHROME to its path"
)


def demo_command(
    *,
    out: Annotated[
        Path, typer.Option(help="Folder for the page, the databases and the devices' files.")
    ] = Path("shoal-collect-demo"),
    devices: Annotated[int, typer.Option(min=20, help="Number of devices.")] = 2000,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Shuffle reports in a relay; one device is a web page."),
    ] = False,
    batch: Annotated[
        int | None,
        typer.Option(min=2, help="Reports per shuffled batch. Default: a quarter of all."),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(help="Another database, for a campaign of its own. Default: SQLite."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a collection with made-up homes: real devices, a real server, analysis, result, labels.

    Everything stays on this machine and in one folder. With --shuffle, a relay stands between
    devices and server, and one device is a web page in a headless browser.

    Example: shoal collect demo --devices 500 --out my-collection
    """
    from shoal._optional import require

    require_server()
    for package in ("altair", "vl_convert"):  # before the wait, not after it
        require(package, extra="plot")
    batch = _batch_size(batch, devices, shuffle=shuffle)
    _clear(output_folder(out))
    url = database_url(str(out / "reports.db") if db is None else db)
    name = "homes" if db is None else f"homes-{secrets.token_hex(3)}"
    with ended_by_signals(), ExitStack() as stack:
        servers = stack.enter_context(Servers())
        wait_for_address = _collector(servers, url, out, sealed=batch is not None)
        progress = stack.enter_context(_step_bar())
        # Loading these takes seconds, in which the server starts.
        from shoal.experiments import (
            DeviceFleet,
            Provenance,
            collector_report,
            run_collector_demo,
        )
        from shoal.plotting import draw_collection

        fleet = stack.enter_context(DeviceFleet(devices))
        page = None if batch is None else _page(stack)
        address = wait_for_address()
        relay = None
        if batch is not None:
            relay = _relay(servers, stack.enter_context(free_port()), out, address, batch)
        with open_store(url) as store:
            demo = run_collector_demo(
                address,
                store,
                out,
                fleet=fleet,
                n_devices=devices,
                name=name,
                progress=progress,
                relay=relay,
                page=page,
            )
    for file in _device_files(out)[1:]:  # one is left to look at: they are large
        file.unlink()
    picture = draw_collection(demo, path=out / "demo.png")
    made = Provenance(_command(devices, batch), None)
    written = collector_report(out / "report.html", demo, picture=picture, made=made)
    if as_json:
        typer.echo(json.dumps(_plain(demo, written)))
    else:
        _print(demo, written)


def _batch_size(batch: int | None, devices: int, *, shuffle: bool) -> int | None:
    """Return the size of a batch, or None without a relay."""
    if not shuffle:
        if batch is not None:
            raise ParameterError(f"--batch must come with --shuffle, got {batch} without it")
        return None
    size = devices // 4 if batch is None else batch
    if size > devices:
        raise ParameterError(
            f"--batch must be at most --devices, {devices}, got {size}: no batch would be full"
        )
    return size


def _command(devices: int, batch: int | None) -> str:
    shuffled = "" if batch is None else f" --shuffle --batch {batch}"
    return f"shoal collect demo --devices {devices}{shuffled}"


def _clear(out: Path) -> None:
    """Remove what an earlier demo left; a folder with anything else is refused."""
    known = {*FILES, MARK, "demo.png", "report.html"}
    found = {path.name for path in out.iterdir()}
    if found and (MARK not in found or not found <= known):
        raise ParameterError(
            f"--out must be a new folder or the folder of an earlier demo, got {str(out)!r}"
        )
    for name in FILES:
        (out / name).unlink(missing_ok=True)
    for path in _device_files(out):
        path.unlink()
    (out / MARK).mkdir(exist_ok=True)


def _device_files(out: Path) -> list[Path]:
    return sorted((out / MARK).glob("[0-9]*.db*"))


def _collector(servers: Servers, url: str, out: Path, *, sealed: bool) -> Callable[[], str]:
    """Start `shoal collect serve`, with a new sealing key if reports will be sealed."""
    arguments = ["collect", "serve", "--port", "0"]
    if sealed:
        from shoal.campaigns import SealingKey

        SealingKey.new().save(out / "sealing.pem")
        arguments += ["--sealing-key", str(out / "sealing.pem")]
    return servers.start(arguments, out / "server.log", SHOAL_DB=url)


def _relay(servers: Servers, port: int, out: Path, address: str, batch: int) -> "DemoRelay":
    """Prepare `shoal collect shuffle`, which is started once there is a document to relay."""
    from shoal.campaigns import SealingKey
    from shoal.experiments import DemoRelay

    arguments = ["collect", "shuffle", "--port", str(port), "--to", address]
    files = {"--campaign": "campaign.json", "--db": "relay.db", "--keys": "relay.keys"}
    for option, file in files.items():
        arguments += [option, str(out / file)]

    def start(public_key: str, ingest_key: str) -> str:
        variables = {"SHOAL_PUBLIC_KEY": public_key, "SHOAL_RELAY_KEY": ingest_key}
        servers.start(arguments, out / "relay.log", **variables)()
        # The relay has made a key for devices and a token for its operator.
        return (out / "relay.keys").read_text(encoding="ascii").split()[0]

    return DemoRelay(
        address=f"http://127.0.0.1:{port}",
        batch_size=batch,
        sealing_key=str(SealingKey.load(out / "sealing.pem").public),
        database=out / "relay.db",
        start=start,
    )


def _page(stack: ExitStack) -> "BrowserDevice | None":
    """Serve a page for the browser of this machine, or say that there is none."""
    from shoal.experiments import find_browser, serve_page

    browser = find_browser()
    if browser is None:
        typer.echo(NO_BROWSER, err=True)
        return None
    return stack.enter_context(serve_page(browser))


@contextmanager
def _step_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show which step runs, and a bar, while the block lasts."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    # Without a terminal a bar is only an empty line.
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("the server starts", total=None)
        yield lambda step, done, total: bar.update(
            task, description=TITLES[step], completed=done, total=total
        )


def _print(demo: "CollectorDemo", page: Path) -> None:
    from shoal.experiments import (
        CENTER_HEADINGS,
        PROMISE_HEADINGS,
        ROW_HEADINGS,
        batch_lines,
        center_cells,
        demo_verdict,
        page_lines,
        promise_cells,
        row_cells,
        stored_lines,
    )

    screen = Console(markup=False, highlight=False)
    n = len(demo.records)
    _table(screen, f"Centers beside the truth: {n:,} devices", CENTER_HEADINGS, center_cells(demo))
    epsilons = "What epsilon buys with this many devices"
    _table(screen, epsilons, ROW_HEADINGS, row_cells(demo), words=1)
    shuffled, visited = demo.shuffled, demo.page
    if shuffled is not None:
        promises = promise_cells(demo, shuffled)
        _table(screen, "What the relay adds to the promise", PROMISE_HEADINGS, promises, words=1)
    lists = {"stored": stored_lines(demo)}
    if shuffled is not None:
        lists["shuffled"] = batch_lines(shuffled)
    if visited is not None:
        lists["the device that is a web page"] = page_lines(demo, visited)
    lists["refused"] = [f"{one.tried}: {one.answer}" for one in demo.refusals]
    screen.print(f"\n{demo_verdict(demo)}\n", soft_wrap=True)
    for heading, lines in lists.items():
        screen.print(f"{heading}:")
        for text in lines:
            screen.print(f"  {text}", soft_wrap=True)
    screen.print(f"promised to each device: {demo.campaign.guarantee}", soft_wrap=True)
    if shuffled is not None:
        screen.print(f"with trust in the relay: {shuffled.promise['text']}", soft_wrap=True)
    took = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in demo.seconds.items())
    screen.print(f"\ntook: {took}", soft_wrap=True)
    screen.print(f"page: {page.resolve()}", soft_wrap=True)


def _table(
    screen: Console, title: str, headings: Sequence[str], rows: list[list[str]], *, words: int = 0
) -> None:
    """Print a table whose first columns are words, the others numbers."""
    table = Table(title=title)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < words else "right")
    for row in rows:
        table.add_row(*row)
    screen.print(table)


def _plain(demo: "CollectorDemo", page: Path) -> dict[str, Any]:
    guarantee = demo.campaign.guarantee
    plain = {
        "devices": len(demo.records),
        "digest": demo.digest,
        "bytes_per_report": demo.campaign.report_format.width,
        "true_centers": demo.true_centers.tolist(),
        "centers": demo.centers.tolist(),
        "distances": demo.distances.tolist(),
        "rows": [row._asdict() for row in demo.rows],
        "refusals": [refusal._asdict() for refusal in demo.refusals],
        "seconds": demo.seconds,
        "guarantee": {**guarantee.to_dict(), "text": str(guarantee)},
        "page": str(page),
    }
    shuffled, visited = demo.shuffled, demo.page
    if shuffled is not None:
        plain["shuffled"] = {**shuffled.promise, "waiting": shuffled.n_waiting}
    if visited is not None:
        visit = visited.visit
        plain["browser"] = {
            "problem": visited.problem,
            "report": None if visit is None else visit.report.hex(),
            "label": None if visit is None else visit.label,
            "agrees": visited.agrees,
        }
    return plain
