"""Whose row a row is depends on that row alone, whatever type the ids have."""

import datetime
import decimal
import enum
import subprocess
import sys
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from helpers.user_ids import SETS
from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.cluster._contributions import bounded_contributions, read_users
from shoal.exceptions import DataError, DataTypeError, ParameterError
from shoal.mechanisms import KdLaplace, Laplace
from shoal.privacy import Ledger
from shoal.schema import Number, Schema
from shoal.tables import ArrayTable


def kept(user_ids, most=1):
    """Rows that count."""
    table = ArrayTable(np.zeros((len(user_ids), 1)))
    limits = {"sample_weight": None, "weight_limit": 1.0, "records_per_user": most}
    return bounded_contributions(table, user_ids=user_ids, **limits).rows.tolist()


# One more user does not change whose the other rows are


def test_one_more_user_leaves_the_others_as_they_are(subtests):
    """``-1`` among ids above 2^63 left 3 users of 2,000."""
    for name, one_more in [
        ("near", "x"),
        ("near", 2**63),
        ("near", 10**30),
        ("large", -1),
        ("large", 10**30),
        ("text", 7),
        ("text", b"7"),
        ("text", np.int8(7)),
        ("text", "7\0"),
        ("text", uuid.UUID(int=7)),
    ]:
        with subtests.test(name=name, one_more=one_more):
            ids = SETS[name]
            rows = list(range(len(ids)))
            assert kept(ids) == rows
            assert kept([*ids, one_more]) == [*rows, len(ids)]


def test_ids_that_cannot_be_told_apart_are_refused(subtests):
    """A float among ids of 1.5e18 + i merged all but 10 of 2,000 users."""
    for one_more in [0.5, np.float32(7), np.nan, None, True, np.True_, pd.NA, pd.NaT]:
        with subtests.test(one_more=one_more):
            for ids in SETS:
                with pytest.raises(DataTypeError, match=r"^user_ids must be whole numbers, text"):
                    kept([*SETS[ids], one_more])


DIFFERENT = [1, "1", b"1", "1\0", b"1\0", " 1", -1, 2**63, 2**64 - 1, 2**200, uuid.UUID(int=1)]


def test_different_ids_are_different_users():
    assert kept(DIFFERENT) == list(range(len(DIFFERENT)))
    assert kept(np.array(DIFFERENT, dtype=object)) == list(range(len(DIFFERENT)))
    assert kept(pd.Series(DIFFERENT, dtype=object)) == list(range(len(DIFFERENT)))


@pytest.mark.full
def test_text_and_bytes_of_the_same_letters():
    """Python may be told to refuse comparing them."""
    code = (
        "from shoal.cluster._contributions import read_users;"
        "assert read_users(['a', b'a', 'a'], 3).codes.tolist() == [0, 1, 0]"
    )
    subprocess.run([sys.executable, "-bb", "-c", code], check=True, timeout=120)


def test_equal_ids_are_one_user_whatever_holds_them():
    assert kept([5, np.int8(5), np.uint64(5), np.int64(5)]) == [0]
    assert kept(["a", np.str_("a")]) == [0]
    assert kept([np.str_("a\0"), "a\0", np.str_("a"), "a"]) == [0, 2]
    assert kept([np.bytes_(b"a\0"), b"a\0", b"a"]) == [0, 2]
    assert kept([uuid.UUID(int=3), uuid.UUID(int=3)]) == [0]


# Columns of any kind give the users of a list


NUMBERS = [3, 1, 3, 2, 1, 3]
WORDS = ["c", "a", "c", "b\0", "a", "c"]
LETTERS = [word.encode() for word in WORDS]
FIRST = [0, 1, 3]


