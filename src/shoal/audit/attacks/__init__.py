"""Attacks on clusterings and reports, for the curator who wants to see what they give away.

All of them read raw records whose membership or values are known, and no budget pays for what they
print: the results stay with the curator.
"""

from shoal.audit.attacks.advantage_ceiling import advantage_ceiling
from shoal.audit.attacks.attack_centers import attack_centers
from shoal.audit.attacks.attribute_inference import AttributeInference, infer_attribute
from shoal.audit.attacks.membership_inference import membership_inference
from shoal.audit.attacks.reconstruction import Reconstruction, reconstruct
from shoal.audit.attacks.result import AttackResult

__all__ = [
    "AttackResult",
    "AttributeInference",
    "Reconstruction",
    "advantage_ceiling",
    "attack_centers",
    "infer_attribute",
    "membership_inference",
    "reconstruct",
]
