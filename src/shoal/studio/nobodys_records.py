"""The records that pages try things on: made up from the schema, or drawn from the private copy.

Neither costs anything to use, and neither is a true record: made-up records know the schema alone,
and a copy was paid for when it was bought.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from shoal._typing import Floats, Ints
from shoal.experiments import make_up_records
from shoal.service import RefusedError
from shoal.studio.workspace import StudioTable

__all__ = ["ExploredRecords", "Source", "explored_records"]

Source = Literal["made-up", "copy"]
MAX_ROWS = 5_000
MAX_NUMBERS = 20_000_000  # of the encoded records: 160 MB, however many columns there are
SEGMENTS = 5  # that made-up records come from
SEED = 0  # the same records each time: a slider changes the noise, not the records
WORDS = {
    "made-up": "made-up records of your schema",
    "copy": "a private copy of your table",
}


class ExploredRecords(NamedTuple):
    """Records that are nobody's.

    Parameters
    ----------
    source : {"made-up", "copy"}
        Where they come from.
    words : str
        The same for readers.
    columns : dict
        Values by column, as a table has them.
    encoded : ndarray of shape (n, d)
        The same as points of the schema's encoded space.
    segments : ndarray of shape (n,) or None
        Segment that each was made up from; None for a copy, which has none.
    """

    source: Source
    words: str
    columns: dict[str, Any]
    encoded: Floats
    segments: Ints | None


def explored_records(
    table: StudioTable, source: Source, *, clusters: int = SEGMENTS, rows: int = MAX_ROWS
) -> ExploredRecords:
    """Return records to try things on; the same ones for the same table, kept in memory.

    Parameters
    ----------
    table : StudioTable
        With a complete schema; its own records are not read.
    source : {"made-up", "copy"}
        Which records.
    clusters : int, default=5
        Segments of made-up records.
    rows : int, default=5000
        How many records at most; the public guess of their number, if that is smaller, and fewer
        of very many columns.

    Returns
    -------
    records : ExploredRecords
        Nobody's.
    """
    schema = table.described
    schema.check_complete()
    n = max(1, min(rows, table.n_guess, MAX_NUMBERS // schema.space.columns))
    key = f"explored {source} {clusters} {n}"
    with table.lock:
        if key not in table.cache:
            table.cache[key] = _draw(table, source, clusters, n)
        kept: ExploredRecords = table.cache[key]
    return kept


def _draw(table: StudioTable, source: Source, clusters: int, rows: int) -> ExploredRecords:
    schema = table.described
    if source == "made-up":
        made_up = make_up_records(schema, rows, n_clusters=clusters, seed=SEED)
        return ExploredRecords(
            source, WORDS[source], dict(made_up.columns), made_up.encoded, made_up.segments
        )
    if table.copy is None:
        raise RefusedError(
            "invalid-parameter", "There is no private copy yet: buy one, or use made-up records."
        )
    drawn = np.asarray(table.copy.sample(rows, random_state=SEED), dtype=object)
    columns = dict(zip(schema.columns, drawn.T, strict=True))
    return ExploredRecords(source, WORDS[source], columns, schema.encode(columns), None)
