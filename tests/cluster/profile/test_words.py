"""Keywords: words that enough people wrote, the same from every table, at the claimed price."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from shoal.audit import Neighbors, replay_estimator
from shoal.cluster import ClusterProfile, DPKMeans
from shoal.cluster.profile import cluster_profile
from shoal.cluster.profile._words import (
    PARTS,
    CountWords,
    exact_words,
    longest_words,
    word_columns,
)
from shoal.schema import Category, Field, Number, Schema, Text
from shoal.tables import ArrayTable, ArrowTable

SCHEMA = Schema([Number("x", minimum=0, maximum=10), Text("said")])
USERS = Schema([*SCHEMA.fields, Field("who", role="user")])
TWO = DPKMeans(2, bounds=(0, 10), random_state=0).fit(np.repeat([[1.0], [9.0]], 500, axis=0))


def made_up_table(n=1200):
    rng = np.random.default_rng(0)
    old = rng.random(n) < 0.5
    said = np.where(old, "The bench is missing", "the queue is LONG")
    said = np.where(rng.random(n) < 0.3, "", said)
    said[:2] = "a secret word", "Überraschung 漢字漢字 123 x_y"
    return pd.DataFrame({"x": np.where(old, 9.0, 1.0), "said": said})


TABLE = made_up_table()


def profile(table=TABLE, schema=SCHEMA, **kwargs):
    given = {"epsilon": 3.0, "delta": 1e-6, "random_state": 0, **kwargs}
    return ClusterProfile(TWO.release_, schema=schema, **given).fit(table)


def test_words_are_the_longest_runs_of_letters():
    assert longest_words("Die Überraschung: 123 ab x_y Straße", 2) == ["überraschung", "straße"]
    assert longest_words(None, 3) == []
    assert longest_words("x" * 21 + " " + "漢" * 9, 3) == []


def test_packing_keeps_every_letter():
    texts = ["überraschung again", None, "漢字漢字 abcdefghijklmnopqrst"]
    block = [np.zeros(3), *word_columns(texts, 2)]
    fold = CountWords(1, 2).start()
    fold.add(block)
    job = CountWords(1, 2)
    _, counts = job.combine([fold.result(), job.start().result()])
    assert len(block) == 1 + 2 * PARTS
    assert counts.tolist() == [1, 1, 1, 1]
    table = ArrayTable(np.stack(block, axis=1))
    assert {word for _, word in exact_words(table, 1, 2)} == {
        "überraschung",
        "again",
        "漢字漢字",
        "abcdefghijklmnopqrst",
    }


def test_a_person_counts_once_for_a_word():
    texts = ["alpha beta", "alpha gamma", "alpha beta"]
    labels = np.array([0.0, 1.0, 0.0])
    table = ArrayTable(np.stack([labels, *word_columns(texts, 2)], axis=1))
    by_row = exact_words(table, 1, 2)
    assert by_row[0, "alpha"] == 2
    by_person = exact_words(table, 1, 2, np.array([7, 7, 8]))
    # In the cluster where it was written first; of three words the two longest count.
    assert by_person == {(0, "alpha"): 2, (1, "gamma"): 1, (0, "beta"): 1}


def test_words_that_enough_people_wrote_are_released():
    values = profile().release_.values
    (text,) = values["keywords"]
    assert text["words"] == ["bench", "long", "missing", "queue", "the"]
    assert "secret" not in str(values)
    assert any("said often with" in one and "bench" in one for one in values["sentences"])
    overall = text["words"].index("bench")
    assert text["shares_low"][-1, overall] <= (TABLE["said"] == "The bench is missing").mean()
    assert "keyword" in set(profile().to_frame()["statistic"])


def test_the_same_words_from_files(tmp_path):
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    assert profile(tmp_path / "people.csv").release_ == profile().release_
    assert (
        profile(ArrowTable(tmp_path / "people.csv", schema=SCHEMA)).release_ == profile().release_
    )


def test_without_a_delta_text_is_not_described():
    values = profile(delta=0.0).release_.values
    assert values["keywords"] == []
    assert values["notes"] == ["said is not described: keywords need a delta above 0"]


class Pair(Neighbors):
    """Two frames of made-up rows; the added ones are all of one person."""

    def __init__(self, rows, added):
        columns = ["x", "said", "who"][: len(rows[0])]
        object.__setattr__(self, "name", "a person")
        object.__setattr__(self, "records", pd.DataFrame(rows, columns=columns))
        object.__setattr__(self, "added", pd.DataFrame(added, columns=columns))

    @property
    def with_added(self):
        return pd.concat([self.added, self.records], ignore_index=True)


MANY = [[1, "common words here", f"p{i}"] for i in range(60)]
PERSON = Pair(MANY, [[1, "common words here", "new"], [9, "common unheard private", "new"]])


BY_ROW = ClusterProfile(TWO.release_, schema=SCHEMA, epsilon=4.0, delta=1e-5)


class OfUsers(BaseEstimator):
    """A profile for people; without a ledger of records, which would count each of them twice."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X):
        given = {"epsilon": 4.0, "delta": 1e-5, "records_per_user": 2}
        made = ClusterProfile(
            TWO.release_, schema=USERS, random_state=self.random_state, **given
        ).fit(X)
        self.release_, self.guarantee_ = made.release_, made.guarantee_
        return self


@pytest.mark.parametrize(
    ("model", "pair", "part"),
    [
        (OfUsers(), PERSON, 0.4),  # rows in two clusters, and a word that others have
        (BY_ROW, Pair([row[:2] for row in MANY], [[9, "common unheard private"]]), 0.6),
        (BY_ROW, Pair([row[:2] for row in MANY], [[1, "common words here"]]), 0.999),
    ],
)
def test_one_person_costs_what_is_claimed(model, pair, part):
    audit = replay_estimator(model, [pair], repeats=2)
    assert audit.findings == ()
    assert part * audit.budget <= audit.loss <= audit.budget * (1 + 1e-9)


def test_planted_words_of_a_person_are_not_bounded(monkeypatch):
    """Each row of a person counts by itself, and a word in several rows several times."""
    monkeypatch.setattr(
        cluster_profile,
        "exact_words",
        lambda table, first, most, users: exact_words(table, first, most),
    )
    assert replay_estimator(OfUsers(), [PERSON], repeats=1).findings


@pytest.mark.parametrize("words", [0, 1.5])
def test_max_words_is_a_count(words):
    with pytest.raises(ValueError, match="max_words"):
        profile(max_words=words)


def test_a_record_made_by_hand_has_a_word_once():
    """Three times the same word would move its count by 3, and noise is made for 1."""
    row = np.array([[0.0, 0.0, *word_row("parcel"), *word_row("late"), *word_row("parcel")]])
    assert exact_words(ArrayTable(np.repeat(row, 2, axis=0)), 2, 3) == {
        (0, "parcel"): 2,
        (0, "late"): 2,
    }


def word_row(word):
    return np.ravel(word_columns([word], 1))


def test_words_are_found_beside_a_field_of_any_name():
    """Codes of another field were read as letters, and released with them."""
    names = [Category("said 0", ["a", "b"], role="describe"), Text("more"), Text("said")]
    schema = Schema([SCHEMA.fields[0], *names])
    table = {**TABLE, "said 0": ["b"] * len(TABLE["x"]), "more": ["nothing"] * len(TABLE["x"])}
    model = ClusterProfile(TWO.release_, schema=schema, epsilon=4.0, delta=1e-5, random_state=0)
    for text in model.fit(table).release_.values["keywords"]:
        assert text["words"]
        assert all(word.isalpha() for word in text["words"])
