"""No line of a table is wider than the terminal, and no text of a cell is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.cli.terminal.table import INDENT, TableLayout, cell_width, wrap

HEAD = ["id", "address", "version", "started"]
ROWS = [["1", "10.0.0.1:9092", "4.0.0", "2026-11-16 02:40:30"], ["22", "10.0.0.2:9092", "", ""]]


def lines(width: int | None) -> list[str]:
    layout = TableLayout.of([HEAD, *ROWS], [0], width)
    return [line for row in (HEAD, *ROWS) for line in layout.lines(row)]


def test_row_is_one_line_where_it_fits() -> None:
    assert lines(80) == lines(None) == [
        "id   address         version   started",
        " 1   10.0.0.1:9092   4.0.0     2026-11-16 02:40:30",
        "22   10.0.0.2:9092",
    ]  # fmt: skip


def test_columns_that_do_not_fit_continue_on_the_next_line() -> None:
    assert lines(40) == [
        "id   address         version",
        "      started",
        " 1   10.0.0.1:9092   4.0.0",
        "      2026-11-16 02:40:30",
        "22   10.0.0.2:9092",
    ]


def test_wide_cell_is_wrapped_between_words() -> None:
    rows = [["note"], ["it did not respond within ten seconds"]]
    assert list(TableLayout.of(rows, [], 26).lines(rows[1])) == [
        "it did not respond within",
        "ten seconds",
    ]


def test_one_long_cell_does_not_widen_its_column() -> None:
    usual = [["User:svc-orders", "orders"]] * 9
    long = ["User:CN=payments,OU=payments,O=Example,C=DE", "payments-gateway"]
    layout = TableLayout.of([["principal", "application"], *usual, long], [], 50)
    assert list(layout.lines(usual[0])) == ["User:svc-orders" + " " * 19 + "orders"]
    assert list(layout.lines(long)) == [
        "User:CN=payments,OU=payments,     payments-gateway",
        "O=Example,C=DE",
    ]


def test_spare_width_goes_to_columns_that_need_it() -> None:
    rows = [["id", "started", "note"], *[["1", "2026-11-16 02:40:30", ""]] * 9]
    rows.append(["?", "", "10.0.0.9:9092 refused the connection"])
    assert list(TableLayout.of(rows, [], 42).lines(rows[-1])) == [
        "?",
        "      10.0.0.9:9092 refused the connection",
    ]


def test_word_longer_than_the_width_is_cut() -> None:
    assert wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


CELLS = st.text(st.characters(exclude_categories=["C", "Z", "M"]), max_size=60)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5)
    ),
    st.integers(20, 100),
)
def test_no_line_is_wider_than_the_terminal_and_no_text_is_lost(
    rows: list[list[str]], width: int
) -> None:
    layout = TableLayout.of(rows, [0], width)
    assert layout.width <= width
    for row in rows:
        shown = list(layout.lines(row))
        assert max(map(cell_width, shown)) <= width
        assert sorted("".join(shown).replace(" ", "")) == sorted("".join(row))


@pytest.mark.parametrize("width", [None, 200])
def test_numbers_are_aligned_to_the_right(width: int | None) -> None:
    rows = [["a", "requests"], ["b", "7"], ["c", "1,234"]]
    layout = TableLayout.of(rows, [1], width)
    assert [next(layout.lines(row)) for row in rows] == [
        "a   requests",
        "b          7",
        "c      1,234",
    ]


def test_rule_is_as_wide_as_the_widest_line() -> None:
    assert TableLayout.of([["a" * 10, "b" * 12]], [], 20).width == len(INDENT) + 12


def test_last_column_is_narrowed_unless_words_would_be_cut() -> None:
    head, row = ["version", "what it brings"], ["11", "drops a field that another request has now"]
    assert list(TableLayout.of([head, *[row] * 3], [0], 44).lines(row)) == [
        "     11   drops a field that another request",
        "          has now",
    ]
    row = ["11", "drops IncludeAuthorizedOperationsOfTheCluster"]
    assert list(TableLayout.of([head, *[row] * 3], [0], 44).lines(row)) == [
        "     11",
        "      drops",
        "      IncludeAuthorizedOperationsOfTheCluste",
        "      r",
    ]
