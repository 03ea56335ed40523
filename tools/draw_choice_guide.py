"""The decision guide of docs/choose.md as a picture: `python tools/draw_choice_guide.py`.

It writes docs/images/choice-guide.svg. Boxes bring their own colors, so that the picture reads on
light and dark pages alike; it is narrow, so that it reads on a phone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs/images/choice-guide.svg"
WIDTH = 640
ROW, GAP, INDENT = 62, 12, 44
QUESTION = ("#dbe4f3", "#14213d")
RESULT = ("#14684f", "#ffffff")
LINE = "#8a94a6"  # 3:1 against white and against the theme's dark


@dataclass(frozen=True)
class Node:
    """An answer, and what it leads to: a question with answers of its own, or estimators."""

    answer: str
    text: str
    next: tuple["Node", ...] = field(default=())


GUIDE = Node(
    "",
    "Who holds the records?",
    (
        Node(
            "a curator who is trusted (central)",
            "What shape do clusters have?",
            (
                Node(
                    "round, or a center each",
                    "How many columns?",
                    (
                        Node("up to about 16", "DPKMeans"),
                        Node("more, or embeddings", "DPKMeans with a delta"),
                        Node("categories, dates, gaps", "DPKMeans with a schema"),
                    ),
                ),
                Node("any shape, 1 to 4 columns", "DPDensity"),
                Node("not known: explore first", "PrivateCopy"),
            ),
        ),
        Node(
            "devices, with a shuffler between (shuffled)",
            "PartitionResponse, then amplify",
        ),
        Node(
            "devices, and nobody is trusted (local)",
            "What shape do clusters have?",
            (
                Node("round, epsilon per distance", "Laplace, NoiseAwareKMeans"),
                Node("round, one strict epsilon", "PartitionResponse, NoiseAwareKMeans"),
                Node("any shape, up to 3 columns", "Laplace, NoiseAwareDensity"),
            ),
        ),
    ),
)


def main() -> None:
    """Write the picture."""
    FILE.write_text(draw(), encoding="utf-8")
    print(FILE.relative_to(FILE.parents[2]))


def draw() -> str:
    """Return the picture as SVG."""
    rows = list(walk(GUIDE))
    height = len(rows) * (ROW + GAP) - GAP + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" font-family="system-ui, sans-serif">',
        "<title>Which estimator to choose</title>",
        *(line(number, depth, parent) for number, (_, depth, parent) in enumerate(rows) if number),
        *(box(number, node, depth) for number, (node, depth, _) in enumerate(rows)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def walk(
    node: Node, depth: int = 0, number: int = 0, parent: int = 0
) -> Iterator[tuple[Node, int, int]]:
    """Visit the nodes from top to bottom, with their depth and the number of their parent."""
    yield node, depth, parent
    below = number + 1
    for child in node.next:
        rows = list(walk(child, depth + 1, below, number))
        yield from rows
        below += len(rows)


def box(number: int, node: Node, depth: int) -> str:
    """Draw one node: the answer that leads to it, small, and what it says."""
    left, top = depth * INDENT + 2, number * (ROW + GAP) + 2
    fill, ink = QUESTION if node.next else RESULT
    middle = top + (42 if node.answer else 38)
    small = (
        f'<text x="{left + 16}" y="{top + 22}" font-size="17" fill="{ink}">'
        f"{escape(node.answer)}</text>"
        if node.answer
        else ""
    )
    return (
        f'<rect x="{left}" y="{top}" width="{WIDTH - left - 2}" height="{ROW}" rx="10" '
        f'fill="{fill}"/>{small}<text x="{left + 16}" y="{middle + 5}" font-size="20" '
        f'font-weight="600" fill="{ink}">{escape(node.text)}</text>'
    )


def line(number: int, depth: int, parent: int) -> str:
    """Draw the line from a node's parent to it."""
    x = (depth - 1) * INDENT + 22
    y = number * (ROW + GAP) + ROW // 2 + 2
    top = parent * (ROW + GAP) + ROW + 2
    return (
        f'<path d="M{x} {top}V{y}H{depth * INDENT + 2}" fill="none" stroke="{LINE}" '
        'stroke-width="3"/>'
    )


if __name__ == "__main__":
    main()
