"""Bugs in what is said of spends, in who counts them, and in what their hashes cover."""

import contextlib
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from planted.plant import Bug, planted
from shoal.cli import app
from shoal.cli._counting import Counting
from shoal.exceptions import LedgerFileError
from shoal.privacy import Guarantee, Ledger, MetricEvent, PureEvent
from shoal.tables import write_table


class Subject:
    """What a check runs on; these checks make their own."""

    name = "ledger"


def promises_no_less_than_it_costs(_: Subject) -> None:
    assert "epsilon = 1.00001" in str(Guarantee("central", 1.0000049))


def leaves_no_more_than_there_is(_: Subject) -> None:
    ledger = Ledger(epsilon=1.0)
    ledger.spend(PureEvent(epsilon=1e-8))
    assert "left for a pure spend: 0.999999" in str(ledger)


def leaves_nothing_out_of_a_total(_: Subject) -> None:
    ledger = Ledger(epsilon=math.inf)
    for _ in range(2):
        ledger.spend(MetricEvent(epsilon=1.0, unit="", slack=0.25))
    text = Counting(ledger, "people.csv").text
    assert "and slack = 0.5" in text
    assert "the distance is the largest" in text


def counts_a_paid_command(_: Subject) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_table("people.csv", ["age"], np.linspace(0, 100, 50)[:, None])
        words = "perturb people.csv -o reports.csv --columns age --bounds 0,120 --unit year"
        assert CliRunner().invoke(app, [*words.split(), "--seed", "0"]).exit_code == 0
        assert Path("people.csv.ledger").exists()


def hashes_the_version(_: Subject) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Ledger("one.ledger", epsilon=1.0).spend(PureEvent(epsilon=0.5))
        kept = Path("one.ledger").read_bytes()
        version = json.loads(kept.splitlines()[1])["version"].encode()
        Path("one.ledger").write_bytes(kept.replace(version, b"9.9.9"))
        with pytest.raises(LedgerFileError):
            Ledger("one.ledger")


def forgets_nothing_when_a_limit_is_raised(_: Subject) -> None:
    ledger = Ledger(epsilon=1.0, delta=1e-6, who="ada")
    ledger.spend(PureEvent(epsilon=0.75))
    ledger.set_limit(epsilon=2.0, reason="more")
    assert ledger.remaining == 1.25


BUGS = [
    Bug(
        "promises rounded to nearest",
        "shoal._numbers",
        "return _rounded(value, digits, ROUND_CEILING)",
        'return f"{value:.{digits}g}"',
        promises_no_less_than_it_costs,
        Subject(),
    ),
    Bug(
        "what is left rounded to nearest",
        "shoal._numbers",
        "return _rounded(value, digits, ROUND_FLOOR)",
        'return f"{value:.{digits}g}"',
        leaves_no_more_than_there_is,
        Subject(),
    ),
    Bug(
        "a paid command that keeps no ledger",
        "shoal.cli._counting",
        "        return empty._replace(ledger=_AtFirstSpend(path, **kwargs))\n",
        "        return empty\n",
        counts_a_paid_command,
        Subject(),
    ),
    Bug(
        "a version outside the hash",
        "shoal.privacy._ledger_file",
        "    digest = hashlib.sha256((previous + plain).encode()).hexdigest()\n",
        "    told = {name: value for name, value in content.items() if name != 'version'}\n"
        "    digest = hashlib.sha256((previous + json.dumps(told)).encode()).hexdigest()\n",
        hashes_the_version,
        Subject(),
    ),
    Bug(
        "a raised limit that begins anew",
        "shoal.privacy._account",
        "            self._closed_epsilon += Fraction(min(self._epsilon, self._open_epsilon))\n",
        "",
        forgets_nothing_when_a_limit_is_raised,
        Subject(),
    ),
    Bug(
        "a total without the slack",
        "shoal.cli._counting",
        'f" and slack = {rounded_up(promise.slack, 3)}" if promise.slack else ""',
        '""',
        leaves_nothing_out_of_a_total,
        Subject(),
    ),
    Bug(
        "units without a name taken for one",
        "shoal.privacy._tally",
        'UNNAMED if len(same) > 1 and not total.unit else ""',
        '""',
        leaves_nothing_out_of_a_total,
        Subject(),
    ),
]


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bugs_are_noticed(bug: Bug) -> None:
    bug.red(bug.subject)
    with planted(bug), pytest.raises((AssertionError, pytest.fail.Exception)):
        bug.red(bug.subject)
