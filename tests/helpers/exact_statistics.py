"""The statistics again, with Python's integers and one record at a time."""

import math

HALF = 2**19


def nearest(records, centers):
    """Index of the nearest center of each record, the lowest among equals."""
    labels = []
    for record in records.tolist():
        distances = [
            sum((a - b) ** 2 for a, b in zip(record, center, strict=True))
            for center in centers.tolist()
        ]
        labels.append(distances.index(min(distances)))
    return labels


def codes(records, planes, cuts):
    """Code of each record."""
    return [
        sum(
            (sum(a * b for a, b in zip(plane, record, strict=True)) > cut) << level
            for level, (plane, cut) in enumerate(zip(planes.tolist(), cuts.tolist(), strict=True))
        )
        for record in records.tolist()
    ]


def clipped(offset, clip_radius, shape):
    """One offset after clipping."""
    if shape == "cube":
        return [max(-clip_radius, min(clip_radius, value)) for value in offset]
    square = sum(value**2 for value in offset)
    if square <= clip_radius**2:
        return offset
    factor = clip_radius * (1 - 2**-50) / math.sqrt(square)
    shrunk = [math.trunc(value * factor) for value in offset]
    # What the library promises, in integers: within the radius, and nowhere a whole step too short.
    assert sum(value**2 for value in shrunk) <= clip_radius**2
    length = math.sqrt(square)
    assert all(
        abs(a) > abs(b) * clip_radius / length - 1.001 for a, b in zip(shrunk, offset, strict=True)
    )
    return shrunk


def statistics(records, labels, anchors, *, weights=None, clip_radius=None, shape="cube"):
    """Counts and sums by label; label -1 is left out."""
    counts = [0] * len(anchors)
    sums = [[0] * anchors.shape[1] for _ in anchors]
    weights = [1] * len(records) if weights is None else weights.tolist()
    for record, label, weight in zip(records.tolist(), labels, weights, strict=True):
        if label < 0:
            continue
        value = record
        if clip_radius is not None:
            anchor = anchors[label].tolist()
            value = clipped(
                [a - b for a, b in zip(record, anchor, strict=True)], clip_radius, shape
            )
        counts[label] += weight
        sums[label] = [a + weight * b for a, b in zip(sums[label], value, strict=True)]
    return counts, sums
