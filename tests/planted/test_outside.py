"""Bugs in what is read from outside, and in what a thread keeps: each must be noticed."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from contracts.outside_documents import kinds
from helpers.kept_records import FEW, LATTICE, kept, records
from planted.plant import Bug, planted
from shoal.engines import ArrayEngine, nearest_statistics
from shoal.exceptions import ShoalError
from shoal.mechanisms import load_mechanism
from shoal.privacy import Release
from shoal.reports import load_release

KINDS = {kind.name: kind for kind in kinds(None)}


def _first(kind):
    return json.loads(json.dumps(next(iter(kind.make()))))


def _works(read, use):
    """Assert that what is read works, or is refused."""
    try:
        found = read()
    except ShoalError:
        return
    try:
        use(found)
    except Exception as error:
        raise AssertionError("accepted, and of no use") from error


def is_checked_whole(kind):
    plain = _first(kind)
    plain["values"]["sizes"] = {"__array__": "<f8", "shape": [3], "data": [1.0, 2.0, 3.0]}
    text = json.dumps(plain)
    _works(lambda: load_release(Release.from_json(text)), lambda one: one.to_frame())


def has_parameters_that_work(kind):
    plain = _first(kind)
    plain["parameters"]["bounds"] = [[0.0, 0.0], [1.0, [1.0, 2.0]]]
    _works(lambda: load_mechanism(plain), lambda one: one.to_dict())


def leaves_nothing_in_a_thread(kind):
    def work():
        nearest_statistics(ArrayEngine(LATTICE.encode(records())), np.zeros((2, 2), dtype=int))
        return kept()

    with ThreadPoolExecutor(1) as pool:  # what a bug leaves ends with it
        assert pool.submit(work).result() < FEW


BUGS = [
    Bug(
        "shapes of a release that are not compared",
        "shoal.labels.release_form",
        "    if not fits:\n",
        "    if False:\n",
        is_checked_whole,
        KINDS["clusters"],
    ),
    Bug(
        "a mechanism whose parameters are not looked at",
        "shoal.mechanisms.documents",
        "        _check_parameters(mechanism)\n",
        "",
        has_parameters_that_work,
        KINDS["mechanism"],
    ),
    Bug(
        "a thread that keeps the records it rounded",
        "shoal.noise.lattice",
        "    held[:size] = 0.0\n",
        "",
        leaves_nothing_in_a_thread,
        KINDS["clusters"],
    ),
    Bug(
        "an engine that keeps its last block",
        "shoal.engines._parallel",
        "            self._held[name][:size] = 0.0\n",
        "            pass\n",
        leaves_nothing_in_a_thread,
        KINDS["clusters"],
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_a_planted_bug_is_noticed(bug):
    bug.red(bug.subject)
    with planted(bug), pytest.raises(AssertionError):
        bug.red(bug.subject)
