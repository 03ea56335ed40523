"""Tables in files: what is read, what is refused, and that a refusal tells and costs nothing."""

import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from shoal.cluster import DPKMeans, DPWaveCluster, PrivateCopy
from shoal.exceptions import DataError, DataTypeError, ParameterError, ShoalError
from shoal.mechanisms import Laplace
from shoal.privacy import Ledger
from shoal.tables import ArrowTable, CountRows, open_table

SECRET = 123456.789  # a value that no message may show


def table_of(n=50, **columns):
    rng = np.random.default_rng(3)
    return pa.table({"a": rng.normal(size=n), "b": rng.normal(size=n), **columns})


@pytest.fixture
def folder(tmp_path):
    """Three whole files."""
    path = tmp_path / "data"
    path.mkdir()
    for place in range(3):
        pq.write_table(table_of(), path / f"part-{place}.parquet", row_group_size=20)
    return path


def people(path, **words):
    return ArrowTable(path, columns=["a", "b"], **words)


def cut_short(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def no_footer(path):
    path.write_bytes(path.read_bytes()[:-8])


def other_bytes(path):
    """Damage pages and leave the footer as it is."""
    data = bytearray(path.read_bytes())
    data[8:400] = bytes(255 - value for value in data[8:400])
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


def text_inside(path):
    pq.write_table(pa.table({"a": ["x", str(SECRET)], "b": [1.0, 2.0]}), path)


def column_gone(path):
    pq.write_table(pa.table({"a": [SECRET]}), path)


def column_renamed(path):
    pq.write_table(table_of().rename_columns(["a", "B"]), path)


def nan_inside(path):
    pq.write_table(pa.table({"a": [1.0, np.nan], "b": [SECRET, 1.0]}), path)


def nothing_there(path):
    pq.write_table(pa.table({"a": [1.0, None], "b": [SECRET, 1.0]}), path)


def infinite(path):
    pq.write_table(pa.table({"a": [1.0, -np.inf], "b": [SECRET, 1.0]}), path)


def both_infinities(path):
    pq.write_table(pa.table({"a": [np.inf, -np.inf], "b": [SECRET, 1.0]}), path)


FINITE = "X must hold finite numbers, got NaN or inf: drop those records, or describe the table"
DAMAGED = (
    "the data must be whole Parquet, Feather or CSV files, got file 3 of '{folder}': it is damaged"
)
BROKEN = {
    cut_short: DAMAGED,
    no_footer: DAMAGED,
    other_bytes: DAMAGED,
    empty: DAMAGED,
    text_inside: "column 'a' must hold numbers, got string in file 3 of '{folder}'",
    column_gone: "file 3 of '{folder}' must have one column 'b', got none",
    column_renamed: "file 3 of '{folder}' must have one column 'b', got none",
    nan_inside: FINITE,
    nothing_there: FINITE,
    infinite: FINITE,
    both_infinities: FINITE,
}


@pytest.mark.parametrize("damage", BROKEN)
def test_a_bad_file_is_told_in_one_line_and_costs_nothing(folder, damage):
    damage(folder / "part-2.parquet")
    text = BROKEN[damage].replace("{folder}", str(folder))
    for estimator in (DPKMeans(2), DPWaveCluster(grid=8), PrivateCopy()):
        ledger = Ledger(epsilon=1.0)
        estimator.set_params(bounds=(-3.0, 3.0), ledger=ledger)
        with pytest.raises(DataError, match=re.escape(text)) as found:
            estimator.fit(people(folder))
        assert "\n" not in str(found.value)
        assert "123456" not in str(found.value)
        assert found.value.__cause__ is None
        assert found.value.__context__ is None or found.value.__suppress_context__
        assert ledger.entries == ()
        assert not hasattr(estimator, "release_")


def test_a_file_that_breaks_after_the_check_leaves_the_spend_on_record(folder, monkeypatch):
    """What a first pass released would be known to whoever sees the failure."""
    ledger = Ledger(epsilon=1.0)
    model = DPKMeans(2, bounds=(-3.0, 3.0), ledger=ledger)
    check = ArrowTable.check

    def then_broken(self):
        check(self)
        other_bytes(folder / "part-2.parquet")

    monkeypatch.setattr(ArrowTable, "check", then_broken)
    with pytest.raises(DataError, match="damaged"):
        model.fit(people(folder))
    assert [promise.epsilon for promise in ledger.spent] == [1.0]
    assert not hasattr(model, "release_")


def test_other_records_than_those_that_were_checked_are_refused(folder):
    table = people(folder)
    table.check()
    assert table.rows == 150
    pq.write_table(table_of(60), folder / "part-1.parquet")
    with pytest.raises(DataError, match=r"stay as it is while it is read|damaged"):
        table.fold(CountRows())


def test_fewer_records_than_were_checked_are_refused(folder):
    table = people(folder)
    table.check()
    table._rows += 1  # as if one had gone, and no file looked damaged
    with pytest.raises(DataError, match="stay as it is while it is read"):
        table.fold(CountRows())


def test_a_parameter_is_refused_before_anything_is_read(folder):
    no_footer(folder / "part-2.parquet")
    with pytest.raises(ParameterError, match="epsilon"):
        DPKMeans(2, bounds=(-3.0, 3.0), epsilon=0.0).fit(people(folder))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.ones(150)}, "sample_weight must be None for records out of memory"),
        ({"user_ids": np.ones(150)}, "user_ids must be None for records out of memory"),
    ],
)
def test_weights_and_users_need_records_in_memory(folder, given, message):
    with pytest.raises(DataError, match=message):
        DPKMeans(2, bounds=(-3.0, 3.0)).fit(people(folder), **given)


