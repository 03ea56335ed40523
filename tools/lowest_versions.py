"""Print the lowest versions that pyproject.toml declares, as constraints for pip.

``make test-lowest`` installs them: what is declared must work. A lower bound names a version that
was published, so that ``>=`` can be read as ``==``.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def lowest_versions(project: dict[str, object], extras: list[str]) -> Iterator[str]:
    """Yield a constraint for every dependency of these extras that has a lower bound."""
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    for line in [*dependencies, *(line for extra in extras for line in optional[extra])]:
        required = Requirement(line)
        bounds = [bound.version for bound in required.specifier if bound.operator == ">="]
        marker = f"; {required.marker}" if required.marker else ""
        yield from (f"{required.name}=={version}{marker}" for version in bounds)


def main() -> None:
    """Print the constraints of the extras named on the command line."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for line in lowest_versions(settings["project"], sys.argv[1:]):
        print(line)


if __name__ == "__main__":
    main()
