"""What is released of the true records: clusters, and perhaps their profile, for a price.

The same function fits made-up records for the price and the true ones for the release, so a price
is what the fit itself charges. Noise is always secure: there is no seed to give.
"""

import functools
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shoal._build import build_estimator, load_class
from shoal._cluster_table import ClusterTable, cluster_table
from shoal._registry import METHODS, Method
from shoal.cluster import ClusterProfile
from shoal.exceptions import MissingPackageError, ParameterError, ShoalError
from shoal.experiments import make_up_records
from shoal.plotting import Picture
from shoal.privacy import Ledger, Release
from shoal.reports import load_release
from shoal.schema import Schema, Text
from shoal.service import RefusedError

if TYPE_CHECKING:
    from shoal.studio.jobs import JobProgress

__all__ = [
    "AskedRelease",
    "ReleaseSettings",
    "StudioRelease",
    "build_clusterer",
    "fit_release",
    "rehearse",
    "release_methods",
]

# Without these, DPWaveCluster wants a grid and a threshold that nobody knows beforehand.
WAVE = {"grid": "auto", "threshold": "auto"}
WAVE_METHOD = "DPWaveCluster"
PRIVATE_K = {"DPKMeans": "private"}  # who chooses the number of clusters where nobody gives one
REHEARSED_ROWS = 8  # made-up records; what is charged does not depend on them
AUTOMATIC = "chooses among its methods from public numbers"
TO_ROWS = (
    "The promise is per row: a person with several rows is protected less. Name "
    "the column of people on the Table page."
)
UNFORESEEN = (
    "The studio hit an unexpected error; check the ledger to see whether the profile was charged"
)


@dataclass(frozen=True)
class ReleaseSettings:
    """What is asked for.

    Parameters
    ----------
    method : str
        Of the registry, such as "DPKMeans-grid", or its class.
    epsilon, delta : float
        Budget of the clusters.
    k : int or None
        Number of clusters; None leaves it to the method.
    profile : float or None
        Epsilon of a profile of the clusters; None for none.
    profile_delta : float
        Delta of the profile; keywords of text need one.
    """

    method: str
    epsilon: float
    delta: float = 0.0
    k: int | None = None
    profile: float | None = None
    profile_delta: float = 0.0


@dataclass(frozen=True)
class AskedRelease:
    """Settings, and all that they are about: public values alone.

    Parameters
    ----------
    settings : ReleaseSettings
        What is asked for.
    schema : Schema
        Of the table.
    records_per_user : int
        Rows of each person that count, where the schema has a column of users.
    """

    settings: ReleaseSettings
    schema: Schema
    records_per_user: int

    def to_dict(self) -> dict[str, Any]:
        """Return all that decides what is released, as plain JSON."""
        return {
            **asdict(self.settings),
            "schema": self.schema.to_dict(),
            "records_per_user": self.records_per_user,
        }


