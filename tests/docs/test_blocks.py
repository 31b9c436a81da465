"""The comparison finds differences and ignores what varies."""

import pytest

from tests.docs.blocks import Block, commands, same


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a b", "a   b\n"),
        ("started 2026-11-01 10:00:00", "started 2031-01-01 23:59:59"),
        ("at 127.0.0.1:19092 for 3s", "at 127.0.0.1:5 for 12m 5s"),
        ("id   name\n────\n 1   x", "id name\n──────────\n  1  x\n"),
        ("first\n...\nlast", "first\nmany\nlines\nlast"),
        ("first\n...\nlast", "first\nlast"),
        ("first\n...", "first\nand\nmore"),
        ("12 of ... files", "12 of 30 files"),
        ("a long\n    line\nand more", "a long line\nand more"),
    ],
)
def test_varying_parts_are_ignored(shown: str, printed: str) -> None:
    assert same(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a b", "a c"),
        ("a", "a\nb"),
        ("a\nb", "a"),
        ("first\n...\nlast", "first\nmany"),
        ("3 brokers", "2 brokers"),
        ("", "something"),
    ],
)
def test_difference_is_found(shown: str, printed: str) -> None:
    assert not same(shown, printed)


def test_block_is_split_into_commands_and_output() -> None:
    block = Block("a.md", 1, "console", "run", "$ one \\\n    two   # why\nout\nmore\n$ three\n")
    assert [(shown.command, shown.output) for shown in commands(block)] == [
        ("one two", "out\nmore\n"),
        ("three", ""),
    ]
