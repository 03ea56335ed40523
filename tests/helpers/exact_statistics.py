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
    """Counts and sums by label."""
    counts = [0] * len(anchors)
    sums = [[0] * anchors.shape[1] for _ in anchors]
    weights = [1] * len(records) if weights is None else weights.tolist()
    for record, label, weight in zip(records.tolist(), labels, weights, strict=True):
        value = record
        if clip_radius is not None:
            anchor = anchors[label].tolist()
            value = clipped(
                [a - b for a, b in zip(record, anchor, strict=True)], clip_radius, shape
            )
        counts[label] += weight
        sums[label] = [a + weight * b for a, b in zip(sums[label], value, strict=True)]
    return counts, sums


def windows(records, centers, radii, weights=None):
    """Counts, sums and moments of windows."""
    counts, moments = [0] * len(centers), [0] * len(centers)
    sums = [[0] * centers.shape[1] for _ in centers]
    weights = [1] * len(records) if weights is None else weights.tolist()
    labels = nearest(records, centers)
    for record, label, weight in zip(records.tolist(), labels, weights, strict=True):
        radius, center = int(radii[label]), centers[label].tolist()
        offset = [a - b for a, b in zip(record, center, strict=True)]
        # Python rounds quotients of integers correctly.
        length = min(sum(value**2 for value in offset), radius**2) / radius**2
        counts[label] += weight
        moments[label] += weight * (math.floor(2**20 * length) - 2**19)
        value = clipped(offset, radius, "ball")
        sums[label] = [a + weight * b for a, b in zip(sums[label], value, strict=True)]
    return counts, sums, moments


def radius_counts(records, center, edges, weights=None):
    """Counts of distances between edges."""
    counts = [0] * (len(edges) + 1)
    weights = [1] * len(records) if weights is None else weights.tolist()
    for record, weight in zip(records.tolist(), weights, strict=True):
        square = sum((a - b) ** 2 for a, b in zip(record, center.tolist(), strict=True))
        counts[sum(square > edge**2 for edge in edges.tolist())] += weight
    return counts


def second_moments(records, center, radius, weights=None):
    """Sums of products of clipped offsets, in steps of radius / 2^12."""
    d = records.shape[1]
    sums = [[0] * d for _ in range(d)]
    weights = [1] * len(records) if weights is None else weights.tolist()
    for record, weight in zip(records.tolist(), weights, strict=True):
        offset = [a - b for a, b in zip(record, center.tolist(), strict=True)]
        length = max(math.sqrt(sum(value**2 for value in offset)), radius)
        shrunk = [math.trunc(value * (2**12 * (1 - 2**-50) / length)) for value in offset]
        # What the library promises, in integers: no longer, and nowhere two whole steps too short.
        assert sum(value**2 for value in shrunk) <= 2**24
        assert all(
            abs(a) > abs(b) * 2**12 / length - 1.001 for a, b in zip(shrunk, offset, strict=True)
        )
        for i in range(d):
            sums[i] = [a + weight * shrunk[i] * b for a, b in zip(sums[i], shrunk, strict=True)]
    return sums


def projected(records, center, directions, radius):
    """Records after a projection, one after the other."""
    step = HALF * (1 - 2**-50) / (2**26 * radius)
    limit = math.isqrt(2**53 // len(directions))
    found = []
    for record in records.tolist():
        offset = [a - b for a, b in zip(record, center.tolist(), strict=True)]
        products = [
            sum(a * b for a, b in zip(direction, offset, strict=True))
            for direction in directions.tolist()
        ]
        columns = [max(-limit, min(limit, math.trunc(product * step))) for product in products]
        found.append(clipped(columns, HALF, "ball"))
    return found
