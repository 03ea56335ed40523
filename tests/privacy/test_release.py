"""A release comes back exactly as it was written, or not at all."""

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from helpers.cases import case
from shoal.exceptions import ReleaseError
from shoal.privacy import Adjacency, Guarantee, Release, current_versions

PROMISE = Guarantee("central", epsilon=1.0, delta=1e-6, mu=0.1)


def make(**values: object) -> Release:
    return Release("DPKMeans", values, PROMISE)


ARRAYS = hnp.arrays(
    dtype=st.one_of(
        hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
        hnp.integer_dtypes(endianness="?"),
        hnp.unsigned_integer_dtypes(endianness="?"),
        hnp.boolean_dtypes(),
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(ARRAYS)
def test_arrays_come_back_bit_by_bit(array: np.ndarray) -> None:
    again = Release.from_json(make(centers=array).to_json()).values["centers"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    assert again[~nan].tobytes() == array[~nan].tobytes()
    if nan.any():
        assert np.isnan(again[nan]).all()


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text().filter(lambda t: not t.startswith("__")), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_plain_values_come_back(value: object) -> None:
    release = make(value=value)
    assert Release.from_json(release.to_json()) == release


def test_text_arrays_and_scalars() -> None:
    release = make(
        names=np.array(["age", "größe", ""]),
        count=np.int64(2**53 + 1),
        cost=np.float32(0.1),
        flag=np.bool_(True),
        big=2**80,
        zero=-0.0,
        pair=(1, 2),
    )
    again = Release.from_json(release.to_json())
    assert again == release
    assert type(again.values["count"]) is int
    assert again.values["count"] == 2**53 + 1
    assert math.copysign(1, again.values["zero"]) == -1
    assert again.values["pair"] == [1, 2]


def test_the_json_says_what_is_promised() -> None:
    plain = json.loads(make(k=1).to_json())
    assert plain["guarantee_text"] == str(PROMISE)
    assert plain["schema_version"] == 3
    assert set(plain["versions"]) == {"shoal", "numpy", "scikit-learn", "python"}
    assert plain["versions"] == current_versions()


def test_a_shuffled_promise_travels_with_its_batch() -> None:
    promise = Guarantee(
        "shuffled", 0.1, 1e-6, Adjacency.SUBSTITUTE, local_epsilon=4.0, n_reports=1000
    )
    release = Release("k", {"k": 1}, promise)
    again = Release.from_json(release.to_json())
    assert again == release
    assert again.guarantee.n_reports == 1000


def test_no_promise_travels_too() -> None:
    release = Release("as published", {}, Guarantee.none("<reads the records>"))
    assert Release.from_json(release.to_json()) == release
    assert "<reads" not in release._repr_html_()
    assert "no privacy guarantee" in str(release)


def test_values_are_frozen() -> None:
    source = np.zeros(3)
    release = make(centers=source, nested={"sizes": np.ones(2)})
    source[0] = 7
    assert release.values["centers"][0] == 0
    for array in (release.values["centers"], release.values["nested"]["sizes"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        release.values["more"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        release.versions["shoal"] = "9"  # type: ignore[index]
    again = Release.from_json(release.to_json())
    assert not again.values["centers"].flags.writeable


def test_equality_looks_at_everything() -> None:
    release = make(a=np.array([1.0, math.nan]), b=[math.nan])
    assert release == make(a=np.array([1.0, math.nan]), b=[math.nan])
    others = [
        make(a=np.array([1.0, 2.0]), b=[math.nan]),
        make(a=np.array([1.0, math.nan], np.float32), b=[math.nan]),
        make(a=np.array([[1.0, math.nan]]), b=[math.nan]),
        make(a=[1.0, math.nan], b=[math.nan]),
        make(a=np.array([1.0, math.nan]), b=[math.nan, 1]),
        make(a=np.array([1.0, math.nan])),
        make(a=np.array([1.0, math.nan]), b=[1]),
        Release("other", release.values, PROMISE),
        Release("DPKMeans", release.values, Guarantee("central", 1.0)),
        Release("DPKMeans", release.values, PROMISE, {"shoal": "0"}),
    ]
    for other in others:
        assert release != other
    assert release != "release"
    with pytest.raises(TypeError):
        hash(release)


def test_survives_pickle_and_copies() -> None:
    release = make(centers=np.arange(6.0).reshape(2, 3))
    for again in (pickle.loads(pickle.dumps(release)), copy.deepcopy(release), copy.copy(release)):
        assert again == release
        assert not again.values["centers"].flags.writeable


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    path.write_text("old")
    release = make(centers=np.eye(2))
    release.save(path)
    assert Release.load(str(path)) == release
    assert [p.name for p in tmp_path.iterdir()] == ["release.json"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.json"
    make(k=1).save(path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shoal.privacy.release.os.fsync", full)
        with pytest.raises(ReleaseError, match="No space left"):
            make(k=2).save(path)
    assert Release.load(path).values["k"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["release.json"]
    with pytest.raises(ReleaseError, match="cannot be written"):
        make(k=1).save(tmp_path / "no" / "folder.json")
    with pytest.raises(ReleaseError, match="cannot be read"):
        Release.load(tmp_path / "nothing.json")


def test_what_cannot_be_written_exactly_is_refused() -> None:
    for value in [
        object(),
        1j,
        b"bytes",
        {1, 2},
        {1: 2},
        {"__array__": 1},
        np.array([object()]),
        np.array([1j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.masked_array([1, 2], mask=[0, 1]),
        np.zeros(2, dtype=[("a", int)]),
        np.zeros(1, dtype=np.longdouble),
        np.datetime64("2020-01-01"),
        Guarantee.none("x"),
    ]:
        with case(value=value), pytest.raises(ReleaseError, match="value"):
            make(value=value)


def test_endless_nesting_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ReleaseError, match="nested"):
        make(value=endless)


def test_bad_fields_are_refused() -> None:
    for change in [
        {"kind": ""},
        {"kind": 3},
        {"values": [1]},
        {"guarantee": "central"},
        {"versions": {"shoal": 1}},
        {"versions": None},
        {"schema_version": 1},
        {"ledger": {"count": 1, "hash": "0" * 64}},
        {"schema_version": True},
    ]:
        with case(change=change):
            fields = {"kind": "k", "values": {}, "guarantee": PROMISE, **change}
            with pytest.raises(ReleaseError):
                Release(**fields)  # type: ignore[arg-type]


def broken() -> list[tuple[str, object]]:
    """Every way to spoil one field of a good release."""
    array = {"__array__": "<f8", "shape": [2], "data": [1.0, 2.0]}
    return [
        ("schema_version", 2),
        ("ledger", {"count": 1}),
        ("ledger", {"count": -1, "hash": "0" * 64}),
        ("ledger", {"count": 1, "hash": "g" * 64}),
        ("ledger", "3 entries"),
        ("schema_version", "2"),
        ("schema_version", None),
        ("schema_version", True),
        ("kind", 7),
        ("guarantee", {}),
        ("guarantee", None),
        ("versions", []),
        ("values", []),
        ("values", {"a": {**array, "shape": [3]}}),
        ("values", {"a": {**array, "shape": [-1]}}),
        ("values", {"a": {**array, "shape": 2}}),
        ("values", {"a": {**array, "data": [1.0, "big"]}}),
        ("values", {"a": {**array, "data": [1.0, True]}}),
        ("values", {"a": {**array, "data": [1.0, None]}}),
        ("values", {"a": {**array, "__array__": "|O"}}),
        ("values", {"a": {**array, "__array__": "float"}}),
        ("values", {"a": {**array, "__array__": "<i1", "data": [1, 300]}}),
        ("values", {"a": {**array, "__array__": "<U1", "data": ["a", "bc"]}}),
        ("values", {"a": {**array, "more": 1}}),
        ("values", {"a": {"__array__": "<f8"}}),
        ("values", {"a": {"__float__": "huge"}}),
        ("values", {"a": {"__float__": ["nan"]}}),
        ("values", {"a": {"__float__": "nan", "b": 1}}),
        ("values", {"__a": 1}),
    ]


def test_a_spoiled_field_is_noticed() -> None:
    for field, value in broken():
        with case(field=field, value=value):
            plain = json.loads(make(k=1).to_json())
            plain[field] = value
            with pytest.raises(ReleaseError):
                Release.from_json(json.dumps(plain))


def test_a_missing_field_is_noticed() -> None:
    for field in [
        "schema_version",
        "kind",
        "values",
        "guarantee",
        "guarantee_text",
        "versions",
        "ledger",
    ]:
        with case(field=field):
            plain = json.loads(make(k=1).to_json())
            del plain[field]
            with pytest.raises(ReleaseError):
                Release.from_json(json.dumps(plain))
            with pytest.raises(ReleaseError):
                Release.from_json(json.dumps({**json.loads(make(k=1).to_json()), "extra": 1}))


def test_other_text_is_no_release() -> None:
    for text in [
        "",
        "[]",
        "null",
        "{",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        None,
        b"\xff",
    ]:
        with case(text=text), pytest.raises(ReleaseError):
            Release.from_json(text)  # type: ignore[arg-type]


def test_other_files_are_said_to_be_others() -> None:
    """Not to be of another version: somebody named the schema where the release belongs."""
    with pytest.raises(ReleaseError, match="written by shoal, got another JSON file"):
        Release.from_json('{"fields": []}')
