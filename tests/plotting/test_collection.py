"""A collection's picture: records and labels, reports, true and published centers."""

import numpy as np

from helpers.charts import COLLECTION, column, layers, legend, titles
from shoal.plotting import draw_collection


def test_what_devices_have_what_the_server_stores_and_what_is_published():
    picture = draw_collection(COLLECTION)
    assert not picture.records  # they are made up
    assert [one.split()[0] for one in titles(picture)] == ["Devices:", "Server:", "Published"]
    dots, centers = layers(picture, 0)[:2]
    assert len(dots.rows) == len(COLLECTION.records)
    assert column(centers.rows, "x") == [float(f"{x:.6g}") for x in COLLECTION.true_centers[:, 0]]
    (reports,) = layers(picture, 1, "circle")
    assert column(reports.rows, "x") == COLLECTION.reports[:, 0].tolist()
    assert column(reports.rows, "y") == COLLECTION.reports[:, 1].tolist()


def test_labels_are_colors_and_centers_are_told_apart():
    picture = draw_collection(COLLECTION)
    clusters = layers(picture, 2, "circle")
    sizes = np.bincount(COLLECTION.labels, minlength=len(COLLECTION.centers))
    assert [len(one.rows) for one in clusters] == sizes.tolist()
    assert len({one.mark["color"] for one in clusters}) == len(clusters)
    true, published = layers(picture, 2, "point")[:2]
    assert column(published.rows, "y") == [float(f"{y:.6g}") for y in COLLECTION.centers[:, 1]]
    assert true.mark["shape"] != published.mark["shape"]
    assert [*legend(picture, 2)] == ["true centers (known in a demo only)", "published centers"]
    assert all("demo only" in name for name in [*legend(picture, 0)])