def test_columns(subtests):
    for make in [
        list,
        tuple,
        np.array,
        lambda ids: np.array(ids, dtype=object),
        pd.Series,
        pd.Index,
        pd.array,
        pd.Categorical,
        lambda ids: pd.Series(ids, dtype=object),
        lambda ids: pd.Series(ids, dtype="category"),
        lambda ids: pd.Series(ids, index=range(10, 16), name="person"),
        pl.Series,
        pa.array,
        lambda ids: pa.chunked_array([ids[:2], ids[2:]]),
        lambda ids: pa.array(ids).dictionary_encode(),
        # Each chunk has its own dictionary.
        lambda ids: pa.chunked_array(
            [pa.array(ids[:2]).dictionary_encode(), pa.array(ids[2:]).dictionary_encode()]
        ),
        lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.array(ids).type)),
        lambda ids: pl.Series(ids, dtype=pl.Object),
    ]:
        with subtests.test(make=make):
            for ids in [NUMBERS, WORDS, LETTERS]:
                column = make(ids)
                assert kept(column) == FIRST
                assert kept(column, most=2) == [0, 1, 2, 3, 4]


def test_columns_of_one_kind(subtests):
    for column in [
        pd.Series(NUMBERS, dtype="Int64"),
        pd.Series(NUMBERS, dtype="UInt8"),
        pd.Series(NUMBERS, dtype=pd.SparseDtype(int)),
        pl.Series(NUMBERS, dtype=pl.UInt8),
        pl.Series(NUMBERS, dtype=pl.Int128),
        pl.Series(WORDS, dtype=pl.Categorical),
        pl.Series(WORDS, dtype=pl.Enum(["c", "b\0", "a"])),
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array([uuid.UUID(int=i).bytes for i in NUMBERS], pa.uuid()),
        pa.DictionaryArray.from_arrays([0, 1, 3, 2, 1, 0], ["c", "a", "b", "c"]),
        np.array(NUMBERS, dtype=">u2"),
        np.array(WORDS, dtype=np.dtypes.StringDType()),
        np.ma.array(NUMBERS),
    ]:
        with subtests.test(column=column):
            assert kept(column) == FIRST
            assert kept(range(6, 0, -1)) == [0, 1, 2, 3, 4, 5]


def test_large_numbers_in_columns():
    large = [2**63, 2**64 - 1, 2**63, 2**63 + 1]
    columns = [np.array(large, np.uint64), pl.Series(large, dtype=pl.UInt64)]
    for column in [*columns, pa.array(large, pa.uint64())]:
        assert kept(column) == [0, 1, 3]
    assert kept(pd.Series([2**63, -1])) == [0, 1]


class Color(enum.IntEnum):
    RED = 1


class Name(str):
    __slots__ = ()

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


REFUSED = {
    "floats": [1.0, 2.0],
    "float array": np.array([1.0, 2.0]),
    "half floats": np.array([1.0, 2.0], np.float16),
    "float column": pd.Series([1, None]),
    "float column, polars": pl.Series([1.0, 2.0]),
    "float categories": pd.Series([1.0, 2.0], dtype="category"),
    "float dictionary": pa.array([1.0, 2.0]).dictionary_encode(),
    "a gap": pd.Series([1, None], dtype="Int64"),
    "a gap, polars": pl.Series([1, None]),
    "a gap, arrow": pa.array([1, None]),
    "a gap in text": pd.Series(["31.5", None]),
    "a gap in objects": pd.Series(["31.5", None], dtype=object),
    "a gap in categories": pd.Series(["31.5", None], dtype="category"),
    "a gap in a dictionary": pa.array(["31.5", None]).dictionary_encode(),
    "a gap among the values of a dictionary": pa.DictionaryArray.from_arrays([0, 1], ["a", None]),
    "a gap in StringDType": np.array(["31.5", None], np.dtypes.StringDType(na_object=None)),
    "masked": np.ma.array([1, 2], mask=[True, False]),
    "nothing": pa.nulls(2),
    "bools": [True, False],
    "bool array": np.array([True, False]),
    "bool and int": [True, 1],
    "complex": np.array([1j, 2j]),
    "dates": [datetime.date(2020, 1, 1)] * 2,
    "days": np.array(["2020-01-01"] * 2, "M8[D]"),
    "nanoseconds": np.array(["2020-01-01"] * 2, "M8[ns]"),
    "spans": np.array([1, 2], "m8[ns]"),
    "numpy spans": [np.timedelta64(1, "s"), np.timedelta64(2, "s")],
    "time stamps": pd.Series(pd.to_datetime(["2020-01-01"] * 2)),
    "arrow days": pa.array([1, 2], pa.date32()),
    "decimals": [decimal.Decimal("31.5"), decimal.Decimal(2)],
    "arrow decimals": pa.array([decimal.Decimal("31.5"), decimal.Decimal(2)]),
    "polars decimals": pl.Series([decimal.Decimal("31.5"), decimal.Decimal(2)]),
    "tuples": [(1, 2), (3, 4)],
    "lists": [[1], [2]],
    "arrays": [np.array([1]), np.array([2])],
    "pairs of an index": pd.MultiIndex.from_tuples([(1, "31.5"), (2, "31.5")]),
    "intervals": pd.Series(pd.interval_range(0, 2)),
    "enums": [Color.RED, 1],
    "text that says it is equal": [Name("31.5"), Name("2")],
}


