"""The errors that shoal raises; all are subclasses of :class:`ShoalError`.

::

    ShoalError
    ├── ParameterError (ValueError)         a parameter has a value that is not allowed
    │   └── MissingBoundsError              public bounds were not given
    ├── DataError (ValueError)              the records cannot be used
    │   └── DataTypeError (TypeError)       ... because of their type
    ├── GuaranteeError (ValueError)         a guarantee cannot be converted that way
    ├── UnknownEventError (TypeError)       the privacy loss of an event is unknown
    ├── ReleaseError (ValueError)           a release that cannot be written or read
    ├── CampaignError (ValueError)          a campaign's document is broken, forged or weaker
    ├── DeliveryError                       a collector was not reached or refused; reports are kept
    ├── TrialError                          a trial of an experiment failed; the others are kept
    ├── LedgerError
    │   ├── BudgetExceededError             the spend would exceed the limit; nothing was spent
    │   ├── LedgerFileError                 the ledger's file is damaged or disagrees
    │   └── LedgerPicklingError (TypeError) an in-memory ledger cannot be pickled
    ├── StoreError                          the collector's database cannot be used as it is
    │   └── StoreUnavailableError           ... now: nothing was stored, trying again is safe
    └── MissingPackageError (ImportError)   an optional package is not installed

A message is one line: the parameter, the rule, the value, and what to do. No message names a row or
a value of a record. Advice that is written in Python (a call, a class, a keyword) is passed as
``in_python``: the command line replaces it with advice for its own users.
"""

__all__ = [
    "BudgetExceededError",
    "CampaignError",
    "DataError",
    "DataTypeError",
    "DeliveryError",
    "GuaranteeError",
    "LedgerError",
    "LedgerFileError",
    "LedgerPicklingError",
    "MissingBoundsError",
    "MissingPackageError",
    "ParameterError",
    "ReleaseError",
    "ShoalError",
    "StoreError",
    "StoreUnavailableError",
    "TrialError",
    "UnknownEventError",
]


class ShoalError(Exception):
    """Base class of all errors of shoal.

    Parameters
    ----------
    message : str
        What is wrong and, unless it is written in Python, what to do about it.
    parameter : str, default=""
        Name of the parameter at fault, by which the command line finds its own advice.
    in_python : str, default=""
        What to do about it, in Python.

    Examples
    --------
    >>> error = ShoalError("bounds must be given", parameter="bounds", in_python="pass bounds=")
    >>> str(error), error.message
    ('bounds must be given: pass bounds=', 'bounds must be given')
    """

    def __init__(self, message: object = "", *, parameter: str = "", in_python: str = "") -> None:
        self.message = str(message)
        self.parameter = parameter
        self.in_python = in_python
        super().__init__(f"{message}: {in_python}" if in_python else message)


class ParameterError(ShoalError, ValueError):
    """A parameter has a value that is not allowed."""


class MissingBoundsError(ParameterError):
    """Public bounds are required and were not given."""


class DataError(ShoalError, ValueError):
    """The records cannot be used; the message names no row and no value."""


class DataTypeError(DataError, TypeError):
    """The records, or values in them, are of a type that cannot be used."""


class TrialError(ShoalError):
    """A trial of an experiment failed; the results of earlier trials are kept."""


class GuaranteeError(ShoalError, ValueError):
    """A guarantee cannot be converted, compared or counted in the way asked for."""


class UnknownEventError(ShoalError, TypeError):
    """The privacy loss of an event is unknown, so it cannot be counted."""


class ReleaseError(ShoalError, ValueError):
    """A release cannot be written or read."""


class CampaignError(ShoalError, ValueError):
    """A campaign's document is invalid, not signed by the pinned key, or weakens its guarantee."""


class DeliveryError(ShoalError):
    """A collector was not reached or refused; the device keeps the same report to send later.

    Parameters
    ----------
    message : str
        What happened, and what to do.
    final : bool, default=False
        True if trying again without a change is useless.
    wait : float, default=None
        Seconds to wait before trying again, if the collector asked for that.
    """

    def __init__(
        self, message: object = "", *, final: bool = False, wait: float | None = None
    ) -> None:
        self.final = final
        self.wait = wait
        super().__init__(message)


class LedgerError(ShoalError):
    """Base class of the errors of a ledger."""


class BudgetExceededError(LedgerError):
    """A spend would exceed the limit; it was refused and nothing was recorded."""


class LedgerFileError(LedgerError):
    """The file of a ledger is damaged, unreadable, or disagrees with the call."""


class LedgerPicklingError(LedgerError, TypeError):
    """An in-memory ledger cannot be pickled or sent to another process."""


class StoreError(ShoalError):
    """The database of a collector cannot be used, or does not hold what was asked for."""


class StoreUnavailableError(StoreError):
    """The database cannot be used now: it is locked, full or away. Trying again is safe.

    Parameters
    ----------
    message : str
        What is wrong.
    retry_after : int, default=1
        Seconds after which to try again.
    """

    def __init__(self, message: object = "", *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MissingPackageError(ShoalError, ImportError):
    """An optional package is not installed."""
