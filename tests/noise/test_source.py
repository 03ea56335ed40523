import multiprocessing
import pickle
import threading

import numpy as np
import pytest

from helpers.cases import case
from helpers.random_sources import all_different, words_of_forked_children
from shoal.exceptions import ParameterError
from shoal.noise import SecureSource, SeededSource, as_source


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_children_never_repeat_the_parent_or_each_other():
    assert all_different(words_of_forked_children(SecureSource()))


def test_threads_have_streams_of_their_own():
    source, drawn = SecureSource(), []
    threads = [threading.Thread(target=lambda: drawn.append(source.words(8))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all_different([*drawn, source.words(8)])


def test_secure_words_differ_between_sources_and_calls():
    a, b = SecureSource(), SecureSource()
    assert all_different([a.words(8), a.words(8), b.words(8)])


def test_secure_words_are_uniform_bits():
    bits = np.unpackbits(SecureSource().words(200_000).view(np.uint8))
    # 12.8 million fair bits: seven standard deviations, false alarm 3 * 10^-12.
    assert abs(bits.mean() - 0.5) < 7 * 0.5 / np.sqrt(bits.size)


def test_pickled_secure_source_has_a_key_of_its_own():
    source = SecureSource()
    source.words(1)
    text = pickle.dumps(source)
    assert len(text) < 100  # no key inside
    assert all_different(
        [source.words(8), pickle.loads(text).words(8), pickle.loads(text).words(8)]
    )


def test_seeded_words_repeat_and_differ_between_seeds():
    assert (SeededSource(3).words(9) == SeededSource(3).words(9)).all()
    assert all_different([SeededSource(seed).words(8) for seed in range(50)])
    first = SeededSource(3)
    assert (np.concatenate([first.words(4), first.words(5)]) == SeededSource(3).words(9)).all()


def test_seeded_source_is_not_pickled():
    with pytest.raises(TypeError, match="pass the seed itself"):
        pickle.dumps(SeededSource(1))


def test_random_state_of_every_kind():
    assert not as_source(None).seeded
    assert as_source(np.int64(3)).seeded
    legacy, modern = np.random.RandomState, np.random.default_rng
    for make in (legacy, modern):
        assert (as_source(make(1)).words(4) == as_source(make(1)).words(4)).all()
    source = SecureSource()
    assert as_source(source) is source


def test_bad_random_state():
    for bad in ["0", 1.5, True, [1]]:
        with case(bad=bad), pytest.raises(ParameterError, match="random_state must be None"):
            as_source(bad)


def _draw(_):
    return SecureSource().words(4).tobytes()


def test_pool_workers_differ():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert len(set(pool.map(_draw, range(6), chunksize=1))) == 6
