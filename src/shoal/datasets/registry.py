"""The data sets shoal knows: file, sha256, license, and public bounds with the reason for them.

Bounds come from what is known about the columns before any record is seen (units, instruments,
code books, the frame of a synthetic set). None is computed from records, here or at load time.
"""

from shoal.datasets._kd_laplace import KD_LAPLACE
from shoal.datasets._mixed import MIXED
from shoal.datasets._planes import PLANES, SIPU
from shoal.datasets.dataset import DatasetInfo, github
from shoal.exceptions import ParameterError

__all__ = ["REGISTRY", "find"]

UCI = "CC BY 4.0 (UCI)"

_WINE = "positive by definition, below a generous multiple of what table wine contains"
_CELL = (40.0, 60.0, 300.0, 5100.0, 0.5, 2.0, 2.0, 0.5, 1.0, 0.5)

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

_CARDIOTOCOGRAPHY = (
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

REGISTRY = (
    DatasetInfo(
        name="iris",
        limits=((0.0, 10.0),) * 4,
        reason="lengths of parts of an iris flower in cm, none as long as 10 cm",
        license=UCI,
        source="scikit-learn (UCI id 53, R. A. Fisher 1936)",
        label="target",
    ),
    DatasetInfo(
        name="digits",
        limits=((0.0, 16.0),) * 64,
        reason="each column counts the set pixels of a 4 x 4 block",
        license=UCI,
        source="scikit-learn (UCI id 80, E. Alpaydin, C. Kaynak 1998)",
        label="target",
    ),
    DatasetInfo(
        name="wine",
        limits=(
            (0.0, 20.0),
            (0.0, 10.0),
            (0.0, 5.0),
            (0.0, 50.0),
            (0.0, 250.0),
            (0.0, 8.0),
            (0.0, 8.0),
            (0.0, 2.0),
            (0.0, 8.0),
            (0.0, 20.0),
            (0.0, 3.0),
            (0.0, 6.0),
            (0.0, 3000.0),
        ),
        reason=_WINE,
        license=UCI,
        source="scikit-learn (UCI id 109, S. Aeberhard, M. Forina 1991)",
        label="target",
    ),
    DatasetInfo(
        name="breast_cancer",
        limits=tuple((0.0, high) for high in _CELL * 3),
        reason="nuclei of at most 40 pixels radius, so an area of at most pi 40^2; the same limits "
        "for a feature's mean, standard error and worst value; the ratios are small by definition",
        license=UCI,
        source="scikit-learn (UCI id 17, W. Wolberg, O. Mangasarian, N. Street, W. Street 1995)",
        label="target",
    ),
    DatasetInfo(
        name="seeds",
        limits=(
            (5.0, 30.0),
            (8.0, 25.0),
            (0.0, 1.0),
            (3.0, 9.0),
            (1.5, 5.0),
            (0.0, 15.0),
            (3.0, 9.0),
        ),
        reason="wheat kernels are 3 to 9 mm long and 1.5 to 5 mm wide; area and perimeter follow; "
        "compactness 4 pi A / P^2 is at most 1; asymmetry on the instrument's scale",
        license=UCI,
        source="UCI id 236, doi 10.24432/C5H30K",
        columns=(
            "area",
            "perimeter",
            "compactness",
            "kernel_length",
            "kernel_width",
            "asymmetry_coefficient",
            "kernel_groove_length",
        ),
        label="label",
        file="seeds.csv",
        sha256="2a48243162a889e25639fb587935f33c31314603b466b470f0f038a67ae3b13d",
        origin=github(
            "vjp23/GaussianMixtureModels",
            "24d5f2f5c9d209f170b9027228a56ddb0e1dc4d1",
            "seeds_dataset.txt",
            recipe="numbers",
        ),
    ),
    DatasetInfo(
        name="transfusion",
        limits=((0.0, 120.0), (0.0, 60.0), (0.0, 15_000.0), (0.0, 120.0)),
        reason="ten years of a blood service: 120 months, at most one donation in two months, "
        "250 cc each",
        license=UCI,
        source="UCI id 176, doi 10.24432/C5GS39",
        columns=("recency_months", "frequency_times", "monetary_cc", "time_months"),
        label="label",
        file="transfusion.csv",
        sha256="82cf0b87345bb7f6c218f7cd8f149783337c87f915347d70387fc789c17f7b75",
        origin=github(
            "sjs108u/prediction-for-transfusion-in-R",
            "79ab3a9e16455afe284b1ae2ca9b43a8489fcd4d",
            "transfusion.data",
            recipe="numbers",
        ),
    ),
    DatasetInfo(
        name="adult",
        limits=(
            (0.0, 100.0),
            (0.0, 2_000_000.0),
            (1.0, 16.0),
            (0.0, 99_999.0),
            (0.0, 9_999.0),
            (0.0, 99.0),
        ),
        reason="the census code book: age in two digits, education coded 1 to 16, gain in five "
        "digits, loss in four, hours in two; a weight stands for fewer than 2 million people",
        license=UCI,
        source="UCI id 2, doi 10.24432/C5XW20, numeric columns",
        columns=(
            "age",
            "fnlwgt",
            "education_num",
            "capital_gain",
            "capital_loss",
            "hours_per_week",
        ),
        label="label",
        file="adult_num.csv",
        sha256="c145a2bb68cd49d7000049bac52ae272f3e03550c3e795fa9788b6902031d687",
        origin=github(
            "YuzhongHuangCS/fairness",
            "10dcbc38734e5f95a574c44de972b8e084229d38",
            "adult.data",
            "adult.test",
            recipe="census",
        ),
    ),
    DatasetInfo(
        name="house5",
        limits=((0.0, 255.0),) * 3,
        reason="red, green and blue of a picture in 8 bits each",
        license=SIPU + "; taken from an Apache-2.0 repository",
        source="SIPU image data, color picture House, 5 bits a color",
        columns=("r", "g", "b"),
        file="house5.csv",
        sha256="1cb15570ba526728fef0d8bd18823a7dca9fc00439a4152e364b28461ae1a046",
        origin=github(
            "D-Diaa/privateclustering",
            "2fffc839c5b2fb4d2ee5f83089891ca23cbc8caa",
            "data/house.txt",
            recipe="numbers",
        ),
    ),
    DatasetInfo(
        name="mopsi_finland",
        limits=((59.0, 71.0), (19.0, 32.0)),
        reason="Finland in whole degrees",
        license=SIPU,
        source="SIPU Mopsi locations, P. Fränti et al.",
        columns=("lat", "lon"),
        places=True,
        file="mopsi_finland.csv",
        sha256="a41057028648bda9e91286f8f461b65a9852352de467a09b7e2d12d7169cff16",
        origin=github(
            "deric/clustering-benchmark",
            "fc7aba73c873b0e017dd3a6d7113b1cb2ede118a",
            "src/main/resources/datasets/artificial/mopsi-finland.arff",
            recipe="degrees",
        ),
    ),
    DatasetInfo(
        name="gowalla_nyc",
        limits=((40.4774, 40.9176), (-74.2591, -73.7004)),
        reason="the bounding box of New York City",
        license="SNAP states no license; taken from a GPL-3.0 repository",
        source="SNAP loc-gowalla (E. Cho, S. Myers, J. Leskovec, KDD 2011), check-ins in New York",
        columns=("lat", "lon"),
        places=True,
        file="gowalla_nyc_checkins.csv.gz",
        sha256="4499a42f1048354095ae034a37c13ffb64b95674ff99bfe3d56fefeeff72cea5",
        # Packed, and the bytes of a packed file depend on who packs it.
        origin=github(
            "rohitpandey13/academy",
            "7e7919ac6ad5b4c299c7368c05953964820acb8f",
            "tutorials/geo-located-data/jupyter/notebooks/data/gowalla_events.csv.gz",
        ),
    ),
    DatasetInfo(
        name="gowalla",
        limits=((-90.0, 90.0), (-180.0, 180.0)),
        reason="latitude and longitude",
        license="SNAP states no license; the repository has no license file",
        source="SNAP loc-gowalla (E. Cho, S. Myers, J. Leskovec, KDD 2011), active users",
        columns=("lat", "lon"),
        file="gowalla_checkins.csv.gz",
        sha256="a28b7190cb050999f068b9c8e1e0102409704123c22c7da2eb29f6c8438e8315",
        origin=github(
            "rahmanidashti/LGLMF",
            "09b58f86904f0a71944ae373375ae85330d5be1c",
            *(
                f"datasets/gowalla/Gowalla_{part}.txt"
                for part in ("poi_coos", "train", "tune", "test")
            ),
        ),
    ),
    *_CARDIOTOCOGRAPHY,
    *MIXED,
    *PLANES,
    *KD_LAPLACE,
)


def find(name: str) -> DatasetInfo:
    """Return the entry of a data set, or refuse a name that no set has."""
    for entry in REGISTRY:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in REGISTRY)
    raise ParameterError(f"name must be one of {known}, got {name!r}")
