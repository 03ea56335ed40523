"""Descriptions that several docstrings share, written once.

A docstring holds a slot, ``{epsilon}`` on a line of its own, where the shared text belongs;
:func:`shared_docs` puts it there, indented as the slot is. Lines after a slot that are indented
like a description go on with it.
"""

import re
from collections.abc import Mapping
from inspect import isfunction
from textwrap import indent
from types import MappingProxyType
from typing import TypeVar

__all__ = ["SHARED", "fill_slots", "shared_docs"]

Documented = TypeVar("Documented")

_SLOT = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)

SHARED: Mapping[str, str] = MappingProxyType(
    {
        # Parameters of estimators
        "epsilon": """\
epsilon : float, default=1.0
    Privacy budget of one ``fit``: the smaller, the more noise. At most 1e9.""",
        "bounds": """\
bounds : tuple (low, high) or dict
    Public bounds of the records, known without looking at them: two numbers, or two lists
    or arrays with one value per column; or ``{column: (low, high)}`` by the names of the columns,
    or by their indexes where they have none. Records outside are clipped.""",
        "n_public": """\
n_public : int, default=None
    Number of records, if it is public. With None, 2% of the budget buys a noisy count.""",
        "ledger": """\
ledger : Ledger, default=None
    Keeps account of all that was spent on these records. It is charged with the whole budget
    before the first number is released, and refuses a fit that would pass its limit.""",
        "random_state": """\
random_state : None, int, RandomState or Generator, default=None
    None draws noise from the operating system's entropy. A seed makes the result repeatable and
    the guarantee void: it is for tests and experiments.""",
        # Parameters of mechanisms
        "report_schema": """\
schema : Schema, default=None
    Public description of a table, in place of ``bounds``. It encodes the records; reports are
    points of the encoded space, which ``schema.decode`` turns back into rows. Distances are those
    of the schema. If its only field is a place, a metric epsilon is per kilometer on the ground,
    or per the length that ``unit`` names. That holds between two places: whether there is a place
    at all, which a flag encodes, has no distance on the ground, and counts as at most the width
    of the disc.""",
        "local_epsilon": """\
epsilon : float, default=1.0
    Local epsilon of the whole record: any report is at most e^epsilon times as likely for one
    record as for another, however far apart the two are. It has no unit and cannot be compared
    with a metric epsilon; ``Laplace(...).guarantee_.to_local(diameter)`` gives one that can.""",
        "metric_epsilon": """\
epsilon : float, default=1.0
    Metric epsilon, per unit of Euclidean distance between records: rescaling the columns
    changes what it means, and it cannot be compared with the epsilon of a local mechanism.
    ``guarantee_.to_local(diameter)`` gives the worst case over the box, which can.""",
        "level_and_radius": """\
level, radius : float, default=None
    In place of ``epsilon``: any report is at most e^(level + slack) times as likely for one record
    as for another within ``radius`` of it; the slack of the guarantee is what rounding to a
    lattice adds. Epsilon is level / radius.""",
        "unit": """\
unit : str, default=""
    Unit of distance of the columns, such as ``"km"``, ``"80 m"`` or ``"year"``: epsilon is per
    this unit. Required with a ledger, which adds up only what is spent per a named unit.""",
        "columns": """\
columns : {"all", "sample"}, default="all"
    ``"all"`` reports every one of the d columns at epsilon / d: use it where whole records matter.
    ``"sample"`` reports k = max(1, min(d, floor(epsilon / 2.5))) columns at epsilon / k, scaled by
    d / k, and the center of the box in the others: use it to estimate means.""",
        "ledger_of_reports": """\
ledger : Ledger, default=None
    Keeps account of what was spent on these records: charged with ``epsilon`` at every
    ``transform``, before any noise is drawn.""",
        # Attributes of fitted estimators
        "local_guarantee_": """\
guarantee_ : Guarantee
    The local guarantee of each report.""",
        "metric_guarantee_": """\
guarantee_ : Guarantee
    The metric guarantee of each report. Its slack follows from the number of columns, which ``fit``
    notes where ``bounds`` are two numbers.""",
        "guarantee_": """\
guarantee_ : Guarantee
    The privacy guarantee of ``release_``.""",
        "labels_": """\
labels_ : ndarray of shape (n,)
    Cluster of each record: private, for the curator's eyes only. Only for records in memory, and
    only in the object and the process that ran ``fit``: copies, pickles and displays have none.""",
        "bounds_": """\
bounds_ : tuple (low, high)
    The public bounds, one value per column in each.""",
        "features_in_": """\
n_features_in_ : int
    Number of columns seen in ``fit``.
feature_names_in_ : ndarray of str
    Their names, if the table has them.""",
        # Parameters of methods
        "X_of_fit": """\
X : array-like of shape (n, d), ``.npy`` or ``.npz``, ArrowTable, Arrow dataset or Spark DataFrame
    Records, of any numeric precision; embeddings may be one column of lists. Records that are not
    in memory are read once to validate them, and then once for each pass.""",
        "X_of_predict": """\
X : array-like of shape (n, d), path, Arrow dataset or Spark DataFrame
    Records, with the columns of ``fit``.""",
        "y": """\
y : None
    Ignored.""",
        # Notes
        "promise_to_records": """\
The guarantee protects single records. A person with up to m of them is protected by
``guarantee_.for_group(m)``; of the estimators, only ``DPKMeans`` and ``ClusterProfile`` take
``user_ids``.""",
    }
)


def shared_docs(documented: Documented) -> Documented:
    """Fill the slots of a docstring, and those of a class's methods, from :data:`SHARED`.

    Parameters
    ----------
    documented : class or function
        Its docstrings are changed in place.

    Returns
    -------
    documented : class or function
        The same object.

    Examples
    --------
    >>> from inspect import getdoc
    >>> from shoal._docs import shared_docs
    >>> @shared_docs
    ... def fit(X, y=None):
    ...     '''Find the clusters.
    ...
    ...     Parameters
    ...     ----------
    ...     X : ndarray
    ...         Records.
    ...     {y}
    ...     '''
    >>> print(getdoc(fit).splitlines()[-1])
        Ignored.
    """
    members = vars(documented).values() if isinstance(documented, type) else ()
    for one in (documented, *filter(isfunction, members)):
        if one.__doc__:  # none where Python runs with -OO
            one.__doc__ = fill_slots(one.__doc__)
    return documented


def fill_slots(text: str) -> str:
    """Return a docstring with its slots filled."""
    return _SLOT.sub(lambda slot: indent(SHARED[slot[2]], slot[1]), text)
