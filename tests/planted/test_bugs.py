"""Bugs as rows of text, each with the contract that must go red: the very one that runs on all."""

import functools

import pytest

from contracts.promises import (
    charges_each_value_once,
    charges_for_rounding_too,
    checks_under_all_settings_of_scikit_learn,
    costs_a_person_no_more_than_declared,
    differs_from_other_devices,
    differs_without_a_seed,
    draws_and_promises_what_was_charged,
    draws_by_the_document_that_was_agreed_to,
    draws_noise_inside_the_door_only,
    draws_nothing_beyond_the_campaign,
    draws_nothing_when_the_spend_is_refused,
    has_a_guarantee,
    has_no_cluster_below_the_smallest_size,
    noise_pays_for,
    promises_nothing_of_clusters_that_a_seed_drew,
    replays_on_neighbors,
    spends_before_it_draws,
    warnings_differ,
    warns_of_no_record,
)
from contracts.quality import QUALITIES, as_good_as_recorded
from planted.plant import Bug, planted
from subjects import subject

CLUSTER, KMEANS = "shoal.cluster", "shoal.cluster.kmeans"
PURE_COUNTS = "values, LaplaceNoise(round_up(contribution / budget)), cost=budget, source=source"
GAUSSIAN_COUNTS = "noise = RoundedGaussianNoise(_sigma(contribution, budget))\n        return"
CHARGE = "            charge(campaign, rows.reports(), self._limits)\n"
PLAN = "plan_grid(*sizes, noise=problem.noise, budget=problem.budget, half=problem.half)"
BOX_COUNT = "round_up(blocks * contribution / budget)"
BOX_SCALE = "round_up(blocks * contribution * clip_radius / budget)"
COUNT_SCALE = "round_up(contribution / budgets.counts)"
SUM_SCALE = "round_up(columns * contribution * clip_radius / budgets.sums)"
OF_USERS = "return Contributions(rows, None, 1, people, protected, whose)"
OF_WEIGHTS = "return Contributions(rows, weights, LEVELS, LEVELS * people, protected, whose)"


def rows(what, module, right, wrong, red, *names):
    """Return a bug for each subject that must show it."""
    return [Bug(what, module, right, wrong, red, subject(name)) for name in names]


