"""Samplers, promises, prices, ledgers; data sets and measures."""

import math

import numpy as np

from golden.table import BOX, clusters, run
from shoal import datasets as shoal_datasets
from shoal import metrics, noise, privacy
from shoal.cluster import DPKMeans, DPWaveCluster
from shoal.mechanisms import Laplace
from shoal.privacy import Guarantee, Ledger, PrivacyUnit
from shoal.privacy.events import event_to_dict


@run("noise")
def samplers(note):
    """Draw from every sampler with a seed."""

    def source():
        return noise.as_source(7)

    note("laplace", noise.discrete_laplace((40, 2), scale=3.5, source=source()))
    note("wide laplace", noise.discrete_laplace(40, scale=1e9, source=source()))
    note("normal", noise.rounded_gaussian((40, 2), sigmas=2.5, source=source()))
    note("wide normal", noise.rounded_gaussian(41, sigmas=1e9, source=source()))
    note("k norm", noise.k_norm(30, 3, scale=50.0, source=source()))
    note("planar", noise.planar_laplace(30, scale=50.0, source=source()))
    note("spherical", noise.spherical_laplace(30, scale=50.0, source=source()))
    note("box norm", noise.box_norm(30, scales=(2.0, 9.0, 9.0), source=source()))
    note("two level", noise.two_level(60, epsilon=1.0, rest=4, source=source()))
    response = {"epsilon": 1.0, "choices": 4, "source": source()}
    note("response", noise.randomized_response(np.arange(60) % 4, **response))
    note("uniform", noise.uniform_integers((9, 5), below=1000, source=source()))
    note("above", noise.noisy_cells_above(5000, threshold=9, scale=2.0, source=source()))
    note("choice", noise.exponential_choice([0, 3, 1, 7], rate=0.5, source=source()))
    lattice = noise.Lattice.box(np.array([-1.0, 0.0]), np.array([1.0, 5.0]), half=2**19)
    codes = lattice.encode(clusters(30))
    note("encoded", codes)
    note("decoded", lattice.decode(codes))


@run("noise-thresholds")
def thresholds(note):
    for max_keys, delta in ((1, 1e-6), (7, 1e-9)):
        settings = {"max_keys": max_keys, "delta": delta}
        noises = [noise.LaplaceNoise(scale) for scale in (0.4, 2.5)]
        noises += [noise.RoundedGaussianNoise(sigma) for sigma in (1.5, 30.0)]
        note(f"{settings}", [noise.key_threshold(one, **settings) for one in noises])


@run("promises")
def promises(note):
    """Guarantees in words, conversions, and what events cost together."""
    unit = PrivacyUnit.user("person", max_rows=3)
    for name, promise in {
        "pure": Guarantee("central", epsilon=1.0),
        "approximate": Guarantee("central", epsilon=1.0, delta=1e-6),
        "local": Guarantee("local", epsilon=2.0, seeded=True),
        "metric": Guarantee("metric", epsilon=0.5, unit="km"),
        "users": Guarantee("central", epsilon=1.0, privacy_unit=unit),
        "none": Guarantee.none("as published, no guarantee"),
    }.items():
        note(name, promise)
        note(f"{name} plain", promise.to_dict())
    central = Guarantee("central", epsilon=1.0)
    note("group", central.for_group(4))
    note("substitute", central.to_substitute())
    note("mu", central.to_gdp())
    note("over a box", Guarantee("metric", epsilon=0.5, unit="km").to_local(3.0))
    note(
        "conversions",
        {
            "epsilon of mu": [privacy.gdp_to_epsilon(mu, 1e-6) for mu in (1e-3, 0.1, 2.0)],
            "mu of epsilon": [privacy.epsilon_to_gdp(eps, 1e-6) for eps in (0.1, 1.0, 9.0)],
            "mu of pure": [privacy.pure_to_gdp(eps) for eps in (0.1, 1.0, 9.0)],
            "local of metric": privacy.metric_to_local(0.5, 3.0),
        },
    )


