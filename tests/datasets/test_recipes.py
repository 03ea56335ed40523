"""The recipes give the registry's files, byte by byte, from upstream files in their own spelling.

The upstream files are written again here in the spelling they are known to have; where their length
is known too, it is checked, so that a spelling that is not theirs is noticed.
"""

import gzip
import hashlib
import os
from pathlib import Path

import pytest

from shoal.datasets import list_datasets
from shoal.datasets.recipes import LIMIT, rebuild
from shoal.datasets.registry import find
from shoal.exceptions import DataError

FOLDER = os.environ.get("SHOAL_DATA")
needs_files = pytest.mark.skipif(
    not FOLDER, reason="set SHOAL_DATA to the folder of data files to run this"
)
DOWNLOADABLE = [info for info in list_datasets() if info.downloadable]
# Read by the recipe of the suite of benchmarks, as r15 is.
LARGE = ("birch1", "birch2", "worms_2", "worms_64")

# Characters of the upstream files, the head of mopsi_finland left out.
LENGTHS = {
    "seeds": 9_314,
    "transfusion": 12_812,
    "house5": 22_124,
    "mopsi_finland": 202_138 - 133,
    "cdc_ds1_30k": 772_016,
    "cdc_ds2_30k": 819_728,
    "cdc_ds3_30k": 878_973,
    "wavecluster_ds1": 419_571,
    "wavecluster_ds2": 435_627,
    "wavecluster_ds3": 443_560,
    "kd_laplace_heart": 100_032,
    "kd_laplace_seeds": 9_163,
    "kd_laplace_circle_2d": 42_010,
    "kd_laplace_circle_3d": 62_823,
    "kd_laplace_line_2d": 40_611,
    "kd_laplace_line_3d": 59_837,
    "kd_laplace_skewed_2d": 41_066,
    "kd_laplace_skewed_3d": 60_705,
}
# Numbers of the seeds that are spelled with more zeros than they need: row, column, spelling.
PADDED = (
    (7, 5, "2.700"),
    (7, 6, "5.000"),
    (35, 1, "15.00"),
    (35, 2, "0.9000"),
    (60, 5, "2.70"),
    (68, 6, "5.30"),
    (106, 6, "6.20"),
    (135, 5, "3.60"),
    (172, 6, "5.00"),
    (201, 5, "2.30"),
    (203, 6, "5.00"),
)


def stored(info):
    content = (Path(FOLDER) / info.file).read_text()
    return [line.split(",") for line in content.splitlines()[1:]]


def as_written(info):
    text = (Path(FOLDER) / info.file).read_text()
    return [text.replace(",", ";") if info.name == "kd_laplace_heart" else text]


def adult(info):
    rows = stored(info)
    return [census(rows[:32_561], ""), census(rows[32_561:], ".")]


def mopsi(info):
    places = [[round(float(value) * 10_000) for value in row] for row in stored(info)]
    return ["".join(f"{lat},{lon}\r\n" for lat, lon in places)]


def seeds(info):
    rows = stored(info)
    for row, column, spelling in PADDED:
        assert float(rows[row][column]) == float(spelling)
        rows[row][column] = spelling
    return ["\n".join("\t".join(row) for row in rows)]


def transfusion(info):
    head = "Recency (months),Frequency (times),Monetary (c.c. blood),Time (months)"
    lines = [f"{a} ,{b},{c},{d} ,{e}" for a, b, c, d, e in stored(info)]
    return ["\r\n".join([f'{head},"whether2007"', *lines])]


def house(info):
    return ["\n".join(f" {' '.join(row)}" for row in stored(info))]


def centrality(info):
    rows = enumerate(stored(info), 1)
    return ["".join(f"{x},{y},{float(label)},{place}\n" for place, (x, y, label) in rows)]


def wavecluster(info):
    return ["".join(f"{x},{y}\n" for x, y in stored(info))]


def benchmark(info):
    rows = stored(info)
    points = "".join(f"{float(x):.18e} {float(y):.18e}\n" for x, y, _ in rows)
    return [points, "".join(f"{label}\n" for *_, label in rows)]


