"""A promise prints plainly, converts only into what follows, and travels as JSON."""

import copy
import json
import math
import pickle
import re
from dataclasses import replace

import mpmath
import pytest

from helpers.cases import case
from helpers.privacy_profiles import response_delta
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy import (
    Adjacency,
    Guarantee,
    PrivacyUnit,
    gdp_to_epsilon,
    pure_to_gdp,
)

SUBSTITUTE = Adjacency.SUBSTITUTE
PURE = Guarantee("central", epsilon=1.0)
APPROXIMATE = Guarantee("central", epsilon=1.0, delta=1e-6)
METRIC = Guarantee("metric", epsilon=0.5, unit="km")
NONE = Guarantee.none("the box is taken from the records")
SHUFFLED = Guarantee("shuffled", 0.08, 1e-6, SUBSTITUTE, local_epsilon=4.0, n_reports=100_000)
ALL = [
    PURE,
    APPROXIMATE,
    METRIC,
    NONE,
    Guarantee("local", epsilon=2.0, seeded=True),
    Guarantee("central", 0.1, 1e-9, SUBSTITUTE, mu=1e-3),
    Guarantee("central", 0.1, 1e-9, mu=0.02),
    SHUFFLED,
]


def test_sentences() -> None:
    assert str(PURE) == (
        "central differential privacy with epsilon = 1 (add/remove): adding or removing any one "
        "record of the table given to fit changes the probability of any release by a factor of "
        "at most e^1 = 2.72"
    )
    assert str(APPROXIMATE).endswith("by a factor of at most e^1 = 2.72, plus at most 1e-06")
    assert "delta = 1e-06" in str(APPROXIMATE)
    assert "replacing any one record" in str(Guarantee("central", 1.0, adjacency=SUBSTITUTE))
    assert str(METRIC) == (
        "metric privacy with epsilon = 0.5 per km: exchanging a record given to the mechanism for "
        "one at a distance of r km changes the probability of any report by a factor of at most "
        "e^(0.5 r)"
    )
    assert "unit of distance" in str(Guarantee("metric", epsilon=1.0))
    assert str(NONE) == "no privacy guarantee: the box is taken from the records"
    assert "next to no protection" in str(Guarantee("local", epsilon=80.0))
    for guarantee in ALL:
        assert "\n" not in str(guarantee)


def test_seeded_promises_say_so_and_do_not_hold() -> None:
    seeded = Guarantee("central", epsilon=1.0, seeded=True)
    assert str(seeded).endswith("seeded: for tests and experiments only")
    assert not seeded.holds
    assert not seeded.to_substitute().holds
    assert not seeded.for_group(2).holds
    assert not seeded.to_approximate(1e-6).holds
    assert not Guarantee("metric", 1.0, seeded=True).to_local(2.0).holds
    assert PURE.holds
    assert not NONE.holds


def test_html_is_escaped() -> None:
    assert "<script>" not in Guarantee.none("<script>")._repr_html_()
    assert "does not hold" in NONE._repr_html_()


def test_metric_to_local() -> None:
    local = METRIC.to_local(4.0)
    assert (local.notion, local.epsilon, local.unit) == ("local", 2.0, "")
    with pytest.raises(GuaranteeError, match="only a metric promise"):
        PURE.to_local(1.0)
    with pytest.raises(ParameterError, match="diameter"):
        METRIC.to_local(0)


def test_slack_is_beside_the_distance() -> None:
    rounded = replace(METRIC, slack=0.25)
    assert str(rounded).endswith("e^(0.5 r + 0.25)")
    assert str(replace(METRIC, slack=1.23456e-4)).endswith("+ 0.000124)"), "rounded up"
    assert rounded.to_local(4.0) == replace(METRIC.to_local(4.0), epsilon=2.25)
    assert rounded.for_group(3) == replace(METRIC, epsilon=1.5, slack=0.75)
    plain = rounded.to_dict()
    assert plain["slack"] == 0.25
    assert Guarantee.from_dict(plain) == rounded
    del plain["slack"]
    for bad in (plain, {**PURE.to_dict(), "slack": 0.0}):
        with pytest.raises(ParameterError):
            Guarantee.from_dict(bad)


