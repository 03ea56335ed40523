"""Record the first minutes with shoal as an animated picture of a terminal.

`python tools/terminal_recording.py [--out docs/images/terminal.svg]`

Commands run in a pseudo-terminal of a fixed size, in a temporary folder, and the picture shows what
they print, without the name of that folder. Only typing and time are staged: keys come at an even
pace, and waits are cut to `LONGEST_WAIT`. Needs pyte (`pip install --group recording`), which turns
the bytes into a screen.

The picture is one SVG file without scripts, fonts or links. Each version of a line of the screen is
an element that CSS shows while it lasts. Who prefers reduced motion, and every program without
animations, sees the last screen. Colors follow the reader's light or dark scheme.
"""

import argparse
import itertools
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/terminal.svg"
ROWS, COLUMNS = 26, 92
CLEAR = b"\x1b[2J\x1b[H"
PROMPT = b"\x1b[32m$\x1b[0m \x1b[1m"  # what is typed is bold
KEYS_AT_ONCE, KEY = 3, 0.05  # keys a frame, seconds a frame
LONGEST_WAIT = 0.6  # seconds: a longer wait for output is cut to this

FONT_SIZE, CHARACTER, LINE = 14, 8.4, 18  # pixels
MARGIN, BAR = 14, 30
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
# Text on ground, at least 4.5 : 1 in both schemes.
LIGHT = {
    "ground": "#ffffff", "bar": "#eceff3", "text": "#1f2328", "muted": "#59636e",
    "red": "#b3261e", "green": "#17693a", "brown": "#7a5200", "blue": "#0b57b8",
    "magenta": "#8b2c9a", "cyan": "#0b6573",
}  # fmt: skip
DARK = {
    "ground": "#10151c", "bar": "#1c232d", "text": "#e6edf3", "muted": "#9aa4af",
    "red": "#ff9d94", "green": "#6fdd8b", "brown": "#f0c05a", "blue": "#86b9ff",
    "magenta": "#e2a6f2", "cyan": "#6ad6e6",
}  # fmt: skip

MEMBERS = """\
import csv
import numpy as np
rng = np.random.default_rng()
groups = [(23, 12, "weights"), (41, 5, "spinning"), (68, 8, "yoga")]
with open("gym.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["age", "visits", "class"])
    for group in rng.choice(3, size=5000, p=[0.5, 0.3, 0.2]):
        age, visits, favorite = groups[group]
        liked = favorite if rng.random() < 0.8 else "swimming"
        rows.writerow([round(rng.normal(age, 4)), rng.poisson(visits), liked])
"""
SCHEMA = """\
from shoal import Category, Number, Schema
Schema([
    Number("age", minimum=14, maximum=100, unit="years", missing="refuse", weight=4),
    Number("visits", minimum=0, maximum=60, missing="refuse", weight=4),
    Category("class", ["weights", "spinning", "yoga", "swimming"], missing="refuse", weight=0.1),
]).save("gym.schema.json")
"""


@dataclass(frozen=True)
class Scene:
    """A command, how long its output can be read, and whether it begins on an empty screen."""

    command: str
    pause: float
    clear: bool = False


CLUSTER = "shoal cluster gym.csv --schema gym.schema.json --epsilon 1 --k {k} --ledger spent.jsonl"
SCENES = (
    Scene("shoal ledger spent.jsonl --epsilon 2", pause=0.4, clear=True),
    Scene(CLUSTER.format(k=3), pause=3.4),
    Scene(
        "shoal profile gym.csv --release shoal-cluster --epsilon 1 --ledger spent.jsonl",
        pause=3.0,
        clear=True,
    ),
    Scene(CLUSTER.format(k=4), pause=2.8),
)


@dataclass(frozen=True)
class Run:
    """Characters of one line that look the same."""

    column: int
    text: str
    color: str = "text"
    bold: bool = False


Line = tuple[Run, ...]


