"""`make bench`: speed as ratios, measured in one run on this machine."""

import itertools

import audits
import costs
import kmeans
import peers
import roofline
import shapes_speed
import strict_local_speed
import wavecluster

import engines
import noise
import remap
import reports


def main() -> None:
    """Print one line a comparison."""
    print(f"{'ours / theirs':<48}{'ours ns':>9}{'theirs':>9}{'ratio':>8}")
    missed = 0
    rooms = (
        noise,
        remap,
        reports,
        strict_local_speed,
        engines,
        kmeans,
        wavecluster,
        shapes_speed,
        peers,
    )
    for ratio in itertools.chain.from_iterable(room.ratios() for room in rooms):
        print(ratio, flush=True)
        missed += ratio.target is not None and ratio.value < ratio.target
    print(f"{missed} target(s) missed")
    rooms = (kmeans, wavecluster, strict_local_speed, audits, roofline, costs)
    for note in itertools.chain.from_iterable(room.notes() for room in rooms):
        print(note, flush=True)


if __name__ == "__main__":
    main()
