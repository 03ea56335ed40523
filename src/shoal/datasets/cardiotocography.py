"""The 2,126 tracings of a foetal heart, as measured and in the rounded form that circulates."""

from shoal.datasets.info import DatasetInfo
from shoal.datasets.origin import github

__all__ = ["CARDIOTOCOGRAPHY"]

_RATE = (30.0, 240.0)  # the scale of a cardiotocograph, in beats per minute
_SPAN = (0.0, 210.0)
_SELDOM = (0.0, 0.07)  # an event of at least 15 seconds comes less than once in 15
_SHARE = (0.0, 100.0)
_REASON = (
    "a cardiotocograph shows 30 to 240 beats per minute, so a histogram spans at most 210 and has "
    "at most 105 peaks; accelerations, decelerations and contractions last 15 seconds or more; at "
    "most one movement a second; shares of time in percent; variability of at most 20 beats from "
    "beat to beat and 100 within a minute, and a standard deviation below 32"
)

# Name in full precision, name in the rounded form, bounds.
_COLUMNS = (
    ("LB", "baseline_value", _RATE),
    ("AC", "accelerations", _SELDOM),
    ("FM", "fetal_movement", (0.0, 1.0)),
    ("UC", "uterine_contractions", _SELDOM),
    ("DL", "light_decelerations", _SELDOM),
    ("DS", "severe_decelerations", _SELDOM),
    ("DP", "prolongued_decelerations", _SELDOM),
    ("ASTV", "abnormal_short_term_variability", _SHARE),
    ("MSTV", "mean_value_of_short_term_variability", (0.0, 20.0)),
    ("ALTV", "percentage_of_time_with_abnormal_long_term_variability", _SHARE),
    ("MLTV", "mean_value_of_long_term_variability", (0.0, 100.0)),
    ("Width", "histogram_width", _SPAN),
    ("Min", "histogram_min", _RATE),
    ("Max", "histogram_max", _RATE),
    ("Nmax", "histogram_number_of_peaks", (0.0, 105.0)),
    ("Nzeros", "histogram_number_of_zeroes", _SPAN),
    ("Mode", "histogram_mode", _RATE),
    ("Mean", "histogram_mean", _RATE),
    ("Median", "histogram_median", _RATE),
    ("Variance", "histogram_variance", (0.0, 1024.0)),
    ("Tendency", "histogram_tendency", (-1.0, 1.0)),
)
_LIMITS = tuple(limits for _, _, limits in _COLUMNS)

CARDIOTOCOGRAPHY = (
    DatasetInfo(
        name="heart",
        limits=_LIMITS,
        reason=_REASON,
        license="CC BY 4.0 (UCI)",
        source="UCI id 193 (cardiotocography), doi 10.24432/C51S4N",
        columns=tuple(name for name, _, _ in _COLUMNS),
        label="label",
        file="ctg.csv",
        sha256="99e1a31cfaf91e6ad50b2775c2f6b0a1e296ab23f89a76a8c825ed1ac715315c",
        # A workbook of Excel, which the standard library cannot read.
        origin=github("cyniphile/ctg", "0d5e9715bfe661f08dca7353545a4eeeffafbacf", "data/CTG.xls"),
    ),
    DatasetInfo(
        name="fetal_health",
        limits=_LIMITS,
        reason=_REASON,
        license="CC BY 4.0 (UCI) for the data; the rounded form states none",
        source="UCI id 193 (cardiotocography), rates rounded to three decimals",
        columns=tuple(name for _, name, _ in _COLUMNS),
        label="label",
        file="fetal_health.csv",
        sha256="d0ffc5ee820095fa435f9ba1ea3a9177988132eea12fbe02c6d85dec9e2b1003",
        origin=github(
            "renansantosmendes/lectures-cdas-2023",
            "c11c7e7acbe93831c0c8369df3ef06ee067b168e",
            "fetal_health.csv",
        ),
    ),
)
