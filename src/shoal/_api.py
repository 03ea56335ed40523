"""The list of public names: where each is imported from, and on which page of the reference it is.

What is not on the list may change at any time, even where a package exports it: other packages of
shoal need it. ``shoal`` itself, its types, the reference and ``docs/releasing.md`` follow the list;
after a change, run ``python tools/derived_texts.py``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["PAGES", "TOP", "Page"]


class Page(NamedTuple):
    """A page of the reference: the public names of a module."""

    group: str
    module: str
    top: tuple[str, ...]  # can be imported from `shoal` itself too
    others: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the page."""
        return (*self.top, *self.others)


def _page(group: str, module: str, *, top: str = "", others: str = "") -> Page:
    return Page(group, module, tuple(top.split()), tuple(others.split()))


_RECORDS = "Clusters of records"
_PROMISES = "Promises and noise"
_REPORTS = "Reports and collections"
_STUDIES = "Audits and experiments"

# In the order of the reference. Where two modules have a name in common, text that mentions it is
# linked to the first.
PAGES: tuple[Page, ...] = (
    _page(
        _RECORDS,
        "shoal.cluster",
        top="Ball ClusterProfile DPDensity DPKMeans DPWaveCluster PrivateCopy",
        others="LearnedSchema learn_schema profile_noise",
    ),
    _page(
        _RECORDS,
        "shoal.schema",
        top="Category Date Flag Number Ordinal Place Schema SchemaEncoder",
        others="Field Text import_table_schema",
    ),
    _page(
        _RECORDS,
        "shoal.tables",
        others="ArrayTable ArrowTable SparkTable Table read_table write_table",
    ),
    _page(
        _RECORDS,
        "shoal.datasets",
        others="""
            Dataset DatasetInfo Origin fetch list_datasets load
            make_circle make_customers make_gaussians make_line make_skewed make_spirals
        """,
    ),
    _page(
        _RECORDS,
        "shoal.metrics",
        top="score_clustering",
        others="""
            ClusteringScores MatchedCenters Roc
            adversary_advantage centroid_index centroid_relative_error classify_with_cells
            cost_ratio dsg f_measure match_centers nicv ocm privacy_distance roc two_ce
        """,
    ),
    _page(
        _RECORDS,
        "shoal.plotting",
        others="""
            Picture
            draw_audit draw_bars draw_cells draw_cluster_tree draw_collection draw_density
            draw_density_clusters draw_heat_map draw_k_distance draw_lines draw_n_clusters
            draw_perturbation_area draw_profile draw_rates draw_release draw_roc draw_scatter
            draw_thresholds draw_trade_off
        """,
    ),
    _page(
        _PROMISES,
        "shoal.privacy",
        top="Adjacency Guarantee Ledger Release",
        others="""
            Cost Entry Limits LocalBudget PrivacyUnit Receipt
            ApproximateEvent Composed Event GDPEvent MetricEvent PureEvent Repeated ShuffledEvent
            amplify amplify_drawn cost epsilon_to_gdp gdp_to_delta gdp_to_epsilon local_epsilon_for
            metric_to_local pure_to_gdp
        """,
    ),
    _page(
        _PROMISES,
        "shoal.noise",
        others="LaplaceNoise Lattice Noise RandomSource RoundedGaussianNoise as_source privatize",
    ),
    _page(_PROMISES, "shoal.density", others="ClusterTree"),
    _page(
        _REPORTS,
        "shoal.mechanisms",
        top="""
            Duchi Hybrid KdLaplace Laplace PartitionResponse Piecewise PlanarLaplace
            SphericalLaplace SquareWave
        """,
        others="Mechanism load_mechanism",
    ),
    _page(_REPORTS, "shoal.partitions", others="Partitions"),
    _page(_REPORTS, "shoal.remap", others="BayesRemap Clip GridRemap"),
    _page(
        _REPORTS,
        "shoal.reports",
        top="NoiseAwareDensity NoiseAwareKMeans load_release",
        others="""
            CampaignPlan ClusterCount CountedReports DBSCANEps GaussianChannel ReleasedClusters
            ReportClusters TwoRoundCampaign
            cluster_reports liars_weight select_dbscan_eps select_n_clusters spread_over_box
        """,
    ),
    _page(_REPORTS, "shoal.labels", top="label_on_device"),
    _page(
        _REPORTS,
        "shoal.campaigns",
        others="""
            Campaign PublicKey SealingKey SealingPublicKey Shuffler SignedCampaign SigningKey
            open_campaign revise_campaign sign_campaign
        """,
    ),
    _page(
        _REPORTS,
        "shoal.client",
        others="""
            Answer CampaignStatus Device Receipt Request Retries SentReports Transport UrlTransport
        """,
    ),
    _page(
        _REPORTS,
        "shoal.collector",
        others="Settings Store Worker create_app export_table queue_analysis serve",
    ),
    _page(_REPORTS, "shoal.shuffler", others="Settings serve"),
    _page(_REPORTS, "shoal.service", others="EventLog ServiceSettings listen server_config"),
    _page(
        _REPORTS,
        "shoal.studio",
        others="StudioSettings Workspace create_studio open_file serve_studio",
    ),
    _page(
        _STUDIES,
        "shoal.audit",
        top="""
            attack_centers audit_estimator audit_mechanism check_pipeline epsilon_lower_bound
            membership_inference metric_epsilon_lower_bound replay_estimator
        """,
        others="""
            AttackResult AttributeInference AuditResult EstimatorAudit Evidence Frequency
            MechanismAudit Neighbors PipelineReport Reconstruction RecordPair ReplayAudit
            ReplayedPair ShuffledAudit StepReport
            advantage_ceiling audit_shuffled infer_attribute neighboring_datasets reconstruct
        """,
    ),
    _page(
        _STUDIES,
        "shoal.experiments",
        others="""
            AttackRow AttackSuite Component DevicePlan DeviceRow ExperimentSpec PlanRow PoisonRow
            PromiseAudit RecordStore ReleasePlan ShuffledPlan ShuffledRow Trial
            attack_suite audit_promise draw_promise measure_poisoning plan_devices plan_release
            plan_shuffled run_spec
        """,
    ),
    _page(
        _STUDIES,
        "shoal.experiments.compare",
        others="""
            Baseline Chosen ComparedTable Comparison MethodRow
            choose_contenders compare_methods draw_costs recommend
        """,
    ),
    _page(
        _STUDIES,
        "shoal.papers",
        others="Claim Experiment Reproduction Study Verdict load_study run_study",
    ),
    _page(
        _STUDIES,
        "shoal.papers.kd_laplace",
        others="""
            ComparedPiecewise DensityNdLaplace DraftLaplace GridNdLaplace Leak NdLaplace
            measure_leak
        """,
    ),
    _page(_STUDIES, "shoal.papers.kccm", others="PublishedKCCM"),
    _page(_STUDIES, "shoal.papers.wavecluster", others="PublishedWaveCluster"),
    _page(
        "Errors",
        "shoal.exceptions",
        others="""
            ShoalError
            BudgetExceededError CampaignError DataError DataTypeError DeliveryError GuaranteeError
            LedgerError LedgerFileError LedgerPicklingError MissingBoundsError MissingPackageError
            ParameterError ReleaseError StoreError StoreUnavailableError TrialError
            UnknownEventError
        """,
    ),
)

# The module of each name that can be imported from `shoal` itself.
TOP: Mapping[str, str] = MappingProxyType(
    {name: page.module for page in PAGES for name in page.top}
)