BUGS = [
    # Warnings
    *rows(
        "the check that records are finite warns",
        "shoal._records",
        'with np.errstate(all="ignore"):',
        "with np.errstate():",
        warns_of_no_record,
        "DPKMeans",
        "DPKMeans-private-bounds, weights",
        "PrivateCopy",
        "Piecewise",
        "Device, Laplace",
    ),
    *rows(
        "rounding to the lattice warns",
        "shoal.noise.lattice",
        'np.errstate(over="ignore", invalid="ignore", under="ignore"),',
        "np.errstate(),",
        functools.partial(warnings_differ, under="warn"),
        "Piecewise",
    ),
    # Records and results that parameters or checks should have kept out
    *rows(
        "checks that scikit-learn's settings switch off",
        "shoal._estimator_base",
        "config_context(assume_finite=False, array_api_dispatch=False)",
        "config_context()",
        checks_under_all_settings_of_scikit_learn,
        "DPKMeans",
        "DPWaveCluster-oneshot",
        "DPDensity",
        "PrivateCopy",
        "Laplace",
        "Device, Piecewise",
    ),
    *rows(
        "a cluster that lost its rim is smaller than was asked for",
        "shoal.density.selection",
        "(sizes > 0) & (sizes >= min_size)",
        "sizes > 0",
        has_no_cluster_below_the_smallest_size,
        "DPDensity",
    ),
    # Spends
    *rows(
        "skipped spend",
        f"{CLUSTER}._budget",
        "    table.check()\n    return ledger.spend(",
        "    table.check()\n    return None\n    return ledger.spend(",
        spends_before_it_draws,
        "DPKMeans",
        "DPKMeans-auto, users",
        "DPWaveCluster-oneshot",
        "DPDensity, strata",
        "PrivateCopy",
        "ClusterProfile",
    ),
    *rows(
        "skipped spend of reports",
        "shoal.mechanisms._base",
        "        self._spend(source, promise)\n",
        "",
        spends_before_it_draws,
        "Laplace",
        "PlanarLaplace",
        "KdLaplace",
        "PartitionResponse",
    ),
    *rows(
        "parameters read again after the spend",
        "shoal._frozen",
        "    own = frozen_copy(estimator)\n",
        "    own = estimator\n",
        draws_and_promises_what_was_charged,
        "DPKMeans",
        "DPWaveCluster-thr",
        "DPDensity",
        "PrivateCopy, categories",
        "KdLaplace",
    ),
    *rows(
        "parameters read again after the spend on reports",
        "shoal.mechanisms._base",
        "        return frozen_copy(self)\n",
        "        return self\n",
        draws_and_promises_what_was_charged,
        "Laplace",
        "Piecewise",
        "Duchi",
        "PartitionResponse",
    ),
    *rows(
        "a device hands out the mechanism that draws",
        "shoal.client.device",
        "                    replace(followed.campaign),",
        "                    followed.campaign,",
        draws_by_the_document_that_was_agreed_to,
        "Device, Laplace",
        "Device, PartitionResponse",
    ),
    *rows(
        "a profile promises what its clusters do not",
        f"{CLUSTER}.profile.cluster_profile",
        "drawn_by_seed(source, schema) or labeler.release.guarantee.seeded,",
        "drawn_by_seed(source, schema),",
        promises_nothing_of_clusters_that_a_seed_drew,
        "ClusterProfile",
        "ClusterProfile, users",
    ),
    *rows(
        "draw before the spend",
        f"{KMEANS}.dp_kmeans",
        "        receipt = charge(",
        "        source.words(1)\n        receipt = charge(",
        spends_before_it_draws,
        "DPKMeans",
    ),
    *rows(
        "draw before the spend is refused",
        f"{CLUSTER}.private_copy",
        "        receipt = charge(",
        "        source.words(1)\n        receipt = charge(",
        draws_nothing_when_the_spend_is_refused,
        "PrivateCopy",
    ),
    *rows(
        "reports before the spend",
        "shoal.mechanisms._base",
        "        self._spend(source, promise)\n",
        "        source.words(1)\n        self._spend(source, promise)\n",
        spends_before_it_draws,
        "Piecewise",
        "SphericalLaplace",
    ),
    *rows(
        "a profile whose user is a row",
        f"{CLUSTER}.profile.cluster_profile",
        "            privacy_unit=given.privacy_unit,\n            mu=",
        "            mu=",
        has_a_guarantee,
        "ClusterProfile, users",
    ),
    # Scales
    *rows(
        "half the scale",
        f"{CLUSTER}._noise.pure",
        PURE_COUNTS,
        PURE_COUNTS.replace("/ budget)", "/ budget) / 2"),
        noise_pays_for,
        "PrivateCopy",
        "DPKMeans-tree, users",
        "DPWaveCluster-qt",
        "DPDensity, refined",
    ),
    *rows(
        "half the scale, replayed",
        f"{CLUSTER}._noise.pure",
        PURE_COUNTS,
        PURE_COUNTS.replace("/ budget)", "/ budget) / 2"),
        costs_a_person_no_more_than_declared,
        "ClusterProfile",
        "DPDensity, strata",
        "PrivateCopy, categories",
        "DPKMeans-tree, weights",
    ),
    *rows(
        "half the deviation",
        f"{CLUSTER}._noise.gaussian",
        GAUSSIAN_COUNTS,
        GAUSSIAN_COUNTS.replace("budget))", "budget) / 2)"),
        costs_a_person_no_more_than_declared,
        "ClusterProfile-gaussian",
        "DPKMeans-grid-gaussian, users",
    ),
    *rows(
        "half the scale of sums",
        f"{CLUSTER}._noise.pure",
        BOX_SCALE,
        f"{BOX_SCALE} / 2",
        noise_pays_for,
        "DPKMeans-grid",
        "DPKMeans-lloyd",
    ),
    *rows(
        "half the scale of sums, divided analytically",
        f"{CLUSTER}._noise.pure",
        SUM_SCALE,
        f"{SUM_SCALE} / 2",
        noise_pays_for,
        "DPKMeans-lloyd-analytic",
    ),
    *rows(
        "half the deviation of sums",
        f"{CLUSTER}._noise.gaussian",
        "_sigma(contribution * length, budgets.sums)",
        "_sigma(contribution * length, budgets.sums) / 2",
        noise_pays_for,
        "DPKMeans-lloyd-gaussian",
    ),
    # The mistake of a peer: the noise of the sums on the counts, and the other way round.
    *rows(
        "swapped sensitivities",
        f"{CLUSTER}._noise.pure",
        f"            {COUNT_SCALE},\n            {SUM_SCALE},\n",
        f"            {SUM_SCALE},\n            {COUNT_SCALE},\n",
        noise_pays_for,
        "DPKMeans-lloyd-analytic",
    ),
    *rows(
        "swapped sensitivities of a box",
        f"{CLUSTER}._noise.pure",
        f"                {BOX_COUNT},\n                {BOX_SCALE},\n",
        f"                {BOX_SCALE},\n                {BOX_COUNT},\n",
        noise_pays_for,
        "DPKMeans-grid",
    ),
    *rows(
        "swapped deviations",
        f"{CLUSTER}._noise.gaussian",
        "_sigma(contribution, budgets.counts), _sigma(contribution * length, budgets.sums)",
        "_sigma(contribution * length, budgets.sums), _sigma(contribution, budgets.counts)",
        noise_pays_for,
        "DPKMeans-lloyd-gaussian",
    ),
    *rows(
        "sums that are not clipped, under noise for a window",
        f"{KMEANS}._grid",
        "clip_radius=clip_radius, shape=noise.shape)",
        "clip_radius=2**20, shape=noise.shape)",
        replays_on_neighbors,
        "DPKMeans-grid",
        "DPKMeans-grid-gaussian",
    ),
    *rows(
        "half the spend",
        f"{CLUSTER}._noise.pure",
        "PureEvent(epsilon=self.total_budget, purpose=purpose)",
        "PureEvent(epsilon=self.total_budget / 2, purpose=purpose)",
        spends_before_it_draws,
        "DPKMeans",
        "PrivateCopy, categories",
    ),
    *rows(
        "noise from a fixed seed where none was asked for",
        f"{KMEANS}.dp_kmeans",
        "source = as_source(self.random_state)",
        "source = as_source(0)",
        differs_without_a_seed,
        "DPKMeans",
    ),
    # The door
    *rows(
        "noise past the door",
        f"{KMEANS}._grid",
        "    noisy = noise.counts(exact, budget, contribution=contribution, source=problem.source)",
        "    from shoal.noise import discrete_laplace\n"
        "    scale = contribution / budget\n"
        "    noisy = exact + discrete_laplace(exact.size, scale=scale, source=problem.source)",
        draws_noise_inside_the_door_only,
        "DPKMeans-grid-gaussian",
    ),
    *rows(
        "more noise past the door",
        f"{KMEANS}._lloyd",
        "        counts = pairs.counts\n",
        "        from shoal.noise import discrete_laplace\n"
        "        counts = exact.counts + discrete_laplace(k, scale=2.0, source=source)\n",
        draws_noise_inside_the_door_only,
        "DPKMeans-lloyd",
    ),
    *rows(
        "noise in doubles past the door",
        f"{CLUSTER}.private_copy",
        "        released = _release_synopsis(engine, n, noise, budgets, source)\n",
        "        released = _release_synopsis(engine, n, noise, budgets, source)\n"
        "        n += source.words(1)[0] / 2.0**64\n",
        draws_noise_inside_the_door_only,
        "PrivateCopy",
        "PrivateCopy, categories",
    ),
    *rows(
        "as many public words as there are empty clusters",
        f"{KMEANS}._lloyd",
        "empty = counts < EMPTY * pairs.deviations.counts",
        "empty = exact.counts == 0",
        draws_noise_inside_the_door_only,
        "DPKMeans-lloyd",
    ),
    # Users, weights, strata
    *rows(
        "users whose limit is not multiplied",
        f"{CLUSTER}._contributions",
        OF_USERS,
        OF_USERS.replace("people", "1"),
        costs_a_person_no_more_than_declared,
        *(
            f"DPKMeans-{method}, users"
            for method in ("auto", "centered", "ball", "mixed", "lloyd-gaussian", "kccm")
        ),
        "ClusterProfile, users",
    ),
    *rows(
        "users whose limit is not multiplied, by their price",
        f"{CLUSTER}._contributions",
        OF_USERS,
        OF_USERS.replace("people", "1"),
        noise_pays_for,
        "DPKMeans-grid-gaussian, users",
    ),
    *rows(
        "users of whom all rows count",
        f"{CLUSTER}._contributions",
        "order[rank < most]",
        "order",
        costs_a_person_no_more_than_declared,
        "DPKMeans-lloyd, users",
        "DPKMeans-private-bounds, users",
    ),
    *rows(
        "weights whose limit is not multiplied",
        f"{CLUSTER}._contributions",
        OF_WEIGHTS,
        OF_WEIGHTS.replace("LEVELS * people", "people"),
        costs_a_person_no_more_than_declared,
        "DPKMeans-auto, weights",
        "DPKMeans-centered-gaussian, weights",
        "DPKMeans-mixed, weights",
    ),
    *rows(
        "weights of users as if each had one row",
        f"{CLUSTER}._contributions",
        OF_WEIGHTS,
        OF_WEIGHTS.replace("LEVELS * people", "LEVELS"),
        costs_a_person_no_more_than_declared,
        "DPKMeans-tree, weights of users",
        "DPKMeans-ball-gaussian, weights of users",
    ),
    *rows(
        "strata that share records, charged as if they were disjoint",
        f"{CLUSTER}._schema_columns",
        "inside = self.strata.find(part.records) == self.index",
        "inside = self.strata.find(part.records) >= 0",
        costs_a_person_no_more_than_declared,
        "DPDensity, strata",
    ),
    *rows(
        "a stratum released twice, charged as if two were",
        f"{CLUSTER}.density.dp_density",
        "enumerate(strata.engines(engine))",
        "enumerate([next(iter(strata.engines(engine)))] * 2)",
        costs_a_person_no_more_than_declared,
        "DPDensity, strata",
    ),
    # What is released
    *rows(
        "an attribute from the records",
        f"{KMEANS}.dp_kmeans",
        "        self.method_, self.reason_ = ",
        "        self.total_ = table.rows\n        self.method_, self.reason_ = ",
        replays_on_neighbors,
        "DPKMeans",
    ),
    *rows(
        "cells by the true number of records",
        f"{KMEANS}._grid",
        f"return {PLAN}",
        f"from shoal.engines import total_weight\n    plan = {PLAN}\n"
        "    return plan._replace(cells=10 + total_weight(problem.engine) % 2)",
        replays_on_neighbors,
        "DPKMeans-grid-gaussian",
    ),
    *rows(
        "a number of records that is not noisy",
        f"{CLUSTER}.density.dp_density",
        "        self.n_records_ = sum(self._records)\n",
        "        self.n_records_ = float(table.rows)\n",
        replays_on_neighbors,
        "DPDensity",
    ),
    # Rounding to the lattice of metric mechanisms
    *rows(
        "a step of the lattice for the diagonal of its cell",
        "shoal.mechanisms._metric",
        "(step * math.sqrt(columns) + rounding)",
        "(step + rounding)",
        charges_for_rounding_too,
        "Laplace",
        "PlanarLaplace",
        "KdLaplace",
    ),
    *rows(
        "a report charged without its slack",
        "shoal.mechanisms._metric",
        "            slack=promise.slack,\n",
        "",
        charges_for_rounding_too,
        "Laplace",
        "SphericalLaplace",
    ),
    *rows(
        "a ledger that states the slack of the last spend",
        "shoal.privacy._account",
        "slack = self._metric.slack + price.metric.slack",
        "slack = price.metric.slack",
        charges_for_rounding_too,
        "Laplace",
        "PlanarLaplace",
    ),
    *rows(
        "a device that keeps reports without their slack",
        "shoal.client.device",
        "slack=float(one.slack)",
        "slack=0.0",
        charges_each_value_once,
        "Device, Laplace",
        "Device, PlanarLaplace",
    ),
    # Devices
    *rows(
        "a report that no campaign allows",
        "shoal.client.device",
        CHARGE,
        "",
        draws_nothing_beyond_the_campaign,
        "Device, Laplace",
        "Device, PartitionResponse",
    ),
    *rows(
        "a report drawn before it is allowed",
        "shoal.client.device",
        CHARGE,
        f"            campaign.mechanism.randomize(x)\n{CHARGE}",
        draws_nothing_beyond_the_campaign,
        "Device, Laplace",
        "Device, SquareWave",
    ),
    *rows(
        "reports of a seed",
        "shoal.client.device",
        "campaign.mechanism.randomize(x)",
        "campaign.mechanism.set_params(random_state=0).randomize(x)",
        differs_from_other_devices,
        "Device, Duchi",
        "Device, PartitionResponse",
    ),
]
# Eight seeds, the first look of `make test`, do not see twice the noise in each row.
clearly_as_good = functools.partial(as_good_as_recorded, full=True)
ROWS = {row.name: row for row in QUALITIES}
WORSE = [
    Bug(what, module, right, wrong, clearly_as_good, ROWS[name])
    for what, module, right, wrong, names in (
        (
            "twice the noise",
            f"{CLUSTER}._noise.pure",
            PURE_COUNTS,
            PURE_COUNTS.replace("round_up(", "round_up(2 * "),
            ("DPKMeans", "DPKMeans-private-k", "PrivateCopy"),
        ),
        (
            "a round of refinement skipped",
            f"{KMEANS}._ball",
            "    for budget in budgets:\n        last = take_round(",
            "    for budget in budgets[:0]:\n        last = take_round(",
            ("DPKMeans-ball", "DPKMeans-ball-gaussian"),
        ),
        (
            "cells that weigh alike",
            f"{KMEANS}._grid",
            "np.maximum(cells.counts[kept], 1e-6)",
            "np.ones(int(kept.sum()))",
            ("DPKMeans-grid-gaussian", "DPKMeans-private-bounds"),
        ),
    )
    for name in names
]


GREEN = set()


def green(bug):
    """Assert that nothing is found without the bug, once for each subject."""
    key = bug.red, bug.subject.name
    if key not in GREEN:
        bug.red(bug.subject)
        GREEN.add(key)


@pytest.mark.parametrize("bug", [*BUGS, *WORSE], ids=str)
def test_a_planted_bug_is_noticed(bug):
    green(bug)
    with planted(bug), pytest.raises(AssertionError):
        bug.red(bug.subject)
