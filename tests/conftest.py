"""How pytest-xdist shares out the tests: by file, and those of Spark all to one worker.

So what the tests of a file share is made once, and one Java machine is started. The mark
`xdist_group` does neither: xdist 3.8 writes the group into a node's id where pytest 9.2 no longer
reads it.
"""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer


class ByFile(LoadScopeScheduling):
    """Tests of one file run on one worker, and so do the files named after Spark."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "spark" if "_spark" in PurePosixPath(file).name else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> ByFile | None:
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None
