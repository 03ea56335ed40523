"""Whatever a document from outside holds: an error of ours, or all that can be done with it works.

Documents are changed by a seed (:mod:`helpers.hostile_documents`), so a failure names a case that
comes again. `make test-full` reads many of each kind, the quick run a few of the small kinds.
"""

import itertools
import json

import pytest

from contracts.outside_documents import kinds
from contracts.outside_files import file_kinds
from helpers.cases import case
from helpers.hostile_documents import changed, spoiled_bytes, texts
from shoal.exceptions import CODES, ShoalError
from shoal.privacy import Guarantee, Release
from shoal.reports import load_release

SEED = 35
NAMES = {kind.name for kind in (*kinds(None), *file_kinds(None))}
SMALL = {"schema", "mechanism", "campaign file", "guarantee", "ledger", "results", "clusters"}
MANY = {"clusters": 60, "release": 100, "mechanism": 100, "mechanism file": 60}
# What may be refused of clusters that were accepted: records that do not fit, and what is not there
UNFIT = {"columns", "records", "unsupported", "value", "missing", "format"}


def variants(kind, document, seed, count):
    """Yield a document, and changed ones, as the kind's reader takes them."""
    if isinstance(document, bytes):
        yield "valid", document
        yield from spoiled_bytes(document, seed, count)
        return
    yield "valid", texts(document) if kind.text else document
    for name, new in changed(document, seed, count, text=kind.text):
        yield name, texts(new) if kind.text else new
    if kind.text:
        yield from spoiled_bytes(texts(document), seed, count // 4)


def tried(call, given):
    """Return a result, or the error of ours that ended it; anything else fails the test."""
    try:
        return call(given), None
    except ShoalError as error:
        return None, error


def refuse_or_work(kind, content, *, valid):
    """Read a document, and use it in all ways if it was accepted."""
    found, refused = tried(kind.read, content)
    if refused is not None:
        assert not valid, str(refused)
        assert refused.code in CODES
        assert "\n" not in str(refused)
        return
    for use in kind.uses:
        _, refused = tried(use, found)
        if refused is not None and kind.name == "clusters":
            assert refused.code in UNFIT, str(refused)


def check(kind, documents, count):
    for index, document in enumerate(documents):
        for name, content in variants(kind, document, SEED + index, count):
            with case(kind=kind.name, document=index, change=name):
                refuse_or_work(kind, content, valid=name == "valid")


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(NAMES))
def test_documents_are_refused_or_work(name, tmp_path):
    (kind,) = (one for one in (*kinds(tmp_path), *file_kinds(tmp_path)) if one.name == name)
    check(kind, kind.make(), MANY.get(name, 300))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_some_documents_are_refused_or_work(name, tmp_path):
    (kind,) = (one for one in (*kinds(tmp_path), *file_kinds(tmp_path)) if one.name == name)
    check(kind, itertools.islice(kind.make(), 1), 5 if name == "clusters" else 40)


def test_a_promise_of_next_to_nothing_is_a_sentence():
    for epsilon in (1e-300, 5e-324, 1e-20, 1e-12):
        assert "1.000000000001" in str(Guarantee("central", epsilon=epsilon))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("sizes", {"__array__": "<f8", "shape": [3], "data": [1.0, 2.0, 3.0]}),
        ("radii", {"__array__": "<f8", "shape": [2, 1], "data": [1.0, 2.0]}),
        ("certain", [True, True]),
        ("low", {"__array__": "<f8", "shape": [1], "data": [-3.0]}),
        ("high", {"__array__": "<f8", "shape": [2], "data": [-9.0, 3.0]}),
        ("half", 0),
        ("columns", ["a", "a"]),
        ("columns", ["a"]),
        ("centers", {"__array__": "<f8", "shape": [2, 2], "data": [0.0, "nan", 1.0, 1.0]}),
        ("metric", "cells"),
    ],
)
def test_a_release_is_checked_whole_where_it_is_read(name, wrong):
    (kind,) = (one for one in kinds(None) if one.name == "clusters")
    plain = next(iter(kind.make()))
    plain["values"][name] = wrong
    release = Release.from_json(json.dumps(plain))
    with pytest.raises(ShoalError) as refused:
        load_release(release)
    assert (refused.value.parameter, refused.value.code) == ("release", "format")
