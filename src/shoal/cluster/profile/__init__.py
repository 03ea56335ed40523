"""Private descriptions of published clusters: what distinguishes each of them."""

from shoal.cluster.profile._plan import FieldNoise, profile_noise
from shoal.cluster.profile._profiles import Estimate, FieldProfile, Profile
from shoal.cluster.profile.cluster_profile import ClusterProfile

__all__ = ["ClusterProfile", "Estimate", "FieldNoise", "FieldProfile", "Profile", "profile_noise"]
