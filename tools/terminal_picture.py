"""Draw what a terminal shows in the first minutes with shoal: ``python tools/terminal_picture.py``.

Commands run in a temporary folder, and rich draws what they print. The README shows the picture.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs/images/terminal.svg"
COLUMNS = 92
MEMBERS = """\
import csv
import numpy as np
from shoal import Category, Number, Schema
rng = np.random.default_rng()
groups = [(23, 12, "weights"), (41, 5, "spinning"), (68, 8, "yoga")]
with open("gym.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["age", "visits", "class"])
    for group in rng.choice(3, size=5000, p=[0.5, 0.3, 0.2]):
        age, visits, favorite = groups[group]
        liked = favorite if rng.random() < 0.8 else "swimming"
        rows.writerow([round(rng.normal(age, 4)), rng.poisson(visits), liked])
Schema([
    Number("age", minimum=14, maximum=100, unit="years", missing="refuse", weight=4),
    Number("visits", minimum=0, maximum=60, missing="refuse", weight=4),
    Category("class", ["weights", "spinning", "yoga", "swimming"], missing="refuse", weight=0.1),
]).save("gym.schema.json")
"""
CLUSTER = "shoal cluster gym.csv --schema gym.schema.json --epsilon 1 --k {k} --ledger spent.jsonl"
COMMANDS = (
    "shoal ledger spent.jsonl --epsilon 2",
    CLUSTER.format(k=3),
    "shoal profile gym.csv --release shoal-cluster --epsilon 1 --ledger spent.jsonl",
    CLUSTER.format(k=4),  # refused: the ledger is spent
)


def main() -> None:
    """Run the commands and write the picture."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shown = {"PATH": programs, "COLUMNS": str(COLUMNS)}
    screen = Console(record=True, width=COLUMNS, file=io.StringIO())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", MEMBERS], cwd=folder, check=True)
        for command in COMMANDS:
            done = subprocess.run(
                command.split(),
                cwd=folder,
                env={**os.environ, **shown},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            screen.print(Text.assemble(("$ ", "green"), (command, "bold")))
            screen.print(Text(done.stdout.replace(f"{folder}/", "")))
    # The picture loads nothing: no font from elsewhere.
    template = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    title = "private clusters of a CSV file"
    svg = screen.export_svg(title=title, theme=DIMMED_MONOKAI, code_format=template)
    PICTURE.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
