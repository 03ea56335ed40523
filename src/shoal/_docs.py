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
    Budget of one ``fit``, at most 1e9.""",
        "bounds": """\
bounds : tuple (low, high)
    Public box, two numbers or one value per column in each. Records outside are clipped.""",
        "n_public": """\
n_public : int, default=None
    The number of records where it is public. None spends 2% of the budget on a noisy count.""",
        "ledger": """\
ledger : Ledger, default=None
    Charged with the whole budget before the first number is released.""",
        "random_state": """\
random_state : None, int, RandomState or Generator, default=None
    None draws from the operating system's entropy. A seed is for tests and experiments.""",
        # Parameters of mechanisms
        "report_schema": """\
schema : Schema, default=None
    Instead of ``bounds``: the public description of a table. Records are encoded by it, and reports
    are points of its encoded space, which ``schema.decode`` reads. Distances are those of the
    schema; for one that is a place and nothing else, a metric epsilon is per kilometer on the
    ground, or per the length that ``unit`` says. That holds for two places: whether there is one
    at all, where a flag says so, has no distance on the ground and counts as up to the disc's
    width.""",
        "local_epsilon": """\
epsilon : float, default=1.0
    Local epsilon of the whole record: any two records are told apart by a factor of at most
    e^epsilon, however far apart they are. It has no unit and is not comparable with a metric
    epsilon; ``Laplace(...).guarantee_.to_local(diameter)`` is.""",
        "metric_epsilon": """\
epsilon : float, default=1.0
    Metric epsilon, per unit of Euclidean distance between records: rescaling the columns
    changes what it means, and it is not comparable with the epsilon of a local mechanism.
    ``guarantee_.to_local(diameter)`` gives the worst case over the box, which is.""",
        "level_and_radius": """\
level, radius : float, default=None
    Instead of ``epsilon``: two records within ``radius`` of each other are told apart by a
    factor of at most e^level. Epsilon is level / radius.""",
        "unit": """\
unit : str, default=""
    Unit of distance of the columns, such as ``"km"``, ``"80 m"`` or ``"year"``: epsilon is per
    this unit. A ledger adds up what is spent per unit and takes no reports without one.""",
        "columns": """\
columns : {"all", "sample"}, default="all"
    ``"all"``: every column at epsilon / d, for whole records. ``"sample"``: k = max(1, min(d,
    floor(epsilon / 2.5))) columns at epsilon / k, scaled by d / k, and the center of the box
    elsewhere, for means.""",
        "ledger_of_reports": """\
ledger : Ledger, default=None
    Charged with ``epsilon`` at every ``transform``, before anything is drawn.""",
        # Attributes of fitted estimators
        "local_guarantee_": """\
guarantee_ : Guarantee
    Local privacy for each record.""",
        "metric_guarantee_": """\
guarantee_ : Guarantee
    Metric privacy for each record.""",
        "guarantee_": """\
guarantee_ : Guarantee
    What ``release_`` promises.""",
        "labels_": """\
labels_ : ndarray of shape (n,)
    Cluster of each record: private, for the curator only. Only for records in memory, and only
    in the process and the object that ``fit`` ran on: copies, pickles and displays have none.""",
        "bounds_": """\
bounds_ : tuple (low, high)
    The public box.""",
        "features_in_": """\
n_features_in_ : int
    Number of columns seen in ``fit``.
feature_names_in_ : ndarray of str
    Their names, where the table has them.""",
        # Parameters of methods
        "X_of_fit": """\
X : array-like of shape (n, d), ``.npy`` or ``.npz``, ArrowTable, Arrow dataset or Spark DataFrame
    Records, in any precision; embeddings may be one column of lists. Those that are not in memory
    are read once to see that they are all right, and then once for each pass.""",
        "X_of_predict": """\
X : array-like of shape (n, d), path, Arrow dataset or Spark DataFrame
    Records.""",
        "y": """\
y : None
    Ignored.""",
        # Notes
        "promise_to_records": """\
The promise is to records. For a person with up to m of them it is ``guarantee_.for_group(m)``;
only ``DPKMeans`` takes ``user_ids``.""",
    }
)


def shared_docs(documented: Documented) -> Documented:
    """Fill the slots of a docstring, and of a class's methods, with the texts of :data:`SHARED`.

    Parameters
    ----------
    documented : class or function
        What has the docstrings.

    Returns
    -------
    documented : class or function
        The same.

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
