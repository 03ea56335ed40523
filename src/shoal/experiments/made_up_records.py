"""Records made up from a schema alone: nobody's, for trying things out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._typing import Floats, Ints
from shoal.experiments._made_up_tables import made_up_table
from shoal.schema import Schema

__all__ = ["MadeUpRecords", "make_up_records"]


class MadeUpRecords(NamedTuple):
    """Synthetic records: by column, as points of the encoded space, and the segment of each.

    Examples
    --------
    >>> from shoal.experiments import make_up_records
    >>> from shoal.schema import Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120)])
    >>> made_up = make_up_records(schema, 50, n_clusters=2)
    >>> len(made_up.columns["age"]), len(made_up.segments)
    (50, 50)
    """

    columns: dict[str, npt.NDArray[np.object_]]
    encoded: Floats
    segments: Ints


def make_up_records(schema: Schema, n: int, *, n_clusters: int = 5, seed: int = 0) -> MadeUpRecords:
    """Generate synthetic records of a schema, in overlapping segments of unequal sizes.

    Only the schema is read, so nothing is spent, and nothing is learned about a real table.

    Parameters
    ----------
    schema : Schema
        A schema with bounds and categories of every feature.
    n : int
        Number of records.
    n_clusters : int, default=5
        Number of segments (clusters) that they come from.
    seed : int, default=0
        Seed; the same seed gives the same records.

    Returns
    -------
    made_up : MadeUpRecords
        The records. Values are those of a table, None for a missing one; every record belongs to
        another person and has weight 1.

    Examples
    --------
    >>> from shoal.experiments import make_up_records
    >>> from shoal.schema import Category, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> made_up = make_up_records(schema, 100, n_clusters=3)
    >>> sorted(made_up.columns), made_up.encoded.shape == (100, schema.space.columns)
    (['age', 'city'], True)
    """
    schema.check_complete()
    rows = _numbers.count("n", n)
    drawn = made_up_table(schema.space, rows, _numbers.count("n_clusters", n_clusters), seed)
    records = schema.restore(drawn.encoded)
    columns = dict(zip(schema.columns, records.T, strict=True))
    encoded = schema.encode(columns)
    if schema.user is not None:
        columns[schema.user.name] = np.array([f"person {row}" for row in range(rows)], dtype=object)
    if schema.sample_weight is not None:
        columns[schema.sample_weight.name] = np.ones(rows, dtype=object)
    return MadeUpRecords(columns, encoded, drawn.segments)