def test_refused_by_type(subtests):
    for name, ids in REFUSED.items():
        with subtests.test(name=name):
            with pytest.raises(DataTypeError) as refused:
                kept(ids)
            text = str(refused.value)
            assert text.startswith(
                "user_ids must be whole numbers, text, bytes or UUIDs, none of them"
            )
            assert "\n" not in text
            assert "31.5" not in text
            assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_refusal_says_the_way_out():
    with pytest.raises(DataTypeError, match=r"got float64, .*: give whole numbers or text$"):
        kept(np.array([1.0, np.nan]))
    with pytest.raises(DataTypeError, match=r"got missing ones: drop those rows, or give each"):
        kept([None, 1])


def test_not_one_column(subtests):
    for ids in [
        [1],
        [1, 2, 3],
        np.zeros((2, 1), int),
        np.array(5),
        "ab",
        b"ab",
        {1, 2},
        {"a": 1, "b": 2},
        (i for i in (1, 2)),
        pd.DataFrame({"person": [1, 2]}),
        pl.DataFrame({"person": [1, 2]}),
        pa.table({"person": [1, 2]}),
        5,
    ]:
        with (
            subtests.test(ids=ids),
            pytest.raises(DataError, match=r"^user_ids must be one column with one entry for each"),
        ):
            read_users(ids, 2)


def test_a_column_of_spark():
    class Column:
        pass

    Column.__module__ = "pyspark.sql.column"
    with pytest.raises(DataTypeError, match=r"^user_ids must be in memory, got a column of Spark"):
        read_users(Column(), 2)


# What others add never changes


IDS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**63, 2**63 + 1, 2**64 - 1, 10**30, "", "1", "1\0", "a", b"", b"1", b"a"]),
    st.sampled_from([np.int64(1), np.uint64(2**63), np.str_("a\0"), np.bytes_(b"1\0")]),
)
COLUMNS = [list, lambda ids: pd.Series(ids, dtype=object)]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(ids=st.lists(IDS, min_size=1, max_size=25), most=st.integers(1, 3), data=st.data())
def test_rows_of_others_stay_when_a_user_comes_or_goes(ids, most, data):
    """Take out one user, all rows: of the others the same rows count, in any kind of column."""
    leaver = data.draw(st.sampled_from(ids))
    rest = [row for row, one in enumerate(ids) if not same(one, leaver)]
    make = data.draw(st.sampled_from(COLUMNS))
    theirs = [row for row in kept(make(ids), most) if row in set(rest)]
    if rest:
        alone = kept(make([ids[row] for row in rest]), most)
        assert theirs == [rest[row] for row in alone]
    own = [row for row in range(len(ids)) if row not in set(rest)]
    assert [row for row in kept(ids, most) if row in set(own)] == own[:most]


def same(one, other):
    """The rule, written again."""
    kinds = [
        next(kind for kind in (str, bytes, (int, np.integer)) if isinstance(v, kind))
        for v in (one, other)
    ]
    if kinds[0] != kinds[1]:
        return False
    if kinds[0] is str:
        return list(map(ord, one)) == list(map(ord, other))
    return bytes(one) == bytes(other) if kinds[0] is bytes else int(one) == int(other)


# Names of columns


