"""How clusters look: the same number is the same color in all figures."""

from shoal.plotting.style import FULL, SPARE, Look

__all__ = ["MAX_NAMED", "NOISE", "cluster_look", "cluster_name"]

NOISE = -1  # label of what is in no cluster
MAX_NAMED = 20  # clusters in a legend


def cluster_look(cluster: int) -> Look:
    """Return color and marker of a cluster; what is in none is a light cross."""
    if cluster == NOISE:
        return Look("#bfbfbf", "x", FULL, "")
    # After one round, colors come again with other markers.
    turn, place = divmod(cluster % len(SPARE) ** 2, len(SPARE))
    return Look(SPARE[place].color, SPARE[(place + turn) % len(SPARE)].marker, FULL, "")


def cluster_name(cluster: int) -> str:
    """Name a cluster in a legend."""
    return "no cluster" if cluster == NOISE else f"cluster {cluster}"
