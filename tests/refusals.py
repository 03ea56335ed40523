"""Everything that must be refused, one row each: what is passed, and which error says so.

tests/contracts/test_refusals.py pairs the rows with subjects. A refusal is one line, carries the
code and the parameter of its row, spends nothing and shows nothing of a record. Messages are not
compared: anyone may improve a sentence.
"""

import datetime
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.cluster import KMeans

from shoal import Ball
from shoal._bounds import public_box
from shoal._typing import Floats
from shoal.exceptions import Code
from shoal.mechanisms import Laplace, SquareWave
from shoal.partitions import AxisGrids, Partitions, box_axes
from shoal.privacy import (
    Adjacency,
    Guarantee,
    Ledger,
    PrivacyUnit,
    PureEvent,
    Repeated,
    ShuffledEvent,
)
from shoal.remap import BayesRemap, Clip, GridRemap
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans
from shoal.schema import Category, Date, Field, Flag, Number, Place, Schema
from subjects import Subject, having

__all__ = [
    "ASKED_TABLES",
    "BUILDS",
    "CONTRIBUTIONS",
    "MARK",
    "ONE_OF_EACH",
    "ON_DEVICES",
    "PARAMETERS",
    "POST_PROCESSING",
    "RECORDS",
    "SHOWN",
    "SOME_TABLES",
    "TABLES",
    "N",
    "Refusal",
]

NAN, INF = float("nan"), float("inf")
TRUE, TEXT = True, "8"

# Records that are recognized wherever they are shown, and a number of them that is, too.
N = 2357
MARK = 7654321.0
RECORDS: Floats = np.random.default_rng(0).normal(size=(N, 2))
RECORDS[7] = MARK
SHOWN = r"\b2[,_]?357\b|\b2[,_]?35[68]\b|7\.?654|alice|2001"


@dataclass(frozen=True)
class Refusal:
    """A value that is refused.

    Parameters
    ----------
    parameter : str
        What is passed.
    value : object
        Its value.
    code : str
        Of the error.
    of : tuple of str
        Classes to which it is passed; all that have the parameter where there are none.
    names : str
        The parameter that the error names, where it is another.
    others : mapping
        Other parameters.
    table : array-like
        The records; those of the subject where there are none. As parameter, X is the records.
    """

    parameter: str
    value: Any
    code: Code
    of: tuple[str, ...] = ()
    names: str = ""
    others: Mapping[str, Any] = field(default_factory=dict)
    table: Any = None

    def __str__(self) -> str:
        with_others = {self.parameter: self.value, **self.others}
        return ", ".join(
            f"{key}={' '.join(repr(one).split())[:32]}" for key, one in with_others.items()
        )

    @property
    def named(self) -> str:
        return self.names or self.parameter

    def fits(self, subject: Subject) -> bool:
        """Return whether the class of a subject has the parameter, and is meant."""
        kind = type(subject.make())
        known = {*inspect.signature(kind).parameters, "X"}
        meant = not self.of or kind.__name__ in self.of
        return meant and {self.parameter, *self.others} <= known


def each(parameter: str, values: Sequence[Any], code: Code, *of: str, **kwargs: Any) -> list[Any]:
    """Return a row for each value."""
    return [Refusal(parameter, value, code, of, **kwargs) for value in values]


CENTRAL = ("DPKMeans", "DPWaveCluster", "DPDensity", "PrivateCopy")
METRIC = ("Laplace", "PlanarLaplace", "SphericalLaplace", "KdLaplace")
LOCAL = ("Piecewise", "Hybrid", "Duchi", "SquareWave")
PLAIN = Schema([Number(name, minimum=0, maximum=1, missing="refuse") for name in ("east", "north")])

THREE_COLUMNS = Partitions([AxisGrids(box_axes(public_box((0.0, 1.0), 3)), 8, 4, cells=3)])