# Each by its name in privacy, so that one that goes takes only its own runs along.
EVENTS = {
    "PureEvent": lambda: privacy.PureEvent(epsilon=0.5),
    "GDPEvent": lambda: privacy.GDPEvent(mu=0.2),
    "ApproximateEvent": lambda: privacy.ApproximateEvent(epsilon=0.5, delta=1e-6),
    "Repeated": lambda: privacy.Repeated(event=privacy.PureEvent(epsilon=0.1), times=3),
    "Composed": lambda: privacy.Composed(
        events=(privacy.PureEvent(epsilon=0.1), privacy.GDPEvent(mu=0.2))
    ),
}


def event_run(name, make):
    """Add a run of the price of an event."""

    @run(f"event-{name}")
    def price(note):
        note("cost", privacy.cost(make()))
        note("plain", event_to_dict(make()))


for name, make in EVENTS.items():
    event_run(name, make)


@run("ledger")
def ledger_file(note):
    """Spend from a file, refuse what is too much, open it again."""
    words = {"epsilon": 2.0, "delta": 1e-6, "metric_epsilon": 1.0, "metric_unit": "km"}
    ledger = Ledger("people.ledger", table="people", **words)
    for epsilon in (0.5, 0.75):
        model = DPKMeans(2, epsilon=epsilon, bounds=BOX, ledger=ledger, random_state=0)
        model.fit(clusters(100))
    mechanism = Laplace(0.5, unit="km", bounds=BOX, ledger=ledger, random_state=0)
    mechanism.fit_transform(clusters(20))
    note.ledger("spent", ledger)
    big = DPKMeans(2, epsilon=1.5, bounds=BOX, ledger=ledger, random_state=0)
    note.error("too much", lambda: big.fit(clusters(100)))
    again = Ledger("people.ledger")
    note.ledger("again", again)
    note("limits", again.limits.to_dict())
    note.error("others", lambda: Ledger("people.ledger", epsilon=3.0))


@run("datasets")
def data_sets(note):
    for name in ("circle", "gaussians", "line", "skewed", "spirals"):
        make = getattr(shoal_datasets, f"make_{name}")
        note(name, make(200, random_state=0))
        note(f"{name}, 3", make(90, n_features=3, random_state=1))
    note("iris", shoal_datasets.load("iris"))
    listed = shoal_datasets.list_datasets()
    note("listed", [one.name for one in listed])
    note("limits", {one.name: one.limits for one in listed})


@run("metrics")
def measures(note):
    X, labels = clusters(200), np.arange(200) % 3
    centers = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    other = DPKMeans(3, epsilon=2.0, bounds=BOX, random_state=0).fit(X)
    note("nicv", metrics.nicv(X, centers))
    note("cost", metrics.cost_ratio(X, other.cluster_centers_, random_state=0))
    error = metrics.centroid_relative_error(other.cluster_centers_, centers)
    note("relative error", error)
    note("index", metrics.centroid_index(other.cluster_centers_, centers))
    scores = metrics.score_clustering(
        X,
        other.labels_,
        centers=other.cluster_centers_,
        reference_labels=labels,
        reference_centers=centers,
    )
    note("scores", scores)
    note("f", metrics.f_measure(labels, other.labels_))
    note("two", metrics.two_ce(labels, other.labels_))
    grids = [
        DPWaveCluster(epsilon=epsilon, bounds=BOX, grid=16, threshold=0.2, random_state=0).fit(X)
        for epsilon in (math.inf, 2.0)
    ]
    cells = [one.cells_ for one in grids]
    note("dsg", metrics.dsg(*cells))
    note("ocm", metrics.ocm(*cells, X, bounds=BOX))
    note("by cells", metrics.classify_with_cells(cells[0], X, bounds=BOX))
    reports = {e: Laplace(e, bounds=BOX, random_state=0).fit_transform(X) for e in (1.0, 4.0)}
    note("distance", metrics.privacy_distance(X, reports[1.0]))
    note("advantage", metrics.adversary_advantage([1, 1, 0, 1], [0, 1, 0, 0]))
    note("roc", metrics.roc([0.9, 0.4, 0.7], [0.1, 0.4, 0.3]))
