"""Codes and parameters of errors: a closed list, kept by subclasses and by pickles."""

import ast
import copy
import pickle
import typing
from pathlib import Path

import pytest

from shoal import exceptions
from shoal.exceptions import CODES, Code, DeliveryError, ShoalError, StoreUnavailableError

KINDS = [getattr(exceptions, name) for name in exceptions.__all__ if name.endswith("Error")]


def test_the_list_of_codes():
    assert tuple(CODES) == typing.get_args(Code)
    assert list(CODES) == sorted(CODES)
    assert all(code.isidentifier() and code.islower() for code in CODES)
    assert len(set(CODES.values())) == len(CODES)
    assert all(meaning.endswith(".") and meaning.count(".") == 1 for meaning in CODES.values())


def test_every_code_is_raised_somewhere():
    """A code that nothing carries would be a promise that nothing keeps."""
    source = Path(exceptions.__file__).parent
    texts = {
        node.value
        for file in source.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.keyword) and call.arg == "code"
        for node in ast.walk(call.value)
        if isinstance(node, ast.Constant)
    }
    defaults = {kind.default_code for kind in KINDS}
    checks = {"positive", "finite", "range", "whole", "choice", "type", "text"}  # of _numbers
    assert set(CODES) <= texts | defaults | checks


@pytest.mark.parametrize("kind", KINDS)
def test_every_class_has_a_code(kind):
    assert kind("wrong").code in CODES
    assert kind("wrong", code="choice", parameter="k").code == "choice"
    with pytest.raises(ValueError, match="code must be one of"):
        kind("wrong", code="no such code")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_travel_between_processes(kind, copied):
    own = {} if kind in (DeliveryError, StoreUnavailableError) else {"in_python": "pass n=1"}
    error = kind("n must be 1", parameter="n", code="range", **own)
    again = copied(error)
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)
    assert (again.parameter, again.code) == ("n", "range")


def test_what_a_class_knows_of_its_own_stays():
    late = pickle.loads(pickle.dumps(StoreUnavailableError("locked", retry_after=7)))
    assert (late.retry_after, late.code) == (7, "unavailable")
    refused = pickle.loads(pickle.dumps(DeliveryError("no", final=True, wait=2.0)))
    assert (refused.final, refused.wait, refused.code) == (True, 2.0, "delivery")


def test_a_class_has_the_code_of_its_base_unless_it_has_its_own():
    for kind in KINDS:
        assert "default_code" in vars(kind) or kind.default_code == kind.__base__.default_code
    assert ShoalError("wrong").parameter == ""
