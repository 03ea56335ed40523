"""Local analyses: centers, shapes and two rounds from reports, with liars and from counts alone."""

import numpy as np

from golden.table import BOX, clusters, run
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise, SquareWave
from shoal.reports import (
    CountedReports,
    NoiseAwareDensity,
    NoiseAwareKMeans,
    TwoRoundCampaign,
    label_on_device,
)
from shoal.reports.lies import liars_weight
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=100), Category("city", ["A", "B"], weight=0.5)])
LIAR = [0.9, -0.9]


def people(n):
    """Return people of two kinds, with a few gaps and a few unknown cities."""
    rng = np.random.default_rng(0)
    old = rng.random(n) < 0.5
    age = np.where(old, 80.0, 20.0) + rng.normal(0, 4, n)
    age[::41] = np.nan
    city = np.where(old, "B", "A").astype(object)
    city[::31] = "Atlantis"
    return {"age": age, "city": city}


def blobs(n, columns=2):
    """Return records in two clusters."""
    rng = np.random.default_rng(1)
    middle = np.where(rng.random((n, 1)) < 0.4, -0.5, 0.5)
    return np.clip(middle + rng.normal(0, 0.1, (n, columns)), *BOX)


def centers(note, name, mechanism, X, **kwargs):
    """Fit centers to reports of records, and note them."""
    reports = mechanism.set_params(random_state=2).fit_transform(X)
    settings = {"n_init": 2, "max_iter": 4, "random_state": 0, **kwargs}
    model = NoiseAwareKMeans(2, mechanism=mechanism, **settings).fit(reports)
    note.fitted(name, model)
    return model, reports


@run("reports-partition-centers")
def partition_centers(note):
    for columns, n in ((1, 800), (2, 1500), (5, 1500)):
        mechanism = PartitionResponse(4.0, bounds=BOX, n_clusters=2)
        model, _ = centers(note, f"{columns} columns", mechanism, blobs(n, columns))
        asked = clusters(30, columns, seed=2)
        note(f"{columns} columns, on the device", label_on_device(model.release_, asked))


@run("reports-partition-centers-schema")
def partition_centers_of_schema(note):
    mechanism = PartitionResponse(4.0, schema=SCHEMA)
    centers(note, "schema", mechanism, people(1500))


@run("reports-partition-centers-blind")
def blind_centers(note):
    """Reports that say too little: the centers are spread over the box."""
    centers(note, "blind", PartitionResponse(0.1, bounds=BOX), blobs(200))


@run("reports-counted")
def counted(note):
    """Counts of reports give what the reports give."""
    mechanism = PartitionResponse(5.0, bounds=BOX)
    _, reports = centers(note, "one by one", mechanism, blobs(1000))
    found = CountedReports.of_blocks(np.array_split(reports, 3), mechanism)
    note("counted", {"reports": found.reports, "counts": found.counts, "n": found.n_reports})
    model = NoiseAwareKMeans(2, mechanism=mechanism, n_init=2, max_iter=4, random_state=0)
    note.fitted("counts", model.fit(found))
    shapes = NoiseAwareDensity(mechanism=mechanism, n_clusters=2, random_state=0)
    note.fitted("shapes", shapes.fit(found))


@run("reports-shapes")
def shapes(note):
    for name, mechanism, columns in (
        ("laplace", Laplace(12.0, bounds=BOX), 2),
        ("square wave", SquareWave(4.0, bounds=BOX), 1),
        ("piecewise", Piecewise(5.0, bounds=BOX), 1),
    ):
        reports = mechanism.set_params(random_state=3).fit_transform(blobs(1200, columns))
        for kwargs in ({}, {"n_clusters": 2}):
            model = NoiseAwareDensity(mechanism=mechanism, random_state=0, **kwargs).fit(reports)
            note.fitted(f"{name} {kwargs}", model)
        asked = clusters(30, columns, seed=2)
        note(f"{name}, predict", model.predict(asked))
        note(f"{name}, on the device", label_on_device(model.release_, asked))


@run("reports-partition-shapes")
def partition_shapes(note):
    mechanism = PartitionResponse(5.0, bounds=BOX, random_state=3)
    reports = mechanism.fit_transform(blobs(1500))
    note.fitted("shapes", NoiseAwareDensity(mechanism=mechanism, random_state=0).fit(reports))


def with_liars(mechanism):
    """Return reports of which a share says the same, as if it had no noise."""
    honest = mechanism.set_params(random_state=4).fit_transform(blobs(800))
    lie = honest[:1] if isinstance(mechanism, PartitionResponse) else np.array([LIAR])
    return np.concatenate([honest, np.repeat(lie, 60, axis=0)])


def liars_run(name, mechanism):
    """Add runs of analyses that do not trust every device."""

    @run(f"reports-liars-{name}")
    def centers_of_liars(note):
        reports = with_liars(mechanism)
        for contamination in (0.0, 0.05):
            settings = {"n_init": 2, "max_iter": 4, "random_state": 0}
            settings["contamination"] = contamination
            model = NoiseAwareKMeans(3, mechanism=mechanism, **settings).fit(reports)
            note.fitted(f"{contamination}", model)
        note("weight", [liars_weight(mechanism, columns) for columns in (1, 2, 5)])

    @run(f"reports-liars-{name}-shapes", quick=False)
    def shapes_of_liars(note):
        density = NoiseAwareDensity(mechanism=mechanism, contamination=0.05, random_state=0)
        note.fitted("shapes", density.fit(with_liars(mechanism)))


liars_run("laplace", Laplace(9.0, bounds=BOX))
liars_run("partition", PartitionResponse(4.0, bounds=BOX))


def two_rounds(note, mechanism, n, take):
    """Note a campaign in two rounds, from its plan to its centers."""
    campaign = TwoRoundCampaign(2, mechanism=mechanism)
    note("plans", [campaign.plan(devices)._asdict() for devices in (100, n, 100 * n)])
    rounds = campaign.draw_rounds(n, random_state=1)
    note("rounds", rounds)
    first = campaign.first_mechanism.fit_transform(take(rounds == 1))
    note("first", first)
    note("second partitions", campaign.second(first).to_dict())
    second = campaign.second_mechanism.fit_transform(take(rounds == 2))
    note("second", second)
    note.fitted("centers", campaign.cluster(first, second, random_state=0))
    note("document", campaign.to_dict())
    note("guarantee", campaign.guarantee_)
    note("shuffled", campaign.shuffled(100_000, 1e-6))


@run("reports-two-rounds")
def two_rounds_in_a_box(note):
    X = blobs(3000)
    square = ([-1.0, -1.0], [1.0, 1.0])
    mechanism = PartitionResponse(3.0, bounds=square, random_state=0)
    two_rounds(note, mechanism, 3000, lambda of: X[of])


@run("reports-two-rounds-schema")
def two_rounds_of_schema(note):
    table = people(3000)
    mechanism = PartitionResponse(3.0, schema=SCHEMA, random_state=0)
    two_rounds(note, mechanism, 3000, lambda of: {key: values[of] for key, values in table.items()})
