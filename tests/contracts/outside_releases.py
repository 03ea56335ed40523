"""Releases as they come from outside, of every kind, and all that can be done with them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from contracts.outside_kinds import (
    AT_HOME,
    BOX,
    MIXED,
    NUMBERS,
    OF_CITIES,
    PLACES,
    POINTS,
    SCHEMA,
    TABLE,
    shows,
)
from shoal.cluster import (
    ClusterProfile,
    DPDensity,
    DPKMeans,
    DPWaveCluster,
    PrivateCopy,
    learn_schema,
)
from shoal.cluster.density._crowded import CrowdedCells, Window, _corners, _own_cells
from shoal.mechanisms import Laplace
from shoal.privacy import Release
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans
from shoal.schema import Category, Number, Schema

__all__ = [
    "CLUSTER_USES",
    "RELEASE_USES",
    "clusters",
    "other_releases",
    "plain_release",
    "small_clusters",
]

SEEDED: dict[str, Any] = {"random_state": 0}
SOME: dict[str, Any] = {"epsilon": 0.5, **SEEDED}


def small_clusters() -> Release:
    """Return a release that is fitted in no time."""
    return DPKMeans(2, bounds=BOX, **SOME).fit(POINTS).release_


def _noise() -> Any:
    return Laplace(epsilon=40.0, bounds=BOX, **SEEDED)


MODELS: tuple[Callable[[], Any], ...] = (
    lambda: DPKMeans(2, bounds=BOX, column_weights=[1.0, 7.0], **SOME).fit(POINTS),
    lambda: DPKMeans(2, metric="cosine", **SOME).fit(POINTS),
    lambda: DPKMeans(2, schema=SCHEMA, **SOME).fit(TABLE),
    lambda: DPKMeans(2, schema=PLACES, **SOME).fit(AT_HOME),
    lambda: DPKMeans(2, bounds=([-3.0] * 20, [3.0] * 20), **SOME).fit(np.hstack([POINTS] * 10)),
    lambda: DPDensity(bounds=BOX, **SOME).fit(POINTS),
    lambda: DPDensity(bounds=(-3.0, 3.0), **SOME).fit(POINTS[:, :1]),
    lambda: DPDensity(bounds=([-3.0] * 3, [3.0] * 3), **SOME).fit(np.hstack([POINTS] * 2)[:, :3]),
    lambda: DPDensity(schema=NUMBERS, **SOME).fit(OF_CITIES),
    lambda: DPDensity(schema=MIXED, **SOME).fit(OF_CITIES),
    lambda: DPDensity(schema=PLACES, **SOME).fit(AT_HOME),
    lambda: DPWaveCluster(bounds=BOX, epsilon=5.0, grid=8, **SEEDED).fit(POINTS),
    lambda: NoiseAwareKMeans(2, mechanism=_noise(), **SEEDED).fit(_noise().fit_transform(POINTS)),
    lambda: NoiseAwareDensity(mechanism=_noise(), **SEEDED).fit(_noise().fit_transform(POINTS)),
)


def clusters() -> Iterator[Any]:
    yield plain_release(small_clusters())
    yield from (plain_release(fit().release_) for fit in MODELS)
    yield _boxes()


def other_releases() -> list[Any]:
    clusters = Release.from_json(json.dumps(plain_release(MODELS[2]().release_)))
    template = Schema([Number("age"), Category("city")])
    learned = learn_schema(TABLE, template, epsilon=5.0, delta=1e-6, random_state=0)
    copy = PrivateCopy(bounds=BOX, random_state=0).fit(POINTS)
    profile = ClusterProfile(clusters, random_state=0).fit(TABLE)
    return [plain_release(one.release_) for one in (learned, copy, profile)]


def _boxes() -> Any:
    """Return a release of few boxes, which only much larger tables have otherwise."""
    outer = Window(2, np.array([0, 0]), np.array([4, 4]), -1)
    inner = Window(3, np.array([2, 2]), np.array([4, 6]), 0)
    windows, own = [outer, inner], _own_cells([outer, inner])
    low, high = _corners(windows, own)
    counts = np.arange(len(low)) ** 2
    model = DPDensity(bounds=BOX, epsilon=0.5, random_state=0).fit(POINTS)
    model._noisy = (CrowdedCells(windows, own, low, high, counts, 4.0),)
    model._find_clusters(None)
    return plain_release(model.release_)


def plain_release(release: Release) -> Any:
    """Return a release as a document; of a seed, as the same numbers without one would be."""
    plain = json.loads(release.to_json())
    plain["guarantee"]["seeded"] = False
    return plain


def _records(clusters: Any) -> Any:
    """Return records that the document is of, as far as it says."""
    if clusters.schema is not None:
        return TABLE if "note" in clusters.schema.all_columns else {**OF_CITIES, **AT_HOME}
    columns = clusters.release.values.get("columns")
    width = np.shape(clusters.release.values.get("low"))
    points = np.resize(POINTS, (20, width[0] if width else 2))
    return dict(zip(columns, points.T, strict=True)) if columns else points


RELEASE_USES = (
    shows,
    lambda release: release._repr_html_(),
    lambda release: Release.from_json(release.to_json()),
)
CLUSTER_USES = (
    shows,
    lambda clusters: str(clusters.release),
    lambda clusters: clusters._repr_html_(),
    lambda clusters: (clusters.n_clusters, clusters.schema, str(clusters.guarantee)),
    lambda clusters: clusters.predict(_records(clusters)),
    lambda clusters: clusters.transform(_records(clusters)),
    lambda clusters: clusters.to_frame(),
    lambda clusters: clusters.to_geojson(),
    lambda clusters: clusters.plot(),
    lambda clusters: DPDensity.from_release(clusters.release),
    lambda clusters: ClusterProfile(clusters.release, schema=clusters.schema).fit(TABLE),
)
