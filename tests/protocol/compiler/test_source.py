import pytest

from rollcall.protocol.compiler.source import RunField, Source, failure_in


def test_lines_are_indented_by_their_blocks() -> None:
    source = Source("def f(x):", {})
    with source.block("if x:"):
        source.emit("return 1")
    source.emit("return 2")
    assert source.lines == ["def f(x):", "    if x:", "        return 1", "    return 2"]
    function = source.compile("f")
    assert (function(True), function(False)) == (1, 2)


def test_constants_are_found_by_their_names() -> None:
    source = Source("def f(x):", {})
    seven = source.constant("seven", 7)
    assert source.constant("seven", 8) != seven
    source.emit(f"return x + {seven}")
    assert source.compile("f")(1) == 8


def test_names_are_given_once() -> None:
    source = Source("def f():", {})
    assert len({source.name("n") for _ in range(100)}) == 100


def test_every_line_knows_its_field() -> None:
    source = Source("def f(x):", {})
    source.emit("a = 1")
    with source.at("brokers"), source.at("host"):
        source.emit("b = 2", "c = 3")
        with source.running([RunField("p", "i")]):
            source.emit("d = 4")
    source.emit("return x")
    assert len(source.steps) == len(source.lines)
    assert [step.path for step in source.steps] == [
        (), (), ("brokers", "host"), ("brokers", "host"), ("brokers", "host"), (),
    ]  # fmt: skip
    assert [len(step.run) for step in source.steps] == [0, 0, 0, 0, 1, 0]


def failing(source: Source, *arguments: object) -> str:
    function = source.compile("f")
    with pytest.raises(ZeroDivisionError) as caught:
        function(*arguments)
    return failure_in(caught.value.__traceback__, source.steps).path()


def test_a_failure_is_placed_by_its_line() -> None:
    source = Source("def f(x):", {})
    source.emit("a = 1 / x")
    with source.at("brokers", "port"):
        source.emit("b = 1 / (x - 1)")
    assert failing(source, 1) == "brokers.port"
    assert failing(source, 0) == "the message"


def test_a_failure_in_an_array_tells_the_index() -> None:
    source = Source("def f(items):", {})
    with source.block("for item in items:"), source.at("parts", "[items item]", "size"):
        source.emit("1 / item[0]")
    assert failing(source, ([1], [2], [0], [0])) == "parts[2].size"


def test_a_failure_behind_a_helper_is_placed_at_the_call() -> None:
    source = Source("def f(x):", {"helper": lambda x: 1 / x})
    with source.at("tags"):
        source.emit("helper(x)")
    assert failing(source, 0) == "tags"


def test_a_failure_elsewhere_has_no_place() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert failure_in(caught.value.__traceback__, []).path() == "the message"
