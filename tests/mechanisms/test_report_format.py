"""The wire format: every report comes back to the bit, and nothing else has an encoding."""

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    ReportColumn,
    ReportFormat,
    SquareWave,
)


def box(columns):
    return [-1.0] * columns, [3.0] * columns


MECHANISMS = [
    PartitionResponse(1.0, bounds=box(2), n_clusters=5, random_state=0),
    PartitionResponse(2.0, bounds=box(6), random_state=0),
    Piecewise(2.0, bounds=box(2), random_state=0),
    Piecewise(8.0, bounds=box(6), columns="sample", random_state=0),
    SquareWave(1.0, bounds=box(3), random_state=0),
    Duchi(1.0, bounds=box(3), random_state=0),
    Hybrid(0.3, bounds=box(3), random_state=0),
    Hybrid(0.3, bounds=box(3), columns="sample", random_state=0),
    Hybrid(4.0, bounds=box(1), random_state=0),
    Laplace(2.0, bounds=box(2), random_state=0),
    Laplace(2.0, bounds=box(2), truncate="resample", random_state=0),
    Laplace(0.1, bounds=box(12), random_state=0),
    PlanarLaplace(2.0, bounds=box(2), random_state=0),
]


def named(mechanism):
    return f"{type(mechanism).__name__}-{mechanism.epsilon}-{len(mechanism.bounds[0])}"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=named)
def test_reports_come_back_to_the_bit(mechanism):
    records = np.random.default_rng(0).uniform(-2, 4, (300, len(mechanism.bounds[0])))
    reports = mechanism.fit_transform(records)
    encoded = mechanism.encode(reports)
    assert len(encoded) == 300 * mechanism.report_format().width
    assert (mechanism.decode(encoded) == reports).all()
    assert (mechanism.report_format().check(reports) == reports).all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=named)
def test_bytes_hold_a_report_or_are_refused(mechanism):
    """What decodes encodes to the same bytes, and every record may have reported it."""
    form = mechanism.report_format()
    middle = np.full(len(mechanism.bounds[0]), 1.0)
    rng = np.random.default_rng(1)
    for _ in range(200):
        some = rng.bytes(form.width)
        try:
            report = form.decode(some)
        except ParameterError:
            continue
        assert form.encode(report) == some
        assert np.isfinite(mechanism.log_density(report, middle)).all()


def test_levels_are_packed_as_the_documentation_says():
    """By hand: 3 bits of column 1 above 2 bits of column 2, little-endian."""
    form = ReportFormat((ReportColumn(0.0, 0.5, -2, 1, 6), ReportColumn(10.0, 1.0, 0, 1, 3)))
    assert (form.bits, form.width) == (5, 1)
    assert form.encode([0.5, 12.0]) == bytes([0b011_10])  # index 1 is level 3; index 2 is level 2
    wide = ReportFormat((ReportColumn(0.0, 1.0, 0, 1, 2**40), ReportColumn(0.0, 1.0, 0, 1, 2**40)))
    number = (5 << 40) + 7
    assert wide.encode([5.0, 7.0]) == number.to_bytes(10, "little")
    assert wide.decode(number.to_bytes(10, "little")).tolist() == [[5.0, 7.0]]


@pytest.mark.parametrize(
    "wrong",
    [
        [[0.1234567, 0.2]],  # off the lattice
        [[1e6, 0.0]],  # out of range
        [[np.nan, 0.0]],
        [[np.inf, 0.0]],
        [[0.0]],
        [[0.0, 0.0, 0.0]],
        [["a", "b"]],
        [[[0.0, 0.0]]],
        None,
    ],
    ids=str,
)
def test_numbers_that_are_no_reports_are_refused(wrong):
    form = Piecewise(2.0, bounds=box(2)).report_format()
    with pytest.raises(ParameterError, match="reports must") as error:
        form.check(wrong)
    assert "0.12345" not in str(error.value)


def test_raw_records_are_no_reports():
    """Records with all their digits are off the lattice: not one in 10,000 is let through."""
    records = np.random.default_rng(2).uniform(0, 1, (10_000, 2))
    form = Piecewise(2.0, bounds=box(2)).report_format()
    passed = 0
    for record in records[:500]:
        try:
            form.check(record)
        except ParameterError:
            continue
        passed += 1
    assert passed == 0


def test_bytes_of_the_wrong_length_or_range_are_refused():
    form = Piecewise(2.0, bounds=box(2)).report_format()
    with pytest.raises(ParameterError, match="bytes for each report"):
        form.decode(b"\0" * (form.width + 1))
    with pytest.raises(ParameterError, match="within the range"):
        form.decode(b"\xff" * form.width)
    with pytest.raises(ParameterError, match="must be bytes"):
        form.decode("00")
    padded = Duchi(1.0, bounds=box(3)).report_format()
    with pytest.raises(ParameterError, match="within the range"):
        padded.decode(bytes([0b1000]))  # a bit beyond the three fields


def test_a_report_beyond_the_range_is_clipped_after_the_noise_and_refused_from_others():
    form = Laplace(2.0, bounds=box(2)).report_format()
    step = form.columns[0].step
    far = np.array([1e6 * step * 2**20, 0.0])
    last = form.decode(form.encode(far))[0]
    assert last[0] == step * (form.columns[0].first + form.columns[0].levels - 1)
    with pytest.raises(ParameterError, match="within the range"):
        form.check(far)


def test_the_range_of_the_laplace_family_is_left_almost_never():
    """The exact tail of the radius, by mpmath, is below 10^-27 in any number of columns."""
    import mpmath

    for columns in (1, 2, 12, 200):
        mechanism = Laplace(2.0, bounds=box(columns))
        form, lattice = mechanism.report_format(), mechanism.lattice(columns)
        beyond = (lattice.low[0] - form.columns[0].first) * lattice.step[0]
        tail = mpmath.gammainc(columns, a=mpmath.mpf(2.0 * beyond), regularized=True)
        assert tail < mpmath.mpf("1e-27")


def test_a_number_of_reported_columns_is_checked():
    form = Hybrid(0.3, bounds=box(3), columns="sample").report_format()
    value = form.columns[0].step * form.columns[0].stride
    center = form.columns[0].origin
    assert form.decode(form.encode([center + value, center, center])).shape == (1, 3)
    for wrong in ([center] * 3, [center + value] * 2 + [center]):
        with pytest.raises(ParameterError, match="reported columns"):
            form.encode(wrong)
