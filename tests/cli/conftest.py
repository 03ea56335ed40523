"""Commands are built once: typer would build all of them again for each call."""

import functools
from collections.abc import Iterator

import pytest
import typer.main
import typer.testing


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    built = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield
