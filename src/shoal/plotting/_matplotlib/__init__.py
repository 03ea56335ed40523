"""Charts drawn by matplotlib."""

from shoal.plotting._matplotlib.render import render

__all__ = ["render"]
