"""
One
===

Text.
"""

print(1)
