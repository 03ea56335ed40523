"""What can be chosen on Explore for a table: methods, axes and units of radii, all public."""

from typing import Any

from shoal._registry import METHODS, Method
from shoal.schema import Category, Number, Place, Schema
from shoal.studio.explore_planes import drawn_fields
from shoal.studio.private_copies import copy_refusal
from shoal.studio.workspace import StudioTable

__all__ = ["choices", "methods_for"]

AUTO = Method(
    "DPKMeans",
    "shoal.cluster:DPKMeans",
    "central",
    "centers",
    "k-means that chooses its method from public or noisy numbers",
)


def methods_for(table: StudioTable) -> list[Method]:
    """Return the methods that fit the trust model and the columns of a table."""
    schema = table.described
    columns = schema.space.columns
    fitting = [one for one in (AUTO, *METHODS) if one.min_columns <= columns <= one.max_columns]
    if table.trust_model == "central":
        cells = _has_cells(schema)
        return [
            one
            for one in fitting
            if one.class_name == "DPKMeans" or (one.class_name == "DPDensity" and cells)
        ]
    return [one for one in fitting if one.output == "reports"]


def choices(table: StudioTable) -> dict[str, Any]:
    """Return what can be chosen for a table, from public values alone."""
    schema = table.described
    schema.check_complete()
    fields = drawn_fields(schema)
    methods = methods_for(table)
    default = "DPKMeans" if table.trust_model == "central" else "PartitionResponse"
    return {
        "methods": [
            {"name": one.name, "summary": one.summary, "notion": one.notion} for one in methods
        ],
        "method": default if any(one.name == default for one in methods) else methods[0].name,
        "axes": [{"name": field.name, "title": field.title or field.name} for field in fields],
        "sources": ["made-up", *(["copy"] if table.copy is not None else [])],
        "copy": copy_refusal(table),
        "trust_model": table.trust_model,
        "n_guess": table.n_guess,
        "in_kilometers": _is_place(schema),
        "radii": {field.name: _radius(field) for field in fields},
    }


def _has_cells(schema: Schema) -> bool:
    """Return whether every record lies in a cell of a grid, and is a person's only one."""
    return schema.user is None and all(
        not isinstance(field, Category) and field.missing != "category" for field in schema.features
    )


def _is_place(schema: Schema) -> bool:
    return len(schema.features) == 1 and isinstance(schema.features[0], Place)


def _radius(field: Any) -> dict[str, Any]:
    """Return how far one unit of a field is in the distance of the schema."""
    low, high = field.limits
    width = float(field.shapes[0].width)
    if isinstance(field, Number) and field.scale == "log":
        return {"unit": "of the range", "distance": width, "usual": 0.1}
    unit = "days" if not isinstance(field, Number) else field.unit
    usual = float(f"{(high - low) / 10:.1g}")
    return {"unit": unit or field.name, "distance": width / (high - low), "usual": usual}
