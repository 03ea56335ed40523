"""Bugs planted in the JavaScript client: each check that holds without them must go red."""

import subprocess

import pytest

from helpers import javascript_checks as checks
from helpers.javascript import CLIENT, javascript_reports, node_or_skip, planted
from shoal.exceptions import ParameterError
from shoal.mechanisms import Duchi, Hybrid, Laplace, PartitionResponse, Piecewise

SQUARE = ([0.0, 0.0], [1.0, 2.0])
RECORD = [0.2, 1.9]


def half_the_noise(node):
    checks.radius_and_direction(node, Laplace(3.0, bounds=SQUARE), RECORD, 800)


def audited(node):
    checks.audit_holds(
        node, Laplace(2.0, bounds=SQUARE), samples=2_000, search_samples=100, least=0.3
    )


def redrawn(node):
    checks.inside_the_box(node, Laplace(6.0, bounds=SQUARE, truncate="resample"), RECORD, 300)


def responses(node):
    checks.responses_follow(node, PartitionResponse(2.0, bounds=SQUARE), RECORD, 10_000)


def windows(node):
    checks.columns_follow(node, Piecewise(2.0, bounds=SQUARE), RECORD, 3_000)


def sampled(node):
    mechanism = Piecewise(1.0, bounds=SQUARE, columns="sample")
    checks.columns_follow(node, mechanism, RECORD, 3_000)


def two_values(node):
    checks.columns_follow(node, Hybrid(1.0, bounds=SQUARE), RECORD, 3_000)


def corners(node):
    mechanism = Duchi(1.5, bounds=([0.0] * 4, [1.0] * 4))
    checks.corners_follow(node, mechanism, [0.0, 0.3, 0.8, 1.0], 3_000)


BUGS = {
    "half the noise": (
        "metric.js",
        "[rateBelow * stepBelow, rateAbove * stepAbove]",
        "[rateBelow * stepBelow, 2n * rateAbove * stepAbove]",
        half_the_noise,
    ),
    "half the noise, seen by an audit": (
        "metric.js",
        "[rateBelow * stepBelow, rateAbove * stepAbove]",
        "[rateBelow * stepBelow, 2n * rateAbove * stepAbove]",
        audited,
    ),
    "a radius of normals": (
        "laplace.js",
        "const radius = multiply(p, scale, add(...exponentials));",
        "const radius = multiply(p, scale, add(...exponentials.slice(0, pairs)));",
        half_the_noise,
    ),
    "redrawing for nothing": (
        "metric.js",
        "const rate = redrawn ? epsilon / 2 : epsilon;",
        "const rate = epsilon;",
        redrawn,
    ),
    "a color kept too often": (
        "samplers.js",
        "const rest = BigInt(choices - 1);",
        "const rest = BigInt(choices - 2);",
        responses,
    ),
    "twice the epsilon": (
        "columns.js",
        "const epsilon = exactEpsilon(whole, reported);",
        "const epsilon = exactEpsilon(2 * whole, reported);",
        windows,
    ),
    "a column too many": (
        "columns.js",
        "const kept = order.slice(0, reported);",
        "const kept = order.slice(0, reported + 1);",
        sampled,
    ),
    "always the record's sign": (
        "columns.js",
        "(chances[i] < truthful ? sign : fair[i])",
        "(sign)",
        two_values,
    ),
    "never a corner far away": (
        "duchi.js",
        "const [high] = twoLevel(1, epsilon, [far, corners - far], source);",
        "const high = true; twoLevel(1, epsilon, [far, corners - far], source);",
        corners,
    ),
}


@pytest.fixture(scope="module")
def node():
    with javascript_reports() as reports:
        yield reports


@pytest.mark.full  # with more reports in tests/js, too
@pytest.mark.parametrize("check", dict.fromkeys(bug[-1] for bug in BUGS.values()))
def test_the_checks_hold(node, check):
    check(node)


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_noticed(tmp_path, name):
    module, right, wrong, check = BUGS[name]
    changed = planted(tmp_path, module, right, wrong)
    # Some are no reports of the mechanism any more, and are refused when they are read.
    refused = pytest.raises((AssertionError, ParameterError))
    with javascript_reports(changed) as node, refused:
        check(node)


# All words come from the generator for keys, each of their bits.
ONLY_SECURE = """
import { secureWords } from "%s/words.js";
Math.random = () => { throw new Error("not for keys"); };
let next = 0;
crypto.getRandomValues = (array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = (next += 167) & 255;
  return array;
};
const words = secureWords.words(20_000);
const expected = Uint8Array.from({ length: 160_000 }, (_, i) => (167 * (i + 1)) & 255);
const right = new BigUint64Array(expected.buffer);
const same = words.length === 20_000 && words.every((word, i) => word === right[i]);
if (!same) throw new Error("other words");
"""


def words_are_secure(folder):
    script = ONLY_SECURE % folder.as_uri()
    done = subprocess.run(
        [node_or_skip(), "--input-type=module", "--eval", script], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_words_come_from_the_generator_for_keys(tmp_path):
    words_are_secure(CLIENT / "src")
    right = "crypto.getRandomValues(drawn.subarray(start, start + LARGEST));"
    for wrong in (
        "for (const i of drawn.keys()) drawn[i] = BigInt(Math.floor(2 ** 53 * Math.random()));",
        "crypto.getRandomValues(drawn.subarray(0, LARGEST));",
        f"{right} for (const i of drawn.keys()) drawn[i] &= 0xffffffffffffn;",
    ):
        with pytest.raises(AssertionError):
            words_are_secure(planted(tmp_path, "words.js", right, wrong))