# Parameters of constructors, as fit finds them
PARAMETERS: list[Refusal] = [
    *each("epsilon", (0, -1.0, NAN), "positive"),
    *each("epsilon", ("1", None, TRUE, [1.0]), "type"),
    *each("epsilon", (INF,), "positive", *METRIC, *LOCAL, "DPKMeans", "DPDensity", "PrivateCopy"),
    Refusal("epsilon", INF, "finite", ("DPWaveCluster",)),
    *each("epsilon", (1e30,), "range", *CENTRAL, "ClusterProfile"),
    *each("epsilon", (1e-300,), "resolution", *CENTRAL, *LOCAL, "PartitionResponse"),
    *each("epsilon", (1e-14, 1e-320), "resolution", *CENTRAL),
    *each("epsilon", (-INF,), "positive"),
    Refusal("epsilon", 1e-300, "resolution", METRIC, names="bounds", others={"bounds": (1.0, 2.0)}),
    Refusal("epsilon", 1e30, "resolution", METRIC, names="bounds"),
    *each(
        "bounds",
        ((0.0, 2.0**50), (0.0, 2.0**41), (1e18, 1e18 + 1e4)),
        "resolution",
        *METRIC,
        others={"epsilon": 1.0},
    ),
    Refusal("bounds", (-1e308, 1e308), "resolution", ("Piecewise",), others={"epsilon": 1e-9}),
    *each("delta", (-0.1, 1.0, NAN), "range"),
    *each("delta", ("0", None, TRUE), "type"),
    *each(
        "bounds", (None,), "missing", *CENTRAL, *METRIC, *LOCAL, "PartitionResponse", "GridRemap"
    ),
    *each("bounds", (([0.0, 0.0, 2.0], 1.0),), "order", "SphericalLaplace"),
    *each("bounds", ((1.0, -1.0), (0.0, 0.0)), "order"),
    *each("bounds", ((0.0, INF), (NAN, 1.0)), "finite"),
    *each("bounds", (1.0, "box", (0.0,), (0.0, 1.0, 2.0), ("a", "b")), "shape"),
    *each("bounds", (([0.0] * 5, 1.0), ((0.0, 0.0), ([0.0], 1.0))), "shape"),
    Refusal("bounds", (0.0, 1e-300), "resolution"),
    Refusal("bounds", Ball(0, -1), "positive", ("DPKMeans",), names="radius"),
    Refusal("bounds", Ball(1.7e308, 1e307), "finite", ("DPKMeans",)),
    Refusal("bounds", Ball([0] * 5, 1), "shape", ("DPKMeans",), names="center"),
    Refusal("bounds", Ball(NAN, 1), "finite", ("DPKMeans",), names="center"),
    Refusal("bounds", Ball("here", 1), "shape", ("DPKMeans",), names="center"),
    *each("schema", (1.0, "schema.json", {}), "type", *CENTRAL, others={"bounds": None}),
    *each(
        "schema", (1.0, {}), "type", *METRIC, *LOCAL, "PartitionResponse", others={"bounds": None}
    ),
    Refusal("bounds", (0.0, 1.0), "unexpected", CENTRAL, others={"schema": PLAIN}),
    Refusal("bounds", (0.0, 1.0), "unexpected", METRIC[:2], others={"schema": PLAIN, "unit": ""}),
    Refusal("unit", "m", "unexpected", METRIC[:2], others={"schema": PLAIN, "bounds": None}),
    Refusal("bounds", (0.0, 1.0), "unexpected", LOCAL, others={"schema": PLAIN}),
    *each("ledger", (1.0, "ledger.jsonl", Ledger), "type"),
    *each("random_state", ("zero", 1.5), "type"),
    *each("random_state", (TRUE,), "type", *CENTRAL, *METRIC, *LOCAL, "PartitionResponse"),
    *each(
        "random_state",
        (-1, np.int64(-(2**40)), -(2**3000)),
        "range",
        *CENTRAL,
        *METRIC,
        *LOCAL,
        "PartitionResponse",
        "ClusterProfile",
    ),
    # k-means
    *each("n_clusters", (0, -1, 2**60), "range", "DPKMeans", "DPDensity", "PartitionResponse"),
    *each("n_clusters", (2.5, TRUE), "whole", "DPKMeans", "DPDensity", "PartitionResponse"),
    *each("n_clusters", (TEXT,), "whole", "DPDensity", "PartitionResponse"),
    *each("n_clusters", (TEXT, "all"), "choice", "DPKMeans"),
    *each("n_clusters", (10**9, 2**14 + 1), "range", "DPKMeans", "NoiseAwareKMeans"),
    *each("max_clusters", (10**9,), "range", "DPKMeans", others={"n_clusters": "private"}),
    *each("max_iter", (10**9,), "range", "DPKMeans", others={"method": "lloyd"}),
    *each("overcluster", (10**9,), "size", "DPKMeans", others={"method": "kccm"}),
    Refusal(
        "overcluster",
        3,
        "size",
        ("DPKMeans",),
        others={"method": "kccm", "n_clusters": "private", "max_clusters": 2**12},
    ),
    *each("column_weights", (1.0,), "shape", "DPKMeans"),
    *each("column_weights", ((1.0,), (1.0, 2.0, 3.0)), "shape", "DPKMeans"),
    *each("column_weights", ((1.0, -1.0), (1.0, NAN), (0.0, 1.0)), "positive", "DPKMeans"),
    *each("column_weights", (("a", 1.0), (TRUE, 1.0)), "type", "DPKMeans"),
    *each("column_weights", ((1.0, 1e30),), "range", "DPKMeans"),
    Refusal("column_weights", (1, 2), "unexpected", ("DPKMeans",), others={"bounds": Ball()}),
    *each("metric", ("manhattan", None, 1, ["euclidean"]), "choice", "DPKMeans"),
    Refusal("bounds", (0.0, 1.0), "unexpected", ("DPKMeans",), others={"metric": "cosine"}),
    *each("method", ("best", None, 1, np.array(["auto", "grid"])), "choice", "DPKMeans"),
    Refusal("method", "grid", "unsupported", ("DPKMeans",), table=np.zeros((5, 60))),
    Refusal(
        "epsilon",
        1e-9,
        "resolution",
        ("DPKMeans",),
        others={"n_clusters": "private", "method": "lloyd"},
    ),
    Refusal(
        "column_weights",
        [1.0],
        "unexpected",
        ("DPKMeans",),
        others={"schema": PLAIN, "bounds": None},
    ),
    Refusal(
        "schema", PLAIN, "unexpected", ("DPKMeans",), others={"metric": "cosine", "bounds": None}
    ),
    *each("n_public", (0, -3, 2**60), "range"),
    *each("n_public", (1.5, TEXT, TRUE), "whole"),
    *each("max_iter", (0, -1), "range", "DPKMeans"),
    *each("max_iter", (2.5, TEXT), "whole", "DPKMeans"),
    *each("split", ("half", None), "choice", "DPKMeans"),
    *each("noise", ("laplacian", None), "choice", "DPKMeans"),
    Refusal("noise", "gaussian", "range", ("DPKMeans",), "delta", {"method": "kccm"}),
    *each("overcluster", (0, -1), "range", "DPKMeans"),
    *each("overcluster", (1.5, TEXT), "whole", "DPKMeans"),
    *each("max_clusters", (0, -1), "range", "DPKMeans"),
    *each("max_clusters", (1.5, TEXT), "whole", "DPKMeans"),
    *each("weight_limit", (0, -1, NAN, INF), "positive", "DPKMeans"),
    *each("weight_limit", ("1", None, TRUE), "type", "DPKMeans"),
    *each("records_per_user", (0, -1, 2**60), "range"),
    *each("records_per_user", (1.5, TEXT, TRUE), "whole"),
    *each("user_column", (1, None), "type"),
    Refusal("user_column", "person", "unexpected", ("DPKMeans",)),
    # density
    *each("alpha", (0, 1.0, -1, NAN), "range", "DPDensity"),
    *each("alpha", (TEXT, TRUE), "type", "DPDensity"),
    *each("min_cluster_size", (0, -1, NAN), "positive", "DPDensity"),
    *each("min_cluster_size", (TEXT,), "type", "DPDensity"),
    *each("min_cluster_size", (INF,), "positive", "DPDensity"),
    Refusal("X", np.zeros((50, 5)), "columns", ("DPDensity",)),
    Refusal("X", np.zeros((1, 8193)), "columns", ("DPKMeans",)),
    # WaveCluster
    *each("grid", (0, -1, 2**30), "range", "DPWaveCluster"),
    *each("grid", (2.5, TRUE, None), "whole", "DPWaveCluster"),
    *each("grid", ("fine",), "choice", "DPWaveCluster"),
    *each("grid", (1, 7), "conflict", "DPWaveCluster"),
    Refusal("grid", 34, "conflict", ("DPWaveCluster",), others={"level": 2}),
    Refusal("level", 20, "range", ("DPWaveCluster",), "grid", {"grid": "auto"}),
    Refusal("grid", 2**12, "size", ("DPWaveCluster",), others={"technique": "thr"}),
    Refusal("threshold", "auto", "unsupported", ("DPWaveCluster",), others={"grid": 2**12}),
    *each("threshold", (-0.1, 1.0, NAN, "high"), "range", "DPWaveCluster"),
    *each("threshold", (None, TRUE), "type", "DPWaveCluster"),
    Refusal("threshold", "auto", "unsupported", ("DPWaveCluster",), others={"technique": "qt"}),
    *each("wavelet", ("mexican", None, 1, "morl", "Haar"), "choice", "DPWaveCluster"),
    *each("level", (0, 21, 2**53), "range", "DPWaveCluster"),
    *each("level", (1.5, TEXT), "whole", "DPWaveCluster"),
    *each("technique", ("best", None, np.array([1.0, 2.0])), "choice", "DPWaveCluster"),
    *each("min_samples", (0, -1), "range", "DPWaveCluster"),
    *each("min_samples", (1.5, TEXT), "whole", "DPWaveCluster"),
    # mechanisms
    *each("level", (1.0,), "missing", *METRIC[:3]),
    *each("radius", (1.0,), "missing", *METRIC[:3]),
    *each("level", (0.0, INF), "positive", *METRIC[:3], others={"radius": 1e-300}),
    *each("level", (1e300,), "positive", *METRIC[:3], others={"radius": 1e-300, "epsilon": 1.0}),
    *each("radius", (0.0, INF, NAN), "positive", *METRIC[:3], others={"level": 1.0}),
    *each("level", (TEXT,), "type", *METRIC[:3], others={"radius": 1.0}),
    Refusal("epsilon", 0.5, "unexpected", METRIC[:3], others={"level": 1.0, "radius": 2.0}),
    *each("unit", (1, None), "type"),
    *each("unit", ("0 m", " m", "m\n", "-1 km"), "text"),
    *each("truncate", ("clip", 1, TRUE), "choice", "Laplace"),
    *[
        Refusal(
            "truncate",
            "resample",
            "unsupported",
            ("Laplace",),
            others={"epsilon": epsilon, "bounds": (-1.0, 1.0)},
            table=np.zeros((1, columns)),
        )
        for epsilon, columns in ((1e-3, 9), (1e4, 30), (1e-9, 9))
    ],
    Refusal("X", np.zeros((2, 4)), "columns", ("PlanarLaplace", "SphericalLaplace")),
    *each("remap", ("best", "density", 1, TRUE), "choice", "KdLaplace"),
    *each("grid_cells", (0, -1), "range", "KdLaplace"),
    *each("grid_cells", (1.5, TEXT, TRUE), "whole", "KdLaplace"),
    *each("grid_cells", ((2, 2, 2),), "shape", "KdLaplace"),
    Refusal("grid_cells", 100_000, "size", ("KdLaplace",), "cells"),
    *each("grid_cells", (0,), "range", "KdLaplace", others={"remap": "grid"}),
    *each("columns", ("some", None, 1), "choice"),
    *each("partitions", (1, "grid"), "type", "PartitionResponse"),
    Refusal("partitions", THREE_COLUMNS, "columns", ("PartitionResponse",)),
    *each("first_partition", (-1, 2**40), "range", "PartitionResponse"),
    *each("first_partition", (1.5, TEXT, TRUE, None), "whole", "PartitionResponse"),
    # profiles
    *each("release", (None, 1, "clusters.json"), "type", "ClusterProfile"),
    *each("schema", (1.0, "schema.json"), "type", "ClusterProfile"),
    *each("max_words", (0, -1), "range", "ClusterProfile"),
    *each("max_words", (1.5, TEXT), "whole", "ClusterProfile"),
    # what sees reports only
    *each(
        "mechanism", (None, "Laplace", Schema, KMeans()), "type", others={"bounds": (-20.0, 20.0)}
    ),
    Refusal(
        "mechanism",
        Laplace(2.0, bounds=(-20.0, 20.0), truncate="resample"),
        "unsupported",
        ("NoiseAwareKMeans", "NoiseAwareDensity"),
    ),
    Refusal("mechanism", Laplace(1e-4, bounds=(-1, 1)), "guarantee", ("NoiseAwareDensity",)),
    Refusal("mechanism", SquareWave(2.0, bounds=(-20, 20)), "unsupported", ("BayesRemap",)),
    Refusal("X", np.zeros((10, 4)), "columns", ("NoiseAwareDensity",), names="Z"),
    *each("contamination", (-0.1, 1.0, NAN), "range"),
    *each("contamination", (TEXT,), "type"),
    *each("confidence", (0, 1.0, NAN), "range"),
    *each("confidence", ("95%",), "type"),
    *each("n_init", (0,), "range"),
    *each("n_init", (1.5, TEXT), "whole"),
    *each("n_clusters", (0, 2**60), "range", "NoiseAwareKMeans", "NoiseAwareDensity"),
    *each("n_clusters", (1.5, TEXT), "whole", "NoiseAwareKMeans", "NoiseAwareDensity"),
    *each("max_iter", (0,), "range", "NoiseAwareKMeans", "BayesRemap"),
    *each("max_iter", (1.5, TEXT), "whole", "NoiseAwareKMeans", "BayesRemap"),
    *each("alpha", (0, 1.0, NAN), "range", "NoiseAwareDensity"),
    *each("min_cluster_size", (0, NAN), "positive", "NoiseAwareDensity"),
    *each("cells", (0, -3), "range"),
    *each("cells", (1.5, TEXT, TRUE), "whole"),
    *each("cells", ([2, 0],), "range"),
    *each("cells", (10**6,), "size", "BayesRemap"),
    *each("cells", ((2, 2, 2),), "shape"),
    *each("candidates", (0,), "range"),
    *each("candidates", (1.5, TEXT), "whole"),
    *each("loss", ("absolute", None), "choice"),
    *each("radius", (0, -1, NAN, INF), "positive", "BayesRemap"),
    *each("radius", ("near",), "type", "BayesRemap"),
    *each("tol", (-1, NAN), "range"),
    *each("tol", (None,), "type"),
    *each(
        "prior",
        ([1.0], np.zeros((8, 8)), "flat", -np.ones((8, 8))),
        "shape",
        others={"cells": 8},
    ),
    Refusal("prior", np.ones(3), "unsupported", table=np.zeros((5, 4))),
    Refusal("points", [[1.0]], "columns", others={"bounds": None}),
    Refusal("points", [[NAN, 1.0]], "finite", others={"bounds": None}),
    Refusal("points", [1.0, 2.0], "shape", others={"bounds": None}),
    Refusal("points", [], "shape", others={"bounds": None}),
    Refusal("points", [["a", "b"]], "type", others={"bounds": None}),
    Refusal("bounds", (0.0, 1.0), "unexpected", ("GridRemap",), others={"points": [[0.0, 0.0]]}),
]


