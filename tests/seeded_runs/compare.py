"""Compare two recordings of the seeded runs: the same bits, but for the names listed here.

``python tests/seeded_runs/compare.py OLD NEW`` reads the folders that :mod:`record` wrote, puts the
new words into both, prints what differs, and exits with 1 if anything does. Lines may be broken and
fields ordered in another way; a number may never differ.

To allow a difference, add to one of the three tables, with the reason:

* ``WORDS``: a regular expression and what it becomes, in every text and every name of a field or a
  run. A rule that would change a number, or give two fields one name, raises an error.
* ``LEFT_OUT``: runs of things that are gone.
* ``IGNORED``: fields, by a regular expression on their path such as
  ``^kmeans-grid/fit/advice_$``.
"""

# ruff: noqa: T201 - a script that prints

import argparse
import difflib
import functools
import json
import re
import sys
from pathlib import Path

# (pattern, new words): reason. In this order, each on the result of those before.
WORDS: dict[tuple[str, str], str] = {
    (r"This figure needs JavaScript\. ?", ""): "pictures",
    (r"\bHe comes\b", "They come"): "the attacker is no he",
    (r"\bHe names\b", "They name"): "the attacker is no he",
    (r"([Cc])entred\b", r"\1entered"): "spelling",
    (r"([Cc])entring\b", r"\1entering"): "spelling",
    (r"([Cc])entre", r"\1enter"): "spelling",
    (r"([Nn])eighbour", r"\1eighbor"): "spelling",
    (r"([Cc])olour", r"\1olor"): "spelling",
    (r"([Bb])ehaviour", r"\1ehavior"): "spelling",
    (r"([Jj])udgement", r"\1udgment"): "spelling",
    (r"([Ll])icence", r"\1icense"): "spelling",
    (
        r"(?i)(random|standard|normal|minim|maxim|summar|general|initial|recogn|linear|"
        r"discret|equal|author|organ|anonym)is(e|ing|ation)",
        r"\1iz\2",
    ): "spelling",
    (r"\bcurrency\b", "privacy_measure"): "the field's word for epsilon or rho",
    (r"^cell$", "trial"): "column of a record store",
    (r"that the attacker made himself", "made by the attacker"): "the attacker is no he",
    (r"\bhis\b", "their"): "the attacker is no he",
    (r"\bhe comes within", "they come within"): "the attacker is no he",
    (r"\bhe names the record", "they name the record"): "the attacker is no he",
    (r"\bleaves him off", "leaves them off"): "the attacker is no he",
    (r"\blaw of its noise\b", "noise"): "column of the report of an audit",
    (r"\bwhat it told\b", "privacy loss"): "column of the report of an audit",
    (r"^law$", "noise"): "field of ReplayedRelease",
    (r"\bstand[-_]in\b", "private-copy"): "option and files of shoal compare",
    (
        r"(?<! given to fit) changes the probability of any release",
        " of the table given to fit changes the probability of any release",
    ): "a promise says what it covers",
    (
        r"(?<! given to the mechanism) for (any other changes|one at a distance|others, each at)",
        r" given to the mechanism for \1",
    ): "a promise says what it covers",
}

GONE = "a second reproduction: the studies measure and judge the same, in the runs reproduce-*"

# Runs of the old recording that the new one does not have: reason.
LEFT_OUT: dict[str, str] = {}

# Patterns of paths in either recording that are not compared: reason.
IGNORED: dict[str, str] = {
    r"^events/(LaplaceEvent|DiscreteLaplaceEvent|KNormEvent|Parallel)": "events no code created",
    r"^metrics/(distances|risk)": "measures that nothing used",
    r"^promises/conversions/delta of rho$": "a conversion that nothing used",
    r"^paper-kd-laplace-figures/(utility|distances|attack|gains)": GONE,
    r"^paper-kccm/(corrected|published|verdicts|plain)": GONE,
    r"^paper-wavecluster/(measurements|verdicts)": GONE,
}

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
HEX = re.compile(r"[0-9a-f]{64}")
SHOWN = 6  # differences of a run that are printed, unless all are asked for
WIDTH = 160


@functools.cache
def new_words(text):
    """Return a text in the new words; raise ValueError if a rule would change a number."""
    if HEX.fullmatch(text):
        return text
    for pattern, words in WORDS:
        changed = re.sub(pattern, words, text)
        if NUMBER.findall(changed) != NUMBER.findall(text):
            raise ValueError(f"the rule {pattern!r} changes a number in {text!r}")
        text = changed
    return text


