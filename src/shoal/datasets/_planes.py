"""Synthetic sets in the plane, each with one public frame for both columns."""

from shoal.datasets.dataset import DatasetInfo, Origin, github

__all__ = ["PLANES", "SIPU"]

SIPU = "no formal license: public research benchmark, cite the paper"


def _plane(
    name: str,
    limits: tuple[float, float],
    sha256: str,
    *,
    reason: str,
    source: str,
    origin: Origin,
    license: str = SIPU,
    label: str | None = "label",
    folder: str = "",
) -> DatasetInfo:
    """Describe a synthetic set in the plane, with one frame for both columns."""
    return DatasetInfo(
        name=name,
        limits=(limits, limits),
        reason=reason,
        license=license,
        source=source,
        columns=("x", "y"),
        label=label,
        file=f"{folder}{name.removeprefix('wavecluster_')}.csv",
        sha256=sha256,
        origin=origin,
    )


def _benchmark(path: str) -> Origin:
    """Return the two files of a set in the suite of clustering benchmarks: points, labels."""
    return github(
        "gagolews/clustering-data-v1",
        "27ac73a6fd331fb18181419838d2e753dd1b5f80",
        f"{path}.data.gz",
        f"{path}.labels0.gz",
        recipe="numbers",
    )


def _centrality(number: int) -> Origin:
    return github(
        "ZPGuiGroupWhu/ClusteringDirectionCentrality",
        "8569c6ad6b60a74bc471701030301e3619c1a3b3",
        f"HPC-version/DCDC/data/synthetic/DS{number}-30000-new.csv",
        recipe="numbers",
    )


def _wavecluster(shape: str) -> Origin:
    return github(
        "lchen10/DiffPrivWaveCluster",
        "37839e9bcbfc23a484e0ed0cb700f680a481ceae",
        f"AdaptiveGridGenerationBeingCalledByJava/deritative-{shape}-30k-unit-0.01.csv",
        recipe="numbers",
    )


_MILLION = "synthetic set made on a frame of 0 to 1,000,000"
_BITS = "synthetic set with coordinates of 16 bits"
_SHAPES = "synthetic set drawn by hand; the frame of its published plot"
_WAVE = "github.com/lchen10/DiffPrivWaveCluster (DP-WaveCluster)"


