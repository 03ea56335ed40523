"""Export of stored reports: a stream of Parquet or CSV, or a folder that ``shoal.tables`` opens.

Reports leave in blocks, as whoever reads them asks for more: memory is that of a block, no file
with reports is made on the way, and no transaction is open while a reader is slow. A reader that
goes away ends the stream. Columns have the names that ``shoal perturb`` gives them, in the order in
which the store reads reports, which is not that of arrival.
"""

import csv
import io
import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from shoal._files import hidden_sibling, rename_folder, sync_folder
from shoal._optional import require
from shoal._report_channel import PartitionChannel, numbered_names, report_names
from shoal._typing import Floats
from shoal.campaigns import Campaign, SignedCampaign
from shoal.collector.analysis import stored_reports
from shoal.collector.store import Snapshot, Store
from shoal.exceptions import ParameterError, ReleaseError
from shoal.mechanisms import save_beside

__all__ = ["EXPORTS", "MEDIA_TYPES", "export_table", "stream_csv", "stream_parquet"]

PART_BLOCKS = 64  # blocks of reports in a file of a folder: 4 million reports
MEDIA_TYPES = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv; charset=utf-8"}


def stream_csv(
    store: Store, signed: SignedCampaign, snapshot: Snapshot
) -> Generator[bytes, None, None]:
    """Yield the reports of a snapshot as CSV text, numbers in their shortest exact form.

    Parameters
    ----------
    store : Store
        Of the collector.
    signed : SignedCampaign
        Whose reports.
    snapshot : Snapshot
        Which of them.

    Yields
    ------
    part : bytes
        The line of names first, then a block of reports at a time.

    Raises
    ------
    StoreError
        At the end, if the reports are not those of the snapshot.
    """
    campaign = signed.campaign
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(report_names(campaign.mechanism))
    for block in _blocks(store, campaign, snapshot):
        yield _taken_text(text)
        writer.writerows(block.tolist())
    yield _taken_text(text)


def stream_parquet(
    store: Store, signed: SignedCampaign, snapshot: Snapshot
) -> Generator[bytes, None, None]:
    """Yield the reports of a snapshot as a Parquet file, a row group for each block.

    The document of the mechanism is in the metadata of the file's schema, under
    ``shoal.mechanism``; id and digest of the campaign and digest of the reports are beside it.

    Parameters
    ----------
    store, signed, snapshot
        As for :func:`stream_csv`.

    Yields
    ------
    part : bytes
        Consecutive parts of the file.

    Raises
    ------
    StoreError
        At the end, if the reports are not those of the snapshot; the file has no end then, so
        nothing opens it.
    """
    sink = _Sink()
    blocks = _blocks(store, signed.campaign, snapshot)
    with _ParquetWriter(sink, _arrow_schema(signed, snapshot)) as writer:
        for block in blocks:
            writer.write(block)
            yield sink.take()
        writer.finish()
    yield sink.take()


Export = Callable[[Store, SignedCampaign, Snapshot], Generator[bytes, None, None]]
EXPORTS: dict[str, Export] = {
    "parquet": stream_parquet,
    "csv": stream_csv,
}


def export_table(store: Store, campaign: str, folder: str | os.PathLike[str]) -> Path:
    r"""Write all reports of a campaign to a folder of Parquet files, completely or not at all.

    The public description of the mechanism is written beside the folder, as by ``shoal perturb``,
    so that ``shoal cluster --reports FOLDER`` needs nothing else. ``shoal.tables`` opens the folder
    in memory, as an Arrow dataset or in Spark.

    Parameters
    ----------
    store : Store
        Database of the collector.
    campaign : str
        Identifier of the campaign.
    folder : path-like
        Folder for the files; it must be empty or not exist yet.

    Returns
    -------
    document : Path
        File with the description of the mechanism.

    Raises
    ------
    ParameterError
        If the folder is not empty, or there are no reports.
    ReleaseError
        If the files cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from shoal.campaigns import Campaign, SigningKey, open_campaign, sign_campaign
    >>> from shoal.collector import Store, export_table
    >>> from shoal.collector.store import Submission
    >>> from shoal.mechanisms import PartitionResponse
    >>> campaign = Campaign(
    ...     id="homes", title="Where people live", purpose="Plan bus lines.",
    ...     mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
    ...     closes=datetime(2030, 1, 1, tzinfo=UTC),
    ...     reports_url="https://example.org/v1/campaigns/homes/reports",
    ...     results_url="https://example.org/v1/campaigns/homes/results",
    ... )
    >>> key = SigningKey.new()
    >>> signed = open_campaign(sign_campaign(campaign, key), key.public)
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     Store.open(f"sqlite:///{folder}/reports.db") as store,
    ... ):
    ...     store.add_campaign(signed)
    ...     _ = store.append([Submission("homes", b"a key of a device", b"\x01\x02", 1)])
    ...     export_table(store, "homes", f"{folder}/reports").name
    'reports.mechanism.json'
    """
    target = _free_folder(folder)
    signed = store.campaign(campaign)
    if not store.count(campaign):
        raise ParameterError(f"campaign {campaign!r} must have reports to export, got none yet")
    snapshot = store.snapshot(campaign)
    hidden = hidden_sibling(target)
    try:
        hidden.mkdir(mode=0o700)
        _write_parts(hidden, store, signed, snapshot)
        sync_folder(hidden)
        rename_folder(hidden, target)
        sync_folder(target.parent)
        mechanism = signed.campaign.mechanism
        return save_beside(mechanism, target, numbered_names(mechanism))
    except OSError as failure:
        raise ReleaseError(
            f"reports cannot be written to {str(target)!r}: {failure.strerror}"
        ) from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _write_parts(folder: Path, store: Store, signed: SignedCampaign, snapshot: Snapshot) -> None:
    """Write files of a few million reports each, whose names sort as the reports are read."""
    blocks = _blocks(store, signed.campaign, snapshot)
    schema = _arrow_schema(signed, snapshot)
    number, block = 0, next(blocks, None)
    while block is not None:
        with (folder / f"part-{number:05}.parquet").open("xb") as file:
            with _ParquetWriter(file, schema) as writer:
                for _ in range(PART_BLOCKS):
                    writer.write(block)
                    block = next(blocks, None)
                    if block is None:
                        break
                writer.finish()
            file.flush()
            os.fsync(file.fileno())
        number += 1


