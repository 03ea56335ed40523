import hashlib
import multiprocessing
import pickle
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from randomgen import AESCounter

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


@pytest.mark.parametrize("seed", [0, -3, 2**80, b"", b"another" * 9])
def test_seeded_words_are_those_of_randomgen(seed):
    """A million words a seed, in odd draws, small and large, across all borders of what is kept."""
    text = seed if isinstance(seed, bytes) else str(seed).encode()
    key = hashlib.sha256(b"shoal seeded source:" + text).digest()[:16]
    reference = np.random.Generator(AESCounter(key=int.from_bytes(key, "little")))
    source, rng, total = SeededSource(seed), np.random.default_rng(5), 0
    sizes = [0, 1, 2, 3, 100, 255, 256, 257, 511, 8191, 8192, 8193, 8447, 8449, 65_537, 400_001]
    while total < 1_000_000:
        count = int(rng.choice(sizes))
        expected = reference.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True)
        np.testing.assert_array_equal(source.words(count), expected, strict=True)
        total += count


def test_words_belong_to_their_draw():
    changed, source = SeededSource(3), SeededSource(3)
    for count in (5, 300, 5, 20_001, 5):
        words = changed.words(count)
        assert (words == source.words(count)).all()
        words[:] = 0


def test_draws_hold_little_memory():
    """A large draw needs its words and a few pieces; a source keeps some words for small ones."""
    source, count = SeededSource(1), 1_000_000
    source.words(1)
    tracemalloc.start()
    try:
        source.words(count)
        _, most = tracemalloc.get_traced_memory()
        sizes = (1, 257, 8192, 8193, 100_001)
        kept = []
        for size in sizes:
            source.words(size)
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert most < 8 * count + 300_000
    assert max(kept) < 8_000


def test_a_draw_inside_a_draw_repeats_no_word():
    """As a signal handler does: between any two lines of a draw, another one of the same thread."""
    source, drawn, before = SecureSource(), [], sys.gettrace()

    def draw_inside(frame, event, _):
        if frame.f_code.co_filename != sys.modules[SecureSource.__module__].__file__:
            return None
        if event == "line":
            sys.settrace(None)
            drawn.append(source.words(4))
            sys.settrace(draw_inside)
        return draw_inside

    for count in (4, 4, 300, 20_000):
        sys.settrace(draw_inside)
        try:
            words = source.words(count)
        finally:
            sys.settrace(before)
        drawn.extend(words.reshape(-1, 4))
    assert len(drawn) > 5_000
    assert all_different(drawn)


def test_a_draw_that_failed_goes_not_back():
    source = SecureSource()
    before = source.words(8)
    with pytest.raises(ValueError, match="negative"):
        source.words(-8)
    assert all_different([before, source.words(8)])
    repeated = SeededSource(3)
    first = repeated.words(8)
    with pytest.raises(ValueError, match="negative"):
        repeated.words(-8)
    assert (np.concatenate([first, repeated.words(4)]) == SeededSource(3).words(12)).all()


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
