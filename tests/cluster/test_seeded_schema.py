"""A schema that was learned with a seed shows records to whoever knows it: nothing is promised."""

import datetime
import json
from dataclasses import replace

import pytest

from shoal import DPDensity, DPKMeans, DPWaveCluster, PrivateCopy
from shoal.campaigns import Campaign
from shoal.cluster import ClusterProfile, learn_schema
from shoal.exceptions import ParameterError
from shoal.mechanisms import KdLaplace, Laplace, PartitionResponse, Piecewise, load_mechanism
from shoal.privacy import Adjacency, Ledger
from shoal.schema import Number, Schema

PAIR = {"a": [30.0, 41.0, 67.0, 88.0] * 50, "b": [1.0, 2.0, 3.0, 4.0] * 50}
OPEN = Schema([Number("a", minimum=0, missing="refuse"), Number("b", minimum=0, missing="refuse")])
DECLARED = Schema([replace(field, maximum=99) for field in OPEN])
CLUSTERS = DPKMeans(2, epsilon=1.0, schema=DECLARED).fit(PAIR).release_


@pytest.mark.parametrize(
    "make",
    [
        lambda schema: DPKMeans(2, epsilon=1.0, schema=schema),
        lambda schema: DPDensity(epsilon=1.0, schema=schema),
        lambda schema: DPWaveCluster(epsilon=1.0, schema=schema),
        lambda schema: PrivateCopy(epsilon=1.0, schema=schema),
        lambda schema: Piecewise(1.0, schema=schema),
        lambda schema: Laplace(1.0, schema=schema),
        lambda schema: KdLaplace(1.0, schema=schema),
        lambda schema: PartitionResponse(1.0, schema=schema),
        lambda schema: ClusterProfile(CLUSTERS, schema=schema),
    ],
)
def test_nothing_made_with_a_schema_that_a_seed_drew_is_promised(make, tmp_path):
    learned = learn_schema(PAIR, OPEN, epsilon=9.0, random_state=0).schema
    assert learned.seeded
    learned.save(tmp_path / "s.json")
    for schema, holds in ((Schema.load(tmp_path / "s.json"), False), (DECLARED, True)):
        fitted = make(schema).fit(PAIR)
        assert fitted.guarantee_.holds == holds
        if hasattr(fitted, "release_"):
            assert fitted.release_.guarantee.holds == holds


def test_what_is_learned_on_top_of_a_seed_comes_from_it():
    learned = learn_schema(PAIR, OPEN, epsilon=9.0, random_state=0).schema
    ledger = Ledger(epsilon=99.0)
    again = replace(learned, fields=[*learned.fields, Number("c", minimum=0)])
    further = learn_schema({**PAIR, "c": PAIR["a"]}, again, epsilon=9.0, ledger=ledger)
    assert further.schema.seeded
    assert not further.guarantee_.holds
    assert [entry.seeded for entry in ledger.entries] == [True]
    assert not learn_schema(PAIR, learned, epsilon=1.0).guarantee_.holds
    assert not learn_schema(PAIR, OPEN, epsilon=9.0).schema.seeded


def test_reports_by_a_schema_that_a_seed_drew_are_seeded_in_the_ledger_and_no_campaign():
    learned = learn_schema(PAIR, OPEN, epsilon=9.0, random_state=0).schema
    ledger = Ledger(epsilon=9.0, adjacency=Adjacency.SUBSTITUTE)
    mechanism = Piecewise(1.0, schema=learned, ledger=ledger).fit(PAIR)
    mechanism.transform(PAIR)
    assert [entry.seeded for entry in ledger.entries] == [True]
    read = load_mechanism(json.loads(json.dumps(mechanism.to_dict())))
    assert not read.guarantee_.holds
    with pytest.raises(ParameterError):
        Campaign(
            id="x",
            title="x",
            purpose="x",
            mechanism=Piecewise(1.0, schema=learned),
            closes=datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC),
            reports_url="https://example.org/reports",
            results_url="https://example.org/results",
        )
