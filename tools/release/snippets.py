"""Run inside a fresh environment: the Python code of one page, as a reader would paste it.

``python -I snippets.py PAGE.md`` from an empty folder. Each block runs by itself, in order; shoal
must come from the environment.
"""

import contextlib
import io
import re
import sys
import sysconfig
import time
from pathlib import Path

FENCE = re.compile(
    r"^```(?:python|\{code-block\} python)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(text: str) -> list[str]:
    """Return the blocks of Python code of a page in Markdown."""
    return [re.sub(r"\A(:[\w-]+:.*\n)+", "", block) for block in FENCE.findall(text)]


def main(page: Path) -> None:
    """Run the blocks of a page, and print how many there were."""
    import shoal

    packages = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(shoal.__file__).resolve().is_relative_to(packages), shoal.__file__
    start, silent = time.perf_counter(), 0
    code = blocks(page.read_text(encoding="utf-8"))
    for number, block in enumerate(code):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, f"{page.name}:{number}", "exec"), {"__name__": "__main__"})
        silent += not said.getvalue()
    print(f"{len(code)} blocks, {silent} silent, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
