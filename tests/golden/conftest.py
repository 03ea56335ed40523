"""The option that records again; and modules that are no tests, and must be imported once."""

import pytest

collect_ignore = ["child.py", "notes.py", "recording.py", "runs.py", "seams.py", "table.py"]
collect_ignore_glob = ["*_runs.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        metavar="REASON",
        help="record the selected golden runs again; the reason goes to tests/golden/CHANGES.md",
    )
