"""All that a device does, where what it does not need is missing.

Run in a process of its own: ``python light_device.py MODULE...`` refuses to import the modules,
and prints every report and label as JSON, so that two installations can be compared.
"""

import importlib.abc
import json
import pickle
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

SEED = 7
PLACE = [0.21, -0.4]
CITIES = ["Berlin", "Lyon", "Porto"]
RECORD = {"age": 41.0, "city": "Lyon", "member": True}


class Missing(importlib.abc.MetaPathFinder):
    """Refuse to find some modules, and note who asked for one."""

    def __init__(self, modules):
        self.modules = modules
        self.asked = []

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.modules:
            self.asked.append(name)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def mechanisms():
    """Return every mechanism that a device draws with, for two columns or three."""
    from shoal import mechanisms as m
    from shoal._registry import METHODS

    names = {
        method.class_name
        for method in METHODS
        if method.location.startswith("shoal.mechanisms:") and method.class_name != "KdLaplace"
    }
    made = {name: getattr(m, name)(2.0, bounds=(-1.0, 1.0), random_state=SEED) for name in names}
    made["Laplace, redrawn"] = m.Laplace(
        4.0, bounds=(-1.0, 1.0), truncate="resample", random_state=SEED
    )
    return {name: (made[name], 3 if name == "SphericalLaplace" else 2) for name in sorted(made)}


def reports():
    """Draw a report of one record and of some, and from the document of the mechanism."""
    import numpy as np

    from shoal.mechanisms import load_mechanism

    rows = np.random.default_rng(SEED).uniform(-1.2, 1.2, (50, 3))
    drawn = {}
    for name, (mechanism, columns) in mechanisms().items():
        some = mechanism.fit_transform(rows[:, :columns])
        one = mechanism.randomize([0.21, -0.4, 0.5][:columns])
        again = load_mechanism(json.loads(json.dumps(mechanism.to_dict())))
        again.set_params(random_state=SEED)
        copy = pickle.loads(pickle.dumps(mechanism))
        drawn[name] = {
            "some": some.tolist(),
            "one": one.tolist(),
            "from its document": again.randomize(PLACE + [0.5] * (columns - 2)).tolist(),
            "promise": str(again.guarantee_),
            "repr": repr(mechanism),
            "copy": repr(copy.of_encoded()),
        }
    return drawn


def seed_reports():
    """Draw reports by cells of the nearest seed, and of a record with a schema."""
    import numpy as np

    from shoal.mechanisms import Laplace, PartitionResponse, Piecewise
    from shoal.partitions import NearestSeeds, Partitions
    from shoal.schema import Category, Flag, Number, Schema

    rng = np.random.default_rng(SEED)
    drawn = {}
    for columns in (1, 2, 3, 5):
        low, high = [-1.0] * columns, [1.0] * columns
        pool = rng.uniform(-1.0, 1.0, (300, columns))
        seeds = Partitions([NearestSeeds(pool, 64, 8, 64, low, high)])
        mechanism = PartitionResponse(2.0, bounds=(low, high), partitions=seeds, random_state=SEED)
        drawn[f"seeds of {columns}"] = mechanism.fit_transform(
            rng.uniform(-1.0, 1.0, (400, columns))
        ).tolist()
    schema = Schema(
        [Number("age", minimum=0, maximum=120), Category("city", CITIES), Flag("member")]
    )
    for kind in (Laplace, PartitionResponse, Piecewise):
        mechanism = kind(3.0, schema=schema, random_state=SEED)
        drawn[f"{kind.__name__} by schema"] = mechanism.randomize(RECORD).tolist()
    return drawn


def kept_reports():
    """Report a value twice, and see the same bytes; their number is what is compared."""
    from shoal.campaigns import Campaign, SigningKey, sign_campaign
    from shoal.client import Device
    from shoal.mechanisms import PartitionResponse

    campaign = Campaign(
        id="homes",
        title="Where people live",
        purpose="Plan bus lines.",
        mechanism=PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0])),
        closes=datetime(2130, 1, 1, tzinfo=UTC),
        reports_url="https://example.org/v1/campaigns/homes/reports",
        results_url="https://example.org/v1/campaigns/homes/results",
    )
    key = SigningKey.new()
    with tempfile.TemporaryDirectory() as folder:
        device = Device(Path(folder) / "device.db", public_key=key.public)
        device.join_envelope(sign_campaign(campaign, key))
        first, again = device.draw([0.2, 0.7]), device.draw([0.2, 0.7])
        (status,) = device.status()
    return {
        "same": first.report == again.report,
        "bytes": len(first.report),
        "spends": status.drawn,
    }


