"""Attacks on clusterings and reports, for a curator who wants to see what they reveal.

All of them read raw records, and no budget is charged for their results: these have no privacy
guarantee and must stay with the curator.
"""

from shoal.audit.attacks._forests import (
    ClassLabels,
    Forest,
    MembershipSplit,
    Scorer,
    number_classes,
    split_records,
)
from shoal.audit.attacks._toolbox import SHADOW_THRESHOLD, learn_shadow_attack, load_toolbox
from shoal.audit.attacks.attribute_inference import AttributeInference, infer_attribute
from shoal.audit.attacks.centers import attack_centers
from shoal.audit.attacks.membership import membership_inference
from shoal.audit.attacks.reconstruction import Reconstruction, reconstruct
from shoal.audit.attacks.result import AttackResult, advantage_ceiling

__all__ = [
    "SHADOW_THRESHOLD",
    "AttackResult",
    "AttributeInference",
    "ClassLabels",
    "Forest",
    "MembershipSplit",
    "Reconstruction",
    "Scorer",
    "advantage_ceiling",
    "attack_centers",
    "infer_attribute",
    "learn_shadow_attack",
    "load_toolbox",
    "membership_inference",
    "number_classes",
    "reconstruct",
    "split_records",
]
