"""The distribution of the piecewise mechanism's reports, as published."""

import numpy as np


def published_variance(t, epsilon):
    s = np.exp(epsilon / 2)
    return t**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)


def published_cdf(t, epsilon):
    """Distribution function of a report: linear between -C, the window's ends and C."""
    s = np.exp(epsilon / 2)
    c = (s + 1) / (s - 1)
    left = (c + 1) * t / 2 - (c - 1) / 2
    right = left + c - 1
    outside = (left + c) / (c + 1) / (s + 1)
    return lambda z: np.interp(z, [-c, left, right, c], [0, outside, outside + s / (s + 1), 1])