class StudioRelease:
    """Clusters that were released, and their profile, with what pages show of them.

    Parameters
    ----------
    key : str
        Of the purchase.
    asked : AskedRelease
        What was asked for.
    model : estimator
        Fitted on the true records: its labels are for the curator's eyes only.
    """

    def __init__(self, key: str, asked: AskedRelease, model: Any) -> None:
        self.key = key
        self.asked = asked
        self.model = model
        self.time = datetime.now(UTC).isoformat(timespec="seconds")
        self.profile: ClusterProfile | None = None
        self.profile_failed = ""
        self._drawing = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a release of the studio holds labels of true records: never pickled")

    @property
    def release(self) -> Release:
        """The clusters, which may be published."""
        released: Release = self.model.release_
        return released

    @functools.cached_property
    def clusters(self) -> ClusterTable:
        """The clusters as a table."""
        return cluster_table(self.release)

    @property
    def picture(self) -> Picture | None:
        """The clusters as a chart; None where there is none."""
        with self._drawing:
            return self._picture

    @functools.cached_property
    def _picture(self) -> Picture | None:
        try:
            return load_release(self.release).plot()
        except (ParameterError, MissingPackageError):
            return None

    @property
    def notes(self) -> list[str]:
        """What a reader should know beside the clusters."""
        advice = getattr(self.model, "advice_", "")
        unsure = int((~self.clusters.certain).sum())
        notes = [advice] if advice else []
        notes += [f"{unsure} more may be only noise."] if unsure else []
        return notes if self.asked.schema.user is not None else [*notes, TO_ROWS]

    def to_dict(self) -> dict[str, Any]:
        """Return a line of the list of releases, as pages read it."""
        return {
            "key": self.key,
            "time": self.time,
            "kind": self.release.kind,
            "settings": asdict(self.asked.settings),
            "clusters": int(self.clusters.certain.sum()),
            "profile": self.profile is not None,
            "receipt": str(self.release.ledger),
        }

    def describe(self) -> dict[str, Any]:
        """Return all that pages show of it."""
        headings, rows = self.clusters.texts()
        picture, profile = self.picture, self.profile
        return {
            **self.to_dict(),
            "guarantee": str(self.release.guarantee),
            "holds": self.release.guarantee.holds,
            "headings": headings,
            "rows": rows,
            "caption": self.clusters.caption,
            "notes": self.notes,
            "picture": None if picture is None else {"spec": picture.spec},
            "profile": None
            if profile is None
            else {
                "sentences": profile.describe(),
                "guarantee": str(profile.guarantee_),
                "notes": list(profile.release_.values["notes"]),
                "receipt": str(profile.release_.ledger),
            },
            "profile_failed": self.profile_failed,
        }


def release_methods() -> dict[str, str]:
    """Return what can be asked for.

    Returns
    -------
    methods : dict
        A sentence for each name; the name of a class leaves the choice of its methods to it.

    Examples
    --------
    >>> from shoal.studio.releases import release_methods
    >>> [name for name in release_methods() if "-" not in name]
    ['DPKMeans', 'DPDensity', 'DPWaveCluster']
    """
    named = {
        one.name: one.summary for one in METHODS if one.trust_model == "central" and one.compared
    }
    return {"DPKMeans": AUTOMATIC, **named, WAVE_METHOD: named.pop(f"{WAVE_METHOD}-oneshot")}


def build_clusterer(asked: AskedRelease, ledger: Ledger | None) -> Any:
    """Build the estimator as ``shoal cluster --schema`` does, with secure noise.

    Parameters
    ----------
    asked : AskedRelease
        What is asked for.
    ledger : Ledger or None
        Which a fit charges.

    Returns
    -------
    model : estimator
        Not fitted.

    Raises
    ------
    ParameterError
        If the method cannot take what is asked for, such as users.
    """
    settings, schema = asked.settings, asked.schema
    method = _method(settings.method)
    kwargs = {**method.kwargs, "schema": schema, **(WAVE if _is_plain_wave(method) else {})}
    able = load_class(method.location)().get_params()
    chosen = settings.k or PRIVATE_K.get(method.class_name)
    for name, given in (("delta", settings.delta or None), ("n_clusters", chosen)):
        if given is None:
            continue
        if name not in able:
            raise ParameterError(f"{name} must be left out for {method.class_name}, got {given!r}")
        kwargs[name] = given
    if schema.user is not None:
        if "records_per_user" not in able:
            raise ParameterError(
                f"{method.class_name} makes its promise per row, and the schema says whose row "
                f"each row is: use DPKMeans"
            )
        kwargs |= {"records_per_user": asked.records_per_user, "user_column": schema.user.name}
    model = build_estimator(method.class_name, epsilon=settings.epsilon, kwargs=kwargs)
    return model.set_params(ledger=ledger, random_state=None)