def test_to_approximate_is_the_curve_of_randomized_response() -> None:
    for delta in (1e-9, 1e-3, 0.2):
        traded = PURE.to_approximate(delta)
        assert traded.delta == delta
        assert response_delta(1.0, 1, traded.epsilon) == pytest.approx(delta)
    assert PURE.to_approximate(0.9).epsilon == 0.0
    again = APPROXIMATE.to_approximate(1e-3)
    expected = 1e-6 + (1 - 1e-6) * response_delta(1.0, 1, again.epsilon)
    assert expected == pytest.approx(1e-3)
    assert APPROXIMATE.to_approximate(1e-6).epsilon == pytest.approx(1.0)


def test_mu() -> None:
    known = Guarantee("central", 1.0, 1e-6, mu=0.2)
    assert known.to_gdp() == 0.2
    assert known.to_approximate(1e-9).epsilon == gdp_to_epsilon(0.2, 1e-9)
    with pytest.raises(GuaranteeError, match="at least the promise's own"):
        APPROXIMATE.to_approximate(1e-9)
    assert known.for_group(3).mu == pytest.approx(0.6)
    assert known.to_substitute().mu == 0.4
    assert PURE.to_gdp() == pure_to_gdp(1.0)
    assert Guarantee("central", 0.0).to_gdp() == 0.0
    with pytest.raises(GuaranteeError, match="implies no mu"):
        APPROXIMATE.to_gdp()
    with pytest.raises(ParameterError, match="mu None"):
        Guarantee("metric", 1.0, unit="km", mu=0.1)
    with pytest.raises(ParameterError, match="mu must be"):
        Guarantee("central", 1.0, mu=-0.1)


@pytest.mark.parametrize("epsilon", [1e-12, 0.003, 0.08, 0.1, 0.7, 1.0, 1.5, 4.0, 4.5, 7.0, 10.0])
def test_the_factor_of_a_sentence_is_never_below_the_true_one(epsilon: float) -> None:
    sentence = str(Guarantee("central", epsilon))
    told = re.search(rf"e\^{epsilon:g} = ([\d.]+)$", sentence)
    assert told
    with mpmath.workdps(40):
        factor = mpmath.mpf(told[1])
        excess = mpmath.expm1(epsilon)
        assert excess <= factor - 1 <= excess * 1.1


def test_for_group() -> None:
    assert PURE.for_group(3).epsilon == 3.0
    assert Guarantee("central", 1.0, mu=0.1).for_group(3).mu == pytest.approx(0.3)
    assert APPROXIMATE.for_group(2).delta == pytest.approx((1 + math.e) * 1e-6)
    assert METRIC.for_group(2) == Guarantee("metric", epsilon=1.0, unit="km")


def test_the_sentence_of_a_shuffled_promise_has_its_conditions() -> None:
    assert str(SHUFFLED) == (
        "shuffled differential privacy with epsilon = 0.08 and delta = 1e-06 (substitute): "
        "exchanging a record given to the mechanism for any other changes the probability of any "
        "shuffled batch by a factor of at most e^0.08 = 1.084, plus at most 1e-06, if the batch "
        "has at least 100,000 honest and independent reports, one a device, of one mechanism and "
        "without metadata, and the shuffler does not collude; two rounds are two batches, and a "
        "person's cost is that of the worse; without the shuffler, and for reports that are sent "
        "again, only local epsilon = 4 holds"
    )
    assert SHUFFLED.holds
    assert not replace(SHUFFLED, seeded=True).holds
    assert "Guarantee (holds)" in SHUFFLED._repr_html_()


def test_a_shuffled_promise_converts_where_a_proof_allows() -> None:
    assert SHUFFLED.to_local() == Guarantee("local", 4.0, adjacency=SUBSTITUTE)
    assert SHUFFLED.to_substitute() is SHUFFLED
    pair = SHUFFLED.for_group(2)
    assert (pair.epsilon, pair.local_epsilon, pair.n_reports) == (0.16, 8.0, 100_000)
    assert pair.delta == pytest.approx((1 + math.exp(0.08)) * 1e-6)
    assert SHUFFLED.to_approximate(1e-3).epsilon < 0.08
    pure = replace(SHUFFLED, epsilon=4.0, delta=0.0)
    assert pure.to_gdp() == pure_to_gdp(4.0)
    for convert, message in [
        (lambda g: g.to_gdp(), "implies no mu"),
        (lambda g: g.to_approximate(1e-9), "amplify the local promise"),
        (lambda g: g.to_local(2.0), "only a metric promise"),
        (lambda g: g.to_privacy_unit(PrivacyUnit.user("person")), "number of rows"),
    ]:
        with case(convert=convert), pytest.raises(GuaranteeError, match=message):
            convert(SHUFFLED)  # type: ignore[operator]
    users = PrivacyUnit.user("person", max_rows=3, enforced=False)
    assert SHUFFLED.to_privacy_unit(users).local_epsilon == 12.0