# By the beginning of the name; the others belong to the suite of benchmarks.
SPELLED = {
    "kd_laplace": as_written,
    "adult": adult,
    "mopsi": mopsi,
    "seeds": seeds,
    "transfusion": transfusion,
    "house5": house,
    "cdc": centrality,
    "wavecluster": wavecluster,
}


def upstream(info):
    """Spell the records as the upstream files do."""
    for beginning, spell in SPELLED.items():
        if info.name.startswith(beginning):
            return spell(info)
    return benchmark(info)


def census(rows, end):
    lines = ["age, workclass, fnlwgt, education, education-num, marital-status, occupation"]
    for age, weight, school, gain, loss, hours, rich in rows:
        income = ("<=50K", ">50K")[int(rich)]
        lines.append(
            f"{age}, Private, {weight}, 11th, {school}, Divorced, Sales, Wife, White, Female, "
            f"{gain}, {loss}, {hours}, ?, {income}{end}"
        )
    return "\n".join([*lines, ""])


@needs_files
@pytest.mark.parametrize(
    "info",
    [
        pytest.param(info, marks=pytest.mark.full if info.name in LARGE else (), id=info.name)
        for info in DOWNLOADABLE
    ],
)
def test_files_come_out_as_they_are_stored(info):
    texts = upstream(info)
    assert len(texts) == len(info.origin.urls)
    if info.name in LENGTHS:
        assert len(texts[0]) == LENGTHS[info.name]
    packed = [
        gzip.compress(text.encode()) if url.endswith(".gz") else text.encode()
        for text, url in zip(texts, info.origin.urls, strict=True)
    ]
    assert hashlib.sha256(rebuild(info, packed)).hexdigest() == info.sha256


def test_every_recipe_but_those_of_packed_files_was_held_against_its_source():
    apart = {info.name for info in DOWNLOADABLE if not info.origin.urls[0].endswith(".gz")}
    assert set(LENGTHS) == apart - {"adult"}


def test_columns_of_whole_numbers_have_no_point():
    points, labels = b"1e0 0.50\n2.0 3\n", b"7\n8\n"
    content = rebuild(find("r15"), [points, labels])
    assert content == b"x,y,label\n1,0.5,7\n2,3.0,8\n"


def test_heads_and_notes_are_left_out():
    notes = b"% Mopsi\n@relation places\n\n@data\n625983,297439\n626146,297440\n"
    assert rebuild(find("mopsi_finland"), [notes]) == b"lat,lon\n62.5983,29.7439\n62.6146,29.744\n"


def test_census_keeps_the_numbers_and_the_income():
    head = b"age, workclass, fnlwgt, education, education-num, Y\n"
    train = b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
    train += b"White, Male, 2174, 0, 40, United-States, <=50K\n\n"
    test = b"64, ?, 321403, HS-grad, 9, Widowed, ?, Other-relative, Black, Male, 0, 0, 40, Peru, "
    test += b">50K.\n"
    assert rebuild(find("adult"), [head + train, b"|1x3 Cross validator\n" + test]) == (
        b"age,fnlwgt,education_num,capital_gain,capital_loss,hours_per_week,label\n"
        b"39,77516,13,2174,0,40,0\n64,321403,9,0,0,40,1\n"
    )


def test_something_else_is_refused(subtests):
    for contents in [
        [b"1 2\n3 4\n", b"1\n"],  # a label short
        [b"1\n", b"1\n"],  # a column short
        [b"\x1f\x8b broken", b"1\n"],
        [gzip.compress(b"1 2\n")[:-4], b"1\n"],
        [b"\xff\xfe", b"1\n"],
        [b"1 2\n1 2 3\n", b"1\n2\n3\n"],
    ]:
        with (
            subtests.test(contents=contents),
            pytest.raises(DataError, match=r"r15\.csv must be made from what r15 was made from"),
        ):
            rebuild(find("r15"), contents)


def test_a_file_that_unpacks_without_end_is_refused():
    bomb = gzip.compress(bytes(LIMIT + 1))
    with pytest.raises(DataError, match="must be made from"):
        rebuild(find("r15"), [bomb, b"1\n"])


@pytest.mark.parametrize("name", ["iris", "gowalla"])
def test_no_recipe(name):
    with pytest.raises(DataError, match="must have a recipe"):
        rebuild(find(name), [b""])