def test_one_file_may_be_empty_but_not_all(folder):
    pq.write_table(table_of(0), folder / "part-1.parquet")
    table = people(folder)
    table.check()
    assert table.rows == 100
    for file in folder.iterdir():
        pq.write_table(table_of(0), file)
    with pytest.raises(DataError, match="at least one record"):
        people(folder).check()


def test_values_whose_sum_overflows_are_finite(tmp_path):
    pq.write_table(pa.table({"a": [1.7e308, 1.7e308], "b": [-1.7e308, 0.0]}), tmp_path / "x.pq")
    table = people(tmp_path / "x.pq")
    table.check()
    assert table.rows == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "c"], "must have one column 'c', got none of that name among its 2"),
        (["a", "a"], "columns must be one or more, all different"),
        ([], "columns must be one or more, all different"),
    ],
)
def test_columns_that_are_not_there(folder, columns, message):
    with pytest.raises(DataError, match=re.escape(message)):
        ArrowTable(folder, columns=columns)


def test_text_is_refused_and_can_be_left_out(tmp_path):
    pq.write_table(table_of(name=["x"] * 50), tmp_path / "x.parquet")
    with pytest.raises(DataTypeError, match="column 'name' must hold numbers, got string"):
        ArrowTable(tmp_path, columns=["a", "name"])
    assert ArrowTable(tmp_path, columns=["b", "a"]).names == ("b", "a")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([], "files of one kind are needed"),
        (["a.parquet", "b.csv"], "files of one kind are needed"),
        (["a.xlsx"], "files of one kind are needed"),
    ],
)
def test_a_folder_without_files_of_one_kind(tmp_path, files, why):
    for name in files:
        (tmp_path / name).write_bytes(b"1,2")
    with pytest.raises(DataError, match=why):
        open_table(tmp_path, columns=["a"])


def test_no_such_path():
    with pytest.raises(DataError, match="got 'nowhere/at/all': no such file or folder"):
        open_table("nowhere/at/all", columns=["a"])


def test_hidden_files_are_left_out(folder):
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / ".part.crc").write_bytes(b"xyz")
    table = people(folder)
    table.check()
    assert table.rows == 150


def test_partitions_by_folder(tmp_path):
    """A column that is in the names of folders is left alone; the others are read."""
    ds.write_dataset(
        table_of(40, year=[2020, 2021] * 20),
        tmp_path / "by",
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive"),
    )
    table = ArrowTable(tmp_path / "by", columns=["a", "b"])
    table.check()
    assert table.rows == 40


