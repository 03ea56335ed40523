"""The errors shoal raises, all below :class:`ShoalError`.

::

    ShoalError
    ├── ParameterError (ValueError)         a parameter breaks its rule
    │   └── MissingBoundsError              public bounds were not given
    ├── DataError (ValueError)              the table of records cannot be used
    │   └── DataTypeError (TypeError)       ... because of what it holds
    ├── GuaranteeError (ValueError)         a promise cannot be converted that way
    ├── UnknownEventError (TypeError)       an event that no accountant understands
    ├── ReleaseError (ValueError)           a release that cannot be written or read
    ├── TrialError                          a trial of an experiment failed; the others are kept
    ├── LedgerError
    │   ├── BudgetExceededError             the spend would pass the limit; nothing was spent
    │   ├── LedgerFileError                 the ledger's file is damaged or disagrees
    │   └── LedgerPicklingError (TypeError) an in-memory ledger cannot travel
    └── MissingPackageError (ImportError)   an optional package is not installed

A message is one line: the parameter, the rule, the value, the way out. No message names a row or a
value of a record. A way out that is written in Python (a call, a class, a keyword) is passed as
``in_python``: the command line, whose users have none of these, puts its own in that place.
"""

__all__ = [
    "BudgetExceededError",
    "DataError",
    "DataTypeError",
    "GuaranteeError",
    "LedgerError",
    "LedgerFileError",
    "LedgerPicklingError",
    "MissingBoundsError",
    "MissingPackageError",
    "ParameterError",
    "ReleaseError",
    "ShoalError",
    "TrialError",
    "UnknownEventError",
]


class ShoalError(Exception):
    """Base of every error that shoal raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, in words for all users, and the way out if it needs no Python.
    parameter : str, default=""
        What the way out is about; the command line knows its own by this name.
    in_python : str, default=""
        The way out in Python.

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
    """A parameter breaks its rule."""


class MissingBoundsError(ParameterError):
    """Public bounds are needed and were not given."""


class DataError(ShoalError, ValueError):
    """The table of records cannot be used; the message names no row and no value."""


class DataTypeError(DataError, TypeError):
    """The table holds something that is not a number."""


class TrialError(ShoalError):
    """A trial of an experiment could not be run; what was done before is kept."""


class GuaranteeError(ShoalError, ValueError):
    """A guarantee cannot be converted or compared in the way asked for."""


class UnknownEventError(ShoalError, TypeError):
    """An event that no accountant understands, so it cannot be counted."""


class ReleaseError(ShoalError, ValueError):
    """A release cannot be written or read."""


class LedgerError(ShoalError):
    """Base of the errors of a ledger."""


class BudgetExceededError(LedgerError):
    """The spend would pass the limit; it was refused and nothing was recorded."""


class LedgerFileError(LedgerError):
    """The file of a ledger is damaged, unreadable, or disagrees with the call."""


class LedgerPicklingError(LedgerError, TypeError):
    """An in-memory ledger was asked to travel to another process."""


class MissingPackageError(ShoalError, ImportError):
    """An optional package is not installed."""
