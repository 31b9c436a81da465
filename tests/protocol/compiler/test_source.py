"""Generated source: indentation, constants, and the field that a failing line works on."""

import pytest

from rollcall.protocol.compiler.source import PackedField, Source, failed_line


def test_source_indents_lines_by_their_blocks() -> None:
    source = Source("def f(x):", {})
    with source.block("if x:"):
        source.emit("return 1")
    source.emit("return 2")
    assert source.lines == ["def f(x):", "    if x:", "        return 1", "    return 2"]
    function = source.compile("f")
    assert (function(True), function(False)) == (1, 2)


def test_constants_with_the_same_stem_get_different_names() -> None:
    source = Source("def f(x):", {})
    seven = source.constant("seven", 7)
    assert source.constant("seven", 8) != seven
    source.emit(f"return x + {seven}")
    assert source.compile("f")(1) == 8


def test_variable_names_are_unique() -> None:
    source = Source("def f():", {})
    assert len({source.name("n") for _ in range(100)}) == 100


def test_source_records_the_field_of_every_line() -> None:
    source = Source("def f(x):", {})
    source.emit("a = 1")
    with source.at("brokers"), source.at("host"):
        source.emit("b = 2", "c = 3")
        with source.at(packed=[PackedField(("port",), "i")]):
            source.emit("d = 4")
    source.emit("return x")
    assert len(source.locations) == len(source.lines)
    assert [location.path for location in source.locations] == [
        (), (), ("brokers", "host"), ("brokers", "host"), ("brokers", "host"), (),
    ]  # fmt: skip
    assert [len(location.packed) for location in source.locations] == [0, 0, 0, 0, 1, 0]


def failing(source: Source, *arguments: object) -> str:
    function = source.compile("f")
    with pytest.raises(ZeroDivisionError) as caught:
        function(*arguments)
    return failed_line(caught.value.__traceback__, source.locations).path()


def test_a_failed_line_has_the_path_of_its_field() -> None:
    source = Source("def f(x):", {})
    source.emit("a = 1 / x")
    with source.at("brokers", "port"):
        source.emit("b = 1 / (x - 1)")
    assert failing(source, 1) == "brokers.port"
    assert failing(source, 0) == "the message"


def test_a_failed_line_in_an_array_has_the_index_in_its_path() -> None:
    source = Source("def f(items):", {})
    with source.block("for item in items:"), source.at("parts", "[items item]", "size"):
        source.emit("1 / item[0]")
    assert failing(source, ([1], [2], [0], [0])) == "parts[2].size"


def test_a_failure_inside_a_helper_has_the_path_of_the_call() -> None:
    source = Source("def f(x):", {"helper": lambda x: 1 / x})
    with source.at("tags"):
        source.emit("helper(x)")
    assert failing(source, 0) == "tags"


def test_a_failure_outside_generated_code_has_no_path() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert failed_line(caught.value.__traceback__, []).path() == "the message"
