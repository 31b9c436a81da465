"""`make check` runs the tests of what changed."""

from pathlib import Path

import pytest

from tests.changed import PROJECT, select_tests


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "pipeline" / "parsing").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "selected"),
    [
        ("src/rollcall/pipeline/parsing/split.py", "tests/pipeline/parsing"),
        ("src/rollcall/pipeline/new_package/module.py", "tests/pipeline"),
        ("src/rollcall/errors.py", "tests"),
        ("tests/pipeline/parsing/test_split.py", "tests/pipeline/parsing/test_split.py"),
        ("tests/pipeline/running.py", "tests/pipeline"),
        ("README.md", "tests/docs"),
    ],
)
def test_changed_file_selects_its_tests(changed: str, selected: str, root: Path) -> None:
    assert set(select_tests([changed], root)) == {selected, *PROJECT}


def test_other_files_select_the_project_tests(root: Path) -> None:
    assert set(select_tests(["Makefile"], root)) == set(PROJECT)
