"""Shapes: density, cluster tree and clusters, with thresholds that are moved for nothing."""

import hashlib
import json
from typing import Any

import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from shoal._numbers import rounded_up
from shoal.exceptions import ParameterError
from shoal.plotting import draw_shapes, shapes_rows
from shoal.schema import Place
from shoal.service import RefusedError
from shoal.studio.shapes import (
    ALPHAS,
    EPSILONS,
    SHAPES,
    SIZES,
    Cut,
    Density,
    ShapesSource,
    Thresholds,
    cell_fields,
    cut,
    density_releases,
    estimate_density,
    file_stem,
)
from shoal.studio.workspace import StudioTable, Workspace

__all__ = ["add_shapes_routes"]

FREE = "This costs nothing: it uses only what was released."
OTHERS = (
    "If you try several thresholds and keep the one you like best, false clusters may be more "
    "likely than the probability says."
)
MAX_CLUSTERS_TOLD = 40
MAX_FRAMES = 16
MEDIA = {"png": "image/png", "svg": "image/svg+xml", "geojson": "application/geo+json"}


class ShapesRequest(BaseModel):
    """Which density, and the thresholds that a reader chose; None leaves one to DPDensity."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: ShapesSource = "made-up"
    columns: list[int] = Field(default=[], max_length=8)
    epsilon: float = Field(default=1.0, ge=0.05, le=16, allow_inf_nan=False)
    shape: str = Field(default="moons", pattern=f"^({'|'.join(SHAPES)})$")
    release: str = Field(default="", max_length=64)
    stratum: int = Field(default=0, ge=0)
    alpha: float | None = Field(default=None, gt=0, lt=1, allow_inf_nan=False)
    min_size: float | None = Field(default=None, gt=0, le=1e12, allow_inf_nan=False)
    level: float | None = Field(default=None, gt=0, le=1e300, allow_inf_nan=False)


class ClustersRequest(ShapesRequest):
    """The same, with what the page has drawn already and does not need again."""

    drawn: str = Field(default="", max_length=100)  # key of the density
    frame: str = Field(default="", max_length=100)  # of the chart


def add_shapes_routes(app: FastAPI, workspace: Workspace) -> None:
    """Let pages choose records, move thresholds, and save what is shown."""

    @app.get("/api/tables/{identifier}/shapes", tags=["shapes"], summary="What can be chosen")
    def choices(identifier: str) -> dict[str, Any]:
        return _choices(workspace.get(identifier))

    @app.post(
        "/api/tables/{identifier}/shapes",
        tags=["shapes"],
        summary="Clusters of a density; moving a threshold costs nothing",
    )
    def clusters(identifier: str, wanted: ClustersRequest) -> dict[str, Any]:
        table = workspace.get(identifier)
        density, found = _find(table, wanted)
        return _answer(table, density, found, wanted)

    @app.get(
        "/api/tables/{identifier}/shapes/files/{kind}",
        tags=["shapes"],
        summary="What is shown, as a picture or as outlines",
    )
    def download(identifier: str, kind: str, settings: str = "{}") -> Response:
        if kind not in MEDIA:
            raise RefusedError("not-found", "There is no such file: take png, svg or geojson.")
        try:
            wanted = ShapesRequest.model_validate_json(settings)
        except ValidationError:
            raise RefusedError("invalid-parameter", "The settings cannot be read.") from None
        density, found = _find(workspace.get(identifier), wanted)
        source = wanted.shape if wanted.source == "shapes" else wanted.source
        name = f"{file_stem(density, source)}.{kind}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(
            _file(kind, density, found, wanted), media_type=MEDIA[kind], headers=headers
        )


def _choices(table: StudioTable) -> dict[str, Any]:
    fields = cell_fields(table.described)
    return {
        "fields": [
            {"name": field.title or field.name, "columns": 2 if isinstance(field, Place) else 1}
            for field in fields
        ],
        "shapes": SHAPES,
        "has_copy": table.copy is not None,
        "releases": [
            {
                "key": key,
                "name": f"release {number} (epsilon {rounded_up(release.guarantee.epsilon)})",
            }
            for number, (key, release) in enumerate(density_releases(table).items(), start=1)
        ],
        "epsilons": list(EPSILONS),
        "alphas": list(ALPHAS),
    }


def _find(table: StudioTable, wanted: ShapesRequest) -> tuple[Density, Cut]:
    density = estimate_density(
        table,
        wanted.source,
        columns=tuple(wanted.columns),
        epsilon=wanted.epsilon,
        shape=wanted.shape,
        release=wanted.release,
    )
    thresholds = Thresholds(wanted.alpha, wanted.min_size, wanted.level)
    return density, cut(density, thresholds, stratum=wanted.stratum)


def _answer(
    table: StudioTable, density: Density, found: Cut, wanted: ClustersRequest
) -> dict[str, Any]:
    key = f"{density.key} {wanted.stratum}"
    values, model = found.shown.values, found.model
    own = cut(density, Thresholds(), stratum=wanted.stratum).shown.values
    frame = _frame(density, found)
    # A chart of other columns is drawn anew; else rows do, those of the density if it changed.
    known = frame == wanted.frame
    rows = shapes_rows(
        found.shown,
        density.axes,
        level=found.level,
        density=not known or key != wanted.drawn,
    )
    drawing: dict[str, Any] = {"rows": rows}
    if not known:
        drawing = {"spec": {**_drawn_frame(table, frame, density, found), "datasets": rows}}
    sizes = np.asarray(values["sizes"], dtype=np.float64)
    total = max(float(values["records"]), float(sizes.sum()), 1.0)
    peak = float(np.max(values["tree"]["top"])) * found.volume
    return {
        **drawing,
        "drawn": key,
        "frame": frame,
        "words": density.words,
        "epsilon": density.model.epsilon,
        "guarantee": str(density.guarantee),
        "free": FREE,
        "warning": "" if model is density.model else OTHERS,
        "strata": density.strata,
        "clusters": [
            {"size": float(size), "share": float(size) / total}
            for size in sizes[:MAX_CLUSTERS_TOLD]
        ],
        "n_clusters": len(sizes),
        "automatic": {"n_clusters": len(own["sizes"]), "same": _same(own, values)},
        "records": float(values["records"]),
        "alpha": float(model.alpha),
        "threshold": values["threshold"],
        "peak": peak,
        "unit": "records in the finest cell" if "cell_low" in values else "records a cell",
        "sizes": [size for size in SIZES if size <= total / 2],
        "has_outlines": len(values["low"]) <= 2,
    }


def _drawn_frame(table: StudioTable, frame: str, density: Density, found: Cut) -> dict[str, Any]:
    """Return a chart without its rows; it takes long to make, and is kept."""
    with table.lock:
        kept: dict[str, Any] = table.cache.setdefault("shapes frames", {})
        if frame not in kept:
            if len(kept) >= MAX_FRAMES:
                kept.clear()
            kept[frame] = draw_shapes(found.shown, density.axes).spec
            del kept[frame]["datasets"]
        spec: dict[str, Any] = kept[frame]
    return spec


def _same(one: Any, other: Any) -> bool:
    """Return whether two choices have the same clusters."""
    return all(np.array_equal(one[name], other[name]) for name in ("cells", "clusters"))


def _frame(density: Density, found: Cut) -> str:
    """Return what the frame of a chart depends on."""
    boxes = density.key if "cell_low" in found.shown.values else "grid"
    return hashlib.sha256(repr((density.axes, boxes)).encode()).hexdigest()[:16]


def _file(kind: str, density: Density, found: Cut, wanted: ShapesRequest) -> bytes:
    settings = _settings_words(wanted)
    epsilon = rounded_up(density.model.epsilon)
    words = f"{density.words[0].upper()}{density.words[1:]}; epsilon {epsilon}"
    if kind == "geojson":
        if len(found.shown.values["low"]) > 2:
            raise ParameterError(
                "outlines need clusters in 1 or 2 columns, got more: choose two columns"
            )
        told = {"records": words, "thresholds": settings, "guarantee": str(density.guarantee)}
        return json.dumps({**found.model.outlines(), "shoal": told}, allow_nan=False).encode()
    title = f"{words}; {settings}"
    picture = draw_shapes(found.shown, density.axes, level=found.level, title=title)
    return picture.to_png() if kind == "png" else picture.to_svg().encode()


def _settings_words(wanted: ShapesRequest) -> str:
    chosen = [
        "" if wanted.level is None else f"cut at density {wanted.level:g}",
        "" if wanted.min_size is None else f"clusters of {wanted.min_size:g} records or more",
        "" if wanted.alpha is None else f"probability of a false cluster {wanted.alpha:g}",
    ]
    return "; ".join(filter(None, chosen)) or "automatic thresholds"
