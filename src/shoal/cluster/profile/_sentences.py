"""What distinguishes each cluster, in plain sentences: only what is clear of the noise.

A statement is made where the interval of the cluster and that of all records do not overlap. These
intervals are wide enough for all of them together: with 95% confidence every statement of a profile
is true of the table, not each one by itself (Bonferroni; proofs/profile.md).
"""

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.cluster.profile._coding import MISSING, NO_CLUSTER, Histogram
from shoal.cluster.profile._estimates import Consistent, Interval, Tail
from shoal.cluster.profile._plan import CONFIDENCE
from shoal.cluster.profile._words import NoisyWords

__all__ = [
    "MAX_STATEMENTS",
    "Statement",
    "find_keywords",
    "find_statements",
    "format_range",
    "format_size",
    "keyword_shares",
    "summaries",
    "write_sentences",
]

MAX_STATEMENTS = 4  # of a cluster, beside keywords
MAX_KEYWORDS = 4
QUARTILES = (0.25, 0.5, 0.75)
LESS = 0.75  # a level that is rare in a cluster says less of it than one that is common
SMALLEST = 0.02  # smaller differences of shares are not worth a sentence, however clear
THOUSANDS, MILLIONS = 1e4, 1e7
LONG = 120  # days: longer spans are written in months
EPOCH = datetime.date(1970, 1, 1)


class Statement(NamedTuple):
    """A clear difference: how large it is, from 0 to 1, and in words."""

    strength: float
    text: str


def find_statements(
    histograms: Sequence[Histogram],
    consistent: Sequence[Consistent],
    fields: Sequence[Mapping[str, Any]],
    *,
    approximate: bool,
) -> list[list[Statement]]:
    """Return the clear differences of each cluster from all records, the strongest first."""
    groups = len(consistent[0].sizes)
    looked_at = (groups + 1) * sum(
        len(one.levels) - one.bins + (len(QUARTILES) if one.edges else one.bins)
        for one in histograms
    )
    tail = Tail((1 - CONFIDENCE) / looked_at, approximate=approximate)
    found: list[list[Statement]] = [[] for _ in range(groups)]
    for histogram, counts, field in zip(histograms, consistent, fields, strict=True):
        for group, statements in enumerate(_of_levels(histogram, counts, field, tail)):
            found[group] += statements
        if histogram.edges:
            for group, statements in enumerate(_of_quartiles(histogram, counts, field, tail)):
                found[group] += statements
    return [sorted(one, key=lambda each: -each.strength)[:MAX_STATEMENTS] for one in found]


def _of_levels(
    histogram: Histogram, counts: Consistent, field: Mapping[str, Any], tail: Tail
) -> list[list[Statement]]:
    """Compare shares: of each cluster the largest clear difference, and that of missing values."""
    own, all_ = counts.share_interval(tail), counts.total.share_interval(tail)
    gaps = np.maximum(own.low - all_.high, all_.low - own.high)
    gaps[np.abs(own.value - all_.value) < SMALLEST] = -1.0
    differences = own.value - all_.value
    tellings = np.maximum(differences, -LESS * differences)
    bins = histogram.bins
    other = getattr(histogram.field, "other", "")
    spoken = [] if histogram.edges else list(range(bins))
    if field["type"] == "flag":
        spoken = [histogram.levels.index("true")]
    statements = []
    for group in range(len(gaps)):
        # A category says more than all others together.
        named = [level for level in spoken if histogram.levels[level] != other]
        clear = [level for level in named if gaps[group, level] > 0] or spoken
        chosen = [max(clear, key=tellings[group].__getitem__)] if clear else []
        chosen += range(bins, len(histogram.levels))  # missing
        statements.append(
            [
                Statement(
                    abs(own.value[group, level] - all_.value[0, level]),
                    f"{_level_name(field, histogram.levels[level])} "
                    f"{_percent(own.value[group, level])} against "
                    f"{_percent(all_.value[0, level])} overall",
                )
                for level in chosen
                if gaps[group, level] > 0
            ]
        )
    return statements


def _level_name(field: Mapping[str, Any], level: str) -> str:
    flag = field["type"] == "flag" and level != MISSING
    return str(field["title"]) if flag else f"{field['title']} {level}"


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.01 else f"{share:.0%}"


def _of_quartiles(
    histogram: Histogram, counts: Consistent, field: Mapping[str, Any], tail: Tail
) -> list[list[Statement]]:
    """Compare quartiles, and show the middle half where one of them differs clearly."""
    columns = [field["quantiles"].tolist().index(q) for q in QUARTILES]
    shares = field["shares"][-1, : histogram.bins]
    below = np.concatenate([[0.0], np.cumsum(shares / max(shares.sum(), 1e-12))])
    values = field["values"][:, columns]
    # How far the quartile of a cluster is from that of all records, in ranks of these.
    shifts = np.abs(np.interp(values[:-1], histogram.edges, below) - QUARTILES)
    for column, q in enumerate(QUARTILES):
        first, last = counts.quantile_bins(q, histogram.bins, tail)
        all_first, all_last = counts.total.quantile_bins(q, histogram.bins, tail)
        shifts[(first <= all_last) & (last >= all_first), column] = 0.0
    strengths = 2 * shifts.max(axis=1)
    ends = values[:, [0, -1]]
    return [
        [Statement(float(strength), _against(field, ends[group], ends[-1]))] if strength else []
        for group, strength in enumerate(strengths)
    ]


