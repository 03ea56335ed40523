"""The command and the Python code that make the same release, for whoever goes on without pages."""

import shlex
from pathlib import Path
from typing import Any

from shoal.privacy import Ledger
from shoal.studio.ledgers import ledger_name
from shoal.studio.releases import AskedRelease, build_clusterer
from shoal.studio.workspace import StudioTable

__all__ = ["release_command", "release_snippet"]

LEFT_OUT = ("schema", "ledger", "random_state", "epsilon", "user_column", "records_per_user")


def release_command(table: StudioTable, asked: AskedRelease) -> str:
    """Return the commands of the shell that make such a release.

    Parameters
    ----------
    table : StudioTable
        Whose name and ledger they use.
    asked : AskedRelease
        What is asked for.

    Returns
    -------
    command : str
        One line, or two with a profile.
    """
    settings, names = asked.settings, _names(table)
    model = build_clusterer(asked, None)
    common = ["--schema", names["schema"], "--ledger", names["ledger"]]
    if asked.schema.user is not None:
        common += ["--records-per-user", str(asked.records_per_user)]
    parts = ["shoal", "cluster", names["data"], "--target", type(model).__name__]
    parts += ["--epsilon", f"{settings.epsilon:g}"]
    for name, value in _changed(model).items():
        counted = name == "n_clusters" and isinstance(value, int)
        parts += ["--k", str(value)] if counted else ["--set", f"{name}={value}"]
    lines = [[*parts, *common, "--out", names["out"]]]
    if settings.profile is not None:
        profile = ["shoal", "profile", names["data"], "--release", names["out"]]
        profile += ["--epsilon", f"{settings.profile:g}"]
        profile += ["--delta", f"{settings.profile_delta:g}"] if settings.profile_delta else []
        lines.append([*profile, *common, "--out", f"{names['out']}-profile"])
    return "\n".join(map(shlex.join, lines))


def release_snippet(table: StudioTable, asked: AskedRelease, ledger: Ledger) -> str:
    """Return Python code that makes such a release.

    Parameters
    ----------
    table, asked
        As for :func:`release_command`.
    ledger : Ledger
        Whose limits a new one would have.

    Returns
    -------
    code : str
        Complete.
    """
    settings, names, limits = asked.settings, _names(table), ledger.limits
    model = build_clusterer(asked, None)
    kind = type(model).__name__
    given = ", ".join(
        [f"{name}={value!r}" for name, value in _changed(model).items()]
        + [f"epsilon={settings.epsilon!r}", "schema=schema"]
        + _users(asked)
        + ["ledger=ledger"]
    )
    opened = (
        f"Ledger({names['ledger']!r})"
        if ledger.path is not None
        else f"Ledger(epsilon={limits.epsilon!r}, delta={limits.delta!r}{_unit(asked)})"
    )
    profiled = settings.profile is not None
    private = ", PrivacyUnit" if _unit(asked) and ledger.path is None else ""
    lines = [
        f"from shoal.cluster import {'ClusterProfile, ' if profiled else ''}{kind}",
        f"from shoal.privacy import Ledger{private}",
        "from shoal.schema import Schema",
        "from shoal.tables import read_columns",
        "",
        f"schema = Schema.load({names['schema']!r})",
        f"ledger = {opened}",
        f"table = read_columns({names['data']!r}, schema.all_columns)",
        f"model = {kind}({given}).fit(table)",
        "model.release_.save('release.json')",
    ]
    if profiled:
        words = ", ".join(
            [
                f"schema=schema, epsilon={settings.profile!r}, delta={settings.profile_delta!r}",
                *_users(asked),
                "ledger=ledger",
            ]
        )
        lines += [
            f"profile = ClusterProfile(model.release_, {words}).fit(table)",
            "profile.release_.save('profile.json')",
        ]
    return "\n".join(lines)


def _names(table: StudioTable) -> dict[str, str]:
    """Return names of files: that of the table, and others made from it."""
    stem = ledger_name(table) or "table"
    path = None if table.ledger is None else table.ledger.path
    data = table.name if table.source in ("upload", "file") else f"{stem}.csv"
    return {
        "data": data,
        "schema": f"{stem}.schema.json",
        "ledger": f"{stem}.ledger" if path is None else Path(path).name,
        "out": f"{stem}-clusters",
    }


def _changed(model: Any) -> dict[str, Any]:
    """Return the parameters that are not the class's own, but for those that are said elsewhere."""
    own = type(model)().get_params()
    return {
        name: value
        for name, value in model.get_params().items()
        if name not in LEFT_OUT and value != own[name]
    }


def _users(asked: AskedRelease) -> list[str]:
    if asked.schema.user is None:
        return []
    return [f"records_per_user={asked.records_per_user}"]


def _unit(asked: AskedRelease) -> str:
    user = asked.schema.user
    return "" if user is None else f", privacy_unit=PrivacyUnit.user({user.name!r})"
