"""Numbers of the studio's pages: promised and spent ones are rounded up, what is left down."""

import json
import subprocess
from pathlib import Path

import shoal.studio
from helpers.javascript import node_or_skip

ELEMENTS = Path(shoal.studio.__file__).parent / "pages" / "elements.js"
SHOWN = """
const { roundedUp, roundedDown } = await import(process.argv[1]);
const spent = [1.0049, 0.1 + 0.2, 2, 1e-6].map(roundedUp);
const left = [1.0049, 1 - 0.7, 2, 0.9999].map(roundedDown);
console.log(JSON.stringify([spent, left]));
"""


def test_what_is_spent_is_rounded_up_and_what_is_left_down():
    flags = ("--no-warnings", "--input-type=module", "--eval")
    done = subprocess.run(
        [node_or_skip(), *flags, SHOWN, ELEMENTS.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    up, down = json.loads(done.stdout)
    assert up == ["1.01", "0.3", "2", "0.000001"]
    assert down == ["1", "0.3", "2", "0.999"]
