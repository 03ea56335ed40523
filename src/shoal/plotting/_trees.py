"""The tree of clusters of a density: branches as wide as their records, chosen ones in color."""

import math
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal._typing import Bools, Floats, Ints
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, panel, table
from shoal.plotting._picture import Picture
from shoal.plotting._theme import DARK_GRAY, NOISE, SQUARE, cluster_look, cluster_name

__all__ = ["draw_cluster_tree", "tree_panel"]

WIDTH, HEIGHT = 300, 300
MAX_WIDTH = 630
SLOT = 18.0  # pixels of a branch without children with the gap beside it, if there is room
EVEN = 0.75  # of the width, for slots that are all as wide; the rest is for the larger branches
GAP = 0.2  # of a slot, between branches
NARROW = 0.75  # of the width, on a narrow screen: there labels still fit side by side
LINE = 12.5  # pixels from label to label; of closer ones, the larger cluster has its label
LOW_PEAKS = 0.35  # of the height: where a peak in the middle of all is at least
LETTER = 5.6  # pixels of a letter of a label
STEM = "#c9ced4"  # branches that hold several clusters, or none
INSIDE = 0.45  # opacity of what a chosen cluster splits into
FIELDS = ("parent", "base", "top", "size")


class Branches(NamedTuple):
    """A tree as plain arrays, the root first; a branch's children come after it."""

    parent: Ints
    base: Floats
    top: Floats
    size: Floats

    @property
    def is_leaf(self) -> Bools:
        """Branches without children."""
        leaves = np.ones(len(self.parent), dtype=np.bool_)
        leaves[self.parent[1:]] = False
        return leaves


def draw_cluster_tree(
    tree: Any,
    *,
    nodes: npt.ArrayLike | None = None,
    sizes: npt.ArrayLike | None = None,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw the tree of clusters of a density.

    Density increases upward from 0; a branch splits at the density of the pass between its parts.
    The width of a branch is its noisy number of records, including nearby ones that are in no
    cluster. Chosen clusters are shown with their color, index and noisy size.

    Parameters
    ----------
    tree : ClusterTree or mapping
        Tree with ``parent``, ``base``, ``top`` and ``size``: ``cluster_tree_`` of
        :class:`shoal.cluster.DPDensity`, or ``tree`` of its release.
    nodes : array-like of int, default=None
        Node of each cluster, such as ``cluster_nodes_``; None takes all nodes without children.
    sizes : array-like, default=None
        Number of records of each cluster, such as ``cluster_sizes_``; None takes that of its node.
    records : bool, default=False
        Whether it was computed from real records without a privacy guarantee. Such a picture is
        for the curator only, and can be saved as PNG only.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG; if ``records`` is False also SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If the tree is invalid, the nodes are not in it, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> tree = {"parent": [-1, 0, 0], "base": [0, 2, 2], "top": [2, 9, 7], "size": [99, 60, 39]}
    >>> draw_cluster_tree(tree)
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title, records=records)
    drawn, width = tree_panel(canvas, tree, nodes=nodes, sizes=sizes)
    return canvas.finish([drawn], least=width)