# What sees reports only: it has no ledger and spends nothing
def _remade(instance: Any) -> Any:
    return lambda **changes: type(instance)(**{**instance.get_params(deep=False), **changes})


NOISE = Laplace(2.0, bounds=(-20.0, 20.0), random_state=0).fit(np.zeros((3, 2)))
REPORTS: Floats = np.random.default_rng(1).normal(size=(60, 2))
POST_PROCESSING = tuple(
    Subject(
        type(instance).__name__,
        _remade(instance),
        run=lambda model, reports: model.fit(reports),
        table=REPORTS,
        tags=frozenset({"reports"}),
    )
    for instance in (
        NoiseAwareKMeans(2, mechanism=NOISE, n_init=1, random_state=0),
        NoiseAwareDensity(mechanism=NOISE, random_state=0),
        BayesRemap(NOISE),
        GridRemap((-20.0, 20.0)),
        Clip((-20.0, 20.0)),
    )
)

# One of each class, for what the class alone decides
ONE_OF_EACH = (
    *having("class"),
    *(one for one in having("estimator") if one.name in ("PlanarLaplace", "SphericalLaplace")),
    *(one for one in having("described") if one.name == "ClusterProfile"),
    *POST_PROCESSING,
)


# Tables: what is refused as X by everything that reads records
def spoiled(value: float) -> Floats:
    """Return the records with one other number."""
    records = RECORDS.copy()
    records[11, 0] = value
    return records


