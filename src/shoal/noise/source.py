"""Where every random word comes from: the operating system's entropy, or a seed.

A :class:`SecureSource` runs AES-128 in counter mode (by the ``cryptography`` package) under a key
from ``os.urandom``. Each thread has a key of its own, and a forked child draws new keys before its
first draw, so that no two streams are ever the same. (A signal handler that forks in the middle of
a draw copies that one draw.) A :class:`SeededSource` is for tests and experiments: whatever it
makes is marked as seeded and its guarantee does not hold.
"""

import hashlib
import numbers
import os
import threading
from typing import NoReturn, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from shoal._numbers import shown
from shoal._typing import RandomState
from shoal.exceptions import ParameterError

__all__ = ["RandomSource", "SecureSource", "SeededSource", "as_source", "is_seeded"]

Words = npt.NDArray[np.uint64]

AHEAD = 256  # words made beside those of a small draw, for the next ones: 2 KiB, a microsecond
PIECE = 4096  # blocks encrypted at once in large draws: 64 KiB of numbers stay in the cache
_NUMBERS = np.zeros((PIECE, 2), "<u8")  # of the first blocks, 128 bits each
_NUMBERS[:, 0] = np.arange(PIECE)


@runtime_checkable
class RandomSource(Protocol):
    """Base class of random sources: independent, uniform 64-bit words.

    Examples
    --------
    >>> from shoal.noise import RandomSource, SeededSource
    >>> source: RandomSource = SeededSource(1)
    >>> source.words(3).dtype
    dtype('uint64')
    """

    seeded: bool

    def words(self, count: int) -> Words:
        """Draw ``count`` independent uniform words."""


class _Forks:
    """Counts the forks above this process, so that a child knows that it is one."""

    depth = 0

    @classmethod
    def enter_child(cls) -> None:
        cls.depth += 1


if hasattr(os, "register_at_fork"):  # nothing forks on Windows
    os.register_at_fork(after_in_child=_Forks.enter_child)


class _Stream:
    """Words of one key: AES-128 of the numbers of blocks, counted from 0, two words a block.

    A number is written as 128 bits with the lowest byte first, so these are the words of
    ``AESCounter`` in randomgen.
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        self._block = 0
        self._ready = np.empty(0, np.uint64)

    def words(self, count: int) -> Words:
        words = np.empty(count, np.uint64)
        ready = min(count, self._ready.size)
        words[:ready] = self._ready[:ready]
        self._ready = self._ready[ready:]
        missing = words[ready:]
        if missing.size > 2 * PIECE:
            whole = missing.size // 2 * 2
            self._encrypt(missing[:whole])
            missing = missing[whole:]
        if missing.size:
            fresh = np.empty((missing.size + AHEAD) // 2 * 2, np.uint64)
            self._encrypt(fresh)
            missing[:] = fresh[: missing.size]
            self._ready = fresh[missing.size :].copy()  # a view would keep all of it
        return words

    def _encrypt(self, words: Words) -> None:
        """Fill an even number of words with the next blocks."""
        blocks = words.size // 2
        numbers = _NUMBERS[:blocks].copy()
        numbers[:, 0] += self._block
        self._block += blocks
        clear, out = numbers.data.cast("B"), words.data.cast("B")
        end = 16 * PIECE
        while len(out) > end:
            # `update_into` asks for 15 bytes more than it writes; the next round fills them.
            self._cipher.update_into(clear, out[: end + 15])
            numbers[:, 0] += PIECE
            out = out[end:]
        out[:] = self._cipher.update(clear[: len(out)])


class SecureSource:
    """Cryptographically secure source: AES in counter mode, keyed by the operating system.

    Examples
    --------
    >>> from shoal.noise import SecureSource
    >>> SecureSource().words(3).shape
    (3,)
    """

    seeded = False

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int) -> Words:
        """Draw ``count`` independent uniform words.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        words : ndarray of uint64, shape (count,)
            The words.
        """
        # The process number alone would miss a child that a name space numbers as its parent; the
        # hook alone would miss a fork made by C code.
        owner = (os.getpid(), _Forks.depth)
        # The stream is taken away while it draws: what interrupts a draw, such as a signal handler,
        # gets a key of its own, and a draw that an exception ended is never gone on with.
        maker, stream = vars(self._local).pop("stream", (None, None))
        if maker != owner:
            stream = _Stream(os.urandom(16))
        words: Words = stream.words(count)
        self._local.stream = owner, stream
        return words

    def __reduce__(self) -> tuple[type["SecureSource"], tuple[()]]:
        # A copy in another process gets keys of its own.
        return SecureSource, ()


class SeededSource:
    """Repeatable source with a seed, for tests and experiments only: it voids guarantees.

    Parameters
    ----------
    seed : int or bytes
        Seed; the same seed gives the same words.

    Examples
    --------
    >>> from shoal.noise import SeededSource
    >>> bool((SeededSource(7).words(4) == SeededSource(7).words(4)).all())
    True
    """

    seeded = True

    def __init__(self, seed: int | bytes) -> None:
        text = seed if isinstance(seed, bytes) else str(int(seed)).encode()
        digest = hashlib.sha256(b"shoal seeded source:" + text).digest()
        self._stream = _Stream(digest[:16])
        self._lock = threading.Lock()

    def words(self, count: int) -> Words:
        """Draw the next ``count`` words of the stream of the seed.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        words : ndarray of uint64, shape (count,)
            The words.
        """
        with self._lock:
            return self._stream.words(count)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a seeded source is not pickled: pass the seed itself as random_state")


_SECURE = SecureSource()  # one for all: its threads and forks have keys of their own anyway


def is_seeded(random_state: RandomState) -> bool:
    """Return whether results of this ``random_state`` are repeatable, so that no guarantee holds.

    Parameters
    ----------
    random_state : None, int, numpy RandomState or Generator, or a source
        As for :func:`as_source`; no random words are taken from it.

    Returns
    -------
    seeded : bool
        False for None and secure sources, True for all others.

    Examples
    --------
    >>> from shoal.noise import is_seeded
    >>> is_seeded(None), is_seeded(0)
    (False, True)
    """
    if isinstance(random_state, RandomSource):
        return random_state.seeded
    return random_state is not None


def as_source(random_state: RandomState) -> RandomSource:
    """Convert scikit-learn's ``random_state`` to a random source.

    Parameters
    ----------
    random_state : None, int, numpy RandomState or Generator, or a source
        None uses the operating system's entropy; anything else, except a secure source, marks the
        result as seeded.

    Returns
    -------
    source : RandomSource
        A secure source for None, a source unchanged, and a seeded source for the others.

    Examples
    --------
    >>> from shoal.noise import as_source
    >>> as_source(None).seeded, as_source(0).seeded
    (False, True)
    """
    if random_state is None:
        return _SECURE
    if isinstance(random_state, RandomSource):
        return random_state
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ParameterError(
                "random_state must be at least 0 where it is an integer, got "
                f"{shown(random_state)}",
                parameter="random_state",
                code="range",
            )
        return SeededSource(int(random_state))
    if isinstance(random_state, np.random.RandomState | np.random.Generator):
        return SeededSource(random_state.bytes(16))
    raise ParameterError(
        "random_state must be None (secure), an integer, or a numpy RandomState or Generator, "
        f"got {type(random_state).__name__}",
        parameter="random_state",
        code="type",
    )