def tree_panel(
    canvas: Canvas,
    tree: Any,
    *,
    nodes: npt.ArrayLike | None,
    sizes: npt.ArrayLike | None,
    height: float = HEIGHT,
    unit: str = "records a cell",
    volume: float = 1.0,
) -> tuple[Any, float]:
    """Return the panel of a tree, and how many pixels its labels need.

    ``unit`` is that of densities times the volume.
    """
    branches = read_branches(tree, volume)
    chosen, records = chosen_branches(branches, nodes, sizes)
    cluster = branch_clusters(branches, chosen)
    width = float(min(max(SLOT * branches.is_leaf.sum(), WIDTH), MAX_WIDTH))
    middle, half = branch_places(branches, width)
    labels = [f"{number} ({whole_number(size)})" for number, size in enumerate(records)]
    # A chosen cluster that splits has its label above its highest part.
    parts = [np.where(cluster == one, branches.top, -np.inf) for one in range(len(chosen))]
    summits = np.array([part.argmax() for part in parts], dtype=np.int64)
    lengths = LETTER * np.array([*map(len, labels)], dtype=np.float64)
    level = len(labels_apart(middle[summits], lengths / NARROW)) == len(labels)
    shown = labels_apart(middle[summits], np.full(len(labels), LINE))
    # Labels stand above their branches: the axis leaves room for the longest.
    headroom = 16.0 if level else float(lengths.max()) + 20
    highest = max(float(branches.top.max()), sys.float_info.min)
    x = Axis("width of a branch: records (noisy)", (0.0, width), labels=False, ticks=False)
    power = _power(branches, highest)
    y = Axis(
        f"density ({unit}), to the power {power:g}",
        (0.0, highest / (1 - headroom / height) ** (1 / power)),
        power=power,
        ticks=_ticks(highest, power),
        grid=True,
    )
    key = Key(shown=False)
    for number in (NOISE, *range(len(chosen))):
        color = STEM if number == NOISE else cluster_look(number).color
        key.add(cluster_name(number), color, SQUARE)
    layer = partial(canvas.layer, x=x, y=y)
    inner = np.ones(len(cluster), dtype=np.bool_)
    inner[chosen] = False
    told = {
        "note": " ",
        "base": "splits off at (records a cell)",
        "top": "up to",
        "size": "records",
    }
    layers = [_joint_layer(layer, branches, middle, half)]
    for kept, opacity in ((inner & (cluster >= 0), INSIDE), (~inner | (cluster < 0), 1.0)):
        rows = table(
            name=[cluster_name(int(one)) for one in cluster[kept]],
            note=[cluster_name(int(one)) for one in cluster[kept]],
            x=(middle - half)[kept],
            x2=(middle + half)[kept],
            y=np.maximum(branches.base, 0.0)[kept],
            y2=np.maximum(branches.top, 0.0)[kept],
            base=branches.base[kept],
            top=branches.top[kept],
            size=branches.size[kept],
        )
        look: dict[str, Any] = {"stroke": DARK_GRAY, "strokeWidth": 0.6, "opacity": opacity}
        layers.append(layer(rows, "rect", key=key, told=told, **look))
    turned: dict[str, Any] = {"dy": -8} if level else {"angle": 270, "align": "left", "dx": 4}
    above = summits[shown]
    words = table(x=middle[above], y=branches.top[above], words=[labels[one] for one in shown])
    turned["fontSize"] = 11 if level else 9
    # A halo of the paper's color keeps words readable where they lie on a branch.
    halo = layer(words, "text", stroke="#ffffff", strokeWidth=2.5, **turned)
    layers += [halo, layer(words, "text", **turned)]
    title = f"Tree of clusters: number (noisy size); all: {whole_number(branches.size[0])}"
    return panel(*layers, width=width, height=height, title=title), NARROW * width


def _power(branches: Branches, highest: float) -> float:
    """Return the power of the axis: with 1/2, areas are stabilities of two columns.

    It is lower where most peaks would lie at the bottom.
    """
    middle = float(np.median(branches.top[branches.is_leaf])) / highest
    if middle >= LOW_PEAKS**2 or middle <= 0:
        return 0.5
    return max(round(math.log(LOW_PEAKS) / math.log(middle), 1), 0.1)


def _ticks(highest: float, power: float) -> list[float]:
    """Return round numbers that stand apart on an axis to a power."""
    even = highest * (np.arange(1, 6) / 5) ** (1 / power)
    return [0.0, *(float(f"{one:.1g}") for one in even)]


def whole_number(size: float) -> str:
    return readable(float(f"{round(size):.3g}"))


def labels_apart(places: Floats, widths: Floats) -> Ints:
    """Return which labels do not run into each other; the first ones come first."""
    kept: list[int] = []
    for one, place in enumerate(places):
        if all(abs(place - places[k]) >= (widths[one] + widths[k]) / 2 for k in kept):
            kept.append(one)
    return np.array(kept, dtype=np.int64)


def _joint_layer(layer: Any, branches: Branches, middle: Floats, half: Floats) -> Any:
    """Return level lines from child to child where branches split."""
    rows = []
    for node in np.flatnonzero(~branches.is_leaf):
        children = np.flatnonzero(branches.parent == node)
        rows += table(
            x=(middle - half)[children].min(),
            x2=(middle + half)[children].max(),
            y=max(float(branches.top[node]), 0.0),
        )
    return layer(rows, "rule", color=DARK_GRAY, strokeWidth=1.2)


