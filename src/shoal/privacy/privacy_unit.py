"""What a promise is about: which tables are neighbors, and whom it protects.

A promise for one privacy unit is worth something for another only where a proof says so
(``proofs/ledger.md``, "Privacy units"): :func:`group_size` is that table, and refuses the rest.
"""

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from shoal import _numbers
from shoal.exceptions import GuaranteeError, ParameterError

__all__ = ["RECORD", "Adjacency", "PrivacyUnit", "group_size"]


class Adjacency(enum.Enum):
    """Which pairs of tables are neighbors: unbounded or bounded differential privacy.

    Under ``ADD_REMOVE`` (unbounded) one table has one record more than the other, so the number of
    records is private. Under ``SUBSTITUTE`` (bounded) both have the same, public number of records
    and differ in one of them. A substitution is a removal followed by an addition, so guarantees of
    the first kind convert into the second (:meth:`shoal.privacy.Guarantee.to_substitute`), but not
    the other way.

    Examples
    --------
    >>> Adjacency.ADD_REMOVE.value
    'add/remove'
    >>> Adjacency("substitute")
    <Adjacency.SUBSTITUTE: 'substitute'>
    """

    ADD_REMOVE = "add/remove"
    SUBSTITUTE = "substitute"


_KINDS = ("record", "user")


@dataclass(frozen=True)
class PrivacyUnit:
    """What a guarantee protects: a single record, or a user with all of their records.

    Parameters
    ----------
    kind : {"record", "user"}, default="record"
        ``"record"``: one row of the table. ``"user"``: all rows with one value of ``id_column``.
    id_column : str, default=""
        Name of the column that identifies the user of each row; ``""`` if it has no name. A ledger
        needs the name: it adds up guarantees for users of the same column only.
    max_rows : int, optional
        Largest number of rows of a user; None allows any number.
    enforced : bool, default=True
        True if the code ignores rows of a user beyond ``max_rows``, so that every user is
        protected. False if the curator vouches that no user has more rows: one who does is not
        protected.

    Examples
    --------
    >>> print(PrivacyUnit())
    record
    >>> print(PrivacyUnit.user("person", max_rows=5))
    user (all rows with one value of 'person', of which at most 5 count)
    """

    kind: Literal["record", "user"] = "record"
    id_column: str = ""
    max_rows: int | None = None
    enforced: bool = True

    def __post_init__(self) -> None:
        """Check every field."""
        _numbers.choice("kind", self.kind, _KINDS)
        _numbers.text("id_column", self.id_column)
        _numbers.flag("enforced", self.enforced)
        if self.max_rows is not None:
            object.__setattr__(self, "max_rows", _numbers.count("max_rows", self.max_rows))
        if self.kind == "record" and (self.id_column or self.max_rows is not None):
            raise ParameterError("id_column and max_rows must be left out for records")
        if self.max_rows is None and not self.enforced:
            raise ParameterError(
                "max_rows must be given where it is not enforced, got None",
                parameter="max_rows",
                code="missing",
            )

    @classmethod
    def user(
        cls, id_column: str = "", *, max_rows: int | None = None, enforced: bool = True
    ) -> Self:
        """Return the unit of a guarantee that protects users.

        Parameters
        ----------
        id_column : str, default=""
            Name of the column that identifies users.
        max_rows : int, optional
            Largest number of rows of a user.
        enforced : bool, default=True
            Whether the code enforces ``max_rows``.

        Returns
        -------
        unit : PrivacyUnit
            A unit of kind ``"user"``.
        """
        return cls("user", id_column, max_rows, enforced)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild a unit from :meth:`to_dict`; missing and unknown fields are refused."""
        expected = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or set(plain) != expected:
            raise ParameterError(f"a privacy unit must have the fields {sorted(expected)}")
        return cls(**plain)

    def __str__(self) -> str:
        if self.kind == "record":
            return "record"
        rows = f"all rows with one value of {self.id_column!r}" if self.id_column else "all rows"
        if self.max_rows is None:
            return f"user ({rows})"
        if self.enforced:
            return f"user ({rows}, of which at most {self.max_rows} count)"
        return f"user with at most {self.max_rows} rows ({rows})"


RECORD = PrivacyUnit()


def group_size(
    spent: PrivacyUnit,
    wanted: PrivacyUnit,
    *,
    notion: str = "central",
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    wanted_adjacency: Adjacency = Adjacency.ADD_REMOVE,
) -> int:
    """Return how many steps of a promise's own neighbors lead to the neighbors that are wanted."""
    central = notion == "central"
    substituted = not central or adjacency is Adjacency.SUBSTITUTE
    replaced = not central or wanted_adjacency is Adjacency.SUBSTITUTE
    if substituted and not replaced:
        raise GuaranteeError(
            "a promise for substitution does not cover adding a record",
            parameter="adjacency",
            in_python="state the event for Adjacency.ADD_REMOVE",
        )
    steps = 2 if replaced and not substituted else 1
    if spent.kind == wanted.kind:
        if spent.kind == "user":
            _require_same_users(spent, wanted)
        return steps
    if wanted.kind == "record":
        _require_every_user(spent)
        if not central:
            return 1  # whose value it is stays as it is: exchanging it is exchanging its user's
        if substituted:
            raise GuaranteeError(
                "a promise for substituted users does not cover exchanging a row for one of "
                "another user, which changes two users or their number",
                parameter="adjacency",
                in_python="state the event for Adjacency.ADD_REMOVE",
            )
        # A row leaves by taking its user out and putting them back without it, and another comes
        # in the same way.
        return 2 * steps
    if central and substituted:
        raise GuaranteeError(
            "a promise for substituted records does not cover users, who may have different "
            "numbers of rows",
            parameter="adjacency",
            in_python="state the event for Adjacency.ADD_REMOVE",
        )
    return steps * _rows_of_a_user(wanted)


def _require_same_users(spent: PrivacyUnit, wanted: PrivacyUnit) -> None:
    if not spent.id_column or spent.id_column != wanted.id_column:
        raise GuaranteeError(
            f"promises to users add up for the same id column only, got {spent.id_column!r} where "
            f"{wanted.id_column!r} is counted: promise to users of that column"
        )
    covered = spent.enforced or (
        not wanted.enforced
        and wanted.max_rows is not None
        and spent.max_rows is not None
        and wanted.max_rows <= spent.max_rows
    )
    if not covered:
        raise GuaranteeError(
            f"a promise to each {spent} does not cover each {wanted}: limit the rows of a user"
        )


def _require_every_user(spent: PrivacyUnit) -> None:
    if not spent.enforced:
        raise GuaranteeError(
            f"a promise to each {spent} does not cover rows of other users: limit the rows of a "
            "user"
        )


def _rows_of_a_user(wanted: PrivacyUnit) -> int:
    if wanted.enforced or wanted.max_rows is None:
        raise GuaranteeError(
            "a promise to records covers a user only with a known number of rows, and nothing "
            "limited them here",
            parameter="user_ids",
            in_python="pass user ids to the fit",
        )
    return wanted.max_rows
