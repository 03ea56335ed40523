"""Documents as a stranger might send them: valid ones, changed in one place, by a seed.

Each change is structural (a key dropped, renamed or given twice, a value of another type, a number
that no double holds, a list of another length) or one of the bytes (cut, not UTF-8, not JSON). The
same seed makes the same documents on every machine.
"""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

__all__ = ["changed", "spoiled_bytes", "texts"]

LONG = "x" * 5_000
DIGITS = "9" * 5_000  # beyond what Python turns into a number
DEEP = 100_000  # levels of lists, beyond any stack
# Numbers that only text can hold: they stand for themselves until the text is written.
RAW = {"@9e999": "9e999", "@-9e999": "-9e999", "@NaN": "NaN", "@Infinity": "Infinity"}
RAW |= {"@digits": DIGITS, "@deep": "[" * DEEP + "]" * DEEP, "@1e-400": "1e-400", "@-0": "-0"}
NUMBERS = (
    0,
    -1,
    1,
    2,
    3,
    1.5,
    -0.0,
    1e-300,
    5e-324,
    1e300,
    -1e300,
    2**31,
    2**53 + 1,
    2**63,
    10**400,
)
LETTERS = (
    "",
    " ",
    "9e999",
    "nan",
    "1",
    "null",
    "x",
    LONG,
    "a\x00b",
    "\ud800",
    "a\nb",
    "İ",
    "../x",
    "é",
    "http://[",
    "(((",
    "<U99999999",
)
SHAPES = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    [{}],
    {"x": 1},
    ["x"],
    [1, 2, 3],
    [[1.0], [1.0, 2.0]],
)
NESTED = [[[[[[[[[[[[[]]]]]]]]]]]]]
VALUES = (*NUMBERS, *LETTERS, *SHAPES, NESTED, *RAW)
FLOATS = (float("nan"), float("inf"), -float("inf"))  # of a dictionary, where text has none

Path = tuple[Any, ...]


def changed(
    document: Any, seed: int, count: int, *, text: bool = False
) -> Iterator[tuple[str, Any]]:
    """Yield copies with one change each, and what the change was.

    Parameters
    ----------
    document : object
        What JSON can hold.
    seed, count : int
        Which copies, and how many.
    text : bool
        Whether they are written as text by :func:`texts`, which can hold more.
    """
    rng = random.Random(seed)
    places = list(_places(document))
    values = VALUES if text else (*(one for one in VALUES if not _raw(one)), *FLOATS)
    for _ in range(count):
        path = rng.choice(places)
        # Once in a while two places are wrong, and what reads the first must not trip on the other.
        other = rng.choice(places) if rng.random() < 0.1 else None
        found = copy.deepcopy(document)
        name, found = _change(found, path, values, rng)
        if other is not None and _held(found, other):
            also, found = _change(found, other, values, rng)
            name = f"{name}; {also}"
        yield name, found


def texts(document: Any) -> bytes:
    """Return a changed document as the bytes of a file."""
    text = json.dumps(document)
    for mark, raw in RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text.encode()


def spoiled_bytes(content: bytes, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of a file that is cut, holds other bytes, or says a thing twice."""
    rng = random.Random(seed)
    yield "nothing", b""
    yield "a mark of the order of bytes", b"\xef\xbb\xbf" + content
    yield "UTF-16", content.decode("latin-1").encode("utf-16")
    yield "twice", content + content
    for _ in range(count):
        place = rng.randrange(len(content))
        kind = rng.choice(("cut", "one byte", "not UTF-8", "gap", "zeros"))
        if kind == "cut":
            found = content[:place]
        elif kind == "one byte":
            found = content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
        elif kind == "not UTF-8":
            found = content[:place] + b"\xff\xfe" + content[place:]
        elif kind == "gap":
            found = content[:place] + content[place + rng.randrange(1, 40) :]
        else:
            found = content[:place] + b"\0" * 8 + content[place:]
        yield f"{kind} at {place}", found


def _raw(value: Any) -> bool:
    return isinstance(value, str) and value in RAW


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where something can be changed; of long lists, the ends."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for index in {0, 1, len(value) // 2, len(value) - 1} & set(range(len(value))):
            yield from _places(value[index], (*path, index))


def _held(document: Any, path: Path) -> bool:
    """Return whether a document has a place, which another change may have taken."""
    for step in path:
        if not isinstance(document, dict | list):
            return False
        if step not in (document if isinstance(document, dict) else range(len(document))):
            return False
        document = document[step]
    return True


def _at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def _change(document: Any, path: Path, values: Any, rng: random.Random) -> tuple[str, Any]:
    """Change a document at one place."""
    here = _at(document, path)
    way = rng.choice(_ways(here, path))
    new = copy.deepcopy(rng.choice(values))
    if way == "number":
        new = rng.choice(
            (here + 1, -here, here * 2, here / 2, here * 1e18, 0, 1.0 * here, str(here))
        )
    elif way == "double":
        new = [here, copy.deepcopy(here)]
    elif way == "rename":
        new = rng.choice((f"{path[-1]}s", path[-1].upper(), "", "__proto__", LONG))
    found = _changed(document, path, way, new, rng)
    shown = repr(new)
    where = ".".join(map(str, path)) or "all"
    return f"{way} {where}: {shown[:40]}{'...' if len(shown) > 40 else ''}", found


def _ways(here: Any, path: Path) -> list[str]:
    """Return what can be done at a place; what happens most to documents is most likely."""
    ways = ["replace"] * 4
    if path:
        ways += ["drop", "double"]
    if path and isinstance(path[-1], str):
        ways += ["rename"]
    if isinstance(here, dict):
        ways += ["add"]
    if isinstance(here, list):
        ways += ["shorter", "longer", "reversed"]
    if type(here) in (int, float) and abs(here) <= 2**53:
        ways += ["number"] * 3
    return ways


def _changed(document: Any, path: Path, way: str, new: Any, rng: random.Random) -> Any:
    if way in ("replace", "number", "double"):
        return _with(document, path, new)
    here, holder = _at(document, path), _at(document, path[:-1])
    if way == "drop":
        del holder[path[-1]]
    elif way == "rename":
        holder[new] = holder.pop(path[-1])
    elif way == "add":
        here[rng.choice(("x", "__array__", "seed", "random_state", "ledger"))] = new
    elif way == "shorter":
        del here[len(here) // 2 :]
    elif way == "longer":
        here.append(copy.deepcopy(here[0]) if here else new)
    else:
        here.reverse()
    return document


def _with(document: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    _at(document, path[:-1])[path[-1]] = value
    return document