def _against(field: Mapping[str, Any], own: Floats, overall: Floats) -> str:
    """Write the middle half of a cluster beside that of all records, the unit once."""
    largest = float(np.abs([own, overall]).max())
    everyone = format_range(field, float(overall[0]), float(overall[1]), like=largest)
    return f"{field['title']} {_with_unit(field, own, largest)} against {everyone} overall"


def _with_unit(field: Mapping[str, Any], ends: Floats, like: float = 0.0) -> str:
    low, high = map(float, ends)
    text = format_range(field, low, high, like=like)
    if field["kind"] == "dates":
        return text
    # "visits 2 to 4", not "visits 2 to 4 visits".
    unit = f" {field['unit']}" if field["unit"] not in ("", field["title"]) else ""
    return f"{text}{_scale(max(abs(low), abs(high), like))[1]}{unit}"


def format_range(field: Mapping[str, Any], low: float, high: float, like: float = 0.0) -> str:
    """Write a range of numbers or dates for people, in thousands where `like` is so large."""
    if field["kind"] == "dates":
        pattern = "%Y-%m" if high - low > LONG else "%Y-%m-%d"
        days = [EPOCH + datetime.timedelta(days=float(day)) for day in (low, high)]
        return _join(day.strftime(pattern) for day in days)
    scale, _ = _scale(max(abs(low), abs(high), like))
    low, high = low / scale, high / scale
    span = high - low if high > low else max(abs(low), 1.0)
    # No digit that is finer than the bin it comes from.
    edges = np.asarray(field["edges"])
    width = np.diff(edges)[min(int(np.searchsorted(edges, low * scale)), len(edges) - 2)] / scale
    power = math.floor(math.log10(max(span / 5, width)))
    rounded = (round(one / 10.0**power) * 10.0**power + 0.0 for one in (low, high))
    return _join(f"{one:,.{max(0, -power)}f}" for one in rounded)


def _join(texts: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(texts))


def _scale(largest: float) -> tuple[float, str]:
    if largest >= MILLIONS:
        return 1e6, " million"
    return (1e3, " thousand") if largest >= THOUSANDS else (1.0, "")


def keyword_shares(noisy: NoisyWords, counts: Consistent, tail: Tail) -> Interval:
    """Return the share of each group that wrote each word, all records in the last row.

    A count and a size are each within their noise, except with half of the probability.
    """
    half = Tail(tail.miss / 2, approximate=tail.approximate)
    parts = []
    for group in (counts, counts.total):
        rows = len(group.sizes)
        found = noisy.counts if rows > 1 else noisy.counts.sum(axis=0, keepdims=True)
        reach = 0.5 + float(half.deviations()) * noisy.deviation * math.sqrt(group.groups)
        size = group.size_interval(half)
        largest, smallest = size.high[:, None], size.low[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.where(smallest > 0, (found + reach) / smallest, 1.0)
            value = np.where(size.value[:, None] > 0, found / size.value[:, None], 0.0)
        low = np.clip((found - reach) / largest, 0.0, 1.0)
        value = np.clip(value, 0.0, 1.0)
        parts.append(
            Interval(value, np.minimum(low, value), np.maximum(np.clip(high, 0, 1), value))
        )
    return Interval(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))


def find_keywords(
    text: Mapping[str, Any], noisy: NoisyWords, counts: Consistent
) -> list[list[Statement]]:
    """Return the words that are clearly more common in each cluster than overall."""
    looked_at = max(1, text["shares"].size)
    shares = keyword_shares(noisy, counts, Tail((1 - CONFIDENCE) / looked_at, approximate=True))
    more = shares.value[:-1] - shares.value[-1]
    clear = (shares.low[:-1] > shares.high[-1]) & (more >= SMALLEST / 2)
    found: list[list[Statement]] = []
    for row, sure in zip(more, clear, strict=True):
        best = [int(word) for word in np.argsort(-row, kind="stable") if sure[word]][:MAX_KEYWORDS]
        words = ", ".join(text["words"][word] for word in best)
        said = f"{text['title']} often with {words}"
        found.append([Statement(float(row[best[0]]), said)] if best else [])
    return found


def summaries(field: Mapping[str, Any]) -> list[str]:
    """Return a field in a few words, in each cluster and overall: middle half, or commonest."""
    if field["kind"] == "levels":
        commonest = np.argmax(field["shares"], axis=1).tolist()
        shares = (float(field["shares"][row, level]) for row, level in enumerate(commonest))
        names = (field["levels"][level] for level in commonest)
        return [f"{name} {_percent(share)}" for name, share in zip(names, shares, strict=True)]
    columns = [field["quantiles"].tolist().index(q) for q in (0.25, 0.75)]
    return [_with_unit(field, ends) for ends in field["values"][:, columns]]


def write_sentences(
    values: Mapping[str, Any], statements: Sequence[Sequence[Statement]]
) -> list[str]:
    """Return one sentence for each cluster."""
    sentences = []
    for index, (cluster, known) in enumerate(zip(values["clusters"], statements, strict=True)):
        name = "in no cluster" if cluster == NO_CLUSTER else f"cluster {cluster}"
        size, low, high = (float(values[f"sizes{end}"][index]) for end in ("", "_low", "_high"))
        if low <= 0:
            sentences.append(f"{name}: perhaps nobody, at most {high:,.0f} {values['noun']}")
            continue
        text = ", ".join(one.text for one in known) or "nothing that is clear of the noise"
        sentences.append(f"{name} ({format_size(size, high - size)} {values['noun']}): {text}")
    return sentences


def format_size(size: float, half: float) -> str:
    """Write a size with as many digits as its noise leaves."""
    step = 10.0 ** max(0, math.ceil(math.log10(max(half, 1.0) / 5)))
    return f"about {round(size / step) * step:,.0f}"
