"""Bugs planted in the partition response: each check that holds without them must go red."""

import hashlib
import sys

import numpy as np
import pytest

from helpers.partition_laws import (
    by_single_call,
    follows_the_law,
    keeps_its_promise,
    looks_at_no_record,
)
from shoal._bounds import public_box
from shoal.audit import epsilon_lower_bound
from shoal.mechanisms import PartitionResponse
from shoal.noise import SeededSource, keep_threshold, randomized_response, uniform_integers
from shoal.partitions import AxisGrids, Partitions, box_axes

MODULE = sys.modules["shoal.mechanisms.partition_response"]
SAMPLER = sys.modules["shoal.noise.response_sampler"]

AXES = box_axes(public_box((0.0, 1.0), 1))
PARTITIONS = Partitions([AxisGrids(AXES, 8, 4, cells=3)])
RECORDS = np.array([[0.05], [0.5], [0.95]])


class Rewritten(PartitionResponse):
    """The mechanism in short, with the places where a bug could be."""

    def _perturb(self, records, source):
        partitions = self.partitions_
        chosen = self.choose(records, source)
        true = partitions.colors(records, chosen)
        return np.column_stack([chosen, self.answer(records, true, source)]).astype(float)

    def choose(self, records, source):
        return uniform_integers(len(records), below=self.partitions_.n_partitions, source=source)

    def answer(self, records, true, source):
        return randomized_response(true, epsilon=self.epsilon, choices=self.n_colors, source=source)


class HashedPartition(Rewritten):
    """The partition follows from a hash of the record, as it would from a user's name."""

    def choose(self, records, source):
        source.words(len(records))
        digests = [hashlib.sha256(record.tobytes()).digest() for record in records]
        return np.array([digest[0] % self.partitions_.n_partitions for digest in digests])


class SeededPartition(Rewritten):
    """The partition comes from a seed instead of the source."""

    def choose(self, records, source):
        source.words(len(records))
        return super().choose(records, SeededSource(0))


class RareColor(Rewritten):
    """The partition is the next one in which the record's color is 0."""

    def choose(self, records, source):
        chosen = super().choose(records, source)
        rare = self.partitions_.color_table(records) == 0
        rare &= np.arange(self.partitions_.n_partitions)[:, None] >= chosen
        return np.where(rare.any(axis=0), rare.argmax(axis=0), chosen)


class RoundOfTheRecord(Rewritten):
    """Records on the right answer in the second round, the others in the first."""

    def choose(self, records, source):
        half = self.partitions_.n_partitions // 2
        return uniform_integers(len(records), below=half, source=source) + half * (
            records[:, 0] > 0.5
        )


class NeverTheTruth(Rewritten):
    """A color that is not kept is uniform on the others."""

    def answer(self, records, true, source):
        kept = source.words(len(true)) < np.uint64(keep_threshold(self.epsilon, self.n_colors))
        step = 1 + uniform_integers(len(true), below=self.n_colors, source=source) % 3
        return np.where(kept, true, (true + step) % self.n_colors)


class ColorOfTheRecord(Rewritten):
    """A color that is not kept depends on the record."""

    def answer(self, records, true, source):
        said = super().answer(records, true, source)
        return np.where(said == true, said, (said + (records[:, 0] > 0.5)) % self.n_colors)


class FewerWords(Rewritten):
    """Words are drawn only where they are needed."""

    def answer(self, records, true, source):
        kept = source.words(len(true)) < np.uint64(keep_threshold(self.epsilon, self.n_colors))
        said = true.copy()
        left = int((~kept).sum())
        said[~kept] = uniform_integers(left, below=self.n_colors, source=source)
        return said


CHECKS = (follows_the_law, keeps_its_promise, looks_at_no_record)


def red(check, mechanism, *arguments):
    """Expect a check to notice."""
    with pytest.raises(AssertionError):
        check(mechanism, RECORDS, *arguments)


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_is_found_without_a_bug(check):
    check(Rewritten(1.0, partitions=PARTITIONS), RECORDS)


@pytest.mark.parametrize(
    ("bug", "checks"),
    [
        (HashedPartition, CHECKS),
        (RareColor, CHECKS),
        (RoundOfTheRecord, CHECKS),
        (SeededPartition, (follows_the_law,)),
        (NeverTheTruth, (follows_the_law,)),
        (ColorOfTheRecord, (follows_the_law, looks_at_no_record)),
        (FewerWords, (follows_the_law, looks_at_no_record)),
    ],
)
def test_a_bug_is_noticed(bug, checks):
    for check in checks:
        red(check, bug(1.0, partitions=PARTITIONS))


def test_one_word_too_many_is_noticed(monkeypatch):
    """T is rounded up instead of down: a relative error of 2^-62."""
    mechanism = PartitionResponse(1.0, partitions=PARTITIONS)
    for module in (SAMPLER, MODULE):
        monkeypatch.setattr(module, "keep_threshold", lambda *given: keep_threshold(*given) + 1)
    for check in (follows_the_law, keeps_its_promise):
        red(check, mechanism)
        red(check, mechanism, by_single_call)


def test_a_tenth_more_epsilon_is_noticed(monkeypatch):
    right = randomized_response
    monkeypatch.setattr(
        MODULE,
        "randomized_response",
        lambda answers, *, epsilon, **kwargs: right(answers, epsilon=1.1 * epsilon, **kwargs),
    )
    for check in (follows_the_law, keeps_its_promise):
        red(check, PartitionResponse(1.0, partitions=PARTITIONS))


@pytest.mark.parametrize("bug", [HashedPartition, RareColor, RoundOfTheRecord])
def test_an_audit_notices_a_partition_of_the_record(bug):
    """Bounds are wrong with probability 0.001; the seed is fixed."""
    for kind, broken in ((Rewritten, False), (bug, True)):
        mechanism = kind(1.0, partitions=PARTITIONS, random_state=1).fit(RECORDS)
        result = epsilon_lower_bound(mechanism, RECORDS[0], RECORDS[2], samples=4_000)
        assert result.exceeds() == broken, str(result)
