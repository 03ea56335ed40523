"""Which two tables count as neighbors."""

import enum

__all__ = ["Adjacency"]


class Adjacency(enum.Enum):
    """The two readings of "neighboring tables".

    Under ``ADD_REMOVE`` one table is the other with one record more, so the number of records is
    private. Under ``SUBSTITUTE`` both have the same public number of records and differ in one of
    them; such a step is a removal followed by an addition, which is why promises of the first kind
    convert into the second (:meth:`shoal.privacy.Guarantee.to_substitute`) and not the other way.

    Examples
    --------
    >>> Adjacency.ADD_REMOVE.value
    'add/remove'
    >>> Adjacency("substitute")
    <Adjacency.SUBSTITUTE: 'substitute'>
    """

    ADD_REMOVE = "add/remove"
    SUBSTITUTE = "substitute"