def fit_release(
    asked: AskedRelease,
    columns: Mapping[str, Any],
    ledger: Ledger,
    *,
    key: str = "",
    progress: "JobProgress | None" = None,
) -> Iterator[StudioRelease]:
    """Charge and fit: yields the clusters as soon as they are there, then again with their profile.

    Parameters
    ----------
    asked : AskedRelease
        What is asked for.
    columns : mapping
        The records: true ones, or made-up ones for a price.
    ledger : Ledger
        Charged by each fit, before it releases anything.
    key : str, default=""
        Of the purchase.
    progress : JobProgress, default=None
        Told of each step; nothing is given up once it was paid for.

    Yields
    ------
    release : StudioRelease
        The same one twice, if there is a profile.
    """
    settings, user = asked.settings, asked.schema.user
    steps = 2 if settings.profile is None else 3
    model = build_clusterer(asked, ledger)
    if progress is not None:
        progress(0, steps)  # the last moment to give up
    made = StudioRelease(key, asked, model.fit(columns))
    if progress is not None:
        progress.note(1, steps)
    yield made
    if settings.profile is None:
        return
    profile = ClusterProfile(
        made.release,
        schema=asked.schema,
        epsilon=settings.profile,
        delta=settings.profile_delta,
        records_per_user=asked.records_per_user if user is not None else 1,
        user_column="" if user is None else user.name,
        ledger=ledger,
    )
    made.profile = profile.fit(columns)
    if progress is not None:
        progress.note(2, steps)
    yield made


def release_once(
    asked: AskedRelease,
    columns: Mapping[str, Any],
    ledger: Ledger,
    *,
    key: str,
    keep: list[StudioRelease],
    progress: "JobProgress",
) -> StudioRelease:
    """Fit the true records; clusters that were paid for are kept though their profile may fail.

    Parameters
    ----------
    asked, columns, ledger, key, progress
        As for :func:`fit_release`.
    keep : list of StudioRelease
        Where the release is put as soon as its clusters are there.

    Returns
    -------
    release : StudioRelease
        With its profile, or with the reason why there is none.
    """
    fits = fit_release(asked, columns, ledger, key=key, progress=progress)
    made = next(fits)
    keep.append(made)
    try:
        for _ in fits:
            pass
    except ShoalError as error:
        made.profile_failed = error.message
    except Exception:  # noqa: BLE001 - what was paid for is kept; its text may hold a value
        made.profile_failed = UNFORESEEN
    return made


def rehearse(asked: AskedRelease, ledger: Ledger) -> StudioRelease:
    """Fit made-up records of the schema: what that charges to a trial ledger is the price.

    Parameters
    ----------
    asked : AskedRelease
        What is asked for.
    ledger : Ledger
        Of :func:`shoal.studio.prices.trial_ledger`.

    Returns
    -------
    release : StudioRelease
        Of nobody's records, with the promises that a true one makes.
    """
    asked.schema.check_complete()
    return list(fit_release(asked, _made_up(asked.schema), ledger))[-1]


def _made_up(schema: Schema) -> dict[str, Any]:
    """Make up records with all columns that fits and profiles read."""
    drawn = [
        replace(one, role="feature") if one.role == "describe" else one
        for one in schema.fields
        if not isinstance(one, Text)
    ]
    made_up = make_up_records(replace(schema, fields=drawn), REHEARSED_ROWS, n_clusters=1)
    texts = {
        name: [""] * REHEARSED_ROWS
        for one in schema.described
        if isinstance(one, Text)
        for name in one.columns
    }
    return {**made_up.columns, **texts}


def _method(name: str) -> Method:
    for method in METHODS:
        if method.name == name and name in release_methods():
            return method
    for method in METHODS:  # a class: its own choice of methods
        if method.class_name == name and name in release_methods():
            return method._replace(name=name, kwargs={})
    raise RefusedError(
        "invalid-parameter", f"The method must be one of {', '.join(release_methods())}."
    )


def _is_plain_wave(method: Method) -> bool:
    return method.class_name == WAVE_METHOD and not method.kwargs
