"""Reports that are kept on the device and sent again, byte for byte.

An app that is asked again every day must not answer anew: fresh answers about one value add up, and
their average gives it away. What was once reported of a value in a campaign is kept and sent again;
a value that was not reported before is a new question, and a new spend.

What is promised (proofs/partition_response.md, "Sent again"): a value that never changes costs
epsilon once, however often it is sent; w different values cost w epsilon. *That* a value changed
shows, since the bytes change, and is not hidden.
"""

import contextlib
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from shoal import _numbers
from shoal._bounds import public_box
from shoal._files import atomic_write, sync_folder
from shoal._report_channel import channel_bounds
from shoal._typing import Floats
from shoal.exceptions import ParameterError, ReleaseError
from shoal.mechanisms._base import as_table
from shoal.mechanisms.partition_response import PartitionResponse
from shoal.noise import is_seeded
from shoal.tables import ArrayTable

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind
    fcntl = None  # type: ignore[assignment]

__all__ = ["ReportMemory"]

FORMAT = 1
KEY_BYTES = 32
DIGEST_BYTES = 16


class ReportMemory:
    """Report each value once a campaign, and send the same bytes again after that.

    The report is kept before it is handed out: a device that stops in between sends it when it is
    asked again. Where nothing can be kept, nothing is reported.

    Parameters
    ----------
    mechanism : PartitionResponse
        Draws the reports and charges its ledger: once for each value that was not reported before.
    campaign : str
        What is asked for; each campaign has reports of its own. Public: it is written as it is.
    path : path-like, default=None
        A file of this device, made if it is not there, that only its owner may read; several
        processes may share it. None keeps reports in memory, for one process. The file holds no
        record, only a keyed hash of each value. The key is in the file too: whoever has the file
        can still try out guesses, and sees how many values there were.

    Examples
    --------
    >>> from shoal.mechanisms import PartitionResponse, ReportMemory
    >>> mechanism = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    >>> memory = ReportMemory(mechanism, campaign="places, autumn")
    >>> today = memory.report([0.2, 0.7])
    >>> memory.report([0.2, 0.7]) == today, len(today)
    (True, 2)
    """

    def __init__(
        self,
        mechanism: PartitionResponse,
        *,
        campaign: str,
        path: "str | os.PathLike[str] | None" = None,
    ) -> None:
        if not isinstance(mechanism, PartitionResponse):
            raise ParameterError(
                f"mechanism must be a PartitionResponse, got {type(mechanism).__name__}"
            )
        self.mechanism = mechanism
        self.campaign = _numbers.printable("campaign", campaign)
        if not campaign:
            raise ParameterError("campaign must be a name, got ''")
        self.path = None if path is None else Path(path).absolute()
        try:
            _digest_of(mechanism)
        except NotFittedError:
            raise ParameterError(
                "mechanism must be fitted where its bounds are two numbers, got one that is not: "
                "give bounds one value for each column"
            ) from None
        self._kept = _Kept(secrets.token_bytes(KEY_BYTES), {})
        self._home = os.getpid()
        self._locks: dict[int, threading.Lock] = {}

    def report(self, x: Any) -> bytes:
        """Return the bytes to send: those of before where this value was reported before.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record, as ``mechanism.randomize`` takes it. Two records are the same value if they
            are equal in every column after they were clipped to the bounds: round them first where
            small changes are none.

        Returns
        -------
        encoded : bytes
            One report, as ``mechanism.decode`` reads it.

        Raises
        ------
        BudgetExceededError
            If this is a new value and the mechanism's ledger refuses it; nothing is changed.
        ParameterError
            If the campaign's reports were drawn with other parameters; nothing is changed.
        ReleaseError
            If the file is damaged or cannot be written.
        """
        value = self._value(x)
        parameters = _digest_of(self.mechanism)
        with self._alone():  # nobody else may draw for this value meanwhile
            kept = self._read()
            reports = kept.reports(self.campaign, parameters)
            name = kept.name(self.campaign, value)
            if name in reports:
                return reports[name]
            self._write(kept)  # where nothing can be kept, nothing is spent
            encoded = self.mechanism.encode(self.mechanism.randomize(x))
            self._write(kept.with_report(self.campaign, parameters, name, encoded))
        return encoded

    def __getstate__(self) -> dict[str, Any]:
        # For copies and pickles: each copy in memory would draw a report of its own.
        if self.path is None:
            raise ParameterError(
                "path must be given for a copy of kept reports, got None: two copies would report "
                "one value twice"
            )
        return {**self.__dict__, "_locks": {}}

    def _value(self, x: Any) -> bytes:
        """Return what makes a record this value: its columns, encoded and clipped."""
        mechanism = self.mechanism
        record: Any = mechanism._one_record(x)
        if record is None:
            table = mechanism._open_table(as_table(x, mechanism.schema))
            if not isinstance(table, ArrayTable) or len(table.X) != 1:
                raise ParameterError("x must be one record, got a table")
            record = table.doubles()[0]
        box = public_box(channel_bounds(mechanism), len(record))
        clipped: Floats = np.clip(record, box.low, box.high) + 0.0  # 0 and -0 are equal
        return clipped.tobytes()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads and processes out."""
        process = os.getpid()
        if self.path is None and process != self._home:
            raise ParameterError(
                "path must be given for reports in a fork, got None: what is kept in memory stays "
                "with its process"
            )
        # A forked child may inherit a lock that nobody will release, hence one per process.
        with self._locks.setdefault(process, threading.Lock()):
            if self.path is None:
                yield
                return
            with _locked(self.path):
                yield

    def _read(self) -> "_Kept":
        if self.path is None:
            return self._kept
        try:
            text = self.path.read_text(encoding="ascii")
        except FileNotFoundError:
            return _Kept(secrets.token_bytes(KEY_BYTES), {})
        except OSError as failure:
            raise _unusable(self.path, failure) from failure
        except ValueError:
            raise _damaged(self.path) from None
        return _Kept.from_json(text, self.path)

    def _write(self, kept: "_Kept") -> None:
        if self.path is None:
            self._kept = kept
            return
        try:
            with atomic_write(self.path) as part:
                part.touch(mode=0o600)
                part.write_text(kept.to_json(), encoding="ascii")
            sync_folder(self.path.parent)
        except OSError as failure:
            raise _unusable(self.path, failure) from failure


class _Kept(NamedTuple):
    """Of each campaign: a digest of the mechanism, and reports by the name of a value."""

    key: bytes
    campaigns: Mapping[str, tuple[str, Mapping[str, bytes]]]

    def name(self, campaign: str, value: bytes) -> str:
        """Return the keyed hash of a value: without the key it tells nothing."""
        digest = hashlib.blake2b(key=self.key, digest_size=DIGEST_BYTES)
        digest.update(len(value).to_bytes(8, "little") + value + campaign.encode())
        return digest.hexdigest()

    def reports(self, campaign: str, parameters: str) -> Mapping[str, bytes]:
        """Return the reports of a campaign; refuse those that were drawn with other parameters."""
        drawn, reports = self.campaigns.get(campaign, (parameters, {}))
        if drawn != parameters:
            raise ParameterError(
                f"campaign must keep the parameters of its mechanism, got others for {campaign!r}: "
                "name another campaign"
            )
        return reports

    def with_report(self, campaign: str, parameters: str, name: str, encoded: bytes) -> Self:
        """Return the same with one report more."""
        reports = {**self.reports(campaign, parameters), name: encoded}
        return self._replace(campaigns={**self.campaigns, campaign: (parameters, reports)})

    def to_json(self) -> str:
        """Return the content of the file, with a digest by which damage is noticed."""
        campaigns = {
            campaign: {
                "parameters": parameters,
                "reports": {name: one.hex() for name, one in reports.items()},
            }
            for campaign, (parameters, reports) in self.campaigns.items()
        }
        plain = {"campaigns": campaigns, "key": self.key.hex(), "shoal_report_memory": FORMAT}
        digest = hashlib.blake2b(_json(plain).encode(), digest_size=DIGEST_BYTES).hexdigest()
        return _json({**plain, "digest": digest}) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> Self:
        """Rebuild what was kept, strictly."""
        try:
            plain = json.loads(text)
            campaigns = {
                campaign: (
                    str(one["parameters"]),
                    {name: bytes.fromhex(report) for name, report in one["reports"].items()},
                )
                for campaign, one in plain["campaigns"].items()
            }
            kept = cls(bytes.fromhex(plain["key"]), campaigns)
            whole = kept.to_json() == text and len(kept.key) == KEY_BYTES
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            whole = False
        if not whole:
            raise _damaged(path)
        return kept


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a file beside this one, which is replaced whenever it is written."""
    if fcntl is None:
        raise ReleaseError("kept reports need POSIX file locks, which this system lacks")
    beside = path.with_name(f"{path.name}.lock")
    try:
        # A new descriptor each time: a lock belongs to the open file, which forked children share.
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as failure:
        raise _unusable(path, failure) from failure
    owner = os.getpid()
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if os.getpid() == owner:  # closing alone would leave it to children forked meanwhile
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _digest_of(mechanism: PartitionResponse) -> str:
    """Return a hash of all that decides what a report means."""
    plain = {
        "epsilon": float(mechanism.epsilon),
        "first_partition": int(mechanism.first_partition),
        "partitions": mechanism.partitions_.to_dict(),
        "seeded": is_seeded(mechanism.random_state),  # such reports promise nothing, also later
        "schema": None if mechanism.schema is None else mechanism.schema.to_dict(),
    }
    return hashlib.blake2b(_json(plain).encode(), digest_size=DIGEST_BYTES).hexdigest()


def _json(plain: Any) -> str:
    return json.dumps(plain, separators=(",", ":"), sort_keys=True)


def _unusable(path: Path, failure: OSError) -> ReleaseError:
    return ReleaseError(f"{path} cannot keep reports: {failure.strerror}; none was handed out")


def _damaged(path: Path) -> ReleaseError:
    return ReleaseError(
        f"{path} is damaged or no file of kept reports: restore it from a copy, or choose another "
        "path, where each value is a new spend"
    )
