"""A studio in this process whose table must not be read, and audits that are small."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from helpers.collector import running_app
from shoal.schema import Category, Number, Schema
from shoal.studio import StudioSettings, Workspace, create_studio, promise_settings

SCHEMA = Schema([Number("age", minimum=0, maximum=120), Number("income", minimum=0, maximum=100)])
WORDS = Schema([Category("city", ["A", "B"])])
# As few as the library allows, for tests of what is shown.
SMALL = promise_settings.Runs(
    {"pairs": promise_settings.FEW_PAIRS[:1], "runs": 100, "search": 20, "repeats": 1},
    {"samples": 8_000, "search": 300},
    n_jobs=1,
    release_attacks=8,
    report_attacks=1,
)


class Untouchable(Mapping[str, Any]):
    """True records: there are some, and nobody may look at one."""

    def __init__(self) -> None:
        self.touched: list[str] = []

    def __len__(self) -> int:
        return 1

    def __getitem__(self, name: str) -> Any:
        self.touched.append(name)
        raise AssertionError("a true record was read")

    def __iter__(self) -> Iterator[str]:
        self.touched.append("all")
        raise AssertionError("true records were listed")


@contextmanager
def serving_studio(workspace: Workspace) -> Iterator[httpx.Client]:
    """Serve a workspace of this process; yield a client that may do what pages may."""
    with running_app(create_studio(workspace), workspace.settings) as (_, client):
        client.headers["Shoal-Studio"] = "1"
        client.timeout = 120
        yield client


def empty_workspace() -> Workspace:
    """Return a workspace that listens where there is room."""
    return Workspace(StudioSettings(port=0))
