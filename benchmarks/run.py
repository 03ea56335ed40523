"""`make bench`: speed as ratios, measured in one run on this machine."""

import itertools

import noise
import remap
import reports


def main() -> None:
    """Print one line a comparison."""
    print(f"{'ours / theirs':<48}{'ours ns':>9}{'theirs':>9}{'ratio':>8}")
    missed = 0
    for ratio in itertools.chain(noise.ratios(), remap.ratios(), reports.ratios()):
        print(ratio)
        missed += ratio.target is not None and ratio.value < ratio.target
    print(f"{missed} target(s) missed")


if __name__ == "__main__":
    main()