def branch_places(branches: Branches, width: float) -> tuple[Floats, Floats]:
    """Return the middle and half the width of each branch, in pixels.

    Branches without children stand side by side, none on less than a slot; a branch stands below
    the middle of its own.
    """
    order = _order(branches)
    held = np.maximum(branches.size, 0.0)
    sizes = held[order]
    slot = EVEN * width / len(order)
    gap = GAP * min(slot, SLOT)
    least = min(slot, SLOT) - gap
    # The scale at which branches, none of them on less than the least, fill the panel.
    scale, tight = 0.0, np.zeros(len(order), dtype=np.bool_)
    for _ in order:
        wide = sizes[~tight].sum()
        scale = (width - gap * len(order) - least * tight.sum()) / wide if wide > 0 else 0.0
        narrow = tight | (sizes * scale < least)
        if (narrow == tight).all():
            break
        tight = narrow
    slots = np.maximum(sizes * scale, least) + gap
    first, last = np.full(len(held), np.inf), np.full(len(held), -np.inf)
    first[order], last[order] = np.cumsum(slots) - slots, np.cumsum(slots)
    for node in range(len(held) - 1, 0, -1):
        above = branches.parent[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
    return (first + last) / 2, np.maximum(held * scale, 0.5) / 2


def _order(branches: Branches) -> Ints:
    """Return the branches without children from left to right, larger parts first."""
    waiting, order = [0], []
    while waiting:
        node = waiting.pop()
        children = np.flatnonzero(branches.parent == node)
        if not len(children):
            order.append(node)
        waiting += children[np.argsort(branches.size[children], kind="stable")].tolist()
    return np.array(order, dtype=np.int64)


def branch_clusters(branches: Branches, chosen: Ints) -> Ints:
    """Return the cluster that each branch is, or is part of; -1 = none."""
    cluster = np.full(len(branches.parent), NOISE, dtype=np.int64)
    cluster[chosen] = np.arange(len(chosen))
    for node in range(1, len(cluster)):
        if cluster[node] == NOISE:
            cluster[node] = cluster[branches.parent[node]]
    return cluster


def chosen_branches(
    branches: Branches, nodes: npt.ArrayLike | None, sizes: npt.ArrayLike | None
) -> tuple[Ints, Floats]:
    """Return the nodes of clusters, and their records."""
    if nodes is None:
        leaves = np.flatnonzero(branches.is_leaf)
        chosen = leaves[np.argsort(-branches.size[leaves], kind="stable")]
    else:
        given = np.asarray(nodes)
        chosen = given.astype(np.int64).reshape(-1)
        inside = (chosen >= 0) & (chosen < len(branches.parent))
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu") or not inside.all():
            raise ParameterError(
                f"nodes must be indices of the tree's {len(branches.parent)} nodes, got {nodes!r}"
            )
    if sizes is None:
        return chosen, branches.size[chosen]
    records = np.asarray(sizes, dtype=np.float64)
    if records.shape != chosen.shape:
        raise ParameterError(
            f"sizes must be one for each of {len(chosen)} clusters, got shape {records.shape}"
        )
    return chosen, records


def read_branches(tree: Any, volume: float) -> Branches:
    """Return the arrays of a tree, or refuse it."""
    found = [
        tree.get(name) if isinstance(tree, Mapping) else getattr(tree, name, None)
        for name in FIELDS
    ]
    if any(one is None for one in found):
        raise ParameterError(
            f"tree must have {', '.join(FIELDS)}, got {type(tree).__name__} without some"
        )
    parent = np.asarray(found[0], dtype=np.int64)
    base, top, size = (np.asarray(one, dtype=np.float64) for one in found[1:])
    count = len(parent)
    if not count or any(one.shape != (count,) for one in (base, top, size)):
        raise ParameterError("tree must have arrays of one length, got others, or none")
    before = np.arange(count)
    if parent[0] != -1 or not ((parent[1:] >= 0) & (parent[1:] < before[1:])).all():
        raise ParameterError(
            "tree must have its root first and each node after its parent, got another order"
        )
    return Branches(parent, base * volume, top * volume, size)
