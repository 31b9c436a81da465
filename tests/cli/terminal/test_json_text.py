"""Our own indented JSON is what Python's encoder writes, character for character."""

import json
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.cli.terminal.json_text import json_text

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner)
)


@given(VALUES, st.booleans())
def test_it_is_what_json_dumps_writes(value: object, ascii_only: bool) -> None:
    expected = json.dumps(value, indent=2, ensure_ascii=ascii_only)
    assert json_text(value, ascii_only=ascii_only) == expected


class Word(StrEnum):
    BREAKS = "breaks"


def test_words_and_tuples_are_text_and_lists() -> None:
    value = {"verdict": Word.BREAKS, "versions": (1, 2)}
    assert json.loads(json_text(value, ascii_only=True)) == {
        "verdict": "breaks",
        "versions": [1, 2],
    }


def test_a_list_in_several_places_is_written_as_it_stands_in_each() -> None:
    shared = [{"api": "Fetch"}, []]
    value = {"a": shared, "b": [shared, {"c": shared}], "d": [shared, shared]}
    assert json_text(value, ascii_only=True) == json.dumps(value, indent=2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_an_error(value: float) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        json_text([value], ascii_only=True)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object()])
def test_what_json_does_not_know_is_an_error(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON"):
        json_text({"x": value}, ascii_only=True)