def mixed(value: Any) -> list[Any]:
    """Return the records as lists, with one object among them."""
    return [*RECORDS[:-1].tolist(), [value, MARK]]


NAMES = ["alice", *["bob"] * (N - 1)]
DAYS = np.full((N, 2), "2001-02-03", dtype="M8[D]")
TABLES: dict[str, tuple[Any, Code]] = {
    "nan": (spoiled(NAN), "finite"),
    "inf": (spoiled(INF), "finite"),
    "nan in a frame": (pd.DataFrame(spoiled(NAN), columns=["a", "b"]), "finite"),
    "gaps": (pl.DataFrame({"a": [None, *[MARK] * (N - 1)]}), "finite"),
    "nothing": (mixed(None), "finite"),
    "beyond float64": (mixed(10**400 + 7654321), "finite"),
    "one dimension": (RECORDS[:, 0], "shape"),
    "three dimensions": (RECORDS[:, :, None], "shape"),
    "number": (MARK, "shape"),
    "no table": (None, "shape"),
    "no columns": (np.empty((N, 0)), "empty"),
    "no records": (RECORDS[:0], "empty"),
    "repeated columns": (pd.DataFrame(RECORDS, columns=["a", "a"]), "duplicate"),
    "repeated columns, arrow": (
        pa.table([RECORDS[:, 0], RECORDS[:, 1]], names=["a", "a"]),
        "duplicate",
    ),
    **{
        name: (table, "type")
        for name, table in {
            "ragged": [*RECORDS.tolist(), [MARK]],
            "text": mixed("alice"),
            "numbers as text": mixed("7654321"),
            "text array": RECORDS.astype(str),
            "bytes": mixed(b"alice"),
            "objects": mixed({"alice": MARK}),
            "lists": mixed([MARK]),
            "dates": mixed(datetime.date(2001, 2, 3)),
            "days": DAYS,
            "no day": np.full((N, 2), "NaT", dtype="M8[ns]"),
            "spans": np.full((N, 2), 7654321, dtype="m8[s]"),
            "a day": mixed(np.datetime64("2001-02-03")),
            "a span": mixed(np.timedelta64(7654321, "s")),
            "a day in a list": [*RECORDS.tolist(), [np.datetime64("2001-02-03"), MARK]],
            "days in a list": [*RECORDS[1:], np.array(["2001-02-03"] * 2, dtype="M8[ns]")],
            "bytes of Python": mixed(bytearray(b"7654321")),
            "masked": np.ma.array(RECORDS, mask=np.arange(2 * N).reshape(N, 2) == 7),
            "masked in a list": [np.ma.array(row, mask=[True, False]) for row in RECORDS],
            "text series": pd.Series(NAMES, dtype=object),
            "complex": mixed(MARK * 1j),
            "text column": pd.DataFrame({"a": RECORDS[:, 0], "b": NAMES}),
            "text column, polars": pl.DataFrame({"a": RECORDS[:, 0], "b": NAMES}),
            "text column, arrow": pa.table({"a": RECORDS[:, 0], "b": NAMES}),
            "text in a batch": pa.record_batch({"a": RECORDS[:, 0], "b": ["7654321"] * N}),
            "days in a batch": pa.record_batch({"a": [datetime.datetime(2001, 2, 3)] * N}),
            "categories": pd.DataFrame({"a": pd.Categorical(NAMES)}),
            "categories, polars": pl.DataFrame(
                {"a": pl.Series(NAMES, dtype=pl.Enum(["alice", "bob"])), "b": RECORDS[:, 0]}
            ),
            "dictionary, arrow": pa.table({"a": pa.array(NAMES).dictionary_encode()}),
            "dates, pandas": pd.DataFrame({"a": pd.to_datetime(["2001-02-03"] * N)}),
            "set": {MARK},
        }.items()
    },
}
SOME_TABLES = ("nan", "ragged", "text column", "masked", "no records")
# Refused by what was fitted to two columns
ASKED_TABLES: dict[str, tuple[Any, Code]] = {
    "fewer columns": (RECORDS[:, :1], "columns"),
    "more columns": (np.hstack([RECORDS, RECORDS]), "columns"),
    "a frame of fewer": (pd.DataFrame(RECORDS[:, :1], columns=["a"]), "columns"),
}