@dataclass(frozen=True)
class Frame:
    """The lines of the screen, from a time in seconds on."""

    start: float
    lines: tuple[Line, ...]


@dataclass
class Recorder:
    """A screen that is filled by keys and by the output of commands, and its frames."""

    screen: Any  # pyte.Screen
    stream: Any  # pyte.ByteStream
    now: float = 0.0
    frames: list[Frame] = field(default_factory=list)

    def feed(self, data: bytes, *, cursor: bool = False) -> None:
        """Write to the screen, and keep what it shows now."""
        self.stream.feed(data)
        lines = list(_lines(self.screen))
        if cursor:
            at = self.screen.cursor
            lines[at.y] += (Run(at.x, "\u258b", "muted"),)
        self.frames.append(Frame(self.now, tuple(lines)))

    def type(self, text: str, *, clear: bool) -> None:
        """Write a prompt, and keys at an even pace."""
        self.feed((CLEAR if clear else b"\r\n") + PROMPT, cursor=True)
        self.now += 0.3
        for start in range(0, len(text), KEYS_AT_ONCE):
            self.feed(text[start : start + KEYS_AT_ONCE].encode(), cursor=True)
            self.now += KEY
        self.feed(b"\x1b[0m\r\n")

    def run(self, command: str, folder: Path) -> None:
        """Run a command in a pseudo-terminal and keep its output as it comes."""
        import fcntl  # not on Windows, where the rest of this file is tested too
        import struct
        import termios

        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        environment = {**kept, "TERM": "xterm-256color", "PATH": path}
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        for wait, data in _output(ours):
            self.now += min(wait, LONGEST_WAIT)
            self.feed(data.replace(bytes(folder) + b"/", b""))  # a place of this machine
        os.close(ours)
        process.wait()


def _output(terminal: int) -> Iterator[tuple[float, bytes]]:
    """Yield what a terminal shows, and how long it took, until its last program has gone."""
    before = time.monotonic()
    while True:
        select.select([terminal], [], [])
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # on Linux, nobody holds the other end any more
            return
        if not data:
            return
        yield time.monotonic() - before, data
        before = time.monotonic()


def _lines(screen: Any) -> Iterator[Line]:
    """Read the lines of a screen as runs of equal looks, spaces at their ends left out."""
    for row in range(screen.lines):
        cells = [screen.buffer[row][column] for column in range(screen.columns)]
        runs: list[Run] = []
        column = 0
        for (color, bold), group in itertools.groupby(cells, key=lambda c: (c.fg, c.bold)):
            text = "".join(cell.data for cell in group)
            if text.strip():
                indent = len(text) - len(text.lstrip())
                known = color if color in LIGHT else "text"
                runs.append(Run(column + indent, text.strip(), known, bold))
            column += len(text)
        yield tuple(runs)


def record(scenes: Sequence[Scene]) -> tuple[list[Frame], float]:
    """Run the scenes in a temporary folder; return their frames and the length in seconds."""
    import pyte

    screen = pyte.Screen(COLUMNS, ROWS)
    recorder = Recorder(screen, pyte.ByteStream(screen))
    with tempfile.TemporaryDirectory(prefix="gym-") as name:
        folder = Path(name)
        for program in (MEMBERS, SCHEMA):
            subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
        for scene in scenes:
            recorder.type(scene.command, clear=scene.clear)
            recorder.run(scene.command, folder)
            recorder.now += scene.pause
    return recorder.frames, recorder.now


@dataclass(frozen=True)
class Version:
    """What one row of the screen shows from a time on, until another time."""

    row: int
    line: Line
    start: float
    end: float


def versions(frames: Sequence[Frame], length: float) -> list[Version]:
    """Find what each row shows, and when; empty rows are left out."""
    found: list[Version] = []
    for row in range(len(frames[0].lines)):
        shown = [(frame.start, frame.lines[row]) for frame in frames]
        groups = [
            (next(iter(group))[0], line)
            for line, group in itertools.groupby(shown, key=lambda pair: pair[1])
        ]
        ends = [start for start, _ in groups[1:]] + [length]
        for (start, line), end in zip(groups, ends, strict=True):
            if line and end > start:
                found.append(Version(row, line, start, end))
    return found