def column_of(user_ids, user_column=""):
    table = ArrayTable(np.zeros((len(user_ids), 1)))
    limits = {"sample_weight": None, "weight_limit": 1.0, "records_per_user": 1}
    given = bounded_contributions(table, user_ids=user_ids, user_column=user_column, **limits)
    return given.privacy_unit.id_column


def test_the_column_has_a_name():
    assert column_of(pd.Series([1, 2], name="person")) == "person"
    assert column_of(pd.Index([1, 2], name="person")) == "person"
    assert column_of(pl.Series("person", ["a", "b"])) == "person"
    assert column_of(pd.Series([1, 2], name="person"), "person") == "person"
    assert column_of(pa.array([1, 2]), "person") == "person"
    assert column_of([1, 2], "person") == "person"
    for unnamed in ([1, 2], pd.Series([1, 2]), pd.Series([1, 2], name=0), pa.array([1, 2])):
        assert column_of(unnamed) == ""


def test_the_name_must_be_that_of_the_column():
    with pytest.raises(ParameterError, match=r"^user_column must be .*'person', got 'customer'"):
        column_of(pd.Series([1, 2], name="person"), "customer")
    model = DPKMeans(2, bounds=(-1.0, 1.0), user_column="person")
    with pytest.raises(ParameterError, match=r"^user_column must be '' without user_ids"):
        model.fit(np.zeros((2, 1)))
    with pytest.raises(ParameterError, match=r"^user_column must be a string"):
        model.set_params(user_column=3).fit(np.zeros((2, 1)), user_ids=[1, 2])


def test_ids_of_other_rows_are_refused():
    """A frame that was shuffled after its ids were taken: each row would be somebody else's."""
    X = pd.DataFrame({"a": np.linspace(-1.0, 1.0, 40)})
    ids = pd.Series(np.repeat(np.arange(8), 5), name="person")
    shuffled = X.sample(frac=1.0, random_state=0)
    ledger = Ledger(epsilon=5.0)
    model = DPKMeans(2, bounds=(-1.0, 1.0), ledger=ledger)
    with pytest.raises(DataError, match="user_ids must have the index of X"):
        model.fit(shuffled, user_ids=ids)
    assert len(ledger) == 0
    model.fit(shuffled, user_ids=ids.loc[shuffled.index])
    assert model.guarantee_.privacy_unit.id_column == "person"
    DPKMeans(2, bounds=(-1.0, 1.0)).fit(shuffled, user_ids=ids.to_numpy())
    described = DPKMeans(2, schema=Schema([Number("a", minimum=-1, maximum=1)]), ledger=ledger)
    with pytest.raises(DataError, match="user_ids must have the index of X"):
        described.fit({"a": shuffled["a"]}, user_ids=ids)


@pytest.mark.parametrize(
    "model",
    [
        DPKMeans(2, bounds=(-1.0, 1.0)),
        DPWaveCluster(bounds=(-1.0, 1.0)),
        PrivateCopy(bounds=(-1.0, 1.0)),
        Laplace(epsilon=1.0, bounds=(-1.0, 1.0)),
        KdLaplace(epsilon=1.0, bounds=(-1.0, 1.0)),
    ],
)
def test_ids_that_were_read_with_a_table_are_not_forgotten(model):
    """The promise would be made to rows, of which one user may have many."""
    X = np.linspace(-1.0, 1.0, 40).reshape(20, 2)
    table = ArrayTable(X, ("a", "b"), user_ids=["x", "y"] * 10)
    ledger = Ledger(epsilon=5.0)
    with pytest.raises(ParameterError, match=r"user_ids must be given to fit"):
        clone(model).set_params(ledger=ledger).fit(table)
    assert len(ledger) == 0


def test_ids_of_a_table_are_given_to_fit():
    X = np.linspace(-1.0, 1.0, 40).reshape(20, 2)
    table = ArrayTable(X, ("a", "b"), user_ids=["x", "y"] * 10)
    model = DPKMeans(2, bounds=(-1.0, 1.0)).fit(table, user_ids=table.user_ids)
    assert model.guarantee_.privacy_unit.kind == "user"
    assert len(model.predict(table)) == 20
