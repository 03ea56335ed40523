"""Labels on the device: find the cluster of a true record in a published release.

Nothing is released here: a label is as private as its record, and stays on the device.
"""

from shoal.labels.on_device import (
    center_distances,
    label_encoded,
    label_on_device,
    nearest_centers,
)
from shoal.labels.release_form import check_release

__all__ = [
    "center_distances",
    "check_release",
    "label_encoded",
    "label_on_device",
    "nearest_centers",
]
