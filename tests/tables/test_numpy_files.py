"""Files of numpy: which array is taken, and refusals in one line."""

import numpy as np
import pytest

from helpers.cases import case
from shoal.exceptions import DataError
from shoal.tables import array_file, is_array_path, open_array

X = np.arange(12, dtype=np.float16).reshape(4, 3)
WORDS = np.array(["a", "b", "c", "d"])


def test_a_npy_file_is_mapped(tmp_path):
    np.save(tmp_path / "x.npy", X)
    found = open_array(str(tmp_path / "x.npy"))
    assert isinstance(found, np.memmap)
    assert found.dtype == np.float16
    assert (found == X).all()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_one_table_of_an_archive(tmp_path, save):
    save(tmp_path / "x.npz", words=WORDS, vectors=X, weights=np.ones(4))
    found = open_array(tmp_path / "x.npz")
    assert found.dtype == np.float16
    assert (found == X).all()


def test_several_tables_are_told_apart_by_name(tmp_path):
    file = tmp_path / "x.npz"
    np.savez(file, first=X, second=X + 1)
    with pytest.raises(DataError, match=r"one table of numbers, got first, second: .*npz::first'"):
        open_array(file)
    assert (open_array(f"{file}::second") == X + 1).all()
    with pytest.raises(DataError, match="a table of numbers 'third', got none of that name"):
        open_array(f"{file}::third")
    assert array_file(f"{file}::second") == file


def test_paths():
    assert is_array_path("a/WORDS.NPY")
    assert is_array_path("a/words.npz::vectors")
    assert not is_array_path("a/words.parquet")
    assert not is_array_path(X)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("none.npy", None, "No such file"),
        ("none.npz", None, "No such file"),
        ("x.npy", b"", "damaged"),
        ("x.npy", b"98765", "damaged"),
        ("x.npz", b"98765", "damaged"),
        ("x.npy", np.arange(3), "got 1 dimensions of int64"),
        ("x.npy", WORDS[:, None], "a table of numbers, one record a row"),
        ("x.npy", np.array([["98765"], [None]], dtype=object), "a table of numbers"),
        ("x.npz", {"words": WORDS}, "must hold one table of numbers, got none"),
        ("x.npz", {}, "must hold one table of numbers, got none"),
        ("x.npz::words", {"words": WORDS}, "a table of numbers 'words', got none"),
        ("x.npz", {"a": np.array([["98765"], [None]], dtype=object)}, "got none"),
    ],
)
def test_refusals(tmp_path, name, content, text):
    file = tmp_path / name.partition("::")[0]
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(file, allow_pickle=True, **content)
    elif content is not None:
        np.save(file, content)
    with pytest.raises(DataError, match=text) as refused:
        open_array(tmp_path / name)
    assert "98765" not in str(refused.value).replace(str(tmp_path), "")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_cut_short(tmp_path, ending):
    np.save(tmp_path / "whole.npy", X)
    np.savez(tmp_path / "whole.npz", x=X)
    (tmp_path / f"x.{ending}").write_bytes((tmp_path / f"whole.{ending}").read_bytes()[:-9])
    with pytest.raises(DataError, match="damaged, cut short"):
        open_array(tmp_path / f"x.{ending}")


def test_no_record(tmp_path):
    np.save(tmp_path / "x.npy", X[:0])
    assert open_array(tmp_path / "x.npy").shape == (0, 3)


def test_damaged_inside(tmp_path):
    """What zip files, their compression and numpy's headers raise besides."""
    np.save(tmp_path / "whole.npy", X)
    np.savez_compressed(tmp_path / "whole.npz", x=np.random.default_rng(0).random((500, 3)))
    header, archive = ((tmp_path / f"whole.{end}").read_bytes() for end in ("npy", "npz"))
    shape = str(X.shape).encode()
    packed = bytearray(archive)
    packed[60:90] = b"\xff" * 30
    locked = bytearray(archive)
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[archive.find(magic) + flags] |= 1
    broken = {
        "header.npy": header.replace(shape, shape.replace(b")", b" ")),
        "packed.npz": bytes(packed),
        "locked.npz": bytes(locked),
    }
    for name, content in broken.items():
        with case(name=name):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(DataError, match="damaged, cut short"):
                open_array(tmp_path / name)