def translate(value):
    """Put the new words into all texts and names of fields."""
    if _is_text(value):  # lines are joined: a name may be broken between two
        return new_words(value if isinstance(value, str) else " ".join(value))
    if isinstance(value, list):
        return [translate(one) for one in value]
    if isinstance(value, dict):
        found = {new_words(name): translate(one) for name, one in value.items()}
        if len(found) != len(value):
            raise ValueError(f"the rules give two fields one name, among {sorted(value)}")
        return found
    return value


def differences(old, new, path=""):
    """Yield (path, old, new) for all that differs; both are in the new words already."""
    if any(re.search(pattern, path) for pattern in IGNORED):
        return
    if _is_text(old) and _is_text(new):
        old, new = (one if isinstance(one, str) else " ".join(one) for one in (old, new))
        if old != new:
            yield path, old, new
    elif isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            inside = f"{path}/{name}" if path else name
            if name not in new:
                yield from _alone(inside, old[name], is_old=True)
            elif name not in old:
                yield from _alone(inside, new[name], is_old=False)
            else:
                yield from differences(old[name], new[name], inside)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{path}/{place}")
    elif type(old) is not type(new) or json.dumps(old) != json.dumps(new):
        yield path, json.dumps(old), json.dumps(new)


def _alone(path, value, *, is_old):
    if not any(re.search(pattern, path) for pattern in IGNORED):
        pair = (json.dumps(value), "(not there)")
        yield (path, *(pair if is_old else pair[::-1]))


def _is_text(value):
    lines = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    return isinstance(value, str) or lines


def same_numbers(difference):
    """Tell whether two texts differ in words alone."""
    _, old, new = difference
    return NUMBER.findall(old) == NUMBER.findall(new)


def show(difference):
    """Return a difference in a few lines: around the first word that differs."""
    path, old, new = difference
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = max(0, start - 40)
    kind = "words" if same_numbers(difference) else "NUMBERS"
    lines = [f"  {path}  ({kind})"]
    for sign, text in (("-", old), ("+", new)):
        shown = text[start : start + WIDTH]
        before, after = "..." * (start > 0), "..." * (start + WIDTH < len(text))
        lines.append(f"    {sign} {before}{shown}{after}")
    return "\n".join(lines)


def compare(old, new, *, shown=SHOWN):
    """Compare two folders, print what differs, and return whether they are equal."""
    olds, news = (
        {new_words(path.stem): path for path in folder.glob("*.json")} for folder in (old, new)
    )
    if not olds:
        raise SystemExit(f"no recording in {old}")
    equal, words, other = [], [], []
    for name in sorted({**olds, **news}):
        if name in LEFT_OUT and name not in news:
            print(f"left out {name}: {LEFT_OUT[name]}")
            continue
        if name not in olds or name not in news:
            where = "new" if name in olds else "old"
            print(f"missing  {name}: not in the {where} recording{_nearest(name, olds, news)}")
            other.append(name)
            continue
        before, after = (json.loads(one[name].read_text("utf-8")) for one in (olds, news))
        found = list(differences(translate(before), translate(after), name))
        if not found:
            equal.append(name)
            continue
        only_words = all(map(same_numbers, found))
        (words if only_words else other).append(name)
        print(f"{'words   ' if only_words else 'NUMBERS '} {name}: {len(found)} differences")
        for difference in found[:shown]:
            print(show(difference))
    print(
        f"{len(equal)} runs equal, {len(words)} differ in words alone, {len(other)} in numbers, "
        f"fields or runs; {len(WORDS)} rules for words"
    )
    return not words and not other


def _nearest(name, olds, news):
    others = [one for one in {**olds, **news} if (one in olds) != (one in news) and one != name]
    close = difflib.get_close_matches(name, others, 1)
    return f" (renamed from or to {close[0]}?)" if close else ""


def main():
    """Compare the folders that are given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("old", type=Path, help="recording of the old code")
    parser.add_argument("new", type=Path, help="recording of the new code")
    parser.add_argument("--all", action="store_true", help="print every difference")
    given = parser.parse_args()
    same = compare(given.old, given.new, shown=None if given.all else SHOWN)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