def test_only_shuffled_promises_have_a_batch() -> None:
    for guarantee in ALL:
        written = {"local_epsilon", "n_reports"} & set(guarantee.to_dict())
        assert bool(written) == (guarantee.notion == "shuffled")
    for change, message in [
        ({"local_epsilon": None}, "local_epsilon must be"),
        ({"n_reports": None}, "n_reports must be"),
        ({"n_reports": 0}, "n_reports must be"),
        ({"local_epsilon": 0.01}, "at least epsilon"),
        ({"adjacency": Adjacency.ADD_REMOVE}, "Adjacency.SUBSTITUTE"),
        ({"mu": 0.1}, "mu must be None"),
        ({"notion": "local"}, "unless the notion is 'shuffled'"),
        ({"notion": "none", "reason": "x"}, "unless the notion is 'shuffled'"),
    ]:
        with case(change=change), pytest.raises(ParameterError, match=message):
            replace(SHUFFLED, **change)  # type: ignore[arg-type]


def test_to_substitute() -> None:
    twice = PURE.to_substitute()
    assert (twice.epsilon, twice.adjacency) == (2.0, SUBSTITUTE)
    assert twice.to_substitute() is twice
    local = Guarantee("local", epsilon=2.0).to_substitute()
    assert (local.epsilon, local.adjacency) == (2.0, SUBSTITUTE)


def test_no_promise_never_becomes_one() -> None:
    for convert in [
        lambda g: g.to_gdp(),
        lambda g: g.to_approximate(0.1),
        lambda g: g.for_group(2),
        lambda g: g.to_substitute(),
        lambda g: g.to_local(1.0),
    ]:
        with case(convert=convert), pytest.raises(GuaranteeError):
            convert(NONE)  # type: ignore[operator]


def test_metric_promises_need_a_diameter_first() -> None:
    for convert in [
        lambda g: g.to_gdp(),
        lambda g: g.to_approximate(0.1),
        lambda g: g.to_substitute(),
    ]:
        with case(convert=convert), pytest.raises(GuaranteeError, match="to_local"):
            convert(METRIC)  # type: ignore[operator]


def test_survives_json() -> None:
    for guarantee in ALL:
        with case(guarantee=guarantee):
            assert Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict()))) == guarantee
            assert hash(guarantee) == hash(Guarantee.from_dict(guarantee.to_dict()))


def test_bad_fields_are_refused() -> None:
    for change in [
        {"notion": "global"},
        {"notion": ["central"]},
        {"epsilon": -1.0},
        {"epsilon": "1"},
        {"epsilon": math.inf},
        {"epsilon": True},
        {"delta": 1.0},
        {"delta": math.nan},
        {"adjacency": "add/remove"},
        {"unit": None},
        {"reason": 3},
        {"seeded": 1},
        {"mu": -1.0},
        {"notion": "none"},
        {"notion": "metric", "delta": 0.1},
        {"notion": "metric", "mu": 0.1},
        {"notion": "metric", "slack": -0.1},
        {"notion": "metric", "slack": math.inf},
        {"notion": "local", "slack": 0.1},
    ]:
        with case(change=change), pytest.raises(ParameterError):
            Guarantee(**{"notion": "central", "epsilon": 1.0, **change})  # type: ignore[arg-type]


def test_bad_dictionaries_are_refused() -> None:
    good = PURE.to_dict()
    for bad in ({}, {**good, "more": 1}, {**good, "adjacency": "swap"}, {"epsilon": 1.0}, None):
        with pytest.raises(ParameterError):
            Guarantee.from_dict(bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        Guarantee.from_dict({**good, "epsilon": "infinite"})


def test_that_nobody_counted_travels_in_python_alone() -> None:
    shown = replace(PURE, uncounted=True)
    for again in (pickle.loads(pickle.dumps(shown)), copy.deepcopy(shown), replace(shown)):
        assert again.uncounted
        assert again == PURE
    assert not Guarantee.from_dict(json.loads(json.dumps(shown.to_dict()))).uncounted
    assert repr(shown) == f"{repr(PURE)[:-1]}, uncounted=True)"
