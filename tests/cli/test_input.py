import json

import pytest

from shoal.cli._input import parse_bounds, parse_list
from shoal.cli._output import output_folder
from shoal.exceptions import ParameterError


def test_bounds(tmp_path):
    assert parse_bounds(None) is None
    assert parse_bounds("0, 2.5") == (0.0, 2.5)
    assert parse_bounds("0:1, -4:9") == ([0.0, -4.0], [1.0, 9.0])
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps({"a": [0, 1], "b": [2, 3]}))
    assert parse_bounds(str(path), ["b", "a"]) == ([2.0, 0.0], [3.0, 1.0])
    assert parse_bounds(str(path)) == ([0.0, 2.0], [1.0, 3.0])
    with pytest.raises(ParameterError, match="without column 'c'"):
        parse_bounds(str(path), ["c"])
    path.write_text("[1]")
    with pytest.raises(ParameterError, match="with other content"):
        parse_bounds(str(path))
    with pytest.raises(ParameterError, match="No such file"):
        parse_bounds(str(tmp_path / "none.json"))


def test_bad_bounds(subtests):
    for text in ["", "1", "1,2,3", "a,b", "0:1:2", "0:1,2"]:
        with (
            subtests.test(text=text),
            pytest.raises(ParameterError, match="--bounds must be"),
        ):
            parse_bounds(text)


def test_lists():
    assert parse_list(None) is None
    assert parse_list(" a, b ,,c") == ["a", "b", "c"]


def test_output_folder(tmp_path):
    assert output_folder(tmp_path / "new" / "deep").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="--out must be a writable folder"):
        output_folder(tmp_path / "file")
    assert not list((tmp_path / "new" / "deep").iterdir())
