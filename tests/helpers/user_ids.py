"""Ids of users that a common type would merge."""

# One float64 holds 256 of the first, int64 none of the second.
NEAR = [1_500_000_000_000_000_000 + i for i in range(2000)]
LARGE = [2**63 + i for i in range(2000)]
TEXT = [f"{i}" for i in range(2000)]
SETS = {"near": NEAR, "large": LARGE, "text": TEXT}
