"""Importing promises is light, and knows no other package."""

import ast
import subprocess
import sys
from pathlib import Path

import shoal.privacy

FOLDER = Path(shoal.privacy.__file__).parent
OWN = (
    "shoal.__version__",
    "shoal.privacy",
    "shoal.exceptions",
    "shoal._optional",
    "shoal._numbers",
    "shoal._file_locks",
    "shoal._files",
    "shoal._json_text",
    "shoal._html",
    "shoal._typing",
)


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, shoal.privacy\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


def test_a_ledger_needs_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from shoal.privacy import Ledger, PureEvent, GDPEvent, Release\n"
        "ledger = Ledger(epsilon=1.0, delta=1e-6)\n"
        "ledger.spend(PureEvent(epsilon=0.1)); str(ledger)\n"
        "ledger.spend(GDPEvent(mu=0.1))\n"
        "Release('k', {'a': [1.0]}, ledger.spent[0]).to_json()\n"
        "print(sorted({'numpy', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


def test_no_other_package_is_imported() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "shoal":
                names = [f"shoal.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                assert not name.startswith("shoal") or name.startswith(OWN), (path.name, name)


def test_every_public_name_is_exported_and_described() -> None:
    assert sorted(shoal.privacy.__all__) == list(shoal.privacy.__all__)
    for name in shoal.privacy.__all__:
        public = getattr(shoal.privacy, name)
        assert name == "Notion" or public.__doc__, name
