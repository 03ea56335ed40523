"""Answers that somebody typed make fields, and fields are asked about as they were answered."""

from typing import Any

import pytest

from shoal.exceptions import ParameterError
from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Place, Text
from shoal.schema.questions import (
    KINDS,
    answers_of,
    field_from_answers,
    kind_of,
    likely_kind,
)

FIELDS = [
    Number("age", minimum=0, maximum=120, unit="years", missing="refuse", title="Your age"),
    Number("income", minimum=0.5, maximum=2.5e16, scale="log", weight=2.5, whole=True),
    Number("height", minimum=-1e-3),
    Number("score", minimum=0, maximum=9, role="describe", missing="fill", fill=3),
    Category("city", ['A, "or" B', "C"], other="C", description="where", missing_values=("-",)),
    Category("open"),
    Flag("member", missing="fill", fill="true"),
    Ordinal("grade", ["low", "high"], weight=3),
    Date("joined", minimum="2010-01-01", maximum="2026-12-31", format="%d.%m.%Y"),
    Date("seen", format="%d %b %Y"),
    Text("comment"),
    Field("id", role="user"),
    Field("note", role="ignore"),
    Place("home", center=(24.9, 60.2), radius=50.0),
    Number("rows", maximum=9, role="sample_weight"),
]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_what_was_answered_makes_the_same_field(field):
    answers = answers_of(field)
    assert all(isinstance(text, str) for text in answers.values())
    assert field_from_answers(field.name, kind_of(field), answers, field) == field


def test_an_empty_answer_leaves_a_bound_open_again():
    field = Number("age", minimum=0, maximum=120)
    changed: Any = field_from_answers("age", "n", {**answers_of(field), "maximum": " "}, field)
    assert (changed.minimum, changed.lacking) == (0.0, "a maximum")


def test_another_kind_keeps_the_words_for_readers_alone():
    before = Category("age", ["old"], other="old", title="Age")
    assert field_from_answers("age", "n", {}, before) == Number("age", title="Age")


@pytest.mark.parametrize(
    ("kind", "answers", "words"),
    [
        ("n", {"minimum": "young"}, "the lowest age must be a number, such as 120"),
        ("n", {"minimum": "nan"}, "finite"),
        ("n", {"minimum": "5", "maximum": "5"}, "the highest age must be above 5"),
        ("n", {"weight": "-1"}, "0 or more"),
        ("n", {"missing": "maybe"}, "yes or no"),
        ("d", {"minimum": "1.1.2020"}, "a date such as"),
        ("d", {"minimum": "2020-01-02", "maximum": "2020-01-01"}, "after 2020-01-02"),
        ("d", {"format": "DD.MM"}, "a pattern of"),
        ("c", {"categories": "a, a"}, "different names"),
        ("c", {"categories": 'a, "b'}, "names separated by commas"),
        ("c", {"minimum": "0"}, "no answer 'minimum'"),
        ("y", {"missing": "fill"}, "must be set in its schema file"),
        ("k", {}, "one of"),
        ("number", {}, "one of"),
    ],
)
def test_an_answer_that_cannot_be_read_is_refused_in_words(kind, answers, words):
    with pytest.raises(ParameterError, match=words):
        field_from_answers("age", kind, answers)


def test_categories_may_stand_in_lines():
    city: Any = field_from_answers("city", "c", {"categories": "A\nB, C\n"})
    assert city.categories == ("A", "B", "C")


def test_a_name_makes_a_kind_likely():
    assert {likely_kind(name) for name in ("x", "city", "joined", "comment")} <= set(KINDS)
    assert likely_kind("Customer_ID") == "u"
    assert likely_kind("Customer_ID", user_known=True) == "i"
    assert likely_kind("patient", user_known=True) == "i"
    assert likely_kind("member", user_known=True) == "y"
