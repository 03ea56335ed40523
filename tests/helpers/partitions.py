"""Partitions of a box into boxes made by halving, drawn at random."""

import numpy as np


def halved_boxes(rng, columns, *, halvings, part=0.7, at_once=False):
    """Return corners, in lattice steps, of the leaves of a tree that is halved by chance.

    The columns are halved one after another, or all at once; every leaf with the given probability.
    """
    times = -(-halvings // columns)
    leaves, done = [(np.zeros(columns, dtype=np.int64), np.full(columns, 1 << times), 0)], []
    while leaves:
        low, width, depth = leaves.pop()
        step = columns if at_once else 1
        if depth + step > halvings or (depth and rng.random() > part):
            done.append((low, low + width))
            continue
        children = [(low, width)]
        for column in range(depth, depth + step):
            unit = np.eye(columns, dtype=np.int64)[column % columns]
            children = [
                (corner + upper * unit * size // 2, size - unit * size // 2)
                for corner, size in children
                for upper in (0, 1)
            ]
        leaves += [(corner, size, depth + step) for corner, size in children]
    order = rng.permutation(len(done))
    low, high = (np.array(corners)[order] for corners in zip(*done, strict=True))
    return low, high