def _blocks(store: Store, campaign: Campaign, snapshot: Snapshot) -> Iterator[Any]:
    """Yield blocks of reports; pairs of partitions and colors as whole numbers."""
    whole = isinstance(campaign.mechanism, PartitionChannel)
    with closing(stored_reports(store, campaign, snapshot)) as blocks:
        for block in blocks:
            yield block.astype("int64") if whole else block


def _taken_text(text: io.StringIO) -> bytes:
    """Return what was written, and begin anew."""
    part = text.getvalue().encode("utf-8")
    text.seek(0)
    text.truncate()
    return part


def _arrow_schema(signed: SignedCampaign, snapshot: Snapshot) -> Any:
    """Return names and types of the columns, and what made the reports."""
    arrow = require("pyarrow", extra="arrow")
    mechanism = signed.campaign.mechanism
    kind = arrow.int64() if isinstance(mechanism, PartitionChannel) else arrow.float64()
    fields = [arrow.field(name, kind, nullable=False) for name in report_names(mechanism)]
    metadata = {
        "shoal.mechanism": json.dumps(mechanism.to_dict(), allow_nan=False, ensure_ascii=False),
        "shoal.campaign": signed.campaign.id,
        "shoal.digest": signed.digest,
        "shoal.snapshot": snapshot.digest,
    }
    return arrow.schema(fields, metadata=metadata)


class _Sink(io.RawIOBase):
    """Where a Parquet file is written to, and taken away part by part."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        """Return that it is made to be written to."""
        return True

    def write(self, part: Any) -> int:
        """Keep a part."""
        self._parts.append(bytes(part))
        self._written += len(self._parts[-1])
        return len(self._parts[-1])

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Return how much was written in all; there is no way back."""
        if (offset, whence) != (0, io.SEEK_CUR):
            raise io.UnsupportedOperation("a stream of reports has no way back")
        return self._written

    def take(self) -> bytes:
        """Return what was written since the last time."""
        part = b"".join(self._parts)
        self._parts.clear()
        return part


class _ParquetWriter:
    """Writes blocks as row groups; a file that is not finished has no end, so nothing opens it."""

    def __init__(self, sink: Any, schema: Any) -> None:
        self._arrow = require("pyarrow", extra="arrow")
        parquet = require("pyarrow.parquet", extra="arrow")
        self._schema = schema
        # Reports of noise hardly repeat: a dictionary of them costs more than it saves.
        self._writer = parquet.ParquetWriter(sink, schema, use_dictionary=False)

    def write(self, block: Floats) -> None:
        """Write one row group."""
        columns = [self._arrow.array(column) for column in block.T.copy()]
        batch = self._arrow.RecordBatch.from_arrays(columns, schema=self._schema)
        self._writer.write_batch(batch)

    def finish(self) -> None:
        """Write the end of the file."""
        self._writer.close()

    def __enter__(self) -> "_ParquetWriter":
        return self

    def __exit__(self, *_: object) -> None:
        # Otherwise it tries to end the file once more when it is dropped.
        self._writer.is_open = False


def _free_folder(folder: str | os.PathLike[str]) -> Path:
    """Refuse a place that is taken: nothing is ever replaced."""
    target = Path(folder).resolve()
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    if target.exists():
        raise ParameterError(
            f"folder must be new, or empty, got {str(folder)!r}: choose another name"
        )
    if not target.parent.is_dir():
        raise ParameterError(f"folder must lie in a folder that exists, got {str(folder)!r}")
    return target
