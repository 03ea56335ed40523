"""Ask a collector, and ask again while the trouble is temporary; what is sent stays the same."""

import http
import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from shoal import _numbers
from shoal._optional import require
from shoal.client.transport import Answer, Request, Transport
from shoal.exceptions import DeliveryError, ParameterError

__all__ = ["Retries", "acknowledged", "ask", "refusal"]

TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
MAX_DIGITS = 9  # of seconds that a server may name


@dataclass(frozen=True)
class Retries:
    """Number of attempts to reach a collector, and the waiting time between them.

    The n-th wait is uniform between 0 and ``first_wait`` 2^n, at most ``max_wait``, so that devices
    that failed together do not come back together. If the server asks for a longer wait, the device
    waits that long; if that is more than ``max_wait``, it gives up.

    Parameters
    ----------
    attempts : int, default=4
        Largest number of attempts.
    first_wait, max_wait : float, default=0.5 and 30.0
        Waiting times in seconds.

    Examples
    --------
    >>> Retries(attempts=2).max_wait
    30.0
    """

    attempts: int = 4
    first_wait: float = 0.5
    max_wait: float = 30.0

    def __post_init__(self) -> None:
        """Check every field."""
        _numbers.count("attempts", self.attempts)
        _numbers.non_negative("first_wait", self.first_wait)
        if _numbers.non_negative("max_wait", self.max_wait) < self.first_wait:
            raise ParameterError(f"max_wait must be at least first_wait, got {self.max_wait!r}")

    def wait(self, attempt: int) -> float:
        """Return the seconds to wait after an attempt, counted from 0."""
        longest = min(self.max_wait, self.first_wait * 2.0 ** min(attempt, 64))
        return secrets.SystemRandom().uniform(0.0, longest)


def ask(transport: Transport, request: Request, retries: Retries) -> Answer:
    """Send a request until the answer is not a temporary refusal, and return the answer.

    Parameters
    ----------
    transport : Transport
        Sends the request.
    request : Request
        The request, the same in each attempt.
    retries : Retries
        Number of attempts and waiting times.

    Returns
    -------
    answer : Answer
        Answer with any status that further attempts would not change.

    Raises
    ------
    DeliveryError
        If there was no such answer; `wait` has the number of seconds that the server named last.

    Examples
    --------
    >>> from shoal.client import Answer, Request, Retries, ask
    >>> ask(lambda request: Answer(200, {}, b""), Request("GET", "https://a.org"), Retries()).status
    200
    """
    named: float | None = None
    for attempt in range(retries.attempts):
        if attempt:
            time.sleep(max(retries.wait(attempt - 1), named or 0.0))
        try:
            answer = transport(request)
        except OSError as failure:
            named, reason = None, f"no answer: {_reason(failure)}"
            continue
        if answer.status not in TEMPORARY:
            return answer
        named, reason = _named_wait(answer), f"status {_status(answer)}"
        if named is not None and named > retries.max_wait:
            break
    later = "" if named is None else f", in {named:.0f} s at the earliest"
    raise DeliveryError(f"{request.url} gave {reason}: try again later{later}", wait=named)


def acknowledged(answer: Answer) -> bool:
    """Return whether a collector says that it has stored the report."""
    if answer.status not in (200, 201):
        return False
    try:
        plain = json.loads(answer.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and plain.get("stored") == 1


def refusal(request: Request, answer: Answer) -> DeliveryError:
    """Return the error for an answer that no further attempt will change."""
    if answer.status < 300:
        return DeliveryError(
            f"{request.url} must answer as a collector does, got something else with status "
            f"{_status(answer)}: check the address"
        )
    hints = {401: ": check ingest_key", 403: ": check ingest_key", 410: ": the campaign is closed"}
    hint = hints.get(answer.status, "")
    return DeliveryError(
        f"{request.url} refused for good, status {_status(answer)}{hint}", final=True
    )


def _status(answer: Answer) -> str:
    """Format a status; the server's own words stay out, they may repeat what was sent."""
    try:
        return f"{answer.status} ({http.HTTPStatus(answer.status).phrase})"
    except ValueError:
        return str(answer.status)


def _reason(failure: OSError) -> str:
    cause = getattr(failure, "reason", failure)
    return str(getattr(cause, "strerror", None) or cause)[:200]


def _named_wait(answer: Answer) -> float | None:
    """Return the seconds of ``Retry-After``, which are a number or a date."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text[:MAX_DIGITS])
    try:
        date: datetime = require("email.utils", extra="").parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    moment = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
