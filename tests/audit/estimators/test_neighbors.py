import numpy as np
import pytest

from shoal.audit import Neighbors, neighboring_datasets
from shoal.exceptions import MissingBoundsError, ParameterError

BOXES = [((-1.0, 1.0), 1), ((-1.0, 1.0), 2), (([0.0, 5.0, -2.0], [1.0, 9.0, -1.0]), 3)]


@pytest.mark.parametrize(("bounds", "columns"), BOXES)
def test_records_lie_in_the_box_and_names_differ(bounds, columns):
    pairs = list(neighboring_datasets(bounds, columns=columns))
    low, high = np.broadcast_to(bounds[0], columns), np.broadcast_to(bounds[1], columns)
    for pair in pairs:
        assert pair.with_added.shape == (len(pair.records) + 1, columns)
        assert ((low <= pair.with_added) & (pair.with_added <= high)).all()
        # The same records in both tables, and one more.
        without, with_added = (sorted(t.tolist()) for t in (pair.records, pair.with_added))
        with_added.remove(pair.added.tolist())
        assert with_added == without
    assert len({pair.name for pair in pairs}) == len(pairs)
    assert {len(pair.records) for pair in pairs} == {1, 2, 50, 500}


def test_each_pair_is_what_its_name_says():
    pairs = {pair.name: pair for pair in neighboring_datasets((0.0, 1.0), n=20)}
    for name, pair in pairs.items():
        if name.startswith("corner"):
            assert (pair.added == 1.0).all()
    gaps = {name: np.linalg.norm(pair.records - pair.added, axis=1) for name, pair in pairs.items()}
    assert (gaps["empty cluster"] > 1.0).all()
    assert (gaps["beside duplicates"] == 0.0).all()
    assert (gaps["beside one equal record"] == 0.0).all()
    assert (gaps["beside very many duplicates"] == 0.0).all()
    assert gaps["outlier, all others in one tight cluster"].min() > 1.0
    assert np.ptp(pairs["outlier, all others in one tight cluster"].records, axis=0).max() < 0.02
    for name in ("halfway between two others", "halfway between two clusters"):
        # At the same distance from two groups of equal records, as many in each.
        assert np.ptp(gaps[name]) == pytest.approx(0.0)
        _, sizes = np.unique(pairs[name].records, axis=0, return_counts=True)
        assert sizes.tolist() == [len(gaps[name]) / 2] * 2
    assert (gaps["heavy point, others spread"] == 0.0).mean() >= 0.75
    assert (gaps["heavy point, others spread"] > 0.0).any()
    for name, pair in pairs.items():
        if name.startswith("end of one column"):
            moved = pair.records - pair.added
            assert (moved[:, 0] < -0.4).all()
            assert (moved[:, 1:] == 0.0).all()
    # Cells of a fifth of the box: none of the others shares one with the added record.
    cells = np.floor(5 * pairs["empty cell"].records)
    assert (cells != np.floor(5 * pairs["empty cell"].added)).any(axis=1).all()
    assert len(np.unique(cells, axis=0)) >= 8


def test_the_same_pairs_every_time():
    one, two = (list(neighboring_datasets((-3.0, 8.0), n=7, columns=4)) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        assert a.name == b.name
        assert (a.with_added == b.with_added).all()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("columns", [1, 2])
def test_small_tables_are_tables_too(n, columns):
    pairs = list(neighboring_datasets((0.0, 1.0), n=n, columns=columns))
    assert {len(pair.records) for pair in pairs} == {1, 2, n, 10 * n}


def test_the_record_comes_first():
    pair = Neighbors("front", records=[[0.0, 0.0]], added=[1.0, 2.0])
    assert pair.with_added.tolist() == [[1.0, 2.0], [0.0, 0.0]]


def test_tables_are_copies():
    records = np.zeros((2, 1))
    pair = Neighbors("copy", records=records, added=[1.0])
    records += 1.0
    assert (pair.records == 0.0).all()


@pytest.mark.parametrize("records", [[], [1.0], [[np.nan]], [["a"]], [[]], None, [[1.0], [1, 2]]])
def test_records_that_are_no_table(records):
    with pytest.raises(ParameterError, match="records must be finite numbers with 2 dimensions"):
        Neighbors("odd", records=records, added=[1.0])


@pytest.mark.parametrize("added", [[], 1.0, [[1.0]], [np.inf], "a", None])
def test_added_that_is_no_record(added):
    with pytest.raises(ParameterError, match="added must be finite numbers with 1 dimension"):
        Neighbors("odd", records=[[1.0]], added=added)


def test_other_mistakes():
    with pytest.raises(ParameterError, match="as many columns as records, got 2 and 1"):
        Neighbors("odd", records=[[1.0]], added=[1.0, 2.0])
    with pytest.raises(ParameterError, match="name must"):
        Neighbors("", records=[[1.0]], added=[1.0])
    with pytest.raises(ParameterError, match="n must be a whole number"):
        next(neighboring_datasets((0.0, 1.0), n=0))
    with pytest.raises(ParameterError, match="columns must be a whole number"):
        next(neighboring_datasets((0.0, 1.0), columns=1.5))
    with pytest.raises(MissingBoundsError):
        next(neighboring_datasets(None))
