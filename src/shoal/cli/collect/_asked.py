"""What a campaign asks and who shuffles its reports, from the options of ``shoal collect new``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.cli._options import complete_local
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    from shoal.campaigns import Campaign, SealingKey
    from shoal.mechanisms import Mechanism

__all__ = ["Question", "RelayOptions"]

MECHANISM = "PartitionResponse"


class Question(NamedTuple):
    """How devices answer: the options of the mechanism."""

    kind: str | None
    epsilon: float | None
    bounds: str | None
    columns: str | None
    schema: Path | None
    clusters: int | None
    settings: tuple[str, ...]

    @property
    def is_given(self) -> bool:
        """Whether any of them was."""
        return any(value not in (None, ()) for value in self)

    def mechanism(self) -> "Mechanism":
        """Build the mechanism, with the names of its columns."""
        from shoal import _numbers
        from shoal.campaigns import name_columns
        from shoal.cli._input import only_features, parse_bounds, parse_columns, read_schema
        from shoal.cli._target import build_target

        if self.epsilon is not None:
            _numbers.positive("epsilon", self.epsilon)
        kind = _mechanism_name(self.kind or MECHANISM)
        settings = list(self.settings)
        if self.clusters is not None:
            if kind != MECHANISM:
                raise ParameterError(
                    f"--clusters must come with --mechanism {MECHANISM}, got {kind}: its reports "
                    "do not depend on the number of clusters"
                )
            settings.append(f"n_clusters={self.clusters}")
        described = only_features(read_schema(self.schema))
        if described is not None and self.columns is not None:
            raise ParameterError("--columns must be left out with --schema, which names them")
        names: tuple[str, ...] = ()
        if described is None and (self.columns or (self.bounds or "").lower().endswith(".json")):
            names = parse_columns(self.columns, bounds=self.bounds).used
        built = build_target(
            kind,
            (kind,),
            epsilon=self.epsilon,
            bounds=self.bounds,
            names=names,
            settings=settings,
            ledger=None,
            seed=None,
            schema=described,
        )
        if not names:
            return built  # type: ignore[no-any-return]
        low, high = parse_bounds(self.bounds, names) or (0.0, 0.0)
        if not isinstance(low, list):
            built.set_params(bounds=([low] * len(names), [high] * len(names)))
        elif len(low) != len(names):
            raise ParameterError(
                f"--columns must name the {len(low)} columns of --bounds, got {len(names)} names"
            )
        return name_columns(built, names)


def _mechanism_name(typed: str) -> str:
    """Return the one mechanism that begins as it was typed."""
    known = [name for name in complete_local("") if name != "KdLaplace"]
    exact = [name for name in known if name.lower() == typed.lower()]
    found = exact or [name for name in known if name.lower().startswith(typed.lower())]
    if len(found) != 1:
        raise ParameterError(f"--mechanism must be one of {', '.join(known)}, got {typed!r}")
    return found[0]


class RelayOptions:
    """Who shuffles the reports, if anybody: the options of the shuffler."""

    def __init__(
        self, url: str | None, operator: str | None, batch: int | None, sealing_key: Path
    ) -> None:
        given = {"--relay": url, "--operator": operator, "--batch": batch}
        missing = [option for option, value in given.items() if value is None]
        if 0 < len(missing) < len(given):
            raise ParameterError(
                f"--relay, --operator and --batch must be given together, got no {missing[0]}"
            )
        self._url, self._operator, self._batch, self._path = url, operator, batch, sealing_key
        self._made: SealingKey | None = None

    def fields(self, name: str) -> dict[str, Any]:
        """Return the fields of a campaign whose reports are shuffled; none without a relay."""
        from shoal.campaigns import SealingKey, Shuffler, collector_addresses

        if self._url is None or self._operator is None or self._batch is None:
            return {}
        key = SealingKey.load(self._path) if self._path.exists() else SealingKey.new()
        self._made = None if self._path.exists() else key
        shuffler = Shuffler(self._operator, self._batch, str(key.public))
        reports = collector_addresses(self._url, name)["reports_url"]
        return {"shuffler": shuffler, "reports_url": reports}

    def save_key(self) -> None:
        """Write a key that was made, once the document is known to be right."""
        if self._made is not None:
            self._made.save(self._path)

    def moved(self, earlier: "Campaign") -> dict[str, Any]:
        """Return what a revision changes: nothing, since devices follow no other shuffler."""
        if self._url is not None:
            raise ParameterError(
                "--relay, --operator and --batch must be left out with --revise: devices accept "
                "no other shuffler; make another campaign"
            )
        return {} if earlier.shuffler is None else {"reports_url": earlier.reports_url}
