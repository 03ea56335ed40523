"""The files behind the published kd-Laplace figures, as their author left them.

They reproduce tables and serve nothing else: the seeds file has lost decimal points in two columns
(compactness 871 for 0.871), so take ``seeds`` for everything but those tables. "d dimensions" in
the published figures means the first d columns of the heart, seeds and ``*_3d`` files; the ``*_2d``
files belong to an earlier round of experiments.
"""

from shoal.datasets.dataset import DatasetInfo, Origin, github

_REPOSITORY = "tjvanderende/privacy-preserved-clustering-with-nD-Laplace"
# The author kept changing these files: each is the one behind the figures at its own commit.
_EARLY = "ae36cc65a7e8eb862d070e6dcb2a186553f95660"
_PLANE = "cdf73bd0165795d00b11ae5b144f927aadefbc71"
_SPACE = "0829be18603dc40a922b7763ed3abd9affda38e2"
_LATE = "3b47f63aa1304077eea1309f53aa40e8ee6b56de"

_AUTHOR = f"github.com/{_REPOSITORY} (kd-Laplace thesis)"
_UCI = "CC BY 4.0 (UCI)"
_NONE = "none stated"

_RATE = "heart rates in beats per minute, below 300; counts in one recording, below 100"
_LOST = "as seeds; two columns lost decimal points, so up to 1000 for three digits"

_HEART = (
    ("baseline value", 300.0),
    ("histogram_min", 300.0),
    ("accelerations", 100.0),
    ("fetal_movement", 1000.0),
    ("uterine_contractions", 100.0),
    ("light_decelerations", 100.0),
    ("histogram_width", 300.0),
    ("histogram_max", 300.0),
    ("histogram_number_of_peaks", 100.0),
)
_SEEDS = (
    ("area", 5.0, 30.0),
    ("perimeter", 8.0, 25.0),
    ("length of kernel", 3.0, 9.0),
    ("compactness", 0.0, 1000.0),
    ("width of kernel", 1.5, 5.0),
    ("asymmetry coefficient", 0.0, 1000.0),
    ("length of kernel groove", 3.0, 9.0),
)


def _kept(commit: str, path: str) -> Origin:
    return github(_REPOSITORY, commit, path, recipe="as written")


def _shape(
    name: str, limits: tuple[float, float], sha256: str, *, reason: str, origin: Origin
) -> DatasetInfo:
    """Describe one of the generated shapes, with one frame for all columns."""
    columns = ("x1", "x2") if name.endswith("2d") else ("x1", "x2", "x3")
    return DatasetInfo(
        name=f"kd_laplace_{name}",
        limits=(limits,) * len(columns),
        reason=reason,
        license=_NONE,
        source=_AUTHOR,
        columns=columns,
        label="class",
        file=f"kd_laplace/{name}.csv",
        sha256=sha256,
        origin=origin,
    )


KD_LAPLACE = (
    DatasetInfo(
        name="kd_laplace_heart",
        limits=tuple((0.0, high) for _, high in _HEART),
        reason=_RATE + ", movements below 1000",
        license=_UCI,
        source=f"UCI id 193 (cardiotocography), columns and units as in {_AUTHOR}",
        columns=tuple(name for name, _ in _HEART),
        label="class",
        file="kd_laplace/heart_as_published.csv",
        sha256="b4097207945b46acdb3289fd6e6749c8288c3e92d237a3885c60baecb688257f",
        origin=_kept(_LATE, "data/heart-dataset/heart_numerical.csv"),
    ),
    DatasetInfo(
        name="kd_laplace_seeds",
        limits=tuple((low, high) for _, low, high in _SEEDS),
        reason=_LOST,
        license=_UCI,
        source=f"UCI id 236 with damaged values, as in {_AUTHOR}",
        columns=tuple(name for name, _, _ in _SEEDS),
        label="class",
        file="kd_laplace/seeds_as_published.csv",
        sha256="344dd11b07d9ba8042f86a0d4d9a43570e839b7bc2915729c4813a3c73b292fa",
        origin=_kept(_PLANE, "data/seeds-dataset/rq2-nd.csv"),
    ),
    _shape(
        "circle_2d",
        (-1.5, 1.5),
        "2e72c9885b4fae064b2a6165e4bd2de04f94fef23a076edc517fccec211fe726",
        reason="synthetic rings of radius 1 and 0.2 with noise of 0.1; five times that around them",
        origin=_kept(_EARLY, "RQ3/data/circle_1000.csv"),
    ),
    _shape(
        "circle_3d",
        (-1.0, 1.0),
        "4cb6cb0167df8e314b0cad1243dce5139e753e6a49c11eaa2be4ee5b580463fc",
        reason="synthetic points in the unit ball",
        origin=_kept(_SPACE, "RQ3/data/circle_1000_3d.csv"),
    ),
    _shape(
        "line_2d",
        (-6.0, 6.0),
        "82dcb8aee17cf1e4f03de8e801e7c1aad235a17ea9dc894b096d835552852bec",
        reason="synthetic clouds of width about 1 around the origin; six widths around it",
        origin=_kept(_EARLY, "RQ3/data/line_1000.csv"),
    ),
    _shape(
        "line_3d",
        (-0.5, 1.5),
        "8d1bb65b4589cd68d8760f84233075ff99baf0c19359e6821f8458de3a4bda95",
        reason="synthetic line from 0 to 1 with noise of 0.05; ten times that around it",
        origin=_kept(_SPACE, "RQ3/data/line_1000_3d.csv"),
    ),
    _shape(
        "skewed_2d",
        (-8.0, 8.0),
        "151fec51968dcfab45a4bdfd8b2c158329b62ade2f0e2e3b6776ab1e05cee2cb",
        reason="synthetic clouds around the origin; the frame of their published plot, doubled",
        origin=_kept(_PLANE, "data/skewed-dataset/skewed_1000.csv"),
    ),
    _shape(
        "skewed_3d",
        (0.0, 20.0),
        "9fada89099ff7638c68db1cecb47168e719654940e672c3cc6625f3767bd50af",
        reason="synthetic exponential values of scale 1, 1.5 and 2; ten times the largest scale",
        origin=_kept(_PLANE, "RQ3/data/skewed_1000_3d.csv"),
    ),
)