PLANES = (
    _plane(
        "chameleon_t7_10k",
        (0.0, 700.0),
        "a5d38f14f1d58cbae69a6f0a3ffeb98936a6d2c8ddfabf91e5c14d4c6a18c422",
        reason=_SHAPES,
        source="CLUTO, G. Karypis, E. Han, V. Kumar, IEEE Computer 32(8), 1999",
        origin=_benchmark("other/chameleon_t7_10k"),
    ),
    _plane(
        "worms_2",
        (0.0, 7_000.0),
        "f0cdcbb5c57dba3d9c47efad014f796accc00bb03c8b48460fcca50e3c475d45",
        reason=_SHAPES,
        source="SIPU, S. Sieranoja, P. Fränti, Pattern Recognition Letters 128, 2019",
        origin=_benchmark("sipu/worms_2"),
    ),
    _plane(
        "cdc_ds1_30k",
        (0.0, 5_000.0),
        "44e858c4e93cbcc73bfedfb8780446424928707b53476946553f9c027f1f439d",
        reason=_SHAPES,
        source="D. Peng, Z. Gui et al., Nature Communications 13:5455, 2022",
        origin=_centrality(1),
        license="Apache-2.0",
    ),
    _plane(
        "cdc_ds2_30k",
        (0.0, 40_000.0),
        "aee325260e032d118e45bb50f21e4627d464e36c0f7aeab60a9252de6e645609",
        reason=_SHAPES,
        source="D. Peng, Z. Gui et al., Nature Communications 13:5455, 2022",
        origin=_centrality(2),
        license="Apache-2.0",
    ),
    _plane(
        "cdc_ds3_30k",
        (-200_000.0, 1_000_000.0),
        "78997ad0b6f8b431c16de621dbdba85f1d3cecb72c3af80099cd45411c9938f0",
        reason=_SHAPES,
        source="D. Peng, Z. Gui et al., Nature Communications 13:5455, 2022",
        origin=_centrality(3),
        license="Apache-2.0",
    ),
    _plane(
        "s1",
        (0.0, 1e6),
        "692d3cce3645fe1a72c4d86d27b3acea7c805d96271fbd65e006a16c4c9fe1bf",
        reason=_MILLION,
        source="SIPU, P. Fränti, O. Virmajoki, Pattern Recognition 39(5), 2006",
        origin=_benchmark("sipu/s1"),
    ),
    _plane(
        "s2",
        (0.0, 1e6),
        "4785cbebd3af7eb01b46bbf9b12196abe3cc0722d2df2431a4b8756b53315b35",
        reason=_MILLION,
        source="SIPU, P. Fränti, O. Virmajoki, Pattern Recognition 39(5), 2006",
        origin=_benchmark("sipu/s2"),
    ),
    _plane(
        "birch1",
        (0.0, 1e6),
        "53ec500d569cc329637621e36a26ce11b6c6721ec0d4ba9ebaa18a71e64ebc53",
        reason=_MILLION,
        source="SIPU, T. Zhang et al., Data Mining and Knowledge Discovery 1(2), 1997",
        origin=_benchmark("sipu/birch1"),
    ),
    _plane(
        "birch2",
        (0.0, 1e6),
        "55f795ee69c3cc4973548d9e39dc74116075d360e027cffb2e9573a431bf864a",
        reason=_MILLION,
        source="SIPU, T. Zhang et al., Data Mining and Knowledge Discovery 1(2), 1997",
        origin=_benchmark("sipu/birch2"),
    ),
    _plane(
        "unbalance",
        (0.0, 1e6),
        "69b853bbcf3bef3f02033b6016931f3f53de454e646430844281d09bca228bea",
        reason=_MILLION,
        source="SIPU, M. Rezaei, P. Fränti, IEEE TKDE 28(8), 2016",
        origin=_benchmark("sipu/unbalance"),
    ),
    _plane(
        "a2",
        (0.0, 65_535.0),
        "5a11d322945f9deea7bb67440b1cdf786de46217a463ef510cda87cacf3058ef",
        reason=_BITS,
        source="SIPU, I. Kärkkäinen, P. Fränti, report A-2002-6, 2002",
        origin=_benchmark("sipu/a2"),
    ),
    _plane(
        "a3",
        (0.0, 65_535.0),
        "87c17da1d0bf6bd69bf71cd05e4c6ac51fa3d95977ad921e1234750a18785ee2",
        reason=_BITS,
        source="SIPU, I. Kärkkäinen, P. Fränti, report A-2002-6, 2002",
        origin=_benchmark("sipu/a3"),
    ),
    _plane(
        "r15",
        (0.0, 20.0),
        "9b439d6c224562b27d11219fbee955352fee4b2ff90149958c6750aafc770ecb",
        reason="synthetic set of rings around (10, 10); the frame of its published plot",
        source="SIPU, C. Veenman, M. Reinders, E. Backer, TPAMI 24(9), 2002",
        origin=_benchmark("sipu/r15"),
    ),
    _plane(
        "aggregation",
        (0.0, 40.0),
        "60a8bd769333b2aacb5443f2fac27290df81520089224aa56470baef35cce717",
        reason=_SHAPES,
        source="SIPU, A. Gionis, H. Mannila, P. Tsaparas, TKDD 1(1), 2007",
        origin=_benchmark("sipu/aggregation"),
    ),
    _plane(
        "pathbased",
        (0.0, 40.0),
        "fdf6ebb51371867b1aef5419dadcaf116819b1cead6c7fcfefa68cecdb49e2f9",
        reason=_SHAPES,
        source="SIPU, H. Chang, D.-Y. Yeung, Pattern Recognition 41(1), 2008",
        origin=_benchmark("sipu/pathbased"),
    ),
    _plane(
        "spiral",
        (0.0, 40.0),
        "9da2f27c173198f473bd694b7897c1bec9de1eaeb98e3938e17809ebea02ec29",
        reason=_SHAPES,
        source="SIPU, H. Chang, D.-Y. Yeung, Pattern Recognition 41(1), 2008",
        origin=_benchmark("sipu/spiral"),
    ),
    _plane(
        "lsun",
        (0.0, 6.0),
        "ea1716bdf0d274db455f66d72019bb2a53419929c1cf081536ede86944e3b210",
        reason=_SHAPES,
        source="FCPS, A. Ultsch, Clustering with SOM: U*C, 2005",
        origin=_benchmark("fcps/lsun"),
    ),
    _plane(
        "wavecluster_ds1",
        (0.0, 1e6),
        "e0c57d19ed6e722a055eadc9be5a238300127bf83d6ace5e027a63265d9c5725",
        reason=_MILLION,
        source=_WAVE,
        origin=_wavecluster("15-clusters"),
        license="none stated",
        label=None,
        folder="wavecluster/",
    ),
    _plane(
        "wavecluster_ds2",
        (0.0, 1e6),
        "30175ee1aca624f8d5408f6b0d9a05298ec70297a5d629ebba35e3257bf8421d",
        reason=_MILLION,
        source=_WAVE,
        origin=_wavecluster("spiral"),
        license="none stated",
        label=None,
        folder="wavecluster/",
    ),
    _plane(
        "wavecluster_ds3",
        (0.0, 1.2e6),
        "00318df5a6e7b3d42ec9c69fb50b8b5dcfa4494e52279a1945433d245c948115",
        reason="synthetic set; a frame of 0 to 1,200,000",
        source=_WAVE,
        origin=_wavecluster("aggregation"),
        license="none stated",
        label=None,
        folder="wavecluster/",
    ),
)
