"""The check of single reports agrees with the format of every mechanism, in both directions."""

import json

import numpy as np
import pytest

from shoal.collector.report_check import FEW, ReportCheck
from shoal.exceptions import ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    SquareWave,
)
from shoal.service import RefusedError

BOUNDS = ([0.0, -1.0, 2.0], [1.0, 4.0, 9.0])
MECHANISMS = [
    Laplace(1.0, bounds=BOUNDS),
    Piecewise(2.0, bounds=BOUNDS),
    Piecewise(2.0, bounds=BOUNDS, columns="sample"),
    Hybrid(2.0, bounds=BOUNDS),
    Duchi(2.0, bounds=BOUNDS),
    SquareWave(2.0, bounds=BOUNDS),
    PartitionResponse(1.0, bounds=BOUNDS),
]


@pytest.fixture(params=MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def mechanism(request):
    return request.param


def reason(call, *values) -> str:
    """Return the name of a refusal, or nothing."""
    try:
        call(*values)
    except RefusedError as refused:
        return refused.problem.name
    return ""


def test_reports_pass_and_give_the_same_bytes(mechanism):
    report_format = mechanism.report_format()
    check = ReportCheck(report_format, 1000)
    records = np.random.default_rng(1).uniform(*BOUNDS, (3 * FEW, 3))
    encoded = report_format.encode(mechanism.fit_transform(records))
    reports = report_format.decode(encoded)
    width = report_format.width
    for count in (1, FEW, 3 * FEW):
        some = encoded[: count * width]
        assert check.check_bytes(some) == count
        body = json.dumps({"reports": reports[:count].tolist()}).encode()
        assert check.encode_json(body) == (some, count)


def test_random_bytes_pass_exactly_when_the_format_decodes_them(mechanism):
    """One by one by whole numbers, and all at once by arrays."""
    report_format = mechanism.report_format()
    check = ReportCheck(report_format, 10_000)
    width = report_format.width
    # Bytes near a report, so that both answers occur.
    rng = np.random.default_rng(2)
    records = rng.uniform(*BOUNDS, (100, 3))
    encoded = report_format.encode(mechanism.fit_transform(records))
    raw = np.frombuffer(encoded, np.uint8).reshape(-1, width).copy()
    raw[np.arange(100), rng.integers(0, width, 100)] ^= rng.integers(0, 256, 100, np.uint8)
    for row in raw:
        try:
            report_format.decode(row.tobytes())
            right = True
        except ParameterError:
            right = False
        assert (reason(check.check_bytes, row.tobytes()) == "") == right
        many = row.tobytes() + encoded[: FEW * width]
        assert (reason(check.check_bytes, many) == "") == right


def test_numbers_beside_a_report_are_off_the_lattice(mechanism):
    report_format = mechanism.report_format()
    check = ReportCheck(report_format, 1000)
    (report,) = report_format.decode(report_format.encode(mechanism.randomize([0.5, 1.0, 5.0])))
    for others in ([], [report.tolist()] * 2 * FEW):
        for change in (np.nextafter(report, np.inf), report + 1e9):
            body = json.dumps({"reports": [change.tolist(), *others]}).encode()
            assert reason(check.encode_json, body) in {"off-lattice", "out-of-range"}


def test_sampled_columns_must_be_as_many_as_the_mechanism_reports():
    mechanism = Piecewise(2.0, bounds=BOUNDS, columns="sample")
    report_format = mechanism.report_format()
    check = ReportCheck(report_format, 1000)
    full = Piecewise(2.0, bounds=BOUNDS).report_format()
    every = full.decode(full.encode(Piecewise(2.0, bounds=BOUNDS).randomize([0.5, 1.0, 5.0])))
    body = json.dumps({"reports": every.tolist()}).encode()
    assert reason(check.encode_json, body) != ""


@pytest.mark.parametrize(
    "body",
    [b'{"reports":[' + b"[]," * 20 + b"[]]}", b'{"reports":[[' + b"1," * 60 + b"1]]}"],
    ids=["rows", "numbers"],
)
def test_text_that_holds_too_many_numbers_is_not_even_read(monkeypatch, body):
    """A megabyte of brackets takes most of a second to read, during which nobody is answered."""
    check = ReportCheck(PartitionResponse(1.0, bounds=BOUNDS).report_format(), max_batch=16)
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(RefusedError, match="may hold 16 reports"):
        check.encode_json(body)