def test_csv_without_a_header_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1.5,2\n3,4\n5,6.25\n")
    table = ArrowTable(path, names=["a", "b"])
    assert table.names == ("a", "b")
    table.check()
    assert table.rows == 3
    assert ArrowTable(path, columns=["b"], names=["a", "b"]).names == ("b",)


def test_a_path_alone_gives_no_names(folder, tmp_path):
    """The first line of a file may be a record, and its values would be published as names."""
    path = tmp_path / "x.csv"
    path.write_text(f"{SECRET},N/A\n1,2\n3,4\n")
    ledger = Ledger(epsilon=1.0)
    for source in (path, str(path), folder):
        for attempt in (
            ArrowTable,
            open_table,
            DPKMeans(2, bounds=(-3.0, 3.0), ledger=ledger).fit,
            PrivateCopy(bounds=(-3.0, 3.0), ledger=ledger).fit,
            Laplace(bounds=(-3.0, 3.0)).fit,
        ):
            with pytest.raises(ParameterError, match="columns must be given for records in files"):
                attempt(source)
    with pytest.raises(DataError, match="must have one column 'age'") as refused:
        ArrowTable(path, columns=["age"])
    assert "123456" not in str(refused.value)
    assert "N/A" not in str(refused.value)
    assert ledger.entries == ()


def test_names_are_those_of_all_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1.5,2\n3,4\n")
    for names in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(ParameterError, match="one after the other, all 2 and different"):
            ArrowTable(path, names=names)
    pq.write_table(table_of(), tmp_path / "y.parquet")
    for source in (tmp_path / "y.parquet", ds.dataset(table_of())):
        with pytest.raises(ParameterError, match="without a header line must be CSV files"):
            ArrowTable(source, names=["a", "b"])


def test_csv_that_breaks_late(tmp_path, subtests):
    """The first lines look like whole numbers; one far below does not."""
    path = tmp_path / "x.csv"
    good = "a,b\n" + "1,2\n" * 300_000 + "1.5,2.5\n"
    path.write_text(good)
    table = people(path)
    table.check()
    assert table.rows == 300_001
    for line in ["5,", "5,x", "5", "5,6,7", '5,"nan"', "5,1e999"]:
        with subtests.test(line=line):
            path.write_text(f"{good}{line}\n")
            with pytest.raises(DataError) as found:
                people(path).check()
            assert "\n" not in str(found.value)


def test_labels_come_in_the_order_of_the_files(folder):
    table = ArrowTable(folder, columns=["a"], threads=3)
    whole = ds.dataset(folder).to_table().column("a").to_numpy()
    found = table.collect(lambda block: np.rint(1000 * block[0]).astype(np.int32))
    assert (found == np.rint(1000 * whole)).all()


def test_an_error_in_one_thread_stops_the_others(folder):
    table = people(folder, threads=2)
    before = threading.active_count()

    def work(pieces):
        for place, _ in pieces:
            if place == 0:
                raise ShoalError("stop here")

    with pytest.raises(ShoalError, match="stop here"):
        table.on_threads(work)
    assert threading.active_count() == before


def test_the_columns_of_fit_are_chosen_again(tmp_path):
    pq.write_table(table_of(200), tmp_path / "fit.parquet")
    wide = table_of(200, c=np.full(200, 9.0)).select(["c", "b", "a"])
    pq.write_table(wide, tmp_path / "more.parquet")
    model = DPKMeans(2, bounds=(-3.0, 3.0), random_state=0).fit(people(tmp_path / "fit.parquet"))
    same = model.predict(tmp_path / "fit.parquet")
    assert (model.predict(tmp_path / "more.parquet") == same).all()
    pq.write_table(wide.select(["c", "b"]), tmp_path / "less.parquet")
    with pytest.raises(DataError, match="must have one column 'a'"):
        model.predict(tmp_path / "less.parquet")


