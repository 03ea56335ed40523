"""A campaign in two rounds: one report a device, one promise, one table of reports."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from shoal.exceptions import ParameterError
from shoal.mechanisms import Laplace, PartitionResponse, load_mechanism
from shoal.partitions import NearestSeeds, Partitions
from shoal.privacy import Ledger
from shoal.reports import TwoRoundCampaign
from shoal.schema import Category, Number, Schema

UNIT = ([0.0, 0.0], [1.0, 1.0])
SCHEMA = Schema(
    [Number("age", minimum=0, maximum=100), Category("city", ["A", "B", "C"], weight=2.0)]
)


def people(n, seed=0):
    """Half are young and in A, half old and in B; a few ages and cities are missing or unknown."""
    rng = np.random.default_rng(seed)
    old = rng.random(n) < 0.5
    age = np.where(old, 80.0, 20.0) + rng.normal(0, 4, n)
    city = np.where(old, "B", "A").astype(object)
    strange = rng.random(n)
    city[strange < 0.04] = None
    city[(strange >= 0.04) & (strange < 0.08)] = "Atlantis"
    age[strange > 0.97] = np.nan
    return {"age": age, "city": city}, old


def rows(table, chosen):
    return {name: values[chosen] for name, values in table.items()}


def run(campaign, table, rounds, take):
    first = campaign.first_mechanism.fit_transform(take(table, rounds == 1))
    campaign.second(first)
    second = campaign.second_mechanism.fit_transform(take(table, rounds == 2))
    return first, second


@pytest.fixture(scope="module")
def mixed():
    mechanism = PartitionResponse(3.0, schema=SCHEMA, random_state=0)
    campaign = TwoRoundCampaign(2, mechanism=mechanism)
    table, old = people(4000)
    rounds = campaign.draw_rounds(4000, random_state=1)
    return campaign, *run(campaign, table, rounds, rows), rounds, old


def test_mixed_records_with_gaps_are_clustered(mixed):
    campaign, first, second, _, _ = mixed
    model = campaign.cluster(first, second, random_state=0)
    centers = SCHEMA.decode(model.cluster_centers_)
    order = np.argsort(centers["age"])
    assert np.allclose(np.asarray(centers["age"])[order], [20, 80], atol=8)
    names = list(SCHEMA.space.names)
    a, b = (model.cluster_centers_[order][:, names.index(f"city={city}")] for city in "AB")
    assert a[0] > a[1]
    assert b[1] > b[0]
    assert model.better_than_blind_
    assert model.guarantee_.epsilon == 3.0
    assert len(model.labels_) == 4000


def test_each_device_reports_once(mixed):
    _, first, second, rounds, _ = mixed
    assert len(first) == (rounds == 1).sum()
    assert len(second) == (rounds == 2).sum()
    assert len(first) + len(second) == 4000


def test_rounds_have_one_epsilon_one_number_of_colors_and_indices_in_a_row(mixed):
    campaign, first, second, _, _ = mixed
    one, two = campaign.first_mechanism, campaign.second_mechanism
    assert one.epsilon == two.epsilon
    assert one.n_colors == two.n_colors == campaign.second_.n_colors
    assert one.keep_probability == two.keep_probability
    begin = campaign.first.n_partitions
    assert two.first_partition == begin
    assert first[:, 0].max() < begin <= second[:, 0].min()
    assert second[:, 0].max() < two.partitions_.n_partitions
    points = np.zeros((1, campaign.first.columns))
    both = two.partitions_.color_table(points)
    assert np.array_equal(both[:begin], campaign.first.color_table(points))
    assert np.array_equal(both[begin:], campaign.second_.color_table(points))


def test_second_partitions_follow_from_first_reports_alone(mixed):
    campaign, first, _, _, _ = mixed
    again = TwoRoundCampaign(2, mechanism=PartitionResponse(3.0, schema=SCHEMA))
    assert again.second(first) == campaign.second_


@pytest.mark.parametrize("stage", ["before", "after"])
def test_a_document_brings_the_campaign_back(mixed, stage):
    campaign, *_ = mixed
    if stage == "before":
        campaign = TwoRoundCampaign(3, mechanism=campaign.mechanism, first_share=0.25, seed=4)
    plain = json.loads(json.dumps(campaign.to_dict(), allow_nan=False))
    back = TwoRoundCampaign.from_dict(plain, mechanism=load_mechanism(plain["mechanism"]))
    assert back.to_dict() == campaign.to_dict()
    assert back.first == campaign.first
    if stage == "after":
        device = back.second_mechanism
        assert device.partitions_ == campaign.second_mechanism.partitions_
        record = {"age": 50, "city": "A"}
        assert device.randomize(record)[0] >= campaign.first.n_partitions


def test_seeds_of_categories_are_levels(mixed):
    campaign, *_ = mixed
    assert SCHEMA.space.holds(campaign.second_.blocks[0].pool)


def test_rounds_are_drawn_without_records():
    campaign = TwoRoundCampaign(2, mechanism=PartitionResponse(1.0, bounds=UNIT))
    rounds = campaign.draw_rounds(20_000, random_state=0)
    assert set(rounds.tolist()) == {1, 2}
    # 5 standard errors: a false alarm in 10^6 seeds, and this one is fixed
    assert abs((rounds == 1).mean() - 0.4) < 5 * np.sqrt(0.24 / 20_000)
    assert set(campaign.draw_rounds(1).tolist()) <= {1, 2}


def test_two_columns_in_two_rounds():
    campaign = TwoRoundCampaign(
        2, mechanism=PartitionResponse(4.0, bounds=UNIT, n_clusters=2, random_state=0)
    )
    X = np.repeat([[0.2, 0.3], [0.7, 0.8]], 500, axis=0)
    rounds = campaign.draw_rounds(1000, random_state=0)
    first, second = run(campaign, X, rounds, lambda table, chosen: table[chosen])
    model = campaign.cluster(first, second, random_state=0)
    order = np.argsort(model.cluster_centers_[:, 0])
    assert np.allclose(model.cluster_centers_[order], [[0.2, 0.3], [0.7, 0.8]], atol=0.12)


@pytest.mark.parametrize(
    ("mechanism", "helps", "first"),
    [
        (PartitionResponse(0.5, bounds=UNIT), False, 400),
        (PartitionResponse(2.0, bounds=UNIT), True, 400),
        (PartitionResponse(0.5, schema=SCHEMA), True, 300),
        (PartitionResponse(4.0, schema=SCHEMA), False, 300),
    ],
)
def test_plan_says_when_two_rounds_help(mechanism, helps, first):
    plan = TwoRoundCampaign(3, mechanism=mechanism).plan(1000)
    assert (plan.first_devices, plan.second_devices) == (first, 1000 - first)
    assert plan.two_rounds_help is helps
    assert "ask" in plan.advice


@pytest.mark.parametrize(("n", "share", "delta"), [(500, None, 1e-6), (120, 0.3, 0.2)])
def test_what_is_promised_before_the_rounds_are_drawn_holds_when_they_are(n, share, delta):
    """In 2,000 campaigns the round of a device is too small as often as delta allows for."""
    mechanism = PartitionResponse(4.0, bounds=UNIT)
    campaign = TwoRoundCampaign(3, mechanism=mechanism, first_share=share)
    promise = campaign.shuffled(n, delta)
    assert (promise.notion, promise.delta) == ("shuffled", delta)
    assert promise.epsilon < mechanism.epsilon

    rounds = np.stack([campaign.draw_rounds(n, random_state=seed) for seed in range(2000)])
    first = (rounds == 1).sum(axis=1)
    own = np.where(rounds[:, 0] == 1, first, n - first)  # the batch of the first device
    drawn = {size: mechanism.shuffled(int(size), delta).epsilon for size in set(own.tolist())}
    above = sum(drawn[size] > promise.epsilon for size in own.tolist())
    # Of delta, one part in 16 is for such draws; a false alarm in 10^6 seeds, which are fixed.
    assert above <= binom.ppf(1 - 1e-6, len(own), delta / 16)


def test_rounds_that_are_drawn_are_two_batches_and_the_smaller_counts():
    mechanism = PartitionResponse(4.0, bounds=UNIT)
    campaign = TwoRoundCampaign(3, mechanism=mechanism)
    promise = campaign.shuffled(100_000, 1e-6)
    known = campaign.first_mechanism.shuffled(40_000, 1e-6)
    assert mechanism.shuffled(100_000, 1e-6).epsilon < known.epsilon < promise.epsilon
    assert promise.epsilon < 1.02 * known.epsilon
    assert promise.n_reports < known.n_reports


def test_a_round_that_next_to_nobody_is_in_hides_nobody():
    """The share is counted as it is drawn: 1e-5 of a device in 2^16 is none."""
    campaign = TwoRoundCampaign(3, mechanism=PartitionResponse(4.0, bounds=UNIT), first_share=1e-5)
    promise = campaign.shuffled(10**6, 1e-6)
    assert (promise.epsilon, promise.delta, promise.n_reports) == (4.0, 0.0, 1)


def test_both_rounds_charge_the_ledger_of_the_mechanism():
    ledger = Ledger(epsilon=8.0)
    mechanism = PartitionResponse(4.0, bounds=UNIT, ledger=ledger)
    campaign = TwoRoundCampaign(2, mechanism=mechanism)
    campaign.first_mechanism.fit_transform(np.full((3, 2), 0.5))
    assert len(ledger.entries) == 1


def fresh():
    return TwoRoundCampaign(2, mechanism=PartitionResponse(1.0, bounds=UNIT, random_state=0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TwoRoundCampaign(2, mechanism=Laplace(1.0, bounds=UNIT)), "mechanism must be a"),
        (lambda: TwoRoundCampaign(0, mechanism=PartitionResponse(bounds=UNIT)), "n_clusters"),
        (
            lambda: TwoRoundCampaign(2, mechanism=PartitionResponse(bounds=UNIT), first_share=1.5),
            "first_share",
        ),
        (lambda: fresh().second_mechanism, "second must be asked for before round two"),
        (lambda: fresh().second([[10_000, 0]]), "first_reports must hold partitions 0 to"),
        (lambda: fresh().second([[0.5, 0]]), "whole numbers"),
        (lambda: fresh().plan(1), "n_devices"),
        (lambda: fresh().shuffled(1, 1e-6), "n_devices"),
        (lambda: TwoRoundCampaign.from_dict({}, mechanism=None), "must have the fields"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_rounds_are_not_mixed_up_and_second_is_made_once(mixed):
    campaign, first, second, _, _ = mixed
    with pytest.raises(ParameterError, match="first_reports must hold"):
        campaign.cluster(second, first)
    with pytest.raises(ParameterError, match="asked for once"):
        campaign.second(first)


def test_changed_parameters_promise_nothing_of_reports_that_are_out():
    """Neither a smaller epsilon nor a seed that is taken away afterwards."""
    mechanism = PartitionResponse(4.0, bounds=UNIT, random_state=1)
    campaign = TwoRoundCampaign(2, mechanism=mechanism)
    campaign.first_mechanism.fit_transform(np.full((10, 2), 0.5))
    mechanism.set_params(epsilon=1.0, random_state=None)
    assert campaign.guarantee_.epsilon == campaign.first_mechanism.epsilon == 4.0
    assert not campaign.guarantee_.holds
    assert not campaign.shuffled(10_000, 1e-6).holds


def test_second_partitions_of_another_box_are_refused():
    campaign = TwoRoundCampaign(2, mechanism=PartitionResponse(4.0, bounds=UNIT))
    plain = campaign.to_dict()
    pool = np.random.default_rng(0).uniform(0.0, 50.0, (64, 2))
    colors = campaign.first.n_colors
    other = NearestSeeds(pool, 16, colors, 64, low=[0.0, 0.0], high=[50.0, 50.0])
    plain["second"] = Partitions([other]).to_dict()
    with pytest.raises(ParameterError, match="blocks must divide one box"):
        TwoRoundCampaign.from_dict(plain, mechanism=load_mechanism(plain["mechanism"]))
