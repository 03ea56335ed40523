"""Count files, lines of code and lines of docstrings of each package.

``python tools/count_lines.py [SRC]``: SRC is the folder of the package, ``src/shoal`` by default.
"""

import ast
import sys
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


class Lines(NamedTuple):
    """Files, and their lines by kind; the rest is blank or comment."""

    files: int = 0
    code: int = 0
    docstrings: int = 0
    total: int = 0

    def plus(self, other: "Lines") -> "Lines":
        """Add two counts."""
        return Lines(*(one + two for one, two in zip(self, other, strict=True)))


def count(path: Path) -> Lines:
    """Count the lines of one module."""
    text = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in SKIPPED:
                code.update(range(token.start[0], token.end[0] + 1))
    return Lines(1, len(code - docstrings), len(docstrings), len(text.splitlines()))


def main(root: Path) -> None:
    """Print one row a package."""
    rows: defaultdict[str, Lines] = defaultdict(Lines)
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        rows[parts[0] if len(parts) > 1 else "(root)"] = rows[
            parts[0] if len(parts) > 1 else "(root)"
        ].plus(count(path))
    total = Lines()
    print(f"{'package':<14}{'files':>7}{'code':>8}{'docstrings':>12}{'lines':>8}")
    for name, lines in rows.items():
        total = total.plus(lines)
        print(f"{name:<14}{lines.files:>7}{lines.code:>8}{lines.docstrings:>12}{lines.total:>8}")
    print(f"{'total':<14}{total.files:>7}{total.code:>8}{total.docstrings:>12}{total.total:>8}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "src/shoal"))