def test_score_needs_records_in_memory(folder):
    model = DPKMeans(2, bounds=(-3.0, 3.0), random_state=0).fit(people(folder))
    with pytest.raises(DataError, match="X must be in memory for score"):
        model.score(folder)
    whole = ds.dataset(folder).to_table().to_pandas()
    assert model.score(whole) < 0.0


def test_fit_predict(folder):
    labels = DPKMeans(2, bounds=(-3.0, 3.0), random_state=0).fit_predict(people(folder))
    whole = ds.dataset(folder).to_table().to_pandas()
    assert (labels == DPKMeans(2, bounds=(-3.0, 3.0), random_state=0).fit_predict(whole)).all()


def test_a_type_is_named_without_its_fields(tmp_path):
    """Names inside a type come from the file, as those of columns do."""
    people = pa.array([{"Alice Miller": 1}] * 3)
    pq.write_table(pa.table({"a": people}), tmp_path / "people.parquet")
    with pytest.raises(DataTypeError, match="got struct in") as refused:
        ArrowTable(tmp_path / "people.parquet", columns=["a"])
    assert "Alice" not in str(refused.value)


@pytest.mark.parametrize("grown", ["file", "folder"])
def test_records_that_came_since_the_last_pass(folder, grown):
    """A table that is used again reads all of the files, not the row groups that were there."""
    path = folder if grown == "folder" else folder / "part-0.parquet"
    table = people(path)
    table.check()
    before = table.rows
    if grown == "folder":
        pq.write_table(table_of(70), folder / "part-9.parquet", row_group_size=20)
    else:
        pq.write_table(table_of(before + 70), path, row_group_size=20)
    model = DPKMeans(2, bounds=(-3.0, 3.0)).fit(people(path))
    with pytest.raises(DataError, match="its files have changed"):
        model.predict(table)  # counted when there were fewer
    table.check()
    assert table.rows == before + 70
    assert len(model.predict(table)) == before + 70


def test_a_line_break_in_quotes(tmp_path, subtests):
    """Whether it is read does not depend on how long the records before it are."""
    for before in range(0, 40, 4):
        with subtests.test(before=before):
            head, line = "name,a,b\n", "bob,1,1\n"
            rows = (2**20 - len(head)) // len(line)  # pyarrow reads so many bytes at a time
            text = (
                head
                + line * (rows - 3)
                + "b" * before
                + ",1,1\n"
                + '"x\n1,5,5\ny",1,1\n'
                + line * 9
            )
            (tmp_path / "people.csv").write_text(text)
            table = people(tmp_path / "people.csv")
            table.check()
            assert table.rows == rows - 3 + 11


def to_a_file(folder):
    (folder / "latest.parquet").symlink_to(folder / "part-0.parquet")


def to_a_file_as_another_name(folder):
    (folder / "latest.parquet").hardlink_to(folder / "part-0.parquet")


def to_the_folder_itself(folder):
    (folder / "all").symlink_to(folder)


@pytest.mark.parametrize("link", [to_a_file, to_a_file_as_another_name, to_the_folder_itself])
def test_no_record_is_read_twice(folder, link):
    """A link makes two records of one, or two reports, for one spend."""
    link(folder)
    with pytest.raises(DataError, match="a link to a file that is read already"):
        people(folder)


def test_no_report_is_drawn_twice(folder, tmp_path):
    """Not even where the link came after the table was opened."""
    table = people(folder)
    ledger = Ledger(epsilon=9.0, metric_epsilon=9.0, metric_unit="m")
    mechanism = Laplace(1.0, bounds=(-1.0, 1.0), unit="m", ledger=ledger).fit(table)
    to_a_file(folder)
    with pytest.raises(DataError, match="a link to a file that is read already"):
        mechanism.transform(table, out=tmp_path / "reports")
    assert len(ledger) == 0
    assert not (tmp_path / "reports").exists()


def test_links_to_other_places_are_read(folder, tmp_path):
    other = tmp_path / "elsewhere.parquet"
    pq.write_table(table_of(), other)
    (folder / "other.parquet").symlink_to(other)
    table = people(folder)
    table.check()
    assert table.rows == 200
