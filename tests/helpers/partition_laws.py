"""What a partition response promises, as functions that raise AssertionError.

The law is read off the code's own integer arithmetic: every choice of a word that matters is given
by hand, and its share of all words is an exact rational. tests/planted breaks the mechanism on
purpose and expects these very functions to notice.
"""

import functools
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

WORDS = 2**64
DIGITS = 400  # of e^epsilon: 1 - lam has 304 zeros at epsilon 700


class GivenWords:
    """Words given by hand, one after the other; how many were asked for, and when."""

    seeded = True

    def __init__(self, words):
        self._words = [int(word) for word in words]
        self.calls = []

    def words(self, count):
        self.calls.append(count)
        assert count <= len(self._words), "more words than one for each choice"
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, dtype=np.uint64)


@functools.cache
def exponential(epsilon):
    """Enclose e^epsilon between two rationals."""
    with localcontext() as context:
        context.prec = DIGITS
        value = Fraction(Decimal(epsilon).exp())
    slack = value / 10 ** (DIGITS - 2)
    return value - slack, value + slack


@functools.cache
def threshold(epsilon, colors):
    """Return floor(2^64 lam), found apart from the code; both ends of the interval agree."""
    ends = {math.floor(WORDS * (e - 1) / (e + colors - 1)) for e in exponential(epsilon)}
    (only,) = ends
    return only


def probability(mechanism, record, j, s):
    """Return the probability of a report by the proof: colors are those that a server sees."""
    partitions = mechanism.partitions_
    t = Fraction(threshold(mechanism.epsilon, partitions.n_colors), WORDS)
    choices = partitions.n_partitions - mechanism.first_partition
    true = int(partitions.color_table(np.atleast_2d(record))[j, 0])
    return (t * (true == s) + (1 - t) / partitions.n_colors) / choices


def law(mechanism, record, draw):
    """Return the exact probabilities of all reports, from what ``draw`` makes of given words.

    A word chooses the partition by its remainder, another keeps the color below T and not from T
    on, a third chooses a color by its remainder: each range is looked at on both of its ends.
    """
    partitions, first = mechanism.partitions_, mechanism.first_partition
    choices, colors = partitions.n_partitions - first, partitions.n_colors
    assert all(WORDS % number == 0 for number in (choices, colors)), "powers of two only"
    t = threshold(mechanism.epsilon, colors)
    ranges = [((0, t - 1), Fraction(t, WORDS)), ((t, WORDS - 1), Fraction(WORDS - t, WORDS))]
    total = {}
    for (ends, share), j, s in itertools.product(ranges, range(choices), range(colors)):
        corners = zip((j, WORDS - choices + j), ends, (s, WORDS - colors + s), strict=True)
        reports = {draw(mechanism, record, words) for words in corners}
        assert len(reports) == 1, "a range of words gives several reports"
        (report,) = reports
        total[report] = total.get(report, 0) + share / choices / colors
    return total


def by_transform(mechanism, record, words):
    """Draw one report as many records at a time are drawn."""
    source = GivenWords(words)
    (report,) = mechanism._perturb(np.atleast_2d(np.asarray(record, dtype=np.float64)), source)
    assert source.calls == [1, 1, 1]
    return tuple(map(int, report))


def by_single_call(mechanism, record, words):
    """Draw one report as a device does."""
    source = GivenWords(words)
    report = mechanism.set_params(random_state=source).randomize(list(map(float, record)))
    assert source.calls == [3]
    return tuple(map(int, report))


def follows_the_law(mechanism, records, draw=by_transform):
    """Every report has the probability that the proof says, and log_density says the same."""
    partitions, first = mechanism.partitions_, mechanism.first_partition
    possible = list(
        itertools.product(range(first, partitions.n_partitions), range(partitions.n_colors))
    )
    for record in records:
        found = law(mechanism, record, draw)
        assert sum(found.values()) == 1
        for j, s in possible:
            exact = probability(mechanism, record, j, s)
            assert found.get((j, s), 0) == exact
            logged = float(mechanism.log_density([[j, s]], record)[0])
            assert math.isclose(logged, math.log(exact), rel_tol=1e-12)


def keeps_its_promise(mechanism, records, draw=by_transform):
    """No report is more than e^epsilon times as likely for one record as for another."""
    low, _ = exponential(mechanism.epsilon)
    laws = [law(mechanism, record, draw) for record in records]
    for one, other in itertools.permutations(laws, 2):
        for report, mass in one.items():
            assert mass <= low * other.get(report, 0)


def looks_at_no_record(mechanism, records, seed=0):
    """The same words choose the same partition and the same uniform colors for every record."""
    words = np.random.default_rng(seed).integers(0, WORDS, (3, 40), dtype=np.uint64)
    uniform = words.copy()
    uniform[1] = WORDS - 1  # nothing is kept: the whole report is drawn without the record
    for given, columns in ((words, [0]), (uniform, [0, 1])):
        drawn = set()
        for record in records:
            source = GivenWords(given.ravel())
            tiled = np.tile(np.asarray(record, dtype=np.float64), (40, 1))
            drawn.add(mechanism._perturb(tiled, source)[:, columns].tobytes())
            assert source.calls == [40, 40, 40]
        assert len(drawn) == 1