def labels():
    """Find clusters from published releases: of centers, cells and boxes, read from JSON."""
    from shoal import label_on_device
    from shoal.labels import center_distances
    from shoal.privacy import Guarantee, Release

    box = {"low": [0.0, 0.0], "high": [4.0, 4.0], "half": 4}
    centers = [[0.5, 0.5], [3.0, 3.5]]
    cells = {"metric": "cells", "cells": [0, 3], "clusters": [0, 1], "shape": [2, 2], "grid": 2}
    boxes = {
        "metric": "boxes",
        "cells": [0, 2],
        "clusters": [0, 1],
        "cell_low": [[-4, -4], [-4, 0], [0, -4]],
        "cell_high": [[0, 0], [0, 4], [4, 4]],
    }
    held = {
        "euclidean": {"metric": "euclidean", "centers": centers},
        "bounds": {"metric": "bounds", "centers": centers, **box},
        "cosine": {"metric": "cosine", "centers": centers, **box},
        "cells": {**cells, **box},
        "boxes": {**boxes, **box},
    }
    points = [[0.3, 0.9], [3.9, 3.0], [2.2, 0.1], [9.0, -9.0]]
    found = {}
    for name, values in held.items():
        release = Release(name, values, Guarantee("local", epsilon=1.0))
        read = Release.from_json(release.to_json())
        found[name] = [label_on_device(read, point) for point in points]
        found[f"{name}, all"] = label_on_device(read, points).tolist()
    found["distances"] = center_distances(
        Release("euclidean", held["euclidean"], Guarantee("local", epsilon=1.0)), points
    ).tolist()
    return found


def refusals():
    """Collect the words that refuse bad records and parameters."""
    import numpy as np

    from shoal.exceptions import ShoalError
    from shoal.mechanisms import Laplace, PartitionResponse

    fitted = Laplace(1.0, bounds=(0.0, 1.0)).fit([[0.5, 0.5]])
    calls = {
        "text": lambda: fitted.transform([["a", "b"]]),
        "numbers as text": lambda: fitted.transform([["1", "2"]]),
        "NaN": lambda: fitted.transform([[np.nan, 0.5]]),
        "infinite": lambda: fitted.transform([[np.inf, 0.5]]),
        "columns": lambda: fitted.transform([[0.5]]),
        "no record": lambda: fitted.transform(np.empty((0, 2))),
        "no column": lambda: fitted.transform(np.empty((2, 0))),
        "one dimension": lambda: fitted.transform([0.5, 0.5]),
        "three dimensions": lambda: fitted.transform(np.zeros((1, 2, 2))),
        "complex": lambda: fitted.transform(np.array([[1j, 0.5]])),
        "ragged": lambda: fitted.transform([[0.5, 0.5], [0.5]]),
        "masked": lambda: fitted.transform(np.ma.masked_array([[0.5, 0.5]])),
        "dates": lambda: fitted.transform(np.array([["2026-11-16"] * 2], dtype="M8[D]")),
        "None": lambda: fitted.transform([[None, 0.5]]),
        "nothing": lambda: fitted.transform(None),
        "text for a table": lambda: PartitionResponse(1.0, bounds=(0.0, 1.0)).randomize("ab"),
        "epsilon": lambda: Laplace(0.0, bounds=(0.0, 1.0)).randomize([0.5]),
        "bounds": lambda: Laplace(1.0).randomize([0.5]),
        "parameter": lambda: fitted.set_params(epsilo=1.0),
        "corner": lambda: Laplace(1e-4, bounds=(0.0, 1.0), truncate="resample").randomize(
            [0.5, 0.5]
        ),
    }
    words = {}
    for name, call in calls.items():
        try:
            call()
        except (ShoalError, ValueError) as refused:
            words[name] = [issubclass(type(refused), ValueError | TypeError), str(refused)]
        else:
            words[name] = [True, "was not refused"]
    return words


PARTS = (reports, seed_reports, kept_reports, labels, refusals)


def main(modules):
    """Do it all, and print it."""
    finder = Missing(modules)
    sys.meta_path.insert(0, finder)
    done = {part.__name__: part() for part in PARTS}
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    print(json.dumps({"done": done, "asked": finder.asked, "loaded": loaded}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
