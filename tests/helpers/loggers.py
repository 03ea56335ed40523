"""Loggers of other packages, which a server takes over for its whole process."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from shoal.service.logs import OTHERS

__all__ = ["restored_loggers"]


@contextmanager
def restored_loggers() -> Iterator[None]:
    """Give the loggers of other packages back as they were."""
    loggers = [logging.getLogger(name) for name in OTHERS]
    before = [(one.handlers, one.level, one.propagate) for one in loggers]
    try:
        yield
    finally:
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