# Records that a device is asked to report: one that was drawn in vain would cost a report
ON_DEVICES: list[Refusal] = [
    *each("X", ([MARK, NAN], [MARK, INF], None), "finite"),
    *each("X", (["alice", "bob"], "alice"), "type"),
    *each("x", ([MARK], [MARK, 1.0, 2.0]), "columns"),
    Refusal("x", {"alice": MARK}, "type"),
]

# Contributions of people, as given to fit beside the records
CONTRIBUTIONS: list[Refusal] = [
    *each(
        "sample_weight",
        (
            np.ones(N - 1),
            np.full(N + 1, MARK),
            np.ones((N, 1)),
            [[MARK], *[[1.0, 2.0]] * (N - 1)],
            MARK,
        ),
        "shape",
    ),
    *each(
        "sample_weight",
        (
            np.where(np.arange(N) == 7, -MARK, 1.0),
            np.where(np.arange(N) == 7, NAN, MARK),
            np.ma.array(np.ones(N), mask=np.arange(N) == 7),
            np.where(np.arange(N) == 7, INF, MARK),
            ["alice"] * N,
            np.array([MARK, *[None] * (N - 1)], dtype=object),
        ),
        "finite",
    ),
    Refusal("sample_weight", np.zeros(N), "empty"),
    *each(
        "user_ids",
        (np.arange(N - 1), [int(MARK)] * (N + 1), np.ones((N, 1), dtype=int)),
        "shape",
    ),
    *each(
        "user_ids",
        (
            np.full(N, MARK),
            [*range(N - 1), MARK],
            ["alice", *[None] * (N - 1)],
            [NAN, *[MARK] * (N - 1)],
            ["alice", 1.5, *["bob"] * (N - 2)],
            np.array(["alice", *[MARK] * (N - 1)], dtype=object),
            np.array(["NaT"] * N, dtype="M8[D]"),
            pa.array([b"alice\xff"] * N).view(pa.string()),
            [datetime.date(2001, 2, 3)] * N,
            [("alice", int(MARK))] * N,
            int(MARK),
            "alice",
        ),
        "type",
    ),
]


