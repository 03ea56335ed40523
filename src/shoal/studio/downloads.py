"""The files of a release, made when they are asked for and kept nowhere.

All but the labels may be published: they are made of the release alone. Labels are of the true
records, and for the curator only.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal.plotting import draw_profile, profile_page
from shoal.service import RefusedError
from shoal.studio.releases import StudioRelease
from shoal.tables import table_csv

__all__ = ["ReleaseFile", "release_files", "write_file"]

PLANE = 2  # columns whose clusters have outlines
JSON, CSV, HTML, PNG = "application/json", "text/csv", "text/html", "image/png"
PAGE, PROFILE = "page that describes the clusters", "the profile as a picture"
PICTURES = {
    "png": (PNG, "picture for slides and emails"),
    "svg": ("image/svg+xml", "picture that stays sharp at any size"),
    "pdf": ("application/pdf", "picture for print"),
    "html": (HTML, "picture as a web page"),
}


class ReleaseFile(NamedTuple):
    """A file that can be downloaded: what it is for, its type, and who may have it."""

    name: str
    words: str
    media_type: str
    for_curator: bool
    make: Callable[[], str | bytes]

    def to_dict(self) -> dict[str, Any]:
        """Return it as pages read it."""
        return {"name": self.name, "words": self.words, "for_curator": self.for_curator}


def release_files(released: StudioRelease) -> list[ReleaseFile]:
    """Return the files that there are of a release, those of the curator last.

    Parameters
    ----------
    released : StudioRelease
        What was released.

    Returns
    -------
    files : list of ReleaseFile
        Under the names that ``shoal cluster`` and ``shoal profile`` give them.
    """
    release = released.release
    files = [
        _file("release.json", "the whole release, for other programs", JSON, release.to_json),
        _file(released.clusters.file, "table of the clusters", CSV, lambda: _clusters(released)),
    ]
    if released.picture is not None:
        files += [
            _file(f"release.{kind}", words, media, partial(_drawn, released, kind))
            for kind, (media, words) in PICTURES.items()
        ]
    if _has_outlines(released):
        files.append(
            _file(
                "outlines.geojson",
                "where the clusters lie, for maps",
                "application/geo+json",
                lambda: json.dumps(released.model.outlines()),
            )
        )
    profile = released.profile
    if profile is not None:
        files += [
            _file("profile.html", PAGE, HTML, lambda: profile_page(profile)),
            _file("profile.json", "the profile, for programs", JSON, profile.release_.to_json),
            _file("profile.csv", "the profile as a table", CSV, profile.to_csv),
            _file("profile.png", PROFILE, PNG, lambda: draw_profile(profile).to_png()),
        ]
    labels = "the cluster of each true record: never publish it"
    return [*files, ReleaseFile("labels.csv", labels, CSV, True, lambda: _labels(released))]


def write_file(released: StudioRelease, name: str) -> tuple[ReleaseFile, bytes]:
    """Return a file of a release and its bytes, or refuse."""
    for file in release_files(released):
        if file.name == name:
            content = file.make()
            return file, content if isinstance(content, bytes) else content.encode()
    raise RefusedError("not-found", "The release has no such file.")


def _file(name: str, words: str, media_type: str, make: Callable[[], str | bytes]) -> ReleaseFile:
    return ReleaseFile(name, words, media_type, False, make)


def _clusters(released: StudioRelease) -> str:
    return table_csv(released.clusters.names, released.clusters.values)


def _labels(released: StudioRelease) -> str:
    return table_csv(("cluster",), np.asarray(released.model.labels_)[:, None])


def _drawn(released: StudioRelease, kind: str) -> str | bytes:
    picture = released.picture
    if picture is None:
        raise RefusedError("not-found", "The release has no picture.")
    made: str | bytes = getattr(picture, f"to_{kind}")()
    return made


def _has_outlines(released: StudioRelease) -> bool:
    values = released.release.values
    return hasattr(released.model, "outlines") and len(values["low"]) == PLANE
