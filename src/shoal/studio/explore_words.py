"""Plain sentences of Explore: what clusters are like, what privacy costs, what attackers get."""

import datetime
import math
from typing import Any

import numpy as np

from shoal._typing import Bools, Floats
from shoal.audit import advantage_ceiling
from shoal.privacy import Guarantee
from shoal.schema import FieldPoints, Schema, describe_points

__all__ = ["attack_reading", "cluster_words", "utility_reading"]

MAX_SAID = 3  # fields of a cluster that its sentence names
CLEAR = 0.05  # smaller differences, of 1, are not worth a word
AS_GOOD = 1.02  # times the cost without privacy: nobody sees the difference
USEFUL = 1.25
DEAR = 10.0


def utility_reading(ratio: float | None) -> dict[str, Any]:
    """Return what privacy costs in clusters, as a number and as a sentence.

    Parameters
    ----------
    ratio : float or None
        Cost of the private clusters over that of k-means without privacy, on the same records;
        None where clusters have no centers.
    """
    if ratio is None or not math.isfinite(ratio):
        return {
            "ratio": None,
            "words": "Clusters of any shape have no centers, so there is no cost to compare.",
        }
    ratio = max(1.0, ratio)  # chance made k-means worse: nobody is better for privacy
    more = ratio - 1
    if ratio < AS_GOOD:
        words = "The clusters are as good as without privacy."
    elif ratio < DEAR:
        words = f"Clusters cost {more:.0%} more than without privacy."
    else:
        words = f"Clusters cost {ratio:.0f} times as much as without privacy: they are meaningless."
    if USEFUL < ratio < DEAR:
        words += " Much of what they show is noise."
    return {"ratio": round(ratio, 4), "words": words}


def attack_reading(promise: Guarantee, local: Guarantee | None = None) -> dict[str, Any]:
    """Return how often an attacker can be right, as guesses of 100 and as a sentence.

    Parameters
    ----------
    promise : Guarantee
        What is promised.
    local : Guarantee, optional
        Of a metric promise: what it is for the two records that are furthest apart.
    """
    ceiling = advantage_ceiling(local if promise.notion == "metric" and local else promise)
    if ceiling is None:
        return {"guesses": None, "told": "", "words": "Nothing is promised."}
    guesses = 50 + 50 * ceiling
    told = _rounded_up(guesses)
    whose = "record" if promise.privacy_unit.kind == "record" else "person"
    asked = {
        "central": f"about whether a {whose} is in the table",
        "shuffled": "about which of two values a person reported",
        "local": "about which of two values a person reported",
        "metric": "about which of the two most different records belongs to a person",
    }[promise.notion]
    words = (
        f"o one is right {asked} in more than {told} of 100 guesses; a coin flip is right in 50."
    )
    if promise.notion == "shuffled":  # by the curator's guess of how many report
        words = (
            f"If {promise.n_reports:,} honest devices report at once, n{words} That number is "
            "your own guess: with fewer devices, attackers are right more often."
        )
    else:
        words = f"N{words}"
    return {"guesses": guesses, "told": f"{told} of 100", "words": words}


def _rounded_up(guesses: float) -> str:
    """Write guesses of 100, never as fewer than they are, and below 100 where they are below it."""
    for digits in range(1, 6):
        told = math.ceil(guesses * 10**digits - 1e-9) / 10**digits
        if told < 100:
            return f"{told:.{digits}f}".removesuffix(".0")
    return "all"


def cluster_words(
    schema: Schema, centers: Floats, sizes: Floats, certain: Bools, overall: Floats
) -> dict[str, Any]:
    """Return a table of clusters and a sentence about each.

    Parameters
    ----------
    schema : Schema
        The public description.
    centers : ndarray of shape (k, columns)
        Points of the encoded space.
    sizes : ndarray of shape (k,)
        Records of each.
    certain : ndarray of bool, shape (k,)
        False where a cluster may be noise alone.
    overall : ndarray of shape (columns,)
        The mean of all explored records, which clusters are compared with.
    """
    fields = describe_points(schema, centers)
    means = describe_points(schema, [overall])
    texts = [field.texts() for field in fields]
    rows, sentences = [], []
    for number in range(len(centers)):
        size = f"{max(0, round(float(sizes[number]))):,}"
        rows.append([f"cluster {number}", size, *(text[number] for text in texts)])
        if certain[number]:
            said = _differences(fields, means, texts, number)
        else:
            said = "noise alone may explain it, so do not rely on it"
        sentences.append(f"Cluster {number} (about {size} records): {said}.")
    headings = ["cluster", "records (about)", *(field.name for field in fields)]
    return {"headings": headings, "rows": rows, "sentences": sentences}


def _differences(
    fields: list[FieldPoints], means: list[FieldPoints], texts: list[list[str]], number: int
) -> str:
    """Say where a cluster differs most from all records."""
    found = []
    for field, mean, told in zip(fields, means, texts, strict=True):
        difference = float(np.atleast_1d(field.compared_with(mean))[number])
        if abs(difference) < CLEAR:
            continue
        if field.levels is not None:
            compared = "more often" if difference > 0 else "less often"
        elif isinstance(field.values[number], datetime.date | np.datetime64):
            compared = "later" if difference > 0 else "earlier"
        else:
            compared = "higher" if difference > 0 else "lower"
        found.append((abs(difference), f"{field.name} {told[number]} ({compared} than most)"))
    found.sort(reverse=True)
    return ", ".join(words for _, words in found[:MAX_SAID]) or "much like the average record"
