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

Programs tell errors apart by ``code``, one of ``CODES``, and by ``parameter``, the name of the
argument at fault in the signature that was called; messages may be reworded at any time.
"""

from typing import ClassVar, Final, Literal

__all__ = [
    "CODES",
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


#: Names of the reasons for which errors are raised.
Code = Literal[
    "budget",
    "campaign",
    "choice",
    "columns",
    "conflict",
    "delivery",
    "duplicate",
    "empty",
    "event",
    "failed",
    "file",
    "finite",
    "format",
    "guarantee",
    "incomplete",
    "missing",
    "order",
    "package",
    "pickling",
    "positive",
    "range",
    "records",
    "resolution",
    "seeded",
    "shape",
    "size",
    "store",
    "text",
    "type",
    "unavailable",
    "unexpected",
    "unknown",
    "unsupported",
    "value",
    "whole",
]

#: What each code of an error means; the list is closed.
CODES: Final[dict[Code, str]] = {
    "budget": "A spend would exceed the limit of a ledger, or the limit does not cover its kind.",
    "campaign": "The document of a campaign is invalid, forged, or weaker than the one agreed to.",
    "choice": "The value is not one of the values that are allowed.",
    "columns": "The table has other columns than those it must have, or another number of them.",
    "conflict": "The value contradicts another parameter, the records, or the document.",
    "delivery": "A collector was not reached or refused the reports.",
    "duplicate": "Something that must be named once is named more often.",
    "empty": "There is nothing where at least one thing is needed.",
    "event": "The privacy loss of an event is unknown.",
    "failed": "Something went wrong that no other code describes.",
    "file": "A file cannot be read or written, or its content is damaged.",
    "finite": "A number is NaN, infinite, missing, or too large for a float64.",
    "format": "A document or an encoded value does not have the form that its format asks for.",
    "guarantee": "The guarantee cannot be converted, compared or counted like this.",
    "incomplete": "A description leaves out what must be public, such as bounds or categories.",
    "missing": "The value is required and was not given.",
    "order": "Numbers that must increase do not: low below high, minimum below maximum.",
    "package": "An optional package is not installed.",
    "pickling": "The object cannot be pickled or sent to another process.",
    "positive": "The number must be finite and above 0.",
    "range": "The number lies outside its limits.",
    "records": "The records cannot be used for a reason that no other code describes.",
    "resolution": "Exact noise has no room: the number is too small or too large for any lattice.",
    "seeded": "Randomness is seeded, or repeats, where it must be fresh.",
    "shape": "The value has the wrong length or the wrong number of dimensions.",
    "size": "The work or the result would be larger than the library allows.",
    "store": "The database of a collector cannot be used, or does not hold what was asked for.",
    "text": "The text is not written as it must be.",
    "type": "The value is of a type that cannot be used.",
    "unavailable": "The database cannot be used now; trying again is safe.",
    "unexpected": "The value must be left out here.",
    "unknown": "There is nothing of this name.",
    "unsupported": "The value is allowed elsewhere, but not together with this method or table.",
    "value": "The value is not allowed for a reason that no other code describes.",
    "whole": "The number must be a whole number.",
}


class ShoalError(Exception):
    """Base class of all errors of shoal.

    Parameters
    ----------
    message : str
        What is wrong and, unless it is written in Python, what to do about it.
    parameter : str, default=""
        Name of the parameter at fault, as the signature has it; empty where none is.
    code : str, optional
        Why, one of ``CODES``; by default the code of the class.
    in_python : str, default=""
        What to do about it, in Python. The command line has its own advice for a parameter and a
        code.

    Raises
    ------
    ValueError
        If the code is not one of ``CODES``.

    Examples
    --------
    >>> error = ShoalError(
    ...     "bounds must be given", parameter="bounds", code="missing", in_python="pass bounds="
    ... )
    >>> str(error), error.message
    ('bounds must be given: pass bounds=', 'bounds must be given')
    >>> error.parameter, error.code, CODES[error.code]
    ('bounds', 'missing', 'The value is required and was not given.')
    """

    default_code: ClassVar[Code] = "failed"
    default_parameter: ClassVar[str] = ""

    def __init__(
        self,
        message: object = "",
        *,
        parameter: str | None = None,
        code: Code | None = None,
        in_python: str = "",
    ) -> None:
        self.code: Code = self.default_code if code is None else code
        if self.code not in CODES:
            raise ValueError(f"code must be one of {', '.join(CODES)}, got {code!r}")
        self.message = str(message)
        self.parameter = self.default_parameter if parameter is None else parameter
        self.in_python = in_python
        super().__init__(f"{message}: {in_python}" if in_python else message)


class ParameterError(ShoalError, ValueError):
    """A parameter has a value that is not allowed."""

    default_code: ClassVar[Code] = "value"


class MissingBoundsError(ParameterError):
    """Public bounds are required and were not given."""

    default_code: ClassVar[Code] = "missing"
    default_parameter = "bounds"


class DataError(ShoalError, ValueError):
    """The records cannot be used; the message names no row and no value."""

    default_code: ClassVar[Code] = "records"
    default_parameter = "X"


class DataTypeError(DataError, TypeError):
    """The records, or values in them, are of a type that cannot be used."""

    default_code: ClassVar[Code] = "type"


class TrialError(ShoalError):
    """A trial of an experiment failed; the results of earlier trials are kept."""


class GuaranteeError(ShoalError, ValueError):
    """A guarantee cannot be converted, compared or counted in the way asked for."""

    default_code: ClassVar[Code] = "guarantee"


class UnknownEventError(ShoalError, TypeError):
    """The privacy loss of an event is unknown, so it cannot be counted."""

    default_code: ClassVar[Code] = "event"


class ReleaseError(ShoalError, ValueError):
    """A release cannot be written or read."""

    default_code: ClassVar[Code] = "format"


class CampaignError(ShoalError, ValueError):
    """A campaign's document is invalid, not signed by the pinned key, or weakens its guarantee."""

    default_code: ClassVar[Code] = "campaign"


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
    parameter, code
        As of every :class:`ShoalError`.
    """

    default_code: ClassVar[Code] = "delivery"

    def __init__(
        self,
        message: object = "",
        *,
        final: bool = False,
        wait: float | None = None,
        parameter: str | None = None,
        code: Code | None = None,
    ) -> None:
        self.final = final
        self.wait = wait
        super().__init__(message, parameter=parameter, code=code)


class LedgerError(ShoalError):
    """Base class of the errors of a ledger."""


class BudgetExceededError(LedgerError):
    """A spend would exceed the limit; it was refused and nothing was recorded."""

    default_code: ClassVar[Code] = "budget"


class LedgerFileError(LedgerError):
    """The file of a ledger is damaged, unreadable, or disagrees with the call."""

    default_code: ClassVar[Code] = "file"


class LedgerPicklingError(LedgerError, TypeError):
    """An in-memory ledger cannot be pickled or sent to another process."""

    default_code: ClassVar[Code] = "pickling"


class StoreError(ShoalError):
    """The database of a collector cannot be used, or does not hold what was asked for."""

    default_code: ClassVar[Code] = "store"


class StoreUnavailableError(StoreError):
    """The database cannot be used now: it is locked, full or away. Trying again is safe.

    Parameters
    ----------
    message : str
        What is wrong.
    retry_after : int, default=1
        Seconds after which to try again.
    parameter, code
        As of every :class:`ShoalError`.
    """

    default_code: ClassVar[Code] = "unavailable"

    def __init__(
        self,
        message: object = "",
        *,
        retry_after: int = 1,
        parameter: str | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(message, parameter=parameter, code=code)
        self.retry_after = retry_after


class MissingPackageError(ShoalError, ImportError):
    """An optional package is not installed."""

    default_code: ClassVar[Code] = "package"