# Values that promise: what is wrong is refused where it is made
@dataclass(frozen=True)
class Build:
    """A call that must be refused, without an estimator."""

    make: Any
    parameter: str
    code: Code
    kwargs: Mapping[str, Any]

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.kwargs.items())
        return f"{self.make.__name__}({shown[:60]})"


def build(make: Any, parameter: str, code: Code, **kwargs: Any) -> Build:
    """Return a row."""
    return Build(make, parameter, code, kwargs)


BUILDS: list[Build] = [
    *(build(Ledger, "epsilon", "positive", epsilon=one) for one in (0, -1, NAN)),
    *(build(Ledger, "epsilon", "type", epsilon=one) for one in ("1", TRUE)),
    build(Ledger, "epsilon", "missing"),
    *(build(Ledger, "delta", "range", epsilon=1, delta=one) for one in (-0.1, 1.0, NAN)),
    build(Ledger, "metric_epsilon", "positive", epsilon=1, metric_epsilon=0, metric_unit="m"),
    build(Ledger, "adjacency", "type", epsilon=1, adjacency="add"),
    build(Ledger, "privacy_unit", "type", epsilon=1, privacy_unit="user"),
    build(Ledger, "privacy_unit", "incomplete", epsilon=1, privacy_unit=PrivacyUnit.user()),
    build(Ledger, "gdp_delta", "range", epsilon=1, delta=1e-6, gdp_delta=0.1),
    build(Guarantee, "notion", "choice", notion="total", epsilon=1.0),
    build(Guarantee, "adjacency", "type", notion="central", epsilon=1.0, adjacency="add"),
    build(Guarantee, "seeded", "type", notion="central", epsilon=1.0, seeded=1),
    build(Guarantee, "privacy_unit", "type", notion="central", epsilon=1.0, privacy_unit="user"),
    build(
        Guarantee,
        "delta",
        "conflict",
        notion="metric",
        epsilon=1.0,
        delta=0.1,
        adjacency=Adjacency.SUBSTITUTE,
    ),
    build(PrivacyUnit, "kind", "choice", kind="household"),
    build(PrivacyUnit, "enforced", "type", enforced=1),
    build(PrivacyUnit, "max_rows", "range", kind="user", id_column="who", max_rows=0),
    build(PrivacyUnit, "max_rows", "missing", kind="user", id_column="who", enforced=False),
    build(PureEvent, "epsilon", "type", epsilon="1"),
    build(PureEvent, "epsilon", "positive", epsilon=0),
    build(Repeated, "event", "type", event=1.0, times=2),
    build(Repeated, "times", "range", event=PureEvent(epsilon=1.0), times=0),
    build(ShuffledEvent, "n", "whole", epsilon=0.1, delta=1e-6, local_epsilon=1.0, n=1.5),
    build(Number, "minimum", "order", name="x", minimum=1, maximum=0),
    build(Number, "minimum", "type", name="x", minimum="0", maximum=1),
    build(Number, "role", "choice", name="x", minimum=0, maximum=1, role="key"),
    build(Number, "missing", "choice", name="x", minimum=0, maximum=1, missing="drop"),
    build(Number, "fill", "conflict", name="x", minimum=0, maximum=1, missing="fill"),
    build(Date, "minimum", "text", name="x", minimum="yesterday", maximum="2020-01-01"),
    build(Date, "minimum", "order", name="x", minimum="2020-01-02", maximum="2020-01-01"),
    build(Category, "categories", "type", name="x", categories="AB"),
    build(Category, "categories", "duplicate", name="x", categories=["A", "A"]),
    build(Place, "radius", "positive", name="x", center=(0.0, 0.0), radius=0),
    build(Flag, "name", "empty", name=""),
    build(Field, "name", "type", name=1),
    build(Schema, "fields", "empty", fields=[]),
    build(Schema, "fields", "duplicate", fields=[Flag("x"), Flag("x")]),
]
