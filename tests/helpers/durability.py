"""Is every acknowledged submission there once? A sender that notes what it was told, and a check.

The sender writes a number to a file after each acknowledgement and before its next submission, with
O_APPEND: what is in the file was acknowledged, whoever was killed when. A submission is told by its
number: key and reports follow from it, and the reports give it back.

`send_forever` works on anything with `submit`; `write_forever` is a process that writes to a store,
to be killed. A process that starts again sends first what was not acknowledged, as devices do.
"""

import asyncio
import itertools
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from shoal.collector.store import GroupCommit, Outcome, Store, StoreUnavailableError, Submission

SENDERS = 16
REPORTS = 4  # a submission: four reports of ten bits each hold its number
BITS, WIDTH = 10, 2
RETRY_SECONDS = 0.05


class AcknowledgedLog:
    """The numbers that were acknowledged, one a line, in a file that survives their writer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)

    def note(self, number: int) -> None:
        """Write one number; one call of the system, so it is there whole or not at all."""
        os.write(self._file, b"%d\n" % number)

    def numbers(self) -> list[int]:
        """Return all numbers, in the order of their acknowledgement."""
        return [int(line) for line in self._path.read_bytes().split()]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def key_of(number: int) -> str:
    """Return the idempotency key of a submission."""
    return f"submission-{number:012d}"


def body_of(number: int) -> bytes:
    """Return the reports of a submission, valid for `helpers.campaigns.MECHANISM`."""
    digits = (number >> BITS * place & (1 << BITS) - 1 for place in range(REPORTS))
    return b"".join(digit.to_bytes(WIDTH, "little") for digit in digits)


def numbers_of(content: bytes) -> Iterator[int]:
    """Return the numbers of submissions from all their reports."""
    size = REPORTS * WIDTH
    for start in range(0, len(content), size):
        body = content[start : start + size]
        digits = (body[place * WIDTH : (place + 1) * WIDTH] for place in range(REPORTS))
        yield sum(
            int.from_bytes(digit, "little") << BITS * place for place, digit in enumerate(digits)
        )


def unacknowledged(log: AcknowledgedLog) -> Iterator[int]:
    """Yield numbers to send: those that a killed sender may have left open, then new ones."""
    known = set(log.numbers())
    return (number for number in itertools.count() if number not in known)


async def send_forever(
    submit: Callable[[int], Awaitable[bool]], log: AcknowledgedLog, senders: int = SENDERS
) -> None:
    """Send submissions from many tasks; `submit` says whether one was acknowledged."""
    numbers = unacknowledged(log)

    async def send() -> None:
        for number in numbers:
            while not await submit(number):
                await asyncio.sleep(random.random() * RETRY_SECONDS)
            log.note(number)

    await asyncio.gather(*(send() for _ in range(senders)))


def write_forever(url: str, campaign: str, path: Path, senders: int = SENDERS) -> None:
    """Write to a store by group commit, until this process is killed."""

    async def run() -> None:
        log = AcknowledgedLog(path)
        with Store.open(url) as store:
            async with GroupCommit(store) as writer:

                async def submit(number: int) -> bool:
                    body = body_of(number)
                    sent = Submission(campaign, key_of(number).encode(), body, REPORTS)
                    try:
                        outcome = await writer.submit(sent)
                    except StoreUnavailableError:
                        return False
                    assert outcome in {Outcome.STORED, Outcome.DUPLICATE}
                    return True

                await send_forever(submit, log, senders)

    asyncio.run(run())


class Durability(NamedTuple):
    """What became of submissions."""

    n_acknowledged: int
    n_stored: int
    lost: list[int]
    twice: list[int]
    unknown: list[int]

    @property
    def holds(self) -> bool:
        """Whether all that was acknowledged is there, and nothing twice or of unknown origin."""
        return not (self.lost or self.twice or self.unknown)


def check_durability(
    blocks: Iterable[bytes], log: AcknowledgedLog, senders: int = SENDERS
) -> Durability:
    """Compare stored reports with what was acknowledged."""
    acknowledged = log.numbers()
    stored = Counter(numbers_of(b"".join(blocks)))
    # Numbers are sent in order: beyond the acknowledged ones only those on their way.
    end = max(acknowledged, default=-1) + 1 + senders
    return Durability(
        len(acknowledged),
        stored.total(),
        lost=sorted(set(acknowledged) - set(stored)),
        twice=sorted(number for number, times in stored.items() if times > 1),
        unknown=sorted(number for number in stored if number >= end),
    )
