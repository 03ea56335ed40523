"""Sources of random words for tests: scripted ones, and what forked children draw."""

import os

import numpy as np

from shoal.noise import SeededSource


class Scripted:
    """Words given by hand, then those of a seed."""

    seeded = True

    def __init__(self, *words):
        self.given, self.rest = list(words), SeededSource(6)

    def words(self, count):
        taken, self.given = self.given[:count], self.given[count:]
        return np.concatenate(
            [np.array(taken, dtype=np.uint64), self.rest.words(count - len(taken))]
        )


def words_of_forked_children(source, children=3, count=8):
    """What forked children draw first from a source their parent has already used."""
    source.words(count)
    drawn = []
    for _ in range(children):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, source.words(count).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        drawn.append(np.frombuffer(os.read(read, 8 * count), np.uint64))
        os.close(read)
        os.close(write)
    return [*drawn, source.words(count)]


def all_different(streams):
    return len({stream.tobytes() for stream in streams}) == len(streams)
