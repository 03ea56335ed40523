# %% [markdown]
"""
An audit that catches a bug
===========================

Somebody mixes up a scale and draws half of the noise that the promise needs, and every picture
still looks fine. You learn how an audit finds the two records that show most, and proves from
reports alone that the claim is wrong.
"""

# %%
from shoal import PlanarLaplace
from shoal.experiments import audit_promise, draw_promise

BOX = (-1.0, 1.0)


class HalfTheNoise(PlanarLaplace):
    """Planar Laplace noise with a planted bug: reports lie twice as near to their records."""

    def transform(self, X):
        """Return reports that keep half of the promised distance."""
        return X + (super().transform(X) - X) / 2


# %% [markdown]
# The mechanism as it is: a lower bound of epsilon that stays below the claim proves nothing, and
# nothing is found.

# %%
right = audit_promise(PlanarLaplace(2.0, bounds=BOX), samples=8_000, search=200)
print(right.guarantee)
print(right.verdict)

# %% [markdown]
# The same claim with the bug: the bound passes it, with a confidence of 99.9%.

# %%
broken = audit_promise(HalfTheNoise(2.0, bounds=BOX), samples=8_000, search=200)
print(broken.verdict)

# %% [markdown]
# The two records that show most, the event that tells them apart, and epsilon against its claim.

# %%
picture = draw_promise(broken)
picture  # in a script: picture.save("audit.png")
