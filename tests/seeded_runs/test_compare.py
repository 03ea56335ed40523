"""The comparison of recordings notices a changed number and allows a listed name."""

import json

import pytest

from seeded_runs import compare

OLD = {"fit": {"centres": [0.5, 1.0], "text": ["2 centres at", "epsilon 1.5"]}, "count": 3}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Write recordings, and allow one word to change."""
    monkeypatch.setattr(compare, "WORDS", {(r"\bcentres\b", "centers"): "spelling"})
    compare.new_words.cache_clear()

    def write(old, new):
        for name, notes in (("old", old), ("new", new)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "run.json").write_text(json.dumps(notes))
        return tmp_path / "old", tmp_path / "new"

    yield write
    compare.new_words.cache_clear()


def new(**changes):
    """Return the old recording in new words, its fields and lines in another order and shape."""
    return {
        "count": changes.get("count", 3),
        "fit": {
            "text": changes.get("text", ["2 centers", "at epsilon 1.5"]),
            "centers": changes.get("centers", [0.5, 1.0]),
        },
    }


def test_a_name_that_is_listed_may_change(folders, capsys):
    assert compare.compare(*folders(OLD, new()))
    assert capsys.readouterr().out.startswith("1 runs equal, 0 differ")


@pytest.mark.parametrize(
    ("changes", "kind", "path"),
    [
        ({"count": 4}, "NUMBERS", "count"),
        ({"count": 3.0}, "NUMBERS", "count"),
        ({"centers": [0.5, 1.0000000000000002]}, "NUMBERS", "fit/centers/1"),
        ({"centers": [0.5]}, "NUMBERS", "fit/centers"),
        ({"text": "2 centers at epsilon 1.6"}, "NUMBERS", "fit/text"),
        ({"text": "2 middles at epsilon 1.5"}, "words", "fit/text"),
    ],
)
def test_anything_else_is_noticed(folders, capsys, changes, kind, path):
    assert not compare.compare(*folders(OLD, new(**changes)))
    assert f"  run/{path}  ({kind})" in capsys.readouterr().out


def test_a_missing_run_or_field_is_noticed_unless_it_is_listed(folders, monkeypatch, capsys):
    old, recorded = folders({**OLD, "gone": 7}, new())
    assert not compare.compare(old, recorded)
    assert "gone" in capsys.readouterr().out
    monkeypatch.setattr(compare, "IGNORED", {"^run/gone$": "nothing reads it"})
    assert compare.compare(old, recorded)
    (old / "other.json").write_text("{}")
    assert not compare.compare(old, recorded)
    monkeypatch.setattr(compare, "LEFT_OUT", {"other": "its function is gone"})
    assert compare.compare(old, recorded)


def test_fields_do_not_become_one(folders):
    with pytest.raises(ValueError, match="two fields one name"):
        compare.compare(*folders({"centres": 1, "centers": 2}, {"centers": 1}))


def test_a_rule_cannot_change_a_number(folders, monkeypatch):
    monkeypatch.setattr(compare, "WORDS", {(r"1\.5", "1.6"): "better"})
    with pytest.raises(ValueError, match="changes a number"):
        compare.compare(*folders(OLD, new()))
