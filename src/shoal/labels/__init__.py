"""Labels on the device: a published release and a true record in, the record's cluster out.

Nothing is released here: the label is as private as the record, and stays where the record is.
"""

from shoal.labels.on_device import (
    center_distances,
    label_encoded,
    label_on_device,
    nearest_centers,
)

__all__ = ["center_distances", "label_encoded", "label_on_device", "nearest_centers"]
