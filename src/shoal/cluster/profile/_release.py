"""What a profile releases: for each field and cluster shares, quantiles and their intervals.

All of it is plain data, and enough to draw and to write everything later: :func:`profile_rows` and
the charts need nothing else. Rows of all tables are the clusters in the order of ``"clusters"``,
and overall in the last row.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Floats
from shoal.cluster.profile._coding import Histogram
from shoal.cluster.profile._estimates import (
    QUANTILES,
    Consistent,
    Interval,
    Tail,
    quantile_values,
)
from shoal.cluster.profile._plan import CONFIDENCE, ProfilePlan
from shoal.cluster.profile._sentences import (
    find_keywords,
    find_statements,
    format_size,
    keyword_shares,
    summaries,
    write_sentences,
)
from shoal.cluster.profile._words import NoisyWords, WordPlan
from shoal.schema import Schema

__all__ = ["Row", "profile_rows", "release_values"]

COMMON = 3  # words of a summary
EPOCH = datetime.date(1970, 1, 1)
ENDS = ("", "_low", "_high")  # of the names of a value and its interval


def release_values(
    plan: ProfilePlan,
    consistent: Sequence[Consistent],
    keywords: Sequence[NoisyWords],
    *,
    clusters: Sequence[int],
    schema: Schema,
    noun: str,
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the values of the release, from noisy counts alone."""
    tail = Tail(1 - CONFIDENCE, approximate=plan.noise.approximate)
    sizes = _stacked(consistent[0], lambda one: one.size_interval(tail))
    fields = [
        _field_values(field.histogram, counts, field.deviation, tail)
        for field, counts in zip(plan.fields, consistent, strict=True)
    ]
    statements = find_statements(
        [field.histogram for field in plan.fields],
        consistent,
        fields,
        approximate=plan.noise.approximate,
    )
    spoken = [
        _keyword_values(text, words, consistent[0], tail)
        for text, words in zip(plan.texts, keywords, strict=True)
    ]
    for text, words in zip(spoken, keywords, strict=True):
        for index, more in enumerate(find_keywords(text, words, consistent[0])):
            statements[index] += more
    values: dict[str, Any] = {
        "clusters": list(clusters),
        "noun": noun,
        "sizes": sizes.value,
        "sizes_low": sizes.low,
        "sizes_high": sizes.high,
        "size_texts": [
            format_size(float(size), float(high - size))
            for size, high in zip(sizes.value, sizes.high, strict=True)
        ],
        "confidence": CONFIDENCE,
        "fields": fields,
        "keywords": spoken,
        "notes": list(notes),
        "schema": schema.to_dict(),
    }
    values["sentences"] = write_sentences(values, statements)
    return values


def _keyword_values(
    plan: WordPlan, noisy: NoisyWords, counts: Consistent, tail: Tail
) -> dict[str, Any]:
    """Return the share of each cluster that wrote each selected word."""
    shares = keyword_shares(noisy, counts, tail)
    return {
        "name": plan.name,
        "title": plan.title,
        "words": list(noisy.words),
        "counts": noisy.counts,
        "deviation": noisy.deviation,
        "shares": shares.value,
        "shares_low": shares.low,
        "shares_high": shares.high,
        "summaries": [_common_words(noisy.words, row) for row in shares.value],
    }


def _common_words(words: Sequence[str], shares: Floats) -> str:
    common = np.argsort(-shares, kind="stable")[:COMMON]
    return ", ".join(words[word] for word in common if shares[word] > 0)


def _field_values(
    histogram: Histogram, counts: Consistent, deviation: float, tail: Tail
) -> dict[str, Any]:
    field = histogram.field
    shares = _stacked(counts, lambda one: one.share_interval(tail))
    values: dict[str, Any] = {
        "name": field.name,
        "title": field.title or field.name,
        "unit": field.unit,
        "kind": histogram.kind,
        "type": type(field).__name__.lower(),
        "scale": getattr(field, "scale", "linear"),
        "levels": list(histogram.levels),
        "missing": histogram.bins < len(histogram.levels),
        "deviation": deviation,
        "counts": counts.counts,
        "shares": shares.value,
        "shares_low": shares.low,
        "shares_high": shares.high,
    }
    if histogram.edges:
        values["edges"] = np.array(histogram.edges)
        values |= _quantiles(histogram, counts, shares.value, tail)
    values["summaries"] = summaries(values)
    return values


def _quantiles(
    histogram: Histogram, counts: Consistent, shares: Floats, tail: Tail
) -> dict[str, Any]:
    edges = np.array(histogram.edges)
    found, lows, highs = [], [], []
    for q in QUANTILES:
        value = quantile_values(shares[:, : histogram.bins], edges, q)
        if getattr(histogram.field, "whole", histogram.kind == "dates"):
            value = np.floor(value)
        bins = [one.quantile_bins(q, histogram.bins, tail) for one in (counts, counts.total)]
        first, last = (np.concatenate(pair) for pair in zip(*bins, strict=True))
        found.append(value)
        lows.append(np.minimum(edges[first], value))
        highs.append(np.maximum(edges[last + 1], value))
    return {
        "quantiles": np.array(QUANTILES),
        "values": np.stack(found, axis=1),
        "values_low": np.stack(lows, axis=1),
        "values_high": np.stack(highs, axis=1),
    }


def _stacked(counts: Consistent, interval: Any) -> Interval:
    """Return intervals of the clusters, and overall in the last row."""
    parts = (interval(counts), interval(counts.total))
    return Interval(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))


class Row(NamedTuple):
    """One number of a profile; ``cluster`` is a label, or "overall"."""

    cluster: int | str
    field: str
    statistic: str
    level: str
    value: float | str
    low: float | str
    high: float | str
    unit: str


def profile_rows(values: Mapping[str, Any]) -> list[Row]:
    """Return all sizes, shares and quantiles of a released profile, one a row."""
    rows: list[Row] = []
    for index, cluster in enumerate((*values["clusters"], "overall")):
        words = [
            Row(cluster, text["name"], "keyword", word, *_word_share(text, index, column), "")
            for text in values["keywords"]
            for column, word in enumerate(text["words"])
        ]
        size, low, high = (float(values[f"sizes{end}"][index]) for end in ENDS)
        rows.append(Row(cluster, "", "size", "", size, low, high, values["noun"]))
        for field in values["fields"]:
            rows += _field_rows(cluster, index, field)
        rows += words
    return rows


def _word_share(text: Mapping[str, Any], index: int, column: int) -> tuple[float, float, float]:
    value, low, high = (float(text[f"shares{end}"][index, column]) for end in ENDS)
    return value, low, high


def _field_rows(cluster: int | str, index: int, field: Mapping[str, Any]) -> list[Row]:
    rows = []
    for column, q in enumerate(field.get("quantiles", ())):
        value, low, high = (float(field[f"values{end}"][index, column]) for end in ENDS)
        name, unit = f"{q:g}", field["unit"]
        if field["kind"] == "dates":
            dates = _date(value), _date(low), _date(high)
            rows.append(Row(cluster, field["name"], "quantile", name, *dates, ""))
        else:
            rows.append(Row(cluster, field["name"], "quantile", name, value, low, high, unit))
    levels = field["levels"]
    first = 0 if field["kind"] == "levels" else len(levels) - bool(field["missing"])
    for column in range(first, len(levels)):
        value, low, high = (float(field[f"shares{end}"][index, column]) for end in ENDS)
        rows.append(Row(cluster, field["name"], "share", levels[column], value, low, high, ""))
    return rows


def _date(days: float) -> str:
    return str(EPOCH + datetime.timedelta(days=days))