def svg(frames: Sequence[Frame], length: float, *, title: str, description: str) -> str:
    """Draw frames as an animated picture that shows the last one where nothing moves."""
    shown = versions(frames, length)
    rows = 1 + max(version.row for version in shown)
    width = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height = BAR + rows * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-labelledby="title what">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="what">{escape(description)}</desc>',
        f"<style>{_style(shown, length)}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9"/>',
        f'<path class="bar" d="M1 {BAR}V10a9 9 0 0 1 9-9H{width - 10}a9 9 0 0 1 9 9V{BAR}z"/>',
        *(f'<circle class="dot" cx="{20 + 18 * n}" cy="{BAR / 2 + 0.5}" r="5"/>' for n in range(3)),
    ]
    for number, version in enumerate(shown):
        last = ' class="last"' if version.end >= length else ""
        y = BAR + MARGIN + version.row * LINE + FONT_SIZE
        parts.append(f'<g id="v{number}"{last}>{"".join(_run(run, y) for run in version.line)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _run(run: Run, y: float) -> str:
    names = [name for name, on in ((run.color, run.color != "text"), ("bold", run.bold)) if on]
    kind = f' class="{" ".join(names)}"' if names else ""
    x = round(MARGIN + run.column * CHARACTER, 1)
    width = round(len(run.text) * CHARACTER, 1)  # the same in any font
    return f'<text{kind} x="{x:g}" y="{y:g}" textLength="{width:g}">{escape(run.text)}</text>'


def _style(shown: Sequence[Version], length: float) -> str:
    colors = [name for name in LIGHT if name not in ("ground", "bar", "text")]
    rules = [
        f":root{{{_palette(LIGHT)}}}",
        f"@media(prefers-color-scheme:dark){{:root{{{_palette(DARK)}}}}}",
        f"text{{font:{FONT_SIZE}px {FONTS};fill:var(--text);white-space:pre}}",
        ".bold{font-weight:700}.ground{fill:var(--ground);stroke:var(--muted);stroke-opacity:.5}",
        ".bar{fill:var(--bar)}.dot{fill:var(--muted);opacity:.55}",
        *(f".{name}{{fill:var(--{name})}}" for name in colors),
        "g{visibility:hidden}.last{visibility:visible}",
        "@media(prefers-reduced-motion:no-preference){",
        f"g{{animation:{length:.2f}s step-end infinite}}",
        *(f"#v{n}{{animation-name:k{n}}}" for n in range(len(shown))),
        "}",
        *(_keyframes(n, version, length) for n, version in enumerate(shown)),
    ]
    return "\n".join(rules)


def _palette(colors: dict[str, str]) -> str:
    return ";".join(f"--{name}:{color}" for name, color in colors.items())


def _keyframes(number: int, version: Version, length: float) -> str:
    """Show an element from its start to its end, in percent of the whole."""
    steps = [] if version.start <= 0 else ["0%{visibility:hidden}"]
    steps.append(f"{100 * version.start / length:.2f}%{{visibility:visible}}")
    if version.end < length:
        steps.append(f"{100 * version.end / length:.2f}%{{visibility:hidden}}")
    return f"@keyframes k{number}{{{''.join(steps)}}}"


def main() -> None:
    """Record the scenes and write the picture."""
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--out", type=Path, default=PICTURE)
    out = words.parse_args().out
    frames, length = record(SCENES)
    commands = "; ".join(scene.command for scene in SCENES)
    text = svg(
        frames,
        length,
        title="Private clusters of a CSV file, in a terminal",
        description=f"Output of: {commands}. The last command is refused: the ledger is spent.",
    )
    out.write_text(text, encoding="utf-8")
    print(f"{out}: {len(frames)} frames, {length:.1f} s, {len(text.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
