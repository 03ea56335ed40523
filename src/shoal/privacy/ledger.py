"""A ledger: what was spent on what, and the limit that no spend may pass."""

import contextlib
import copy
import getpass
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from shoal import _numbers
from shoal.exceptions import (
    GuaranteeError,
    LedgerFileError,
    LedgerPicklingError,
    ParameterError,
    ShoalError,
)
from shoal.privacy._account import Account, Price
from shoal.privacy._ledger_file import Head, LedgerFile, new_header, open_header
from shoal.privacy._ledger_text import ledger_html, ledger_text
from shoal.privacy._tally import Tally
from shoal.privacy.advisories import Advisory, read_advisories
from shoal.privacy.entries import Entry, LimitChange, Receipt
from shoal.privacy.events import Event
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.limits import Limits
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit

__all__ = ["Ledger"]


class Ledger:
    """A privacy budget: records what is spent and refuses a spend that would exceed the limit.

    Pass one ledger to all estimators and mechanisms that use the same records; they charge it
    before they release anything. ``copy``, ``deepcopy`` and scikit-learn's ``clone`` return the
    same ledger, which may be used from several threads. With a ``path`` it is kept in a file, which
    several processes may share.

    Parameters
    ----------
    path : str or path-like, optional
        File of the ledger; a second file, ``<path>.head``, is kept beside it. Both are created if
        missing, readable by their owner only (on Windows, by everyone who may read the folder).
        Without a path the ledger lives in this process and cannot be pickled.
    epsilon : float, optional
        Limit on the total epsilon. Required for a new ledger; an existing file has its limit.
        With ``math.inf`` a ledger refuses nothing and only counts; it takes no other limits.
    delta : float, default=0.0
        Limit on the total delta. At 0 the pure epsilons add up, and nothing else is accepted.
    metric_epsilon : float, optional
        Limit on metric spends, per ``metric_unit``; they are counted separately. Without it they
        are refused.
    metric_unit : str, default=""
        The unit of distance of ``metric_epsilon``, such as ``"km"``. Spends per another unit of the
        same kind are converted, all others refused.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which tables count as neighbors. In a ledger for substitution an add/remove spend counts
        twice; a substitution spend in a ledger for add/remove is refused.
    approximate_delta : float, optional
        The part of ``delta`` reserved for events that have a delta themselves; the rest pays for
        converting all others to (epsilon, delta). By default the first spend decides: all of it is
        for such events if it is one, all for the conversion if it is Gaussian, half each otherwise.
    gdp_delta : float, optional
        The part of ``delta`` that pays for adding up squares of mu (Gaussian differential privacy),
        which is exact for Gaussian noise. The rest of the conversion's part pays for adding up
        Rényi divergences, which is better for pure spends and needed for zCDP. By default the first
        spend decides this too: nine tenths of the conversion's part are for mu if it is Gaussian,
        all if it needs all, nothing otherwise.
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        What the limit protects: records or users. A spend on another unit is converted if that is
        proven (a guarantee for users counts twice for records), and refused otherwise.
    table : str, default=""
        Name of the table that the limit is for, given by the curator; by default that of the first
        spend with a name. A spend on a table of another name is refused: two tables need two
        ledgers, or one name.
    who : str, optional
        Who spends through this object; by default the name of the system's account.
    output : str, default=""
        Where the releases go that are charged through this object.

    Notes
    -----
    With ``delta > 0`` a spend is accepted if any of three totals stays within the limit: the sum of
    the epsilons; the sum of the Rényi divergences of one order, with which many small spends count
    for less; or the sum of the squares of mu, which is exact for Gaussian noise.
    ``proofs/ledger.md`` shows that all three may be used at once, even if earlier releases decide
    what is spent next, and why delta has to be divided before the first spend. Sums are exact; a
    total may exceed its limit by one part in 10^12, so that ten spends of 0.1 fit into 1.0.

    A spend with ``notion="local"`` protects the value of a record; that the person takes part is
    public. It counts toward the same limit as central spends, and ``spent`` has a guarantee for
    each: what central releases reveal under add/remove, and what reports reveal about a value.

    A :class:`~shoal.privacy.ShuffledEvent` is spent *instead of* the local event of the same
    report. Its (epsilon, delta) counts toward the limit, which is then about the analyst who sees
    shuffled batches. Its local epsilon is added up separately: ``spent`` states what holds without
    the shuffler. Disjoint batches (two rounds) are a single spend, that of the larger loss.

    A limit can be raised, and set where there was none, by :meth:`set_limit`: the change is written
    into the ledger with a name and a reason, and nothing that was spent is forgotten.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureEvent
    >>> ledger = Ledger(epsilon=1.0)
    >>> entry = ledger.spend(PureEvent(epsilon=0.75), purpose="histogram")
    >>> ledger.remaining
    0.25
    >>> ledger.spend(PureEvent(epsilon=0.5))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    shoal.exceptions.BudgetExceededError: asked epsilon = 0.5, spent epsilon = 0.75 of 1, ...
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        metric_epsilon: float | None = None,
        metric_unit: str = "",
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
        approximate_delta: float | None = None,
        gdp_delta: float | None = None,
        privacy_unit: PrivacyUnit = RECORD,
        table: str = "",
        who: str | None = None,
        output: str = "",
    ) -> None:
        # What was not named is compared with no file's header; 1.0 only stands in for it there.
        asked = Limits(
            epsilon=1.0 if epsilon is None else epsilon,
            delta=delta,
            metric_epsilon=metric_epsilon,
            metric_unit=metric_unit,
            adjacency=adjacency,
            approximate_delta=approximate_delta,
            gdp_delta=gdp_delta,
            privacy_unit=privacy_unit,
            table=table,
        )
        self._head = Head()
        self._who = _login() if who is None else _numbers.text("who", who)
        self._table = asked.table
        self._output = _numbers.text("output", output)
        self._home = os.getpid()
        self._locks: dict[int, threading.Lock] = {}
        self._file = None if path is None else LedgerFile(_absolute(path))
        self._limits = asked
        self._consistent_in = -1
        self._account: Account | Tally
        self._restart()
        if self._file is not None:
            self._open(self._file, asked, complete=epsilon is not None)
        elif epsilon is None:
            raise ParameterError(
                "epsilon must be given for a new ledger, got None",
                parameter="epsilon",
                code="missing",
            )

    @property
    def path(self) -> str | None:
        """Absolute path of the file; None for a ledger in memory."""
        return None if self._file is None else self._file.path

    @property
    def limits(self) -> Limits:
        """The limits that are in force, as given, as read from the file, or as last raised."""
        with self._transaction(write=False):
            return self._account.limits

    @property
    def limit_changes(self) -> tuple[LimitChange, ...]:
        """All limits that were raised or set later, the oldest first."""
        with self._transaction(write=False):
            return tuple(self._changes)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All recorded spends, the oldest first."""
        with self._transaction(write=False):
            return tuple(self._entries)

    @property
    def spent(self) -> tuple[Guarantee, ...]:
        """Guarantees of all recorded spends together, one per notion; empty before the first spend.

        If all spends are pure, the guarantee is their sum, as far as the limit allows it. Otherwise
        it is the limit itself, which holds however the spends were chosen; ``used`` is the part of
        it that is used up (``proofs/ledger.md``, "What spent says").
        """
        with self._transaction(write=False):
            return self._account.spent

    @property
    def used(self) -> float:
        """Fraction of the limit on epsilon and delta that is used up, at most 1."""
        with self._transaction(write=False):
            return self._account.used

    @property
    def table(self) -> str:
        """Name of the table that the limit is for; "" until a name is given."""
        with self._transaction(write=False):
            return self._named_table()

    @property
    def receipt(self) -> Receipt:
        """Number of entries, and the hash of the last line."""
        with self._transaction(write=False):
            return self._head.receipt if self._file is None else self._file.receipt

    @property
    def remaining(self) -> float:
        """Largest epsilon that one more pure event may have."""
        with self._transaction(write=False):
            return self._account.remaining

    def spend(
        self,
        event: Event,
        *,
        purpose: str = "",
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
        notion: Notion = "central",
        privacy_unit: PrivacyUnit = RECORD,
        seeded: bool = False,
        columns: Iterable[str] = (),
    ) -> Entry:
        """Record a spend, or refuse it and record nothing. Call it before drawing the noise.

        Parameters
        ----------
        event : Event
            What will be done to the records.
        purpose : str, default=""
            What the budget is spent on, in words; by default the purpose of the event.
        adjacency : Adjacency, default=Adjacency.ADD_REMOVE
            Which tables count as neighbors in the event's sensitivities.
        notion : {"central", "local", "metric", "shuffled"}, default="central"
            Notion of the guarantee; metric events are always ``"metric"``, shuffled events
            ``"shuffled"``.
        privacy_unit : PrivacyUnit, default=PrivacyUnit()
            The unit, record or user, that the event's sensitivities are about.
        seeded : bool, default=False
            Whether the noise will come from a seed, so that the release has no guarantee; the spend
            counts all the same.
        columns : iterable of str, default=()
            Names of the columns that are used.

        Returns
        -------
        entry : Entry
            What was recorded; if the ledger has a file, it is written by now. Pass its ``receipt``
            to the release.

        Raises
        ------
        BudgetExceededError
            If the spend would exceed a limit.
        GuaranteeError
            If this ledger cannot count the event's kind of guarantee.
        LedgerFileError
            If the file is damaged or cannot be written.
        """
        _check_event(event)
        entry = Entry(
            time=Entry.now(),
            event=event,
            purpose=_numbers.text("purpose", purpose) or event.purpose,
            adjacency=adjacency,
            notion=notion,
            privacy_unit=privacy_unit,
            seeded=seeded,
            who=self._who,
            table=self._table,
            columns=columns,  # type: ignore[arg-type]  # an entry makes a tuple of them
            output=self._output,
        )
        with self._transaction(write=True) as descriptor:
            price = self._check(entry)
            return self._append(descriptor, replace(entry, time=Entry.now()), price)

    def check(
        self,
        event: Event,
        *,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
        notion: Notion = "central",
        privacy_unit: PrivacyUnit = RECORD,
    ) -> None:
        """Raise if ``spend`` would refuse this event now; nothing is recorded or reserved.

        Call it before long work that ends in a release, and ``spend`` when the work is done. Others
        may have spent in between, so ``spend`` may still refuse.

        Parameters
        ----------
        event, adjacency, notion, privacy_unit
            As for ``spend``.

        Raises
        ------
        BudgetExceededError, GuaranteeError, LedgerFileError
            As ``spend`` does.

        Examples
        --------
        >>> from shoal.privacy import Ledger, PureEvent
        >>> ledger = Ledger(epsilon=1.0)
        >>> ledger.check(PureEvent(epsilon=1.0))
        >>> len(ledger)
        0
        """
        _check_event(event)
        entry = Entry(
            time=Entry.now(),
            event=event,
            purpose="",
            adjacency=adjacency,
            notion=notion,
            privacy_unit=privacy_unit,
            table=self._table,
        )
        # As for a spend: a file that cannot be written to cannot pay either.
        with self._transaction(write=True):
            self._check(entry)

    def set_limit(
        self,
        *,
        reason: str,
        epsilon: float | None = None,
        delta: float | None = None,
        metric_epsilon: float | None = None,
        metric_unit: str | None = None,
    ) -> LimitChange:
        """Raise the limit, or set one where there is none; a limit is never lowered.

        The change is a line of the ledger, as safe from later edits as those of spends, with the
        name of who asked for it (``who`` of the ledger). What was spent before stays counted: its
        epsilons, or all of the old limit where they were added up for less, and all of the old
        ``delta``. So Gaussian noise needs a larger ``delta`` too.

        Parameters
        ----------
        reason : str
            Why more may be spent on the people in the table.
        epsilon, delta, metric_epsilon : float, optional
            The new limits; what is left out stays as it is.
        metric_unit : str, optional
            The unit of ``metric_epsilon``, if there was no limit on metric spends before.

        Returns
        -------
        change : LimitChange
            What was recorded; if the ledger has a file, it is written by now.

        Raises
        ------
        ParameterError
            If a limit is lower than before, nothing changes, or nobody gives a reason.
        BudgetExceededError
            If more was spent, before there was a limit, than the first one allows.
        LedgerFileError
            If the file is damaged or cannot be written.

        Examples
        --------
        >>> from shoal.privacy import Ledger, PureEvent
        >>> ledger = Ledger(epsilon=1.0, who="ada")
        >>> entry = ledger.spend(PureEvent(epsilon=1.0))
        >>> change = ledger.set_limit(epsilon=1.5, reason="the board agreed on 3 May")
        >>> ledger.remaining, [change.reason for change in ledger.limit_changes]
        (0.5, ['the board agreed on 3 May'])
        """
        given = {
            "epsilon": epsilon,
            "delta": delta,
            "metric_epsilon": metric_epsilon,
            "metric_unit": metric_unit,
        }
        wanted: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        with self._transaction(write=True) as descriptor:
            before = self._account.limits
            limits = replace(before, **wanted)
            if limits == before or limits.unlimited:
                raise ParameterError(
                    "epsilon, delta or metric_epsilon must be larger than the limit in force, "
                    f"got {wanted}",
                    parameter="epsilon",
                    code="range",
                )
            change = LimitChange(Entry.now(), self._who, reason, before, limits)
            # In a copy: an interrupt before the line is written must leave no larger limit behind.
            raised = copy.deepcopy(self._account).change(limits)
            change = replace(change, receipt=self._write(descriptor, change.to_dict()))
            self._account = raised
            self._changes.append(change)
            self._consistent_in = os.getpid()
            return change

    def verify(self) -> tuple[tuple[Entry, Advisory], ...]:
        """Read every line again, and name the entries whose promise is known to be broken.

        Each entry holds the version of shoal that made it. A flaw that is found later is written
        into the list of advisories of the next version: ask the newest one.

        Returns
        -------
        broken : tuple of (Entry, Advisory)
            Each entry with each advisory that concerns it, in the order of the entries.

        Raises
        ------
        LedgerFileError
            If the file is damaged.

        Examples
        --------
        >>> from shoal.privacy import Ledger, PureEvent
        >>> ledger = Ledger(epsilon=1.0)
        >>> entry = ledger.spend(PureEvent(epsilon=0.5))
        >>> ledger.verify()
        ()
        """
        advisories = read_advisories()
        if self._file is not None:
            self._consistent_in = -1  # so that the file is read from its beginning
        found = ((entry, one) for entry in self.entries for one in advisories)
        return tuple((entry, one) for entry, one in found if one.concerns(entry))

    def paid_for(self, receipt: Receipt) -> bool:
        """Return whether this ledger holds the entry that a release was charged to.

        Parameters
        ----------
        receipt : Receipt
            The receipt of the release, ``release.ledger``.

        Returns
        -------
        paid : bool
            False if the ledger was rolled back to before that entry, or is another ledger.

        Examples
        --------
        >>> from shoal.privacy import Ledger, PureEvent
        >>> ledger = Ledger(epsilon=1.0)
        >>> receipt = ledger.spend(PureEvent(epsilon=0.5)).receipt
        >>> ledger.paid_for(receipt), Ledger(epsilon=1.0).paid_for(receipt)
        (True, False)
        """
        return any(entry.receipt == receipt for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __bool__(self) -> bool:
        return True  # an empty ledger is still a ledger: `if ledger:` must not skip it

    def __repr__(self) -> str:
        where = "" if self.path is None else f"{self.path!r}, "
        return f"Ledger({where}epsilon={self._limits.epsilon!r}, delta={self._limits.delta!r})"

    def __str__(self) -> str:
        return ledger_text(self)

    def _repr_html_(self) -> str:
        return ledger_html(self)

    def __copy__(self) -> Self:
        return self  # a copy that counted on its own would double the limit

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise LedgerPicklingError(
                "a ledger in memory cannot travel to another process or into a pickle",
                in_python="use Ledger(path=...)",
            )
        return _reopened, (type(self), self.path, self._table, self._who, self._output)

    def _open(self, file: LedgerFile, asked: Limits, *, complete: bool) -> None:
        """Create or join the file; its header decides, and must agree with what was asked."""
        file.start(asked.to_dict() if complete else None)
        with file.locked(write=False) as descriptor:
            self._limits = file.read_new(descriptor, _header_limits, at_most=1)[0]
        self._restart()
        # A ledger without a table's name takes any; `spend` compares it with earlier spends.
        table = self._limits.table if not (asked.table and self._limits.table) else asked.table
        given = replace(asked, table=table)
        with self._transaction(write=False):
            known = self._account.limits, self._limits  # as raised since, and as declared
        different: list[str] = []
        for limits in known:
            named = given if complete else replace(given, epsilon=limits.epsilon)
            different = named.differences(limits, ignore_defaults=not complete)
            if not different:
                return
        raise LedgerFileError(
            f"{self.path} was declared with another {' and '.join(different)}",
            parameter="limits",
            code="conflict",
            in_python="open it as Ledger(path) to take its limits, and raise them by set_limit",
        )

    @contextlib.contextmanager
    def _transaction(self, *, write: bool) -> Iterator[int]:
        """Hold the locks, with everything read that any process recorded so far."""
        process = os.getpid()
        if self._file is None and process != self._home:
            raise LedgerPicklingError(
                "a ledger in memory stays with its process",
                in_python="in a fork, use Ledger(path=...)",
            )
        # A forked child may inherit a lock that nobody will release, hence one per process.
        with self._locks.setdefault(process, threading.Lock()):
            if self._file is None:
                yield -1
                return
            if self._consistent_in != process:
                self._restart()
            with self._file.locked(write=write) as descriptor:
                self._consistent_in = -1
                self._catch_up(self._file, descriptor)
                self._consistent_in = process
                yield descriptor

    def _restart(self) -> None:
        if self._file is not None:
            self._file.rewind()
        else:
            _, self._head = Head().after(new_header(self._limits.to_dict()))
        unlimited = self._limits.unlimited
        self._account = Tally(self._limits) if unlimited else Account(self._limits)
        self._entries: list[Entry] = []
        self._changes: list[LimitChange] = []
        self._consistent_in = os.getpid()

    def _catch_up(self, file: LedgerFile, descriptor: int) -> None:
        if file.at_start:
            found = file.read_new(descriptor, _header_limits, at_most=1)
            if found != [self._limits]:
                raise LedgerFileError(f"{file.path} changed its header: restore it from a copy")
        for line in file.read_new(descriptor, _parsed):
            try:
                if isinstance(line, LimitChange):
                    if line.before != self._account.limits:
                        raise ParameterError("before must be the limits in force, got others")
                    self._account = self._account.change(line.limits)
                    self._changes.append(line)
                else:
                    self._record(line, self._price(line))
            except ShoalError as damage:
                number = 0 if line.receipt is None else line.receipt.count + 1
                raise LedgerFileError(
                    f"{file.path} is damaged at line {number} ({damage}): restore it from a copy"
                ) from damage

    def _price(self, entry: Entry) -> Price:
        return self._account.price(
            entry.event, entry.adjacency, entry.notion, entry.privacy_unit, seeded=entry.seeded
        )

    def _check(self, entry: Entry) -> Price:
        named = self._named_table()
        if entry.table and named and entry.table != named:
            raise GuaranteeError(
                f"this ledger counts what is spent on the table {named!r}, not on "
                f"{entry.table!r}: give both one name if they are about the same people, or charge "
                "the ledger of the other people"
            )
        price = self._price(entry)
        self._account.check(price)
        return price

    def _append(self, descriptor: int, entry: Entry, price: Price) -> Entry:
        entry = replace(entry, notion=price.notion)
        if price.batches is not None:
            entry = replace(entry, adjacency=Adjacency.SUBSTITUTE)
        entry = replace(entry, receipt=self._write(descriptor, entry.to_dict()))
        self._record(entry, price)
        self._consistent_in = os.getpid()
        return entry

    def _write(self, descriptor: int, content: dict[str, Any]) -> Receipt:
        """Append a line; the caller counts it and says that the totals are those of the file."""
        # Until then an interrupt would leave the totals behind the file.
        self._consistent_in = -1
        if self._file is not None:
            return self._file.append(descriptor, content)
        _, self._head = self._head.after(content)
        return self._head.receipt

    def _record(self, entry: Entry, price: Price) -> None:
        self._account.add(price)
        self._entries.append(entry)

    def _named_table(self) -> str:
        names = (entry.table for entry in self._entries if entry.table)
        return self._limits.table or next(names, "")


def _parsed(plain: Mapping[str, Any], receipt: Receipt) -> Entry | LimitChange:
    kind = LimitChange if "limits" in plain else Entry
    return kind.from_dict(plain, receipt)


def _reopened(kind: type[Ledger], path: str, table: str, who: str, output: str) -> Ledger:
    return kind(path, table=table, who=who, output=output)


def _check_event(event: Event) -> None:
    _numbers.instance("event", event, Event)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may run without a name
        return ""


def _absolute(path: str | os.PathLike[str]) -> str:
    # Workers may run in another folder, and a link and its target must lock the same file.
    try:
        return str(Path(path).resolve())
    except (TypeError, ValueError, RuntimeError):
        raise ParameterError(
            f"path must be the path of a file, got {path!r}", parameter="path", code="type"
        ) from None


def _header_limits(plain: dict[str, Any], receipt: Receipt) -> Limits:
    return Limits.from_dict(open_header(plain))
