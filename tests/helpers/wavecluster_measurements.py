"""Made-up measurements of the WaveCluster study, in a world where the source is right."""

from shoal.papers.wavecluster import FIGURE_SETS, METHODS

GOOD = {
    "k_private": 199,
    "dsg": 0.1,
    "ocm": 0.05,
    "two_ce": 0.05,
    "f_measure": 0.95,
    "clusters": 15,
}
BAD = {"k_private": 300, "dsg": 0.5, "ocm": 0.3, "two_ce": 0.09, "f_measure": 0.9, "clusters": 40}


def made_up(changes=None):
    """Return measurements; ``changes`` are values by version, technique and measure."""
    rows = []
    for method in METHODS:
        for dataset in FIGURE_SETS:
            for epsilon in (0.1, 0.5, 1.0, 2.0):
                for run in range(3):
                    values = dict(BAD if method.technique in ("qt", "baseline") else GOOD)
                    if method.technique == "thr-em" and epsilon == 0.1:
                        values["k_private"] = 150
                    if (method.technique, dataset) == ("thr", "ds2"):
                        values["ocm"] = 0.15
                    for (version, technique, measure), value in (changes or {}).items():
                        if (version, technique) == method:
                            values[measure] = value
                    values["dsg"] += 0.01 * run
                    rows.append(
                        {
                            "dataset": dataset,
                            "mechanism": method.technique,
                            "epsilon": epsilon,
                            "repeat": run,
                            "version": method.version,
                            "k": 200,
                            "significant": 200,
                            "ocm_with_noise": 0.0,
                            **values,
                        }
                    )
    return rows
