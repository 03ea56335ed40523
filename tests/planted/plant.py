"""Plant a bug by its text: what is right in a module, and what is wrong.

The changed text of the module is compiled, and each function of it that differs gets the changed
code. Whoever imported the function runs the bug; no name is patched, and a text that is not there
exactly once is an error, so no bug is planted in vain. Code of module level does not run again.
"""

import contextlib
import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bug:
    """A bug, the contract that must go red, and the subject that it is held to."""

    what: str
    module: str
    right: str
    wrong: str
    red: Callable[[Any], None]
    subject: Any

    def __str__(self) -> str:
        return f"{self.what}, {self.subject.name}"


@contextlib.contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """Run a ``with`` block with a bug."""
    module = importlib.import_module(bug.module)
    source = inspect.getsource(module)
    count = source.count(bug.right)
    assert count == 1, f"{bug.right!r} is in {bug.module} {count} times, not once"
    changed = compile(source.replace(bug.right, bug.wrong), str(module.__file__), "exec")
    wrong = dict(_codes(changed))
    swapped = []
    for name, function in _functions(module).items():
        code = wrong.get(name, function.__code__)
        if code != function.__code__ and code.co_freevars == function.__code__.co_freevars:
            swapped.append((function, function.__code__))
            function.__code__ = code
    assert swapped, "no function has changed"
    try:
        yield
    finally:
        for function, code in swapped:
            function.__code__ = code


def _functions(module: types.ModuleType) -> dict[str, Any]:
    """Return the functions of a module by their names, with those of its classes."""
    found = {}

    def walk(holder: Any, prefix: str) -> None:
        for name, value in vars(holder).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                walk(value, f"{prefix}{name}.")
                continue
            inner = getattr(value, "__func__", getattr(value, "fget", None)) or value
            if not callable(inner):
                continue
            inner = inspect.unwrap(inner)
            if isinstance(inner, types.FunctionType) and inner.__module__ == module.__name__:
                found[f"{prefix}{name}"] = inner

    walk(module, "")
    return found


def _codes(code: types.CodeType, prefix: str = "") -> Iterator[tuple[str, types.CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            name = f"{prefix}{constant.co_name}"
            yield name, constant
            yield from _codes(constant, f"{name}.")
